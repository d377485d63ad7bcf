# SPDX-License-Identifier: BSD-3-Clause
"""Looks at the pages that pages.sh has made: set.html of a dataset with single events, log.html, links.html, compare.html."""
import os
import sys
import time

from browser import Browser

failed = False


def check(good, what, got):
    global failed
    if not good:
        failed = True
        print(f"{what}: got {got}", file=sys.stderr)


def text(page, selector):
    return page.run(f"document.querySelector('{selector}').textContent")


def shown(page):
    page.frame()
    return text(page, ".status")


def wait_for(page, selector, part):
    for _ in range(100):
        if part in text(page, selector):
            return
        time.sleep(0.05)
    check(False, f"{selector} with {part}", text(page, selector))


def chart_place(page):
    """The middle of the chart of the log, on the screen."""
    page.run("document.querySelector('#timeline .plot').scrollIntoView({block: 'center'})")
    page.frame()
    return page.run("""(function () {
        var box = document.querySelector('#timeline canvas').getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2];
    })()""")


def choose(page, selector, value):
    page.run(f"""(function () {{
        var e = document.querySelector('{selector}');
        e.value = '{value}';
        e.dispatchEvent(new Event('change'));
    }})()""")
    page.frame()


def moves_and_zooms(page):
    x, y = chart_place(page)
    whole = shown(page)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300)
    check(shown(page) == whole, "the wheel scrolls the page before a click", shown(page))
    x, y = chart_place(page)
    page.click(x, y)
    check("Rank " in text(page, ".said"), "a click says what is there", text(page, ".said"))
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300)
    zoomed = shown(page)
    check(zoomed != whole and "ranks 0 to 63" in zoomed, "the wheel zooms in time", zoomed)
    page.mouse("mouseWheel", x, y, deltaX=-300, deltaY=0, modifiers=8)
    check("ranks 0 to 63" not in shown(page), "Shift and the wheel zoom in ranks", shown(page))
    before = shown(page)
    page.mouse("mousePressed", x, y, button="left", clickCount=1)
    page.mouse("mouseMoved", x + 80, y, button="left", buttons=1)
    page.mouse("mouseReleased", x + 80, y, button="left", clickCount=1)
    check(shown(page) != before, "dragging moves", shown(page))
    page.key("0")
    check(shown(page) == whole, "0 shows all", shown(page))
    for key in ("+", "ArrowRight", "i", "ArrowDown", "-"):
        before = shown(page)
        page.key(key)
        check(shown(page) != before, f"the key {key} moves or zooms", shown(page))
    page.run("document.querySelector('.said').textContent = ''")
    page.key("Enter")
    first = text(page, ".said")
    check("Rank " in first, "Enter says what is in the middle", first)
    page.key("ArrowDown", shift=True)
    check(text(page, ".said") != first, "Shift and an arrow say what is beside it", first)
    page.run("document.querySelector('#timeline button[aria-label=\"Show the whole log\"]').click()")
    check(shown(page) == whole, "the button All", shown(page))


def single_events(page):
    choose(page, "#timeline label:nth-of-type(2) select", "MPI_Waitall")
    check("MPI_Waitall, number 1 of its longest" in text(page, ".said"), "a state is found by name", text(page, ".said"))
    first = shown(page)
    page.run("document.querySelectorAll('#timeline button[type=button]').forEach(b => b.textContent === 'Next' && b.click())")
    check("number 2" in text(page, ".said") and shown(page) != first, "Next goes on", text(page, ".said"))
    x, y = chart_place(page)
    page.run("document.querySelector('#timeline canvas').focus()")
    for _ in range(12):
        page.key("+")
    wait_for(page, ".status", "Single events")
    page.key("Enter")
    check(" from " in text(page, ".said") and " for " in text(page, ".said"), "an event has begin and length", text(page, ".said"))


def findings(page):
    page.run("document.querySelector('.findings a[data-rank]').click()")
    check(text(page, ".said").startswith("Rank "), "a finding leads to its place", text(page, ".said"))
    links = page.run("document.querySelectorAll('.findings p').length - "
                     "document.querySelectorAll('.findings p:has(a)').length")
    check(links <= 1, "findings without a link", links)  # the shares are of the whole run


def colours(page):
    layer = "#timeline label select"
    names = page.run(f"Array.from(document.querySelector('{layer}').options).map(o => o.value)")
    check("time that others wait for the rank" in names, "who is late", names)
    for name in names[1:]:
        choose(page, layer, name)
        check(name in text(page, "#timeline .scale"), "the legend of a quantity", text(page, "#timeline .scale"))
    choose(page, layer, "state")
    bright = """(function () {
        var c = document.querySelector('figure canvas');
        var data = c.getContext('2d').getImageData(c.width * 0.3 | 0, c.height * 0.3 | 0, c.width * 0.3 | 0, c.height * 0.3 | 0).data;
        var sum = 0;
        for (var i = 1; i < data.length; i += 4) { sum += data[i]; }
        return sum / (data.length / 4);
    })()"""
    quantiles = page.run(bright)
    check("quantiles" in text(page, "figure .scale"), "colours are by quantiles", text(page, "figure .scale"))
    page.run("document.body.removeAttribute('data-charts-drawn')")
    choose(page, "#colour-scale", "linear")
    page.run("new Promise(function wait(done) { document.body.hasAttribute('data-charts-drawn') ? done() : setTimeout(wait, 10, done); })")
    check(page.run("Array.from(document.querySelectorAll('.ramp + span')).every(e => e.textContent.includes('linear'))"),
          "the switch changes all scales", text(page, "figure .scale"))
    check(quantiles > page.run(bright) + 10, "an outlier does not darken the others", [quantiles, page.run(bright)])


