#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The launcher of nvcc: what Meson asks, with options that nvcc alone knows, the architecture where none is given, and thin archives. launcher.py LAUNCHER."""
import os, subprocess, sys, tempfile

launcher = os.path.realpath(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    def write(name, text):
        path = os.path.join(folder, name)
        with open(path, "w") as file: file.write(text)
        os.chmod(path, 0o755)
        return path

    # In place of nvcc_wrapper: refuses to work without the option, then compiles.
    wrapper = write("nvcc_wrapper", '#!/bin/sh\ncase " $* " in *" -c "*" --fmad=false "* | *" --fmad=false "*" -c "* | *" -o "*) ;; *) exit 3 ;; esac\n'
                    'for a do shift; case $a in --fmad=false | -arch=* | --extended-lambda) ;; *) set -- "$@" "$a" ;; esac; done\nexec g++ "$@"\n')
    write("x.cpp", "int main() {}\n")
    write("meson.build", "project('x', 'cpp')\ncpp = meson.get_compiler('cpp')\nassert(cpp.get_define('WIDTH') == '3', 'an option of the host compiler is lost')\n"
                         "assert(cpp.get_define('__GNUC__') != '')\nassert(cpp.compiles('int x;'))\nexecutable('x', 'x.cpp')\n")
    options = ["--fmad=false", "-arch=sm_90", "--extended-lambda", "-DWIDTH=3"]
    done = subprocess.run(["meson", "setup", os.path.join(folder, "build"), folder, "-Dcpp_args=" + " ".join(options)],
                          env=dict(os.environ, CXX=launcher, NVCC_WRAPPER=wrapper), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    failed = 1 if done.returncode else 0
    if failed: print("FAIL: meson setup with options of nvcc:", done.stdout, sep="\n")
    asked = subprocess.run([launcher, "-gencode", "arch=compute_90,code=sm_90", "-Xcompiler", "-DA=1,-DB=2", "-Xptxas", "-v", "-E", "-dM", os.path.join(folder, "x.cpp")],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if asked.returncode or "#define A 1" not in asked.stdout or "#define B 2" not in asked.stdout:
        print("FAIL: an option with a value of its own:", asked.stdout[:500], sep="\n")
        failed += 1
    # Libraries that Meson does not install are thin archives, which nvlink cannot read.
    run = lambda *words: subprocess.run(words, cwd=folder, env=dict(os.environ, NVCC_WRAPPER=whole, PATH=f"{folder}:{os.environ['PATH']}"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # Without an architecture nvcc_wrapper takes one that CUDA 13 does not know.
    whole = write("whole", '#!/bin/sh\nfor a do shift; case $a in -arch=compute_75) oldest=$a ;; *.a) [ "$(head -c 7 "$a")" != "!<thin>" ] || exit 3 ;; esac\n'
                  '[ "$a" = "$oldest" ] || set -- "$@" "$a"; done\n[ -n "$oldest" ] || exit 4\nexec g++ "$@"\n')
    write("nvcc", '#!/bin/sh\n[ "$*" != --list-gpu-arch ] || printf "compute_75\\ncompute_80\\n"\n')
    write("one.cpp", "int one() { return 0; }\n")
    write("main.cpp", "int one();\nint main() { return one(); }\n")
    os.makedirs(os.path.join(folder, "with blank"))
    for words in (["g++", "-c", "one.cpp", "-o", "with blank/one.o"], ["g++", "-c", "main.cpp"], ["ar", "rcs", "--thin", "with blank/libone.a", "with blank/one.o"],
                  [launcher, "-o", "program", "main.o", "with blank/libone.a"], ["./program"]):
        done = run(*words)
        if done.returncode: break
    if done.returncode:
        print("FAIL: a thin archive, or no architecture:", *words, done.stdout[:500], sep="\n")
        failed += 1
print(f"{3 - failed} passed, {failed} failed, 0 skipped")
sys.exit(failed > 0)
