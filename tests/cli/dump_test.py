"""`anyperf report -D` and `script -D` print each record as perf does."""
import difflib
import shutil
import unittest

from perf_recording import perf_record, perf_record_through_a_pipe
from program import ANYPERF, Case
from report_test import run

FORKS = ["sh", "-c", "ls -lR /usr/include/linux >/dev/null; seq 20000 | sort -R | md5sum"]
COMPUTES = ["seq", "-f", "%.3f", "200000"]  # in user mode, in one process


def records(words):
    """Without the titles of perf's report, which says how to see the header."""
    result = run(*words)
    lines = result.stdout.decode(errors="replace").splitlines()
    while lines and (not lines[0] or lines[0].startswith("#")):
        lines.pop(0)
    return lines


@unittest.skipUnless(shutil.which("perf"), "perf is not installed")
class Dump(Case):
    def assert_agrees(self, path, *verbs, of_perf=()):
        for verb in verbs or ("report", "script"):
            words = [verb, "-D", "--no-inline", "-i", path]
            theirs, ours = records(["perf", *words, *of_perf]), records([ANYPERF, *words])
            self.assertGreater(sum("PERF_RECORD_SAMPLE" in line for line in theirs), 3)
            if ours != theirs:
                self.fail("\n".join(list(difflib.unified_diff(theirs, ours, "perf", "anyperf", n=2, lineterm=""))[:60]))

    def record(self, *options, command=None):
        return perf_record(self, self.file("perf.data"), "-F", "1000", *options, command=command or FORKS)

    def test_call_chains(self):
        self.assert_agrees(self.record("-e", "cpu-clock", "-g"))

    def test_copied_stacks_and_registers(self):
        self.assert_agrees(self.record("-e", "cpu-clock:u", "--call-graph", "dwarf,512", "--intr-regs=ax,ip"), "report")

    def test_addresses_weights_and_compression(self):
        self.assert_agrees(self.record("-e", "cpu-clock:u", "-z", "-d", "-W"), "report")

    def test_values_of_a_group(self):
        self.assert_agrees(self.record("-e", "{cpu-clock:u,page-faults:u}:S", command=COMPUTES), "report")

    def test_other_records_and_cpus(self):
        self.assert_agrees(self.record("-e", "cpu-clock:u", "-s", "--sample-cpu", "--switch-events", "--namespaces", "--all-cgroups"), "report")

    def test_branches(self):
        path = self.file("perf.data")
        run(ANYPERF, "run", "--", "perf", "record", "-j", "any,save_type", "-e", "branches:u", "-c", "20000", "-o", path, "--", "seq", "9000")
        self.assert_agrees(path, "report", of_perf=["--no-branch-stack"])  # with them perf counts each branch as a sample

    def test_tracepoints(self):
        self.assert_agrees(self.record("-e", "sched:sched_process_exec"), "report")

    def test_a_stream_has_the_records_of_the_file(self):
        piped = perf_record_through_a_pipe(self.file("pipe.data"), "-e", "cpu-clock:u", "-F", "1000", command=COMPUTES)
        with piped.open("rb") as stream:
            streamed = run(ANYPERF, "report", "-D", "-i", "-", stdin=stream).stdout.decode(errors="replace").splitlines()
        whole = run(ANYPERF, "report", "-D", "-i", piped).stdout.decode(errors="replace").splitlines()
        self.assertEqual(streamed, [line.replace(f"@{piped} ", "@- ") for line in whole[:len(streamed)]])
        self.assertGreater(sum("PERF_RECORD_SAMPLE" in line for line in streamed), 1)


if __name__ == "__main__":
    unittest.main()