def without_hover(page):
    page.run("document.querySelector('figure canvas').focus()")
    page.key("ArrowRight")
    check(page.run("!document.querySelector('figure .tip').hidden"), "keys say what is in a cell", "nothing")
    number = text(page, "td data")
    page.run("document.querySelector('input[type=checkbox]').click()")
    check(page.run("Array.from(document.querySelectorAll('td data')).some(e => e.textContent.length > 10)"),
          "all digits", number)


def tables(page):
    column = """Array.from(Array.from(document.querySelectorAll('table')).find(t => t.textContent.includes('States, the busiest'))
        .querySelectorAll('td:nth-child(3) data')).map(e => Number(e.value))"""
    button = """Array.from(document.querySelectorAll('th button')).find(b => b.textContent === 'own time, all ranks')"""
    for name, order in (("ascending", sorted), ("descending", lambda v: sorted(v, reverse=True))):
        page.run(button + ".click()")
        got = page.run(column)
        check(got == order(got) and len(got) > 3, f"a table in {name} order", got)
        check(page.run(button + ".parentNode.getAttribute('aria-sort')") == name, "aria-sort", name)


def pictures(page):
    saved = page.run("""(function () {
        var out = [];
        var click = HTMLAnchorElement.prototype.click;
        HTMLAnchorElement.prototype.click = function () { out.push([this.download, this.href.slice(0, 22), this.href.length]); };
        document.querySelectorAll('button.png').forEach(b => b.click());
        HTMLAnchorElement.prototype.click = click;
        return out;
    })()""")
    check(len(saved) == page.run("document.querySelectorAll('figure').length"), "a PNG button for each chart", len(saved))
    check(all(s[0].endswith(".png") and s[1] == "data:image/png;base64," and s[2] > 2000 for s in saved), "pictures", saved)


def fingers(page):
    x, y = chart_place(page)
    before = shown(page)
    page.touch("touchStart", [(x - 30, y), (x + 30, y)])
    page.touch("touchMove", [(x - 60, y), (x + 60, y)])
    page.touch("touchEnd", [])
    check(shown(page) != before, "two fingers zoom", shown(page))
    before = shown(page)
    page.touch("touchStart", [(x, y)])
    page.touch("touchMove", [(x - 50, y)])
    page.touch("touchEnd", [])
    check(shown(page) != before, "a finger moves", shown(page))


def small_screens(page):
    for name in ("set.html", "log.html", "links.html", "compare.html"):
        for dark in (False, True):
            page.size(390, 844, dark, touch=True)
            page.open(name)
            width = page.run("document.documentElement.scrollWidth")
            check(width <= 390, f"{name} on 390 pixels", width)
            wide = page.run("""(function () {
                document.querySelectorAll('details').forEach(d => { d.open = true; });
                return Array.from(document.querySelectorAll('.wide')).filter(e => e.scrollWidth > e.clientWidth).length;
            })()""")
            check(wide == 0, f"tables of {name} that scroll sideways on 390 pixels", wide)
            if name == "log.html":
                fingers(page)


def shares(page):
    page.size(1280, 900)
    page.open("compare.html")
    ends = page.run("""Array.from(document.querySelectorAll('canvas')).map(c => Chart.getChart(c))
        .filter(c => c && c.options.scales.y.title.text === 'share').map(c => c.scales.y.max)""")
    check(len(ends) > 0 and set(ends) == {1}, "axes of shares that end at 100 %", ends)


def paper(page):
    page.size(1280, 900)
    page.open("log.html")
    pdf = page.call("Page.printToPDF")["data"]
    check(len(pdf) > 20000, "a page on paper", len(pdf))
    page.call("Emulation.setEmulatedMedia", media="print")
    check(page.run("getComputedStyle(document.querySelector('.controls')).display") == "none", "controls on paper", "shown")
    page.call("Emulation.setEmulatedMedia", media="")


def missing_scripts(page):
    page.size(1280, 900)
    os.rename("set.html.detail", "elsewhere")
    page.open("set.html")
    chart_place(page)
    page.run("document.querySelector('#timeline canvas').focus()")
    for _ in range(14):
        page.key("+")
    wait_for(page, ".status", "cannot be read: keep this directory beside the page")
    os.rename("elsewhere", "set.html.detail")


page = Browser()
try:
    page.size(1280, 900)
    page.open("set.html")
    for look in (moves_and_zooms, single_events, findings, tables, colours, without_hover, pictures, small_screens, shares, paper, missing_scripts):
        try:
            look(page)
        except RuntimeError as problem:
            check(False, look.__name__, problem)
finally:
    page.close()
sys.exit(failed)
