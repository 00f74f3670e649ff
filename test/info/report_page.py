# SPDX-License-Identifier: MIT
"""report_page.py KEEL_INFO DATA [PICTURES]: the page of keel-info report in a headless Chromium. Its numbers: report.cpp.

It is there without scripts, too. It works by keyboard and pointer, in dark and light, on the width of a phone and on paper; as many
events as a page can hold open in under three seconds. With a third argument, pictures of each section go there.
"""
import base64
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from browser import Browser, find_browser

INFO, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
PICTURES = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
SECONDS_MAX = 3.0
RANKS = 2
TIMES = 26 # so many of the pages of 4000 events and 1000 kernels are as many as keel-info puts into one, and does not thin
wrong = []


def check(what, good, told=""):
    if not good:
        wrong.append(f"{what}: {told}" if told != "" else what)


def write_trace(folder, events):
    """Traces of RANKS ranks, and how many events they hold."""
    chance, held, files = random.Random(7), 0, []
    for rank in range(RANKS):
        files.append(folder / f"a trace.{rank}.jsonl")
        now = 0.0
        with open(files[-1], "w") as out:
            def line(what, rest):
                out.write(f'{{"what":"{what}","time":{now:.3f},"rank":{rank},{rest}}}\n')

            out.write('{"keel":"trace","version":4,"run":"00000000000000aa","part":1,"rank":%d,"ranks":%d,"begin":1763724151000000,'
                      '"of_keel":400,"program":"ocean","host":"n1","threads":"%d-%d"}\n' % (rank, RANKS, 8 * rank, 8 * rank + 3))
            line("knob", '"option":"--keel-device","device":"","value":"cuda","source":"environment"')
            line("knob", '"option":"--keel-log-level","device":"","value":"warning","source":"unset"')
            entry = '"schedule":"app::step","number":%d,"depth":%d,"kind":"%s","name":"%s","memory":"%s"'
            line("entry", entry % (1, 0, "routine", "rhs", "cuda"))
            line("entry", entry % (2, 0, "every", "every 10", ""))
            line("entry", entry % (3, 1, "routine", "output", "host"))
            for number, count in ((4, 5), (5, 40)):
                names = " ".join(f"variable_{n}[0]" for n in range(count))
                line("entry", entry % (number, number, "exchange", f"exchange {names}, begins within advance", "simulated"))
            line("flow", '"schedule":"app::step","writer":1,"reader":3,"data":"v0[0] owned","copied":"always","crosses":0')
            line("flow", '"schedule":"app::step","writer":1,"reader":1,"data":"v1[1] owned","copied":"never","crosses":1')
            for n in range(events // RANKS):
                now += chance.uniform(1, 40)
                variable, took, size = f'"variable":"v{n % 5}","level":0,"component":0', chance.uniform(0.5, 9), chance.randrange(1, 50000)
                if n % 4 == 0:
                    line("write", variable + ',"region":"owned","memory":"cuda","routine":"rhs"')
                    line("routine", f'"routine":"rhs","memory":"cuda","took":{took:.3f}')
                    line("kernels", f'"routine":"rhs","memory":"cuda","took":{2 * took:.3f}')
                    held += 1
                elif n % 4 == 3:
                    line("exchange", variable + f',"bytes":{size},"took":{took:.3f},"waited":{took / 2:.3f}')
                else:
                    region = ("core", "rim")[n % 2]
                    line("copy", variable + f',"region":"{region}","from":"cuda","to":"host","bytes":{size},"routine":"output","took":{took:.3f}')
                held += 1
            now += 20
            line("end", '"part":1')
    return files, held


def open_report(browser, folder, name, *arguments):
    """The page that keel-info makes of `arguments`, which the browser shows now."""
    page = folder / f"{name}.html"
    subprocess.run([INFO, "report", page, *arguments], check=True, stdout=subprocess.DEVNULL)
    browser.open(page.as_uri())
    return page


def repeat(page, times, rows):
    """The same page of a run that goes on for `times` as long, on components of its own each time; a table has `rows`."""
    head, rest = page.split('id="data">', 1)
    text, tail = rest.split("</script>", 1)
    trace = json.loads(text)
    length = trace["duration"]
    trace["time"] = [round(n * length + t, 3) for n in range(times) for t in trace["time"]]
    for column in ("rank", "took", "waited", "bytes"):
        trace[column] *= times
    count, component = len(trace["kinds"]), 3
    trace["kind"] = [n * count + k for n in range(times) for k in trace["kind"]]
    trace["kinds"] = [kind[:component] + [kind[component] + n] + kind[component + 1:] for n in range(times) for kind in trace["kinds"]]
    table = re.search(r'data-of="copies".*?<tbody>(.*?)</tbody>', head, re.S)
    some = re.findall("<tr>(.*?)</tr>", table[1], re.S)
    body = "".join(f"<tr>{some[n % len(some)]}</tr>" for n in range(rows))
    head = head[:table.start(1)] + body + head[table.end(1):]
    trace["duration"] *= times
    return f'{head}id="data">{json.dumps(trace).replace("<", chr(92) + "u003c")}</script>{tail}'


def drawings(browser):
    times = [float(at) for at in re.findall(r"H([\d.e+]+)", browser.ask("document.querySelector('.moved').getAttribute('d')"))]
    check("the chart of bytes goes forward in time", times == sorted(times) and len(times) > 1000)
    lanes = browser.ask("[...document.querySelectorAll('.legend span')].map(s => s.textContent)")
    check("kernels and waiting are on the timeline", {"their kernels on the device", "waiting for messages"} <= set(lanes), lanes)
    knobs = browser.ask("['knobs', 'unset'].map(t => [...document.querySelectorAll(`[data-of=${t}] tbody tr`)].map(r => r.cells[0].textContent).join())")
    check("knobs that were set stand apart, the others are folded", knobs == ["--keel-device", "--keel-log-level"]
          and not browser.ask("document.querySelector('#knobs details').open"), knobs)
    left_out = browser.ask("document.querySelector('#summary .note').textContent")
    check("the summary says what it leaves out", left_out.startswith("Not counted: "), left_out)
    check("places are in two tables where they differ", browser.ask("document.querySelectorAll('[data-of=map] tbody tr').length") == RANKS)
    about = browser.ask("document.querySelector('#node .about').textContent")
    check("the picture says what it draws", "might run on when its trace began" in about, about)
    boxes = browser.ask("[...document.querySelectorAll('.drawing [title]')].map(e => e.title).filter(t => t.includes('rank'))")
    check("ranks are drawn on their cores", boxes == [f"core {8 * r + c}, rank {r}" for r in range(RANKS) for c in range(4)], boxes)
    inside = browser.ask("""[...document.querySelectorAll('.graph rect')].map(r => {
      const box = r.getBBox(), [name, memory] = [r.nextElementSibling, r.nextElementSibling.nextElementSibling].map(e => e.getBBox());
      const end = memory.width ? memory.x : box.x + box.width;
      return name.x >= box.x && name.x + name.width < end && (!memory.width || memory.x + memory.width < box.x + box.width);
    })""")
    check("what is written in a box of a schedule stays in it", inside == [True] * 5, inside)


def drawn(browser):
    """Where the events of the timeline begin, path by path."""
    return [float(at) for at in browser.ask("[...document.querySelectorAll('.lanes .plot path')].flatMap(p => p.getAttribute('d').match(/(?<=M)[^ ]+/g) || [])")]


def keyboard(browser):
    browser.ask("document.querySelector('.lanes').focus()")
    by_info, begun = drawn(browser), browser.ask("document.querySelector('.axis text:last-child').textContent")
    browser.press("0")
    by_script = drawn(browser)
    check("scripts draw the timeline as keel-info does", len(by_info) == len(by_script) > 1000, (len(by_info), len(by_script)))
    check("and each event in its place", all(abs(a - b) < 0.01 for a, b in zip(by_info, by_script)))
    ends = browser.ask("document.querySelector('.axis text:last-child').textContent")
    check("and write its times so", ends == begun, (begun, ends))
    whole = len(by_info)
    for _ in range(6):
        browser.press("+")
    near = len(drawn(browser))
    check("+ zooms", 0 < near < whole, f"{near} of {whole}")
    browser.press("n"), browser.press("n")
    first = browser.ask("document.querySelector('.event').textContent")
    check("n tells an event", first.startswith("Event ") and "rank" in first, first)
    browser.press("p")
    check("p goes back", browser.ask("document.querySelector('.event').textContent") != first)
    browser.press("0")
    check("0 shows all", len(drawn(browser)) == whole + 1, f"{len(drawn(browser))} of {whole}, and the chosen one")
    box = browser.ask("(b => [b.left, b.top, b.width])(document.querySelector('.lanes').getBoundingClientRect())")
    browser.drag(*((box[0] + box[2] * part, box[1] + 20) for part in (0.4, 0.5)))
    check("dragging zooms", 0 < len(drawn(browser)) < whole and browser.ask("document.querySelector('.axis text').textContent") != "0")
    browser.drag(*[(box[0] + box[2] * 0.45, box[1] + 20)] * 2)
    told = browser.ask("document.querySelector('.event').textContent")
    check("a click tells an event", told.startswith("Event ") and told != first, told)
    browser.press("0")
    # By Tab alone all that can be used is reached, in order, the theme and the timeline too.
    browser.ask("document.activeElement.blur(), scrollTo(0, 0)")
    reached = set()
    for _ in range(120):
        browser.press("Tab", 9)
        reached.add(browser.ask("document.activeElement.id || document.activeElement.getAttribute('class') || document.activeElement.tagName"))
    check("Tab reaches the theme and the timeline", {"theme", "chart lanes", "drawing wide"} <= reached, reached)
    browser.ask("document.querySelector('[data-of=copies] th:nth-child(6) button').focus()")
    browser.press("Enter", 13), browser.press("Enter", 13) # the largest first, then the smallest
    order = browser.ask("[...document.querySelectorAll('[data-of=copies] tbody tr')].map(r => Number(r.cells[5].dataset.value))")
    check("Enter on a head sorts its column", order == sorted(order), order)


def places(browser, folder):
    """Ranks are drawn where they might run, if the traces say that of the node drawn; else where keel places them."""
    node = ["--xml", DATA / "gpus8_numa4.xml"]
    n1, n2 = '"host":"n1","threads":"%s"', '"host":"n2","threads":"%s"'
    for what, headers, arguments, drawn in (
            ("a thread for each core", (n1 % "8-9,24", n1 % "31"), node, "8 0,9 0,24 0,31 1"),
            ("the plan was asked for", (n1 % "8-9,24",), [*node, "--map", "32"], ",".join(f"{c} {c}" for c in range(32))),
            ("no host is called n1 here", (n1 % "0",), ["--map", "1"], None),
            ("more threads than the node has", (n1 % "31-32",), node, None),
            ("of two hosts the first", (n1 % "4", n2 % "4"), node, "4 0"),
            ("threads that are no list", (n1 % "1-,x",), node, None),
            ("more threads than any node has", (n1 % "0-4000000000",), node, None),
            ("the system told no threads", ('"program":"ocean"',), node, None)):
        files = [folder / f"places.{rank}.jsonl" for rank in range(len(headers))]
        for rank, (file, more) in enumerate(zip(files, headers)):
            file.write_text('{"keel":"trace","version":4,"run":"00000000000000aa","part":1,"rank":%d,"ranks":%d,"begin":1763724151000000,%s}\n'
                            '{"what":"end","time":9,"rank":%d}\n' % (rank, len(headers), more, rank))
        open_report(browser, folder, "places", *files, *arguments)
        cores = browser.ask("[...document.querySelectorAll('.drawing [title]')].map(e => e.title.match(/core (\\d+), rank (.*)/)).filter(m => m).map(m => `${m[1]} ${m[2]}`)")
        about = browser.ask("document.querySelector('#node .about').textContent")
        check(f"{what}: where ranks are drawn", (",".join(cores) == drawn) if drawn else all(c.endswith(" 0") for c in cores) and len(cores) > 0, cores)
        check(f"{what}: what is said of it", ("where keel places them" in about) == (drawn is None or len(cores) == 32), about)


def long_table(browser, rows):
    """Words find the rows of a long table that hold them, and a head sorts all."""
    count = "document.querySelectorAll('[data-of=copies] tbody tr:not([hidden])').length"
    check("all rows are drawn", browser.ask(count) == rows, browser.ask(count))
    find = "(() => { const i = document.querySelector('#copies input'); i.value = '%s'; i.dispatchEvent(new Event('change')); })()"
    browser.ask(find % "V3")
    cells = browser.ask("[...document.querySelectorAll('[data-of=copies] tbody tr:not([hidden])')].map(r => r.cells[0].textContent)")
    check("words find rows", set(cells) == {"v3"}, set(cells))
    browser.ask(find % "no row has this")
    check("words that no row holds find none", browser.ask(count) == 0, browser.ask(count))
    browser.ask(find % "")
    check("no words find all", browser.ask(count) == rows, browser.ask(count))
    check("a short table has nothing to find rows by", browser.ask("document.querySelectorAll('#knobs input').length") == 0)


def without_scripts(browser, page, wanted):
    """All tables, tiles and drawings are in the page itself, which names nothing that lies elsewhere."""
    browser.use_scripts(False)
    browser.open(page.as_uri())
    check("no script ran", browser.ask("document.documentElement.dataset.ready") is None)
    check("the content is there without scripts", content(browser) == wanted, (content(browser), wanted))
    check("what needs scripts is not offered", browser.ask("document.querySelector('#theme').getClientRects().length") == 0)
    browser.use_scripts(True)
    elsewhere = re.findall(r"""(?:src|href)=["'](?!#)[^"']*|url\([^)]*|@import[^;]*|https?://[^"'\s]*""", page.read_text())
    check("nothing lies elsewhere", not elsewhere, elsewhere)


def content(browser):
    return browser.ask("""['.tiles', 'tbody', '.drawing', '.lanes .plot', '.bytes .plot', '.graph'].map(each => [...document.querySelectorAll(each)].map(
      e => e.getClientRects().length > 0 || e.closest('details') ? e.textContent + e.querySelectorAll('*').length : 'not shown'))""")


def on_paper(browser):
    """On A4 with its margins nothing is cut off at the right, and all sections are printed."""
    browser.prefer("dark", "print")
    browser.resize(703, 994)
    over = browser.ask("""[...document.querySelectorAll('main *')].filter(e => !e.closest('details') && e.getBoundingClientRect().right > 703.5)
      .map(e => `${e.tagName} ${e.getAttribute('class')} ${e.getBoundingClientRect().right}`).slice(0, 5)""")
    check("nothing leaves the paper", not over, over)
    check("paper is white", browser.ask("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)")
    made = base64.b64decode(browser.send("Page.printToPDF", preferCSSPageSize=True)["data"])
    check("it is A4", b"/MediaBox [0 0 595" in made or b"/MediaBox [0 0 594" in made, re.findall(rb"/MediaBox \[[^]]*", made)[:1])
    if PICTURES:
        (PICTURES / "paper.pdf").write_bytes(made)
    browser.prefer("light")
    browser.resize(1200, 900)


def settle(browser):
    browser.ask("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")


def looks(browser, name):
    """In dark and light, on a wide screen and a phone: nothing is wider than the screen, and text is readable."""
    contrast = """(() => {
      const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(x => (x /= 255) <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const back = light(getComputedStyle(document.body).backgroundColor);
      return Math.min(...['body', 'p', 'a', 'td', 'h2', '.tiles span', '.wrong'].map(s => document.querySelector(s)).filter(e => e).map(e => {
        const ink = light(getComputedStyle(e).color); return (Math.max(ink, back) + 0.05) / (Math.min(ink, back) + 0.05); }));
    })()"""
    grounds = []
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        for width, is_phone in ((1200, False), (390, True)):
            browser.resize(width, 844, is_phone)
            settle(browser)
            check(f"{name}, {scheme}, {width} pixels: no wider than the screen", browser.ask("document.documentElement.scrollWidth") == width,
                  browser.ask("document.documentElement.scrollWidth"))
            check(f"{name}, {scheme}: contrast of 4.5", browser.ask(contrast) >= 4.5, browser.ask(contrast))
            if PICTURES:
                for section in browser.ask("[...document.querySelectorAll('section')].map(s => s.id)"):
                    browser.ask(f"document.getElementById('{section}').scrollIntoView()")
                    settle(browser)
                    browser.picture(PICTURES / f"{name}-{section}-{scheme}-{width}.png")
        grounds.append(browser.ask("getComputedStyle(document.body).backgroundColor"))
    check("dark is another ground than light", grounds[0] != grounds[1], grounds)
    browser.resize(1200, 900)
    browser.prefer("light")
    browser.ask("document.querySelector('#theme').click()")
    check("the button beats the system", browser.ask("getComputedStyle(document.body).backgroundColor") == grounds[1])


def main():
    program = find_browser()
    if program is None:
        print("SKIP: info: the page of a report in a browser: no Chromium\n0 passed, 0 failed, 1 skipped")
        return 0
    node = ["--xml", DATA / "gpus8_numa4.xml"]
    with tempfile.TemporaryDirectory() as name, Browser(program) as browser:
        folder = pathlib.Path(name)
        files, held = write_trace(folder, 4000)
        page = open_report(browser, folder, "a page", *files, *node)
        check("all scripts ran", browser.ask("document.documentElement.dataset.ready") == "yes")
        shown = browser.ask("[...document.querySelectorAll('section')].map(s => s.id).join()")
        check("all sections are there", shown == "summary,warnings,node,knobs,copies,routines,timeline,schedule", shown)
        drawings(browser)
        with_scripts = content(browser)
        keyboard(browser)
        looks(browser, "run")
        on_paper(browser)
        without_scripts(browser, page, with_scripts)
        open_report(browser, folder, "wide", "--xml", DATA / "cores192.xml")
        on_paper(browser)
        alone = open_report(browser, folder, "alone")
        shown = browser.ask("[...document.querySelectorAll('section')].map(s => s.id).join()")
        about = browser.ask("document.querySelector('#summary .about').textContent")
        check("a page without a run says so", about.startswith("No run, only the node ") and " UTC by keel " in about, about)
        check("without a trace", shown == "summary,warnings,node,knobs", shown)
        host = folder / "host.jsonl"
        host.write_text('{"keel":"trace","version":4,"run":"00000000000000aa","part":1,"rank":0,"ranks":1,"begin":1763724151000000,"host":"n1","threads":"0-31"}\n'
                        '{"what":"routine","time":1,"rank":0,"routine":"rhs","memory":"host","took":5}\n{"what":"end","time":9,"rank":0}\n')
        open_report(browser, folder, "still", host, *node)
        check("no empty chart where nothing moved", browser.ask("document.querySelector('.bytes') === null"))
        check("one table of places where they are equal", browser.ask("document.querySelectorAll('#node table').length") == 1)
        places(browser, folder)
        many = folder / "many.html"
        rows = 1000 # the most that a table has
        many.write_text(repeat(page.read_text(), TIMES, rows))
        print(f"a page of {TIMES * held} events has {many.stat().st_size >> 20} MiB")
        small = min(browser.open(alone.as_uri()) for _ in range(3)) # how much other processes hold it up
        taken = min(browser.open(many.as_uri()) for _ in range(3))
        print(f"it opens in {taken:.2f} s, a page without a trace in {small:.2f} s")
        check(f"as many events as a page can hold open in {SECONDS_MAX} s", taken < max(SECONDS_MAX, 24 * small), f"{taken:.2f} s")
        check("all of them are there", browser.ask("trace.time.length") == TIMES * held)
        long_table(browser, rows)
        check("no page has an error, nor asks the network", not browser.wrong, browser.wrong)
    for text in wrong:
        print(f"FAIL: {text}")
    print(f"{0 if wrong else 1} passed, {1 if wrong else 0} failed, 0 skipped")
    return 1 if wrong else 0


sys.exit(main())
