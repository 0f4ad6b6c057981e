"""Under `anyperf run`, perf counts, records and traces tracepoints, and attaches to programs that already run."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
LOOP = "i=0; while :; do i=$((i+1)); done"
# Waits until process $ID has used 0.1 s of CPU time more, however long that takes.
USE = "set -- $(cat /proc/$ID/stat); end=$((${14} + 10)); until set -- $(cat /proc/$ID/stat); [ ${14} -ge $end ]; do sleep 0.01; done"
# A program that runs before any event is opened, and is killed after the measurement.
ATTACHED = f"sh -c '{LOOP}' & export ID=$!; {USE}; %s -p $ID -- sh -c '{USE}'; status=$?; kill $ID; exit $status"


def run(*words, **options):
    return subprocess.run([ANYPERF, "run", "--", *words], text=True, capture_output=True, timeout=200, **options)


def run_on_one_cpu(*words):
    """Runs on one CPU. perf trace reads the rings of the CPUs one after the other: it may print calls of a thread that moves
    between CPUs before it has read the thread's name."""
    return run(*words, preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))


def count_of(event, text):
    rows = [line.split(",") for line in text.splitlines() if line.count(",") > 4]
    return [row[0] for row in rows if row[2] == event]


@unittest.skipUnless(shutil.which("perf"), "perf is not installed")
class Tracing(unittest.TestCase):
    def test_perf_trace_prints_system_calls_with_their_arguments(self):
        traced = run_on_one_cpu("perf", "trace", "--", "cat", "/dev/null")
        self.assertEqual(traced.returncode, 0, traced.stderr)
        self.assertRegex(traced.stderr, r"cat/\d+ close\(fd: 3\S*\) +.*= 0")
        self.assertRegex(traced.stderr, r"cat/\d+ exit_group\(\)")

    def test_perf_trace_prints_only_the_selected_calls(self):
        traced = run_on_one_cpu("perf", "trace", "-e", "openat", "--", "cat", "/dev/null")
        calls = set(re.findall(r"cat/\d+ (\w+)\(", traced.stderr))
        self.assertEqual(calls, {"openat"}, traced.stderr)

    def test_perf_stat_counts_system_calls_and_processes(self):
        counted = run("perf", "stat", "-x,", "-e", "syscalls:sys_enter_execve,sched:sched_process_exit", "--", "sh", "-c",
                      "/bin/true; /bin/true; :")
        # perf's events are enabled inside the first execve, which is not counted.
        self.assertEqual(count_of("syscalls:sys_enter_execve", counted.stderr), ["2"], counted.stderr)
        self.assertEqual(count_of("sched:sched_process_exit", counted.stderr), ["3"], counted.stderr)

    def test_perf_stat_counts_only_what_passes_the_filter(self):
        counted = run("perf", "stat", "-x,", "-e", "syscalls:sys_enter_write", "--filter", "count == 3", "--", "sh", "-c",
                      "echo a; echo ab; echo abc; echo cd")
        self.assertEqual(count_of("syscalls:sys_enter_write", counted.stderr), ["2"], counted.stderr)

    def test_perf_record_has_the_arguments_of_each_call(self):
        with tempfile.TemporaryDirectory() as directory:
            data = str(Path(directory) / "perf.data")
            recorded = run("perf", "record", "-e", "syscalls:sys_enter_write", "-o", data, "--", "sh", "-c", "echo ab; echo c")
            self.assertEqual(recorded.returncode, 0, recorded.stderr)
            script = subprocess.run(["perf", "script", "-i", data], text=True, capture_output=True, check=True)
        counts = re.findall(r"syscalls:sys_enter_write: fd: 0x0+1, buf: 0x[0-9a-f]+, count: (0x\w+)", script.stdout)
        self.assertEqual([int(count, 16) for count in counts], [3, 2], script.stdout)

    def test_perf_stat_attaches_to_a_running_program(self):
        counted = run("sh", "-c", ATTACHED % "perf stat -x, -e instructions:u")
        [count] = count_of("instructions:u", counted.stderr)
        self.assertGreater(int(count), 100_000, counted.stderr)

    def test_perf_record_attaches_to_a_running_program(self):
        with tempfile.TemporaryDirectory() as directory:
            data = str(Path(directory) / "perf.data")
            recorded = run("sh", "-c", ATTACHED % f"perf record -e instructions:u -c 100000 -o {data}")
            script = subprocess.run(["perf", "script", "-i", data, "-F", "comm"], text=True, capture_output=True, check=True)
        self.assertGreater(script.stdout.count("sh"), 3, recorded.stderr)


if __name__ == "__main__":
    unittest.main()
