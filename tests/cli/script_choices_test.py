"""Options of `anyperf script` that choose lines and where they go, as in `perf script`."""
import collections
import re
import shutil
import subprocess
import unittest

from perf_recording import perf_record
from program import ANYPERF, Case
from report_test import run
from script_test import lines

PROGRAM = """
static volatile unsigned long sum;
__attribute__((noipa)) void hot(void) { for (int i = 0; i < 3000; ++i) sum += i * sum; }
int main(void) { for (int i = 0; i < 20000; ++i) hot(); }
"""


class Choices(Case):
    def setUp(self):
        super().setUp()
        for program in ("perf", "cc"):
            if not shutil.which(program):
                self.skipTest(f"{program} is not installed")

    def record(self, *options):
        source = self.file("program.c", PROGRAM)
        subprocess.run(["cc", "-O1", "-o", self.file("program"), source], check=True, timeout=60)
        return perf_record(self, self.file("perf.data"), "-F", "1000", "-e", "cpu-clock:u", "-e", "page-faults:u", *options,
                           command=[self.file("program")])

    def both(self, path, *options):
        return [lines(program, "script", "-i", path, *options) for program in ("perf", ANYPERF)]

    def test_instructions_agree(self):
        path = self.record()
        for fields in ("event,ip,sym,insn,insnlen", "comm,insn", "ip,insnlen"):
            theirs, ours = self.both(path, "-F", fields)
            self.assertGreater(sum(" insn: " in line or " ilen: " in line for line in theirs), 20)
            self.assertEqual(ours, theirs)

    def test_addresses_agree(self):
        path = self.record()
        counts = collections.Counter(line.split()[0] for line in lines("perf", "script", "-i", path, "-F", "ip"))
        address = "0x" + counts.most_common(1)[0][0]
        for options in (["-S", address], ["-S", address, "--addr-range", "16"], ["-S", f"main,{address}", "--addr-range", "4"]):
            theirs, ours = self.both(path, "-F", "time,ip", *options)
            self.assertGreater(len(theirs), 3)
            self.assertEqual(ours, theirs)

    def test_rounds_agree(self):
        theirs, ours = self.both(self.record(), "--show-round-events", "--show-task-events")
        self.assertIn("PERF_RECORD_FINISHED_ROUND", theirs)
        self.assertEqual(collections.Counter(ours), collections.Counter(theirs))  # perf's are in the order of the file

    def test_each_event_has_a_file(self):
        path = self.record()
        printed, files = [], []
        for program in ("perf", ANYPERF):
            shown = lines(program, "script", "--per-event-dump", "--show-task-events", "-i", path)
            printed.append([re.sub(r"^\[ (any)?perf script: Wrote \S+ MB", "[", line) for line in shown])
            names = sorted(path.parent.glob("perf.data.*.dump"))
            self.assertEqual([name.name for name in names], ["perf.data.cpu-clock:u.dump", "perf.data.page-faults:u.dump"])
            files.append([name.read_text() for name in names])
            for name in names:
                name.unlink()
        self.assertGreater(min(map(len, files[0])), 100)
        self.assertEqual(files[1], files[0])
        self.assertEqual(printed[1], printed[0])
        path.with_name("perf.data.cpu-clock:u.dump").mkdir()
        result = run(ANYPERF, "script", "--per-event-dump", "-i", path)
        self.assertEqual(result.returncode, 125)
        self.assertIn(b"perf.data.cpu-clock:u.dump", result.stderr)


if __name__ == "__main__":
    unittest.main()
