"""Exact call chains of the virtual PMU (`record -g`, `run --call-graph exact`): those of single steps for small programs, and
the calls that C++ programs make, through exceptions, contexts, coroutines and threads, without frame pointers."""
import collections
import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
STEP_COUNT = os.environ.get("STEP_COUNT", "step_count")
PROGRAMS = Path(STEP_COUNT).parent / "programs"
# Programs with one count in every run. Those of several processes are compared at each instruction, because a child
# begins its period anew.
PROGRAMS_STEPPED = ("call_stacks", "calls", "signal_self", "signal_fault", "signal_jump", "undecodable", "nowhere", "page_ends",
                    "code_changes", "signal_inherit", "memory_map", "stackless", "red_zone", "signal_context")
SAMPLE = 9
CONTEXT_USER = 2**64 - 512
FREE = 1 << 40  # above are addresses that the kernel chooses, in each run others


def chains(path):
    """The call chain of each sample, in the file's order."""
    data = Path(path).read_bytes()
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == SAMPLE:
            (count,) = struct.unpack_from("<Q", data, at + 8 + 32)  # after ip, tid, time and period
            yield struct.unpack_from(f"<{count}Q", data, at + 8 + 40)
        at += length


def comparable(chain):
    return tuple(address if address < FREE else 0 for address in chain)


