"""perf's commands, unmodified, under `anyperf run` report the known call graph and hot spot of a small program."""
import os
import re
import shutil
import signal
import subprocess
import unittest

from compiled_program import CompiledProgram

ANYPERF = os.environ.get("ANYPERF", "anyperf")
SOURCE = """
#include <stdlib.h>
volatile long sink;
__attribute__((noinline)) void leaf(long n) { for (long i = 0; i < n; i++) sink += i * i % 7; }
__attribute__((noinline)) void middle(long n) { leaf(n); sink++; }
int main(int argc, char** argv) { for (long i = atol(argv[1]); i > 0; i--) middle(20000); return argc != 2; }
"""
# Waits until the program that a shell has started is executed; until then its name is the shell's.
AS_ITSELF = "until grep -q shaped /proc/$!/comm; do :; done"
USED = "until set -- $(cat /proc/$ID/stat); [ ${14} -ge 20 ]; do sleep 0.01; done"
LEAF = 20000 * 17  # lower bound of the instructions of one call of leaf


def rows(text):
    """The lines of a report without its header."""
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


@unittest.skipIf(shutil.which("perf") is None, "perf is not installed")
class PerfCommands(CompiledProgram):
    name = "shaped"
    source = SOURCE
    options = ("-O0", "-g")

    def perf(self, *words, calls=100, stderr=False, options=()):
        """Runs a perf command under anyperf, with options of `run`, in the data directory. The program and its argument
        replace the word SHAPED."""
        arguments = []
        for word in words:
            arguments += [str(self.program), str(calls)] if word == "SHAPED" else [word]
        got = subprocess.run([ANYPERF, "run", *options, "--", "perf", *arguments], text=True, capture_output=True, check=True,
                             timeout=100, cwd=self.directory)
        return got.stderr if stderr else got.stdout

    def test_stat_repeats(self):
        text = self.perf("stat", "-r", "3", "-e", "instructions:u", "SHAPED", stderr=True)
        self.assertRegex(text, r"\(3 runs\)")
        self.assertGreater(int(re.search(r"(\d+) +instructions:u", text)[1]), 100 * LEAF // 2)

    def test_stat_counts_intervals(self):
        text = self.perf("stat", "-x,", "-I", "20", "-e", "instructions:u", "SHAPED", calls=3000, stderr=True)
        counts = [int(line.split(",")[1]) for line in text.splitlines() if line.split(",")[1].isdigit()]
        self.assertGreater(len(counts), 2)
        self.assertGreater(sum(counts), 3000 * LEAF // 2)

    def test_stat_details_count_caches_and_mark_unsupported_events(self):
        text = self.perf("stat", "-d", "-d", "SHAPED", stderr=True)
        self.assertRegex(text, r"\d+ +instructions .* insn per cycle")
        self.assertRegex(text, r"\d+ +L1-dcache-loads")
        for event in ("L1-dcache-load-misses", "LLC-loads", "LLC-load-misses", "dTLB-load-misses", "iTLB-load-misses", "branch-misses"):
            self.assertRegex(text, rf"\d+ +{event}")
        self.assertRegex(text, r"<not supported> +L1-icache-loads")

    def test_stat_names_the_events_of_the_virtual_pmu_whatever_cpu_is_shown(self):
        text = self.perf("stat", "-x,", "-e", "inst_retired.any_p:u,br_inst_retired.conditional:u", "SHAPED", stderr=True,
                         options=("--cpu-model", "host"))
        counts = {line.split(",")[2]: int(line.split(",")[0]) for line in text.splitlines() if line}
        self.assertGreater(counts["inst_retired.any_p:u"], 100 * LEAF)
        self.assertGreater(counts["br_inst_retired.conditional:u"], 100 * 20000)

    def test_stat_counts_all_cpus(self):
        text = self.perf("stat", "-a", "-A", "-x,", "-e", "instructions:u", "SHAPED", stderr=True)
        counts = [int(line.split(",")[1]) for line in text.splitlines() if line.startswith("CPU")]
        self.assertEqual(len(counts), os.sysconf("SC_NPROCESSORS_ONLN"))
        self.assertGreater(sum(counts), 100 * LEAF // 2)

    def test_stat_names_the_threads_of_a_running_program(self):
        # Measured until the program has used 0.2 s of CPU time, however long that takes.
        script = f"{self.program} 1000000 & {AS_ITSELF}; export ID=$!; " \
                 f"perf stat --per-thread -x, -e instructions:u -p $! -- sh -c '{USED}'; kill $!"
        got = subprocess.run([ANYPERF, "run", "--", "sh", "-c", script], text=True, capture_output=True, timeout=100)
        self.assertRegex(got.stderr, r"(?m)^shaped-\d+,\d{5,},,instructions:u")

    def test_record_finds_callers_by_frame_pointers(self):
        self.perf("record", "-q", "-e", "instructions:u", "-c", "100003", "-g", "-o", "g.data", "SHAPED")
        chain = rows(self.perf("report", "-i", "g.data", "--stdio", "--no-children", "-g", "caller"))
        self.assertRegex(chain[0], r"9\d\.\d+%.*leaf|100.00%.*leaf")
        # A sample at leaf's first instruction, where the frame pointer is still middle's, has no middle: then main's callees have shares.
        functions = [name for line in chain[1:] if (name := re.sub(r"^[ |]*(--+(\d+\.\d+%--)?)?", "", line))]
        at = functions.index("main")
        self.assertEqual(functions[at:at + 3], ["main", "middle", "leaf"])

    def test_record_finds_callers_by_dwarf(self):
        self.perf("record", "-q", "-e", "instructions:u", "-c", "1000003", "--call-graph", "dwarf", "-o", "d.data", "SHAPED")
        chain = rows(self.perf("report", "-i", "d.data", "--stdio", "--no-children"))
        functions = [line.strip().removeprefix("---") for line in chain[1:]]
        at = functions.index("leaf")
        self.assertEqual(functions[at:at + 3], ["leaf", "middle", "main"])

    def test_annotate_shows_shares_within_a_function(self):
        self.perf("record", "-q", "-e", "instructions:u", "-c", "10007", "-o", "a.data", "SHAPED")
        text = self.perf("annotate", "-i", "a.data", "--stdio", "-s", "leaf")
        shares = [float(share) for share in re.findall(r"(?m)^ *(\d+\.\d+) ", text)]
        self.assertAlmostEqual(sum(shares), 100, delta=1)

    def test_script_prints_each_sample(self):
        self.perf("record", "-q", "-e", "instructions:u", "-c", "1000003", "-o", "s.data", "SHAPED")
        lines = self.perf("script", "-i", "s.data", "-F", "comm,period,event,ip,sym").splitlines()
        self.assertGreater(len(lines), 100 * LEAF // 1000003 // 2)
        self.assertRegex(lines[-1], r"shaped +1000003 +instructions:u: +[0-9a-f]+ leaf")

    def test_record_samples_cycles_by_default(self):
        self.perf("record", "-q", "-o", "c.data", "SHAPED")
        self.assertRegex(self.perf("evlist", "-i", "c.data"), r"^cycles(:u|:P)?\s")

    def test_record_by_frequency_is_the_same_in_every_run(self):
        recorded = set()
        for name in ("f1.data", "f2.data"):
            self.perf("record", "-q", "-e", "cycles:pp", "-F", "4000", "-o", name, "SHAPED", options=["--deterministic"])
            script = self.perf("script", "-i", name, "-F", "period,ip,sym")
            recorded.add(tuple(re.findall(r"(\d+) +[0-9a-f]+ (\S+)", script)))
        self.assertEqual(len(recorded), 1, recorded)
        samples = recorded.pop()
        self.assertTrue(20 < len(samples) < 200, samples)
        self.assertEqual(samples[-1][1], "leaf")
        self.assertGreater(int(samples[-1][0]), 100000)

    def test_top_shows_the_hottest_function(self):
        script = f"{self.program} 1000000 & echo $! > top.pid; exec perf top --stdio -e instructions:u -p $! -d 1"
        top = subprocess.Popen([ANYPERF, "run", "--", "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, cwd=self.directory)
        seen = b""
        while not re.search(rb"\d+\.\d+% +shaped .*leaf", seen):
            line = top.stdout.readline()
            self.assertTrue(line, seen)
            seen += line
        os.kill(int((self.directory / "top.pid").read_text()), signal.SIGKILL)
        top.terminate()
        top.communicate(timeout=60)

    def test_tests_of_perf_pass(self):
        names = ["Read samples using the mmap interface", "PERF_RECORD_* events & perf_sample fields",
                 "Software clock events period values", "Sample parsing",
                 "Use a dummy software event to keep tracking", "Parse event definition strings",
                 "Breakpoint overflow signal handler", "Breakpoint overflow sampling", "Breakpoint accounting",
                 "Synthesize attr update", "Event times", "Sigtrap", "perf stat tests", "Track with sched_switch"]
        listing = subprocess.run(["perf", "test", "list"], text=True, capture_output=True).stderr
        numbers = [found[1] for name in names if (found := re.search(rf"(?m)^ *(\d+): {re.escape(name)}", listing))]
        self.assertGreater(len(numbers), 8, listing)
        text = self.perf("test", *numbers, stderr=True)
        self.assertEqual(re.findall(r".*FAILED.*", text), [])
        self.assertGreater(len(re.findall(r": Ok$", text, re.M)), 7, text)

    def test_record_has_the_context_switches_of_a_sleeping_task(self):
        self.perf("record", "-q", "-e", "instructions:u", "--switch-events", "-o", "switches.data", "sleep", "0.2")
        script = subprocess.run(["perf", "script", "-i", "switches.data", "--show-switch-events"], text=True,
                                capture_output=True, cwd=self.directory, check=True)
        switches = re.findall(r"sleep +(\d+) .*?(\d+\.\d+): PERF_RECORD_SWITCH (IN|OUT) *(preempt)?", script.stdout)
        times = [float(time) for _, time, _, _ in switches]
        self.assertGreaterEqual(max(b - a for a, b in zip(times, times[1:])), 0.19, script.stdout)
        directions = [direction for _, _, direction, preempt in switches if not preempt]
        self.assertIn("OUT", directions)


if __name__ == "__main__":
    unittest.main()
