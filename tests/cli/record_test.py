"""`anyperf record`: perf and anyperf read what it writes alike, and both name the function that used the time."""
import difflib
import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from program import ANYPERF, Case
from report_test import our_rows, perf_rows, report, run

# `hot N`: N rounds, and a twentieth as many of the cool function. `hot Ts`: the same shares of T seconds of CPU time, on a CPU of any speed.
PROGRAM = r"""
#include <stdlib.h>
#include <time.h>
volatile unsigned long sum;
__attribute__((noinline)) void hot_function(unsigned long n) { for (unsigned long i = 0; i < n; i++) sum += i * i; }
__attribute__((noinline)) void cool_function(unsigned long n) { for (unsigned long i = 0; i < n; i++) sum += i; }
static double seconds_used(void) { return (double)clock() / CLOCKS_PER_SEC; }
static void run_for(double seconds) {
    while (seconds_used() < 0.95 * seconds) hot_function(1000000);
    while (seconds_used() < seconds) cool_function(1000000);
}
int main(int count, char** words) {
    char* end = "";
    double amount = count > 1 ? strtod(words[1], &end) : 1000;
    if (*end == 's') return run_for(amount), 0;
    hot_function((unsigned long)amount);
    cool_function((unsigned long)(amount / 20));
    return count > 2 ? 7 : 0;
}
"""

MIGRATING = r"""
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
int main(int count, char** words) {
    for (int moves = 0; moves < 200; ++moves) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(words[1 + moves % 2][0] - '0', &one);
        sched_setaffinity(0, sizeof one, &one);
        for (volatile int i = 0; i < 1000; ++i) {}
    }
}
"""


class Recorder(Case):
    """Records a program with a hot function."""

    def setUp(self):
        super().setUp()
        if not shutil.which("cc"):
            self.skipTest("there is no C compiler")
        self.program = self.file("hot")
        subprocess.run(["cc", "-O1", "-g", "-fno-omit-frame-pointer", "-x", "c", "-", "-o", self.program], input=PROGRAM, text=True,
                       check=True, timeout=60)
        self.path = self.file("perf.data")

    def record(self, *options, loops=30_000_000, seconds=None, status=0, command=None):
        words = command or [self.program, f"{seconds}s" if seconds else loops]
        result = run(ANYPERF, "record", *options, "-o", self.path, "--", *words)
        if b"kernel.perf_event_paranoid" in result.stderr and not self.path.exists():
            self.skipTest("the kernel does not let us record")
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stderr.decode()

    def assert_hot(self, path=None, least=0.5):
        rows = our_rows(report("-i", path or self.path, "--json"))
        hot = sum(weight for (_, _, symbol), weight in rows.items() if symbol == "hot_function")
        self.assertGreater(hot, least * rows.total(), rows)

    def assert_perf_agrees(self, path=None, may_lose=False):
        """perf reads the file without a word, and prints the same samples and weights. `may_lose`: it may say that records were lost."""
        warning = rb"Warning:\nProcessed \d+ events and lost \d+ chunks!\n\nCheck IO/CPU overload!\n\n" if may_lose else rb"$^"

        def said(result):
            return re.sub(warning, b"", result.stderr)
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        path = path or self.path
        perf = run("perf", "script", "--no-inline", "-i", path)
        self.assertEqual(said(perf), b"")
        ours = run(ANYPERF, "script", "--no-inline", "-i", path)
        lines = [text.stdout.decode(errors="replace").splitlines() for text in (perf, ours)]
        self.assertGreater(len(lines[0]), 10)
        differing = [line for line in difflib.unified_diff(*lines, n=0, lineterm="") if line[0] in "+-"][2:]
        self.assertLessEqual(len(differing), 0.01 * len(lines[0]), differing[:10])
        shown = run("perf", "report", "-i", path, "--stdio", "--header")
        self.assertEqual(said(shown), b"")
        self.assertEqual(perf_rows(path).total(), our_rows(report("-i", path, "--json")).total())
        return shown.stdout.decode()

    def start(self, loops):
        """Starts the program. Popen() returns after the execve."""
        process = subprocess.Popen([self.program, str(loops)])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for_samples(self, recorder):
        """Waits until the recorder has written more than what existed before it began."""
        end = time.monotonic() + 30
        while not self.path.exists() or self.path.stat().st_size < 1 << 16:
            self.assertIsNone(recorder.poll(), "the recorder has ended")
            self.assertLess(time.monotonic(), end, "no samples were written")
            time.sleep(0.05)