class CallStacks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.directory = Path(cls.place.name)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def run_command(self, *command, **options):
        result = subprocess.run([str(word) for word in command], capture_output=True, timeout=200, cwd=self.directory, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_chains_are_those_of_single_steps(self):
        reference, recording = self.directory / "reference", self.directory / "perf.data"
        for name in PROGRAMS_STEPPED:
            with self.subTest(name):
                program = PROGRAMS / name
                self.run_command(STEP_COUNT, "--count-to", "/dev/null", "--callers", reference, "--", program)
                self.run_command(ANYPERF, "record", "-q", "--virtual", "-m", "64M", "-e", "instructions:u", "-c", "1", "-g", "-o", recording,
                                 "--", program)
                stepped = collections.Counter(
                    comparable(int(word, 16) for word in line.split()) for line in reference.read_text().splitlines())
                sampled = collections.Counter(comparable(chain[1:]) for chain in chains(recording))
                self.compare(stepped, sampled)

    def compare(self, stepped, sampled):
        """Where a signal arrives a sample is taken in the handler already, and the single-stepped chain before its frame."""
        missing, more = stepped - sampled, sampled - stepped
        for chain in list(more):
            for frames in range(2, len(chain) - 1, 2):
                below = chain[frames:]
                trapped = (below[0] - 1, *below[1:])  # int3 never retires, and its signal interrupts after it
                for candidate in (below, trapped):
                    taken = min(more[chain], missing[candidate])
                    missing[candidate] -= taken
                    more[chain] -= taken
        # The first instruction of a new program has no callers. The kernel and single-stepping count it differently.
        more = {chain: times for chain, times in more.items() if times > 0 and len(chain) > 1}
        self.assertEqual((more, +missing), ({}, collections.Counter()))

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "there is one CPU")
    def test_a_move_to_another_cpu_loses_no_sample(self):
        # Events are of one thread on one CPU. The system call that moves the thread ends the period of one, and begins another.
        program = self.build("moves", """
            #include <stdlib.h>
            static long move(unsigned cpu) {
                unsigned long set[16] = {}, result;
                set[cpu / 64] = 1ul << cpu % 64;
                asm volatile("syscall\\n.globl moved\\nmoved:"
                             : "=a"(result) : "0"(203), "D"(0), "S"(sizeof set), "d"(set) : "rcx", "r11", "memory");
                return result;
            }
            int main(int, char** words) { for (int i = 0; i < 50; ++i) move(atoi(words[1 + i % 2])); }
        """, "-no-pie", "-fno-unroll-loops")
        moved = int(re.search(r"^(\w+) . moved$", self.run_command("nm", program).stdout.decode(), re.M)[1], 16)
        recording = self.directory / "perf.data"
        self.run_command(ANYPERF, "record", "-q", "--virtual", "-m", "64M", "-e", "instructions:u", "-c", "1", "-g", "-o", recording, "--",
                         program, *sorted(os.sched_getaffinity(0))[:2])
        self.assertEqual(sum(chain[1] == moved for chain in chains(recording)), 50)

    def build(self, name, source, *options, compiler="c++"):
        path = self.directory / f"{name}.cpp"
        path.write_text(source)
        self.run_command(compiler, "-std=c++20", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-fno-inline", *options,
                         "-o", self.directory / name, path)
        return self.directory / name

    def names(self, program, *options, event="instructions:u", period="1009", environment=None):
        """The chains of names in the program, each once, with the number of samples. The innermost is first."""
        recording = self.directory / "perf.data"
        self.run_command(ANYPERF, "record", "-q", "--virtual", "-e", event, "-c", period, "-o", recording, *options, "--", program)
        script = self.run_command(ANYPERF, "script", "-i", recording, "-F", "ip,sym,dso", text=True).stdout
        found = collections.Counter()
        for sample in script.split("\n\n"):
            lines = [line.split() for line in sample.splitlines() if line.strip()]
            found[tuple(line[1].removesuffix(".cold") for line in lines if len(line) > 2 and program.name in line[-1])] += 1
        return found

    def innermost(self, found, function):
        """The chains of samples in `function`, without it and without what is outside of main."""
        inside = {chain[1:] for chain in found if chain and chain[0] == function}
        return {chain[:chain.index("main") + 1] if "main" in chain else chain for chain in inside}

    def test_calls_that_an_exception_leaves_are_gone(self):
        program = self.build("throws", """
            #include <cstdio>
            volatile unsigned long work;
            extern "C" void leaf() { for (int i = 0; i < 300; ++i) work = work * 3 + i; }
            extern "C" void after() { leaf(); }
            extern "C" void deep(int n) { if (n == 0) throw n; deep(n - 1); leaf(); }
            extern "C" void catches() { try { deep(20); } catch (int) { after(); } after(); }
            int main() { for (int i = 0; i < 300; ++i) catches(); }
        """)
        found = self.names(program, "-g")
        self.assertEqual(self.innermost(found, "leaf"), {("after", "catches", "main")})
        self.assertGreater(sum(times for chain, times in found.items() if chain[:1] == ("leaf",)), 100)

    def test_switched_contexts_have_the_calls_of_their_stack(self):
        program = self.build("contexts", """
            #include <ucontext.h>
            volatile unsigned long work;
            static ucontext_t outer, inner[2];
            static char stacks[2][65536];
            extern "C" void leaf() { for (int i = 0; i < 300; ++i) work = work * 3 + i; }
            extern "C" void yields(int which) { leaf(); swapcontext(&inner[which], &outer); leaf(); }
            extern "C" void first() { for (;;) yields(0); }
            extern "C" void second_part() { yields(1); }
            extern "C" void second() { for (;;) second_part(); }
            extern "C" void resumes(int which) { swapcontext(&outer, &inner[which]); leaf(); }
            int main() {
                for (int i = 0; i < 2; ++i) {
                    getcontext(&inner[i]);
                    inner[i].uc_stack.ss_sp = stacks[i];
                    inner[i].uc_stack.ss_size = sizeof stacks[i];
                    makecontext(&inner[i], i ? second : first, 0);
                }
                for (int i = 0; i < 900; ++i) resumes(i % 2);
            }
        """)
        found = self.names(program, "-g")
        self.assertEqual(self.innermost(found, "leaf"),
                         {("yields", "first"), ("yields", "second_part", "second"), ("resumes", "main")})

    def test_coroutines_and_threads_have_the_calls_of_their_own(self):
        program = self.build("coroutines", """
            #include <coroutine>
            #include <thread>
            volatile unsigned long work;
            extern "C" void leaf() { for (int i = 0; i < 300; ++i) work = work * 3 + i; }
            struct Task {
                struct promise_type {
                    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
                    std::suspend_always initial_suspend() { return {}; }
                    std::suspend_always final_suspend() noexcept { return {}; }
                    void return_void() {}
                    void unhandled_exception() {}
                };
                std::coroutine_handle<promise_type> handle;
            };
            Task counts() { for (int i = 0; i < 400; ++i) { leaf(); co_await std::suspend_always{}; } }
            extern "C" void resumes(Task& task) { task.handle.resume(); }
            extern "C" void in_thread() { for (int i = 0; i < 400; ++i) leaf(); }
            int main() {
                std::thread thread{in_thread};
                Task task = counts();
                for (int i = 0; i < 400; ++i) resumes(task);
                thread.join();
            }
        """, "-pthread")
        found = self.names(program, "-g")
        chains = self.innermost(found, "leaf")
        self.assertTrue(any("resumes" in chain and chain[-1] == "main" for chain in chains), chains)
        self.assertTrue(any(chain[0] == "in_thread" for chain in chains), chains)
        self.assertTrue(all("resumes" in chain or chain[0] == "in_thread" for chain in chains), chains)

    def test_recursion_beyond_the_list(self):
        # The list has room for 65,535 calls, and a sample for 126 of them.
        program = self.build("recursion", """
            volatile unsigned long work;
            extern "C" void leaf() { for (int i = 0; i < 30; ++i) work = work * 3 + i; }
            extern "C" __attribute__((noclone)) void deep(int n) { leaf(); if (n != 0) deep(n - 1); leaf(); }
            int main() { for (int i = 0; i < 3; ++i) deep(90000); deep(60000); deep(50); leaf(); }
        """)
        found = self.names(program, "-g", period="2003")
        chains = {chain for chain in found if chain[:1] == ("leaf",)}
        self.assertTrue(any(len(chain) == 127 and set(chain[1:]) == {"deep"} for chain in chains), chains)
        for chain in chains:
            self.assertIn(set(chain[1:]) - {"deep"}, (set(), {"main", "_start"}, {"main"}), chain)

    def test_jumps_out_of_frames_without_end(self):
        # Each jump leaves entries on the list, which is never returned through.
        program = self.build("jumps", """
            #include <setjmp.h>
            volatile unsigned long work, times;
            static jmp_buf place;
            extern "C" void leaf() { for (int i = 0; i < 3; ++i) work = work * 3 + i; }
            extern "C" void deep(int n) { if (n == 0) longjmp(place, 1); deep(n - 1); leaf(); }
            extern "C" void loops() { if (setjmp(place)) leaf(); times = times + 1; if (times < 60000) deep(9); leaf(); }
            int main() { loops(); }
        """)
        found = self.names(program, "-g", period="10007")
        self.assertEqual(self.innermost(found, "leaf"), {("loops", "main")})

    def test_the_way_is_chosen(self):
        program = self.build("plain", """
            volatile unsigned long work;
            extern "C" void leaf() { for (int i = 0; i < 300; ++i) work = work * 3 + i; }
            extern "C" void middle() { leaf(); leaf(); }
            int main() { for (int i = 0; i < 300; ++i) middle(); }
        """)
        exact = {("middle", "main")}
        self.assertEqual(self.innermost(self.names(program, "--call-graph", "exact"), "leaf"), exact)
        by_frame_pointers = self.innermost(self.names(program, "--call-graph", "fp"), "leaf")
        self.assertNotIn(("middle", "main"), by_frame_pointers)  # the program keeps none
        refused = subprocess.run([ANYPERF, "record", "--kernel", "--call-graph", "exact", "--", "true"], capture_output=True, text=True,
                                 cwd=self.directory)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("virtual PMU", refused.stderr)

    @unittest.skipUnless(shutil.which("perf"), "perf is not installed")
    def test_perf_inside_a_run(self):
        program = self.build("inside", """
            volatile unsigned long work;
            extern "C" void leaf() { for (int i = 0; i < 300; ++i) work = work * 3 + i; }
            extern "C" void middle() { leaf(); leaf(); }
            int main() { for (int i = 0; i < 3000; ++i) middle(); }
        """)
        data = self.directory / "inside.data"
        for way, expected in (("exact", True), ("fp", False)):
            self.run_command(ANYPERF, "run", "--call-graph", way, "--", "perf", "record", "-q", "-g", "-e", "instructions:u", "-c", "100003",
                             "-o", data, program)
            script = self.run_command(ANYPERF, "script", "-i", data, "-F", "ip,sym", text=True).stdout
            samples = [[line.split()[1] for line in sample.splitlines() if len(line.split()) > 1] for sample in script.split("\n\n")]
            self.assertEqual(any(names[:3] == ["leaf", "middle", "main"] for names in samples), expected)


if __name__ == "__main__":
    unittest.main()
