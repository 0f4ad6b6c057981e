"""`anyperf diff` compares shares, and marks changes that are too large to be chance."""
import json
import re
import shutil
import subprocess
import unittest

from pathlib import Path

from made_recording import MadeRecording, absent_pid
from program import ANYPERF, Case

PID = absent_pid()


class Diff(Case):
    def recording(self, name, counts, period=1_000_000):
        made = MadeRecording(PID)
        made.comm(PID, "program")
        for function in ("same", "grown", "shrunk", "rare", "caller"):
            made.address(function)
        time = 1
        for function, count in counts.items():
            for _ in range(count):
                made.sample(time, ["caller", function], period)
                time += 1
        path = self.file(name)
        path.write_bytes(made.bytes())
        names = self.names(made)
        self.addCleanup(lambda: names.exists() and names.unlink())
        return path

    def names(self, made):
        path = Path(f"/tmp/perf-{PID}.map")
        path.write_text(made.map_text())
        return path

    def diff(self, *words):
        return subprocess.run([ANYPERF, "diff", *map(str, words)], text=True, capture_output=True, timeout=60, check=False)

    def rows(self, *words):
        result = self.diff("--json", *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return {row["symbol"][4:]: row["recordings"] for row in json.loads(result.stdout)}

    def pair(self):
        return (self.recording("before", {"same": 500, "grown": 200, "shrunk": 300}),
                self.recording("after", {"same": 1000, "grown": 640, "shrunk": 350, "rare": 10}, 2_000_000))

    def test_deltas_are_of_shares_and_of_counts(self):
        rows = self.rows(*self.pair())
        self.assertEqual(list(rows)[-1], "same")
        self.assertAlmostEqual(rows["grown"][0]["share"], 0.2)
        self.assertAlmostEqual(rows["grown"][1]["delta"], 0.12)
        self.assertAlmostEqual(rows["shrunk"][1]["delta"], -0.125)
        self.assertEqual(rows["grown"][1]["period_delta"], 640 * 2_000_000 - 200 * 1_000_000)
        self.assertEqual(rows["rare"][0]["samples"], 0)

    def test_samples_are_left_out_as_in_report(self):
        files = self.pair()
        rows = self.rows("-S", "grown,same", *files)
        self.assertEqual(set(rows), {"grown", "same"})
        self.assertAlmostEqual(rows["grown"][0]["share"], 0.2)
        self.assertAlmostEqual(rows["grown"][1]["share"], 0.32)
        rows = self.rows("--symbols", "grown,same", "--percentage", "relative", *files)
        self.assertAlmostEqual(rows["grown"][0]["share"], 200 / 700)
        self.assertAlmostEqual(rows["grown"][1]["share"], 640 / 1640)
        self.assertEqual(self.rows("-C", "program", *files), self.rows(*files))
        self.assertEqual(self.rows("--comms", "another", *files), {})
        self.assertEqual(self.rows("-d", "another", *files), {})
        self.assertEqual(self.rows("--pid", PID, *files), self.rows(*files))
        self.assertEqual(self.rows("--tid", PID + 1, *files), {})

    def test_times_are_those_of_each_recording(self):
        rows = self.rows("--time", "0,0.0000004", *self.pair())  # ns 1 to 400
        self.assertEqual(set(rows), {"same"})
        self.assertEqual([cell["share"] for cell in rows["same"]], [1.0, 1.0])

    def test_only_what_sampling_does_not_explain_is_marked(self):
        before, after = self.pair()
        rows = self.rows(before, after)
        self.assertEqual({name for name, cells in rows.items() if cells[1]["significant"]}, {"grown", "shrunk"})
        # s = (200 + 640) / 3000: z = 0.12 / sqrt(0.28 * 0.72 * (1/1000 + 1/2000))
        self.assertAlmostEqual(rows["grown"][1]["z"], 6.9007, 3)
        self.assertEqual(set(self.rows("--significant", before, after)), {"grown", "shrunk"})
        self.assertFalse(any(cells[1]["significant"] for cells in self.rows(before, before).values()))

    def test_text_has_the_same_numbers(self):
        text = self.diff(*self.pair()).stdout
        self.assertRegex(text, r"20\.00%\s+\+12\.00% \*\s+\+1080000000\s+program\s+perf-\d+\.map\s+\[\.\] grown")
        self.assertRegex(text, r"50\.00%\s+\+0\.00%  \s+\+1500000000\s+program\s+perf-\d+\.map\s+\[\.\] same")

    def test_several_recordings_are_compared_with_the_first(self):
        before, after = self.pair()
        rows = self.rows("-s", "symbol", before, before, after)
        self.assertEqual([cell["delta"] for cell in rows["grown"][1:2]], [0])
        self.assertAlmostEqual(rows["grown"][2]["delta"], 0.12)

    def test_computations_are_those_of_perf(self):
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        before, after = self.pair()
        for options in (("-c", "delta"), ("-c", "delta-abs", "-p"), ("-c", "ratio", "-F"), ("-c", "wdiff:1,2", "-F"), ("-o", "0"),
                        ("-o", "1", "-F"), ("-p", "-s", "symbol")):
            for files in ((before, after), (before, after, before)):
                theirs = subprocess.run(["perf", "diff", *options, *map(str, files)], capture_output=True, timeout=60, check=False)
                lines = [[line.strip().replace(":HG'", "'") for line in text.splitlines() if not line.startswith("# ..")]
                         for text in (self.diff(*options, *files).stdout, theirs.stdout.decode(errors="replace"))]
                self.assertEqual(*[[re.sub(r"\[JIT\] tid (\d+)", r"perf-\1.map", re.sub(r" +", " ", line)) for line in some] for some in lines], options)

    def test_wrong_computations_are_refused(self):
        for way in ("cycles", "wdiff", "wdiff:1", "wdiff:1,2,3", "delta:1"):
            self.assert_error(self.diff("-c", way, *self.pair()), 125, "bad -c " + way)

    def test_what_cannot_be_compared_is_refused(self):
        before, after = self.pair()
        self.assert_error(self.diff("-s", "pid", before, after), 125, "process and thread ids differ between runs")
        self.assert_error(self.diff(before, self.file("absent")), 125, "No such file or directory")
        other = after.read_bytes()
        at = 104 + 8  # attr.config: another event
        self.file("other").write_bytes(other[:at] + b"\2" + other[at + 1:])
        self.assert_error(self.diff(before, self.file("other")), 125, "no event in common")


if __name__ == "__main__":
    unittest.main()