class Record(Recorder):
    def test_the_virtual_pmu_names_the_hot_function(self):
        notes = self.record("--virtual", "-e", "instructions:u", "-c", "100000")
        self.assertIn("recording in user space (virtual PMU)", notes)
        self.assert_hot(least=0.8)

    def test_perf_reads_what_the_virtual_pmu_recorded(self):
        self.record("--virtual", "-e", "instructions:u", "-c", "100000", "-g")
        header = self.assert_perf_agrees()
        for fact in ("hostname", "os release", "perf version : anyperf", "arch", "nrcpus online", "cpudesc", "total memory", "cmdline",
                     "event : name = instructions:u", "time of first sample"):
            self.assertIn(fact, header)

    def test_several_events_of_the_virtual_pmu_agree(self):
        self.record("--virtual", "-e", "instructions:u", "-e", "branches:u", "-c", "100000")
        self.assert_perf_agrees()
        events = {row["event"] for row in json.loads(report("-i", self.path, "--json").stdout)}
        self.assertEqual(len(events), 2)

    def test_virtual_periods_go_on_when_a_thread_changes_its_cpu(self):
        first, *others = [cpu for cpu in sorted(os.sched_getaffinity(0)) if cpu < 10]
        if not others:
            self.skipTest("there is one CPU")
        subprocess.run(["cc", "-O1", "-x", "c", "-", "-o", self.program], input=MIGRATING, text=True, check=True, timeout=60)

        def samples(*cpus):
            # At fixed addresses: the loader's instructions depend on where things are.
            run("setarch", "-R", ANYPERF, "record", "--virtual", "-e", "instructions:u", "-c", "1009", "-o", self.path, "--", self.program, *cpus)
            return run(ANYPERF, "script", "-i", self.path, "-F", "ip,sym").stdout
        self.assertEqual(samples(first, others[0]), samples(first, first))

    def test_a_default_event_is_recorded_on_every_machine(self):
        self.record()
        self.assert_hot()

    def test_the_kernels_clock_agrees(self):
        self.record("--kernel", "-e", "cpu-clock:u", "-F", "2000", "-g")
        self.assert_hot()
        self.assert_perf_agrees()

    def test_the_kernels_several_events_agree(self):
        self.record("--kernel", "-e", "cpu-clock:u", "-e", "page-faults:u", "-c", "100000")
        self.assert_perf_agrees()

    def test_kernel_mode_is_recorded_where_it_may_be(self):
        self.record("--kernel", "-e", "cpu-clock", "-F", "2000", command=["sh", "-c", "ls -lR /usr/include >/dev/null; seq 300000 >/dev/null"])
        self.assert_perf_agrees()

    def test_children_and_threads_are_recorded(self):
        self.record("--kernel", "-e", "cpu-clock:u", "-F", "2000", command=["sh", "-c", f"seq 200000 | sort -R --parallel=2 | md5sum; {self.program} 30000000"])
        comms = {comm for comm, _, _ in our_rows(report("-i", self.path, "--json"))}
        self.assertLessEqual({"sort", "hot"}, comms)
        self.assert_perf_agrees()

    def test_leader_sampling_has_the_values_of_the_group(self):
        self.record("--kernel", "-e", "{cpu-clock,task-clock}:S", "-F", "1000")
        self.assert_perf_agrees()

    def test_compressed_recordings_agree(self):
        self.record("--kernel", "-e", "cpu-clock:u", "-F", "2000", "-g", "-z")
        self.assert_hot()
        self.assert_perf_agrees()

    def test_copied_stacks_are_recorded(self):
        self.record("--kernel", "-e", "cpu-clock:u", "-F", "500", "--call-graph", "dwarf,4096")
        if shutil.which("perf"):
            text = run("perf", "script", "--no-inline", "-i", self.path).stdout.decode()
            self.assertRegex(text, r"hot_function[^\n]*\n[^\n]*main")

    def test_a_pipe_has_the_recording_and_not_the_commands_output(self):
        for options in (["--kernel", "-e", "cpu-clock:u"], ["--kernel", "-e", "cpu-clock:u", "-e", "page-faults:u", "-z"]):
            result = run(ANYPERF, "record", *options, "-o", "-", "--", "sh", "-c", f"echo said; {self.program} 30000000")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(b"said", result.stderr)
            self.path.write_bytes(result.stdout)
            self.assert_hot()
            self.assert_perf_agrees()

    def test_a_running_process_is_recorded_until_it_ends(self):
        process = self.start(1_500_000_000)
        result = run(ANYPERF, "record", "-e", "cpu-clock:u", "-F", "1000", "-o", self.path, "-p", process.pid)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_hot()
        self.assert_perf_agrees()

    def test_a_thread_and_all_cpus_are_recorded_while_a_command_runs(self):
        process = self.start(1 << 40)
        cpu = min(os.sched_getaffinity(0))
        os.sched_setaffinity(process.pid, {cpu})  # or that CPU might have nothing to do
        for target in (["-t", process.pid], ["-a"], ["-C", cpu]):
            self.record("-e", "cpu-clock:u", "-F", "1000", *target, command=["sleep", "0.5"])
            if target[0] == "-t":  # elsewhere other programs may take the most, or it is on another CPU
                self.assert_hot()
            self.assert_perf_agrees()

    def test_a_delay_leaves_the_beginning_out(self):
        self.record("--kernel", "-e", "cpu-clock:u", "-F", "1000", "-D", "300", command=["sh", "-c", f"sleep 0.6; exec {self.program} 0.2s"])
        self.assert_hot()

    def test_tracepoints_have_their_fields(self):
        if not os.access("/sys/kernel/tracing/events/sched", os.R_OK):
            self.skipTest("tracefs cannot be read")
        self.record("--kernel", "-e", "sched:sched_process_exec", command=["sh", "-c", "/bin/true; /bin/true"])
        rows = json.loads(report("-i", self.path, "--json", "-s", "comm").stdout)
        self.assertGreaterEqual(sum(row["samples"] for row in rows), 3)

    def test_the_size_of_the_file_is_limited(self):
        notes = self.record("--kernel", "-e", "cpu-clock:u", "-F", "10000", "--max-size", "20K", seconds=0.5)
        self.assertIn("--max-size", notes)
        self.assertLess(self.path.stat().st_size, 500_000)
        self.assert_hot()

    def test_a_full_disk_leaves_what_was_written_and_is_reported(self):
        # A limit on the size of files fails in the same place as a full disk.
        words = f"ulimit -f 40; exec {ANYPERF} record --kernel -e cpu-clock:u -F 20000 -g -o {self.path} -- {self.program} 0.5s"
        result = run("bash", "-c", f"trap '' XFSZ; {words}")
        self.assertEqual(result.returncode, 125, result.stderr)
        self.assertIn(b"has the records from before that", result.stderr)
        read = report("-i", self.path, "--json")
        self.assertNotIn(b"damaged", read.stderr)
        self.assert_hot()

    def test_ctrl_c_leaves_a_valid_file(self):
        process = self.start(1 << 40)
        # A small ring is written to the file soon, also where the process gets little of a CPU.
        recorder = subprocess.Popen([ANYPERF, "record", "-e", "cpu-clock:u", "-F", "10000", "-m", "4", "-o", str(self.path), "-p",
                                     str(process.pid)],
                                    stderr=subprocess.PIPE)
        self.wait_for_samples(recorder)
        recorder.send_signal(2)
        _, notes = recorder.communicate(timeout=30)
        self.assertIn(b"samples in", notes)
        self.assert_perf_agrees()

    def test_an_interrupt_ends_a_background_job_of_a_script(self):
        """A shell starts such a job with SIGINT ignored."""
        process = self.start(1 << 40)
        words = f"{ANYPERF} record -e cpu-clock:u -F 10000 -m 4 -o {self.path} -p {process.pid} & echo $!; wait $!"
        script = subprocess.Popen(["sh", "-c", words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        recorder = int(script.stdout.readline())
        self.wait_for_samples(script)
        os.kill(recorder, signal.SIGINT)
        _, notes = script.communicate(timeout=30)
        self.assertIn(b"samples in", notes)
        self.assert_perf_agrees()

    def test_z_has_its_level_in_the_same_word(self):
        self.record("--kernel", "-e", "cpu-clock:u", "-z3")
        self.assertIn("level = 3", run("perf", "report", "--header-only", "-i", self.path, text=True).stdout)
        self.assert_perf_agrees()

    def test_the_commands_status_is_that_of_record(self):
        self.record("--kernel", "-e", "cpu-clock:u", command=[self.program, 1000, "x"], status=7)

    def test_an_earlier_recording_is_kept(self):
        self.record("--kernel", "-e", "cpu-clock:u")
        self.record("--kernel", "-e", "cpu-clock:u")
        self.assertTrue(self.file("perf.data.old").exists())

    def test_a_command_that_cannot_run_leaves_files_alone(self):
        self.record("--kernel", "-e", "cpu-clock:u")
        earlier = self.path.read_bytes()
        for _ in range(2):
            self.record("--kernel", "-e", "cpu-clock:u", command=["./missing"], status=127)
        self.assertEqual(self.path.read_bytes(), earlier)
        self.path.unlink()
        self.record("--kernel", "-e", "cpu-clock:u", command=["./missing"], status=127)
        self.assertFalse(self.path.exists())


class BadInput(Case):
    def record(self, *words):
        return subprocess.run([ANYPERF, "record", *map(str, words)], text=True, capture_output=True, timeout=60, check=False,
                              cwd=self.directory.name)

    def test_wrong_options_are_refused_with_the_reason(self):
        self.assert_error(self.record(), 125, "nothing to record")
        self.assert_error(self.record("-F", "fast", "true"), 125, "not a number of samples")
        self.assert_error(self.record("-F", "1", "-c", "1", "true"), 125, "-F sets how often")
        self.assert_error(self.record("-p", "x"), 125, '"x" is not the number of a process')
        self.assert_error(self.record("-p", "1", "-a"), 125, "-p, -t and system-wide options")
        self.assert_error(self.record("--call-graph", "magic", "true"), 125, "'magic' is not a way")
        self.assert_error(self.record("--call-graph", "dwarf,70000", "true"), 125, "at most 65528")
        self.assert_error(self.record("-j", "odd", "true"), 125, "'odd' is not a branch filter")
        self.assert_error(self.record("--virtual", "-a"), 125, "sees only a command")
        self.assert_error(self.record("-m", "x", "true"), 125, "-m x")
        self.assert_error(self.record("-k", "sun", "true"), 125, "not a clock")

    def test_a_file_that_cannot_be_written_starts_nothing(self):
        result = self.record("-o", "absent/perf.data", "--", "touch", "started")
        self.assert_error(result, 125, "cannot write absent/perf.data")
        self.assertFalse(self.file("started").exists())

    def test_a_command_that_does_not_exist_has_the_shells_status(self):
        self.assert_error(self.record("--kernel", "-e", "cpu-clock:u", "--", "no-such-command"), 127, "no-such-command")


if __name__ == "__main__":
    unittest.main()
