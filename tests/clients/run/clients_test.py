"""perf and PAPI work unmodified under `anyperf run`: they print plausible counts and samples, and find the CPU."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
PROGRAM = "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done"


def run(*words, check=True, **options):
    return subprocess.run([ANYPERF, "run", *words], text=True, capture_output=True, check=check, timeout=100, **options)


def perf_counts(text):
    """The counts in the output of `perf stat -x,`, by event."""
    rows = [line.split(",") for line in text.splitlines() if line.count(",") > 4]
    return {row[2]: row[0] for row in rows}


class Clients(unittest.TestCase):
    def need(self, program):
        if shutil.which(program) is None:
            self.skipTest(f"{program} is not installed")

    def test_perf_stat_counts_instructions_by_name(self):
        self.need("perf")
        counts = perf_counts(run("--", "perf", "stat", "-x,", "-e", "instructions:u,branches:u", "--", "true").stderr)
        self.assertGreater(int(counts["instructions:u"]), int(counts["branches:u"]))
        self.assertGreater(int(counts["branches:u"]), 1000)

    def test_perf_stat_counts_children(self):
        self.need("perf")
        one, five = (perf_counts(run("--", "perf", "stat", "-x,", "-e", "instructions:u", "--", "sh", "-c",
                                     "; ".join(["/bin/true"] * n) + "; :").stderr) for n in (1, 5))
        self.assertGreater(int(five["instructions:u"]), 2 * int(one["instructions:u"]))

    def test_perf_stat_marks_unsupported_events(self):
        self.need("perf")
        counts = perf_counts(run("--", "perf", "stat", "-x,", "-e", "node-loads", "--", "true", check=False).stderr)
        self.assertEqual(counts["node-loads"], "<not supported>")

    def test_perf_stat_counts_what_caches_and_predictors_do(self):
        self.need("perf")
        events = ["branch-misses:u", "cache-misses:u", "cache-references:u", "L1-dcache-load-misses:u", "dTLB-load-misses:u"]
        counts = perf_counts(run("--", "perf", "stat", "-x,", "-e", ",".join(events), "--", "true").stderr)
        counts = {name.removesuffix(":u"): int(count) for name, count in counts.items()}  # perf omits :u from some
        for event in events:
            self.assertGreater(counts[event.removesuffix(":u")], 0, event)
        self.assertGreaterEqual(counts["cache-references"], counts["cache-misses"])

    def test_perf_record_samples_instructions_and_names_functions(self):
        self.need("perf")
        with tempfile.TemporaryDirectory() as directory:
            data = str(Path(directory) / "perf.data")
            run("--", "perf", "record", "-e", "instructions:u", "-c", "10000", "-o", data, "--", "sh", "-c", PROGRAM)
            report = subprocess.run(["perf", "report", "-i", data, "--stdio"], text=True, capture_output=True, check=True)
        self.assertRegex(report.stdout, r"of event 'instructions:u'")
        self.assertNotIn("cpu-clock", report.stdout)
        self.assertRegex(report.stdout, r"\bsh\b")

    def test_perf_record_takes_a_sample_every_period(self):
        self.need("perf")
        period = 10000
        with tempfile.TemporaryDirectory() as directory:
            data = str(Path(directory) / "perf.data")
            counted = perf_counts(run("--", "perf", "stat", "-x,", "-e", "instructions:u", "--", "sh", "-c", PROGRAM).stderr)
            run("--", "perf", "record", "-e", "instructions:u", "-c", str(period), "-o", data, "--", "sh", "-c", PROGRAM)
            script = subprocess.run(["perf", "script", "-i", data, "-F", "ip"], text=True, capture_output=True, check=True)
        expected = int(counted["instructions:u"]) / period
        self.assertAlmostEqual(len(script.stdout.splitlines()), expected, delta=max(3, expected / 50))

    def script_of(self, *record, fields):
        """Records with the perf command `record`, and returns the output of `perf script` with `fields`."""
        self.need("perf")
        with tempfile.TemporaryDirectory() as directory:
            data = str(Path(directory) / "perf.data")
            run("--", "perf", *record, "-o", data, "--", "sh", "-c", PROGRAM)
            return subprocess.run(["perf", "script", "-i", data, "-F", fields], text=True, capture_output=True,
                                  check=True).stdout

    def test_perf_record_has_branches_in_each_sample(self):
        text = self.script_of("record", "-b", "-e", "instructions:u", "-c", "10000", fields="ip,brstack")
        stacks = [line.split()[1:] for line in text.splitlines()]
        self.assertGreater(len(stacks), 10)
        self.assertTrue(all(len(stack) == 32 for stack in stacks[1:]))
        self.assertRegex(stacks[-1][0], r"^0x[0-9a-f]+/0x[0-9a-f]+/[MP]/-/-/0/")
        self.assertRegex(stacks[-1][1], r"^0x[0-9a-f]+/0x[0-9a-f]+/[MP]/-/-/[1-9][0-9]*/")

    def test_perf_record_has_call_graphs_from_last_branches(self):
        text = self.script_of("record", "--call-graph", "lbr", "-e", "instructions:u", "-c", "10000", fields="ip,sym")
        deepest = max(len(stack.splitlines()) for stack in text.split("\n\n"))
        self.assertGreater(deepest, 4)

    def test_perf_record_samples_by_time(self):
        text = self.script_of("record", "-e", "cpu-clock:u", "-F", "4000", fields="ip")
        self.assertGreater(len(text.splitlines()), 3)

    def test_perf_mem_record_has_addresses_and_kinds_of_access(self):
        text = self.script_of("mem", "record", fields="event,addr,data_src")
        loads = [line for line in text.splitlines() if "mem-loads" in line]
        stores = [line for line in text.splitlines() if "mem-stores" in line]
        self.assertTrue(loads and stores)
        self.assertTrue(any("OP LOAD" in line for line in loads))
        self.assertTrue(any("OP STORE" in line for line in stores))

    def test_perf_stat_opens_breakpoints(self):
        self.need("perf")
        counts = perf_counts(run("--", "perf", "stat", "-x,", "-e", "mem:0x1000:x:u", "--", "true").stderr)
        self.assertEqual(counts["mem:0x1000:x:u"], "0")

    def test_papi_finds_the_cpu_and_its_counters(self):
        self.need("papi_avail")
        text = run("--", "papi_avail").stdout
        self.assertRegex(text, r"Family/Model/Stepping 6/(85/4|94/3)")
        self.assertGreater(int(re.search(r"Number Hardware Counters : (\d+)", text).group(1)), 0)
        self.assertRegex(text, r"PAPI_TOT_INS\s+\S+\s+Yes")


if __name__ == "__main__":
    unittest.main()
