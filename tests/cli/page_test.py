"""The page of `anyperf export -f html`, in Debian's chromium without a window: it is clicked and typed into."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from browser import CHROMIUM, Browser
from made_recording import MadeRecording, absent_pid
from program import ANYPERF, Case

PID = absent_pid()
MS = 1_000_000


class Page(Case):
    def setUp(self):
        super().setUp()
        if not CHROMIUM:
            self.skipTest("chromium is not installed")
        self.map = Path(f"/tmp/perf-{PID}.map")
        self.addCleanup(self.map.unlink, missing_ok=True)

    def recording(self, samples, name="perf.data"):
        """(time in ms, tid, stack, number of samples)"""
        made = MadeRecording(PID)
        made.comm(PID, "demo")
        made.comm(PID + 1, "worker")
        for time, tid, stack, count in samples:
            for i in range(count):
                made.sample(time * MS + i, stack.split(), tid=tid)
        self.map.write_text(made.map_text())
        path = self.file(name)
        path.write_bytes(made.bytes())
        return path

    def open(self, path, *options):
        page = self.file("page.html")
        result = subprocess.run([ANYPERF, "export", "-f", "html", "-i", path, "-o", page, *options], capture_output=True, text=True,
                                timeout=60, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        # Chromium's helpers may still write into its profile when it has ended.
        profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(profile.cleanup)
        self.browser = Browser(profile.name)
        self.addCleanup(self.browser.close)
        self.browser.open(page.as_uri(), "!!window.anyperf && anyperf.flame.drawn > 0")
        # The timeline has its height after the first frame, which moves what is below it.
        self.browser.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return page

    def small(self):
        return self.recording([(1, PID, "main parse read", 10), (2, PID, "main parse", 20), (5, PID, "main draw", 40),
                               (9, PID + 1, "main draw fill", 30)])

    def js(self, expression):
        return self.browser.evaluate(expression)

    def place(self, name, flame="flame"):
        """The middle of the widest frame of a function."""
        return self.js(f"""(() => {{
            const flame = anyperf.{flame}, tree = flame.tree, box = flame.canvas.getBoundingClientRect();
            const node = tree.func.map((_, node) => node).filter((node) => node > 0 && tree.profile.name(tree.func[node]) === '{name}')
                .sort((a, b) => flame.span[b] - flame.span[a])[0];
            const x = (flame.start[node] + flame.span[node] / 2 - flame.left) / (flame.right - flame.left) * flame.width;
            return [box.left + x, box.top + flame.y(flame.depth[node]) + 8];
        }})()""")

    def colour(self, name):
        x, y = self.place(name)
        return self.js(f"""(() => {{
            const canvas = anyperf.flame.canvas, box = canvas.getBoundingClientRect(), scale = devicePixelRatio || 1;
            return [...canvas.getContext('2d').getImageData(({x} - box.left) * scale, ({y} - box.top - 7) * scale, 1, 1).data];
        }})()""")[:3]

    def shown(self):
        return self.js("(anyperf.flame.right - anyperf.flame.left) / anyperf.flame.whole")

    def status(self):
        return self.js("document.getElementById('status').textContent")

    def test_it_works_as_a_file_and_asks_for_nothing(self):
        page = self.open(self.small())
        text = page.read_text()
        self.assertNotRegex(text, r"(src|href)=|url\(|@import|fetch\(|XMLHttpRequest")
        self.assertEqual(self.js("performance.getEntriesByType('resource').length"), 0)
        self.assertIn("9 frames, 100.000 ms", self.status())
        self.assertIn("cpu-clock", self.js("document.getElementById('facts').textContent"))

    def test_click_zooms_and_escape_leads_back(self):
        self.open(self.small())
        self.browser.click(*self.place("parse"))
        self.browser.wait_for("Math.abs((anyperf.flame.right - anyperf.flame.left) / anyperf.flame.whole - 0.3) < 1e-9")
        self.assertIn("parse", self.status())
        self.browser.click(*self.place("read"))
        self.browser.wait_for("(anyperf.flame.right - anyperf.flame.left) / anyperf.flame.whole < 0.11")
        self.browser.key("Backspace")
        self.browser.wait_for("(anyperf.flame.right - anyperf.flame.left) / anyperf.flame.whole > 0.29")
        self.browser.key("Escape")
        self.browser.wait_for("anyperf.flame.right - anyperf.flame.left === anyperf.flame.whole")

    def test_wheel_and_keys_zoom(self):
        self.open(self.small())
        x, y = self.place("main")
        self.browser.wheel(x, y, -300)
        self.browser.wait_for("anyperf.flame.right - anyperf.flame.left < 0.5 * anyperf.flame.whole")
        before = self.shown()
        self.browser.key("-")
        self.assertGreater(self.shown(), before)

    def test_search_shows_the_share_and_marks_the_frames(self):
        self.open(self.small())
        plain = self.colour("draw")
        self.browser.key("/")
        self.browser.type("DRA")
        self.assertEqual(self.js("document.getElementById('found').textContent"), "70.00 % found")
        self.browser.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.assertNotEqual(self.colour("draw"), plain)
        self.assertEqual(self.js("document.querySelectorAll('#table tbody tr').length"), 1)
        self.browser.key("Enter")
        self.assertIn("1 of 2: draw", self.status())
        self.browser.key("Escape")
        self.assertEqual(self.js("document.getElementById('find').value"), "")
        self.browser.key("/")
        self.browser.type("(")
        self.assertIn("regular expression", self.js("document.getElementById('found').textContent"))

    def test_table_has_own_and_total_and_opens_the_sandwich(self):
        self.open(self.small())
        rows = self.js("[...document.querySelectorAll('#table tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
        self.assertEqual(rows[:4], [["40.00", "70.00", "draw"], ["30.00", "30.00", "fill"], ["20.00", "30.00", "parse"],
                                    ["10.00", "10.00", "read"]])
        self.js("document.querySelector('#table tbody tr').click()")
        self.assertEqual(self.js("document.getElementById('who').textContent"), "draw")
        names = "anyperf.{0}.tree.func.slice(1).map((func) => anyperf.profile.name(func)).sort()"
        self.assertEqual(self.js(names.format("callees")), ["draw", "fill"])
        self.assertEqual(self.js(names.format("callers")), ["demo", "draw", "main", "worker"])
        self.assertEqual(self.js("anyperf.callees.tree.total[0][0]"), 70 * MS)

    def test_timeline_chooses_time_and_thread(self):
        self.open(self.small())
        left, top, width = self.js("(() => { const box = document.getElementById('timeline').getBoundingClientRect(); "
                                   "return [box.left, box.top, box.width]; })()")
        self.browser.click(left + 20, top + 22 + 11)  # the second lane: the worker
        self.browser.wait_for("anyperf.tree.total[0][0] === 30e6")
        self.browser.key("r")
        self.browser.wait_for("anyperf.tree.total[0][0] === 100e6")
        for kind, x in (("mousePressed", left + 190), ("mouseMoved", left + 190 + (width - 190) * 0.4),
                        ("mouseReleased", left + 190 + (width - 190) * 0.4)):
            self.browser.send("Input.dispatchMouseEvent", type=kind, x=x, y=top + 5, button="left", buttons=1, clickCount=1)
        self.browser.wait_for("anyperf.tree.total[0][0] === 30e6")
        self.assertIn("a part of the time", self.status())

    def test_keys_turn_invert_order_weigh_and_darken(self):
        self.open(self.small())
        top = self.place("main")[1]
        self.browser.key("i")
        self.assertGreater(self.place("main")[1], top)
        self.browser.key("v")
        self.assertEqual(self.js("anyperf.shown.func.filter((func, node) => anyperf.shown.parent[node] === 0)"
                                 ".map((func) => anyperf.profile.name(func)).sort()"), ["draw", "fill", "parse", "read"])
        self.browser.key("w")
        self.assertIn("100 samples", self.status())
        light = self.js("getComputedStyle(document.body).backgroundColor")
        self.browser.key("d")
        self.assertNotEqual(self.js("getComputedStyle(document.body).backgroundColor"), light)

    def test_menu_hides_a_function(self):
        self.open(self.small())
        self.browser.click(*self.place("parse"), button="right")
        self.browser.wait_for("!document.getElementById('menu').hidden")
        self.js("[...document.querySelectorAll('#menu button')].find((button) => button.textContent.startsWith('Hide')).click()")
        self.assertEqual(self.js("anyperf.tree.total[0][0]"), 70 * MS)
        self.assertIn("1 changed", self.status())

    def test_the_url_keeps_the_view(self):
        page = self.open(self.small())
        self.browser.key("v")
        self.browser.key("/")
        self.browser.type("fill")
        kept = self.js("location.hash")
        self.browser.open("about:blank", "location.href === 'about:blank'")
        self.browser.open(page.as_uri() + kept, "!!window.anyperf")
        self.assertEqual(self.js("[anyperf.state.inverted, anyperf.state.find]"), [True, "fill"])

    def test_a_baseline_colours_what_has_changed_by_more_than_chance(self):
        before = self.recording([(1, PID, "main same", 500), (2, PID, "main less", 400), (3, PID, "main more", 100)], "before.data")
        now = self.recording([(1, PID, "main same", 495), (2, PID, "main less", 100), (3, PID, "main more", 405)])
        self.map.write_text("".join(f"{0x10000000 + 16 * i:x} 10 {name}\n" for i, name in enumerate(("same", "main", "less", "more"))))
        self.open(now, "--baseline", before)
        red, _, blue = self.colour("more")
        self.assertGreater(red, blue)
        red, _, blue = self.colour("less")
        self.assertLess(red, blue)
        red, _, blue = self.colour("same")
        self.assertLess(abs(red - blue), 20)

    def test_a_hundred_thousand_frames_are_merged_where_they_are_narrow(self):
        samples, number = [], 0
        for a in range(40):
            for b in range(50):
                samples += [(number := number + 1, PID, f"main a{a} b{b} c{c} d{c} e{c % 7}", 1 + c % 3) for c in range(17)]
        page = self.open(self.recording(samples))
        self.assertGreater(self.js("anyperf.shown.parent.length"), 100_000)
        self.assertLess(page.stat().st_size, 1_000_000)
        depths, width = self.js("[anyperf.flame.levels.length, anyperf.flame.width]")
        self.assertLess(self.js("anyperf.flame.drawn"), depths * width)
        frames = self.js("""new Promise((done) => {
            const times = []; let last = performance.now();
            const step = () => {
              times.push(performance.now() - last); last = performance.now();
              anyperf.flame.widen(times.length < 30 ? 0.9 : 1.1, 0.5);
              times.length < 60 ? requestAnimationFrame(step) : done(times.sort((a, b) => a - b));
            };
            requestAnimationFrame(step); })""")
        print(f"zooming: {frames[30]:.1f} ms a frame, 95 %: {frames[57]:.1f} ms")
        self.browser.picture(Path(os.environ.get("ANYPERF_PICTURE", self.directory.name + "/page.png")))


if __name__ == "__main__":
    unittest.main()
