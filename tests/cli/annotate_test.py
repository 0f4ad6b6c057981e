"""`anyperf annotate` gives each instruction the share that `perf annotate --stdio` gives it."""
import json
import os
import re
import shutil
import subprocess
import unittest

from perf_recording import perf_record
from program import ANYPERF, Case
from report_test import run

PROGRAM = r"""
#include <stdio.h>
static inline unsigned mix(unsigned a) { a ^= a >> 7; a *= 0x9E3779B1u; return a ^ a << 3; }
__attribute__((noipa)) unsigned hot(unsigned n) {
    unsigned sum = 0;
    for (unsigned i = 0; i < n; ++i)
        sum += mix(i) % 7;
    return sum;
}
__attribute__((noipa)) unsigned cool(unsigned n) {
    unsigned sum = 0;
    for (unsigned i = 0; i < n; ++i)
        sum ^= i / (sum | 1);
    return sum;
}
int main(void) { printf("%u\n", hot(200000000) + cool(20000000)); }
"""


class Annotate(Case):
    def setUp(self):
        super().setUp()
        for program in ("perf", "cc"):
            if not shutil.which(program):
                self.skipTest(f"{program} is not installed")
        self.program = self.file("program")

    def record(self, *options, events=("-e", "cpu-clock:u")):
        source = self.file("program.c", PROGRAM)
        subprocess.run(["cc", "-O2", *options, "-o", self.program, source], check=True, timeout=60)
        return perf_record(self, self.file("perf.data"), "-F", "2000", *events, command=[self.program])

    def annotate(self, *words):
        """Without perf's copies of recorded files, which are in the home directory."""
        return subprocess.run([ANYPERF, "annotate", *map(str, words)], text=True, capture_output=True, timeout=60, check=False,
                              env={**os.environ, "HOME": self.directory.name})

    def shares(self, text):
        """The shares that are not 0, by address."""
        found = {}
        for share, address in re.findall(r"^\s*(\d+\.\d\d)\s+:\s+([0-9a-f]+):", text, re.M):
            if float(share) > 0:
                found[int(address, 16)] = float(share)
        return found

    def assert_shares_agree(self, path, symbol):
        perf = run("perf", "annotate", "--stdio", "-i", path, "-s", symbol).stdout.decode(errors="replace")
        ours = self.annotate("-i", path, "-s", symbol)
        self.assertEqual(ours.returncode, 0, ours.stderr)
        expected = self.shares(perf)
        self.assertGreater(len(expected), 1, perf)
        self.assertEqual(self.shares(ours.stdout), expected)
        return ours.stdout

    def test_shares_agree_with_perf(self):
        path = self.record("-g")
        for symbol in ("hot", "cool"):
            text = self.assert_shares_agree(path, symbol)
            self.assertIn("for (unsigned i = 0; i < n; ++i)", text)
        self.assertIn("mix (program.c):", self.annotate("-i", path, "hot").stdout)

    def test_per_cent_of_the_event_and_of_samples_agree_with_perf(self):
        path = self.record("-g")
        # perf 6.1 shows no instruction with global-hits. Here all samples have one period, so hits and periods have the same shares.
        for kind, perfs in (("local-period", "local-period"), ("global-period", "global-period"), ("local-hits", "local-hits"),
                            ("global-hits", "global-period"), ("hits-global", "global-period")):
            # With -s, perf counts the samples of that function only.
            perf = run("perf", "annotate", "--stdio", "--percent-type", perfs, "-i", path).stdout.decode(errors="replace")
            ours = self.shares(self.annotate("-i", path, "-s", "hot", "--percent-type", kind).stdout)
            self.assertGreater(len(ours), 1)
            self.assertEqual(ours, {address: share for address, share in self.shares(perf).items() if address in ours}, kind)
        self.assert_error(self.annotate("-i", path, "--percent-type", "all"), 125, "--percent-type", "local-period")

    def columns(self, text):
        """The shares of each instruction, of all events of a group, by address; where one is not 0."""
        found = {}
        for shares, address in re.findall(r"^((?:\s+\d+\.\d\d)+)\s*:\s+([0-9a-f]+):", text, re.M):
            values = [float(share) for share in shares.split()]
            if any(values):
                found[int(address, 16)] = values
        return found

    def test_a_group_has_a_column_for_each_event_as_in_perf(self):
        path = self.record("-g", events=("-e", "{cpu-clock:u,task-clock:u,page-faults:u}"))
        perf = self.columns(run("perf", "annotate", "--stdio", "--group", "-i", path, "-s", "hot").stdout.decode(errors="replace"))
        result = self.annotate("--group", "-i", path, "-s", "hot")
        ours = self.columns(result.stdout)
        self.assertGreater(len(ours), 1, result.stderr)
        self.assertEqual({len(values) for values in ours.values()}, {3})
        self.assertEqual(ours, perf)
        rows = json.loads(self.annotate("--group", "--json", "-i", path).stdout)
        self.assertEqual([row["event"] for row in rows], ["cpu-clock:u"] * len(rows))
        for row in rows:
            for i, other in enumerate(row["others"]):
                self.assertEqual(sum(line["others"][i]["samples"] for line in row["code"]) + other["elsewhere"], other["samples"])

    def test_bytes_of_instructions_and_directories_of_sources_are_shown(self):
        path = self.record("-g")
        text = self.annotate("-i", path, "hot", "--asm-raw", "-P").stdout
        self.assertRegex(text, r"[0-9a-f]+:   c3 +ret")
        self.assertIn(f"mix ({self.file('program.c')}):", text)
        self.assertNotRegex(self.annotate("-i", path, "hot").stdout, r"[0-9a-f]+:   c3 ")

    def test_instructions_agree_without_debug_info(self):
        path = self.record("-g0")
        text = self.assert_shares_agree(path, "hot")
        self.assertIn("has no DWARF", text)
        self.assertRegex(text, r"\bret")

    def test_instructions_are_those_of_objdump(self):
        if not shutil.which("objdump"):
            self.skipTest("objdump is not installed")
        path = self.record("-g")
        shown = run("objdump", "-d", "--no-show-raw-insn", "--disassemble=hot", self.program).stdout.decode()
        expected = [(int(address, 16), name) for address, name in re.findall(r"^\s+([0-9a-f]+):\s+(\w+)", shown, re.M)]
        for style in ("att", "intel"):
            code = json.loads(self.annotate("-i", path, "hot", "--json", "-M", style).stdout)[0]["code"]
            addresses = [line["address"] for line in code]
            self.assertEqual(addresses, [address for address, _ in expected])
            self.assertEqual("%" in code[0]["text"], style == "att", code[0])
        # Both name the jumps alike in Intel's syntax, which has no suffixes for sizes.
        jumps = {line["address"]: line["text"].split()[0] for line in code if line["text"].startswith("j")}
        self.assertGreater(len(jumps), 0)

    def test_json_adds_up(self):
        path = self.record("-g", events=("-e", "cpu-clock:u", "-e", "task-clock:u"))
        functions = json.loads(self.annotate("-i", path, "--json").stdout)
        self.assertEqual({each["event"] for each in functions}, {"cpu-clock:u", "task-clock:u"})
        for each in functions:
            self.assertEqual(sum(line["period"] for line in each["code"]), each["period"])
            self.assertEqual(sum(line["samples"] for line in each["code"]) + each["elsewhere"], each["samples"])
            self.assertTrue(all(each["begin"] <= line["address"] < each["end"] for line in each["code"]))
        hot = next(each for each in functions if each["symbol"] == "hot")
        self.assertEqual(sum(line["period"] for line in hot["lines"]), hot["period"])
        self.assertTrue(any("sum += mix(i) % 7" in line["text"] for line in hot["lines"]))

    def test_without_a_function_the_hottest_comes_first(self):
        path = self.record("-g")
        names = [each["symbol"] for each in json.loads(self.annotate("-i", path, "--json").stdout)]
        self.assertEqual(names[:2], ["hot", "cool"])
        only = json.loads(self.annotate("-i", path, "--json", "--percent-limit", "50").stdout)
        self.assertEqual([each["symbol"] for each in only], ["hot"])

    def test_another_file_is_refused_with_its_build_id(self):
        path = self.record("-g")
        subprocess.run(["cc", "-O1", "-g", "-o", self.program, self.file("program.c", PROGRAM + "int other;")], check=True, timeout=60)
        result = self.annotate("-i", path, "-s", "hot")
        self.assert_error(result, 125, "cannot annotate hot", "has the build id", str(self.program))

    def test_every_verb_notes_a_program_that_was_built_anew(self):
        path = self.record("-g")
        home = {"env": {**os.environ, "HOME": self.directory.name}}  # without perf's copies
        before = run(ANYPERF, "report", "-i", path, **home)
        self.assertNotIn(b"replaced", before.stderr)
        subprocess.run(["cc", "-O1", "-g", "-o", self.program, self.file("program.c", PROGRAM + "int other;")], check=True, timeout=60)
        for words in (["report"], ["report", "--json"], ["annotate"], ["annotate", "--json"], ["script"], ["export", "-f", "folded"]):
            result = run(ANYPERF, *words, "-i", path, **home)
            self.assertEqual(result.returncode, 0, words)
            self.assertIn(f"names: {self.program} has been replaced", result.stderr.decode(), words)
        self.assertIn(b"has been replaced", run(ANYPERF, "diff", path, path, **home).stderr)

    def test_nothing_to_show_is_said(self):
        result = self.annotate("-i", self.record("-g"), "--percent-limit", "100")
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertIn("nothing to show", result.stderr)

    def test_a_missing_file_is_named(self):
        path = self.record("-g")
        self.program.unlink()
        result = self.annotate("-i", path, "-s", "hot")
        self.assert_error(result, 125, "cannot annotate hot", f"{self.program}: No such file or directory")

    def test_missing_sources_are_noted(self):
        path = self.record("-g")
        self.file("program.c").unlink()
        result = self.annotate("-i", path, "-s", "hot")
        self.assertEqual(result.returncode, 0)
        self.assertIn("program.c: No such file or directory", result.stderr)
        self.assertGreater(len(self.shares(result.stdout)), 1)
        self.file("program.c").mkdir()
        self.assertIn("program.c: Is a directory", self.annotate("-i", path, "-s", "hot").stderr)

    def test_sources_that_have_moved_are_found_behind_a_prefix(self):
        path = self.record("-g")
        moved = self.file("moved")
        moved.mkdir()
        self.file("program.c").rename(moved / "program.c")
        shown = self.annotate("-i", path, "-s", "hot", "--prefix", moved, "--prefix-strip", len(self.file("program.c").parts) - 2)
        self.assertNotIn("No such file", shown.stderr)
        self.assertIn("unsigned n) {", shown.stdout)
        self.assert_error(self.annotate("-i", path, "--prefix-strip", "1"), 125, "--prefix-strip requires --prefix", "")

    def test_a_function_without_samples_is_refused(self):
        result = self.annotate("-i", self.record("-g"), "-s", "nothing")
        self.assert_error(result, 125, "cannot annotate nothing", "no sample is in a function of this name")


if __name__ == "__main__":
    unittest.main()
