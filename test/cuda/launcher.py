#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Meson asks the launcher of nvcc for macros while options are set that nvcc alone knows: launcher.py LAUNCHER."""
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
                    'for a do shift; case $a in --fmad=false | -arch=sm_90 | --extended-lambda) ;; *) set -- "$@" "$a" ;; esac; done\nexec g++ "$@"\n')
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
print(f"{2 - failed} passed, {failed} failed, 0 skipped")
sys.exit(failed > 0)
