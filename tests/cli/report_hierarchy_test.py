"""`anyperf report --hierarchy` prints the rows that perf 6.1 prints, line by line."""
import re
import unittest

from program import ANYPERF
from sample_filters_test import Recorded, run, text

ROW = re.compile(r"( +)[0-9.]+%")


def levels_of(lines):
    """Each line with what is above it. Rows of one share have no order among those with the same row above them."""
    above, found = [], []
    for line in lines:
        row = ROW.match(line)
        if row:
            above = above[:(len(line[:line.index("%")]) - 9) // 3] + [line.rstrip()]
        else:
            above[-1] += "\n" + line.rstrip()
        found.append(tuple(above))
    return found


def siblings_ascend(levels):
    """Whether a row comes after one with a smaller share and the same row above it."""
    last = {}
    for path in levels:
        share = float(path[-1].split("%")[0])
        if share > last.get(path[:-1], 100):
            return True
        last[path[:-1]] = share
    return False


def rows(program, path, *options):
    words = ["report", "-i", path, "--stdio", "--hierarchy"]
    if program == "perf":
        words.append("--no-children")
    if "-g" not in options and program == "perf":
        words += ["-g", "none"]
    lines = [line for line in text(program, *words, *options).splitlines() if line.strip() and not line.startswith("#")]
    # A caller without a name is an address of the process in perf, and of the object here (compatibility.md).
    return [re.sub(r"^( +)0x[0-9a-f]+$", r"\1an address", line.rstrip()) for line in lines]


class Hierarchy(Recorded):
    def assert_same(self, path, *options):
        perf, ours = rows("perf", path, *options), rows(ANYPERF, path, *options)
        self.assertGreater(len(perf), 3, options)
        self.assertEqual(sorted(levels_of(ours)), sorted(levels_of(perf)), options)
        self.assertFalse(siblings_ascend(levels_of(ours)), ours)

    def test_rows_are_those_of_perf(self):
        path = self.record("-e", "cpu-clock:u", command="seq 1 90000 | sort -R | md5sum; gcc -x c -E -include stdio.h /dev/null >/dev/null")
        self.assert_same(path)
        self.assert_same(path, "-n")
        self.assert_same(path, "--show-total-period", "-s", "dso,comm")
        self.assert_same(path, "-s", "{comm,dso},sym")
        self.assert_same(path, "-s", "comm,{dso,sym}")
        self.assert_same(path, "--percent-limit", "8")
        self.assert_same(path, "--comms", "sort,md5sum", "-s", "comm,sym")

    def test_a_group_has_a_column_for_each_event(self):
        path = self.record("-e", "{cpu-clock,page-faults}:S", command="seq 1 90000 | sort -R | md5sum")
        perf, ours = (sorted(" ".join(line.split()) for line in rows(program, path)) for program in ("perf", ANYPERF))
        self.assertEqual(ours, perf)

    def test_stacks_are_below_the_last_level(self):
        path = self.record("-e", "cpu-clock:u", "-g", command="seq 1 90000 | sort -R")
        self.assert_same(path, "-g", "flat,5,callee", "--no-inline")

    def test_titles_name_the_levels(self):
        path = self.record("-e", "cpu-clock:u", command="seq 1 9000")
        self.assertIn("#       Overhead  Command / Shared Object / Symbol\n", text(ANYPERF, "report", "-i", path, "--hierarchy"))
        self.assertIn("#    Overhead  Command+Shared Object / Symbol\n", text(ANYPERF, "report", "-i", path, "--hierarchy", "-s", "{comm,dso},sym"))

    def test_fields_and_json_are_refused(self):
        for options in (("-F", "overhead,comm"), ("--json",)):
            result = run(ANYPERF, "report", "--hierarchy", *options)
            self.assertEqual(result.returncode, 125)
            self.assertIn(b"--hierarchy", result.stderr)


if __name__ == "__main__":
    unittest.main()
