"""`anyperf record --call-graph dwarf`: the callers are found while recording, and are those of the copied stacks."""
import collections
import os
import re
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

from program import ANYPERF
from record_test import Recorder
from report_test import run

# Without frame pointers, so that only call frame information finds the callers; qsort() has a frame of libc between.
DEEP = r"""
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
volatile unsigned long sum;
__attribute__((noinline)) void hot(unsigned long n) {
    char bytes[256];
    memset(bytes, (int)n, sizeof bytes);
    for (unsigned long i = 0; i < n; i++) sum += i * bytes[i & 255];
}
__attribute__((noinline)) int deep(int depth, unsigned long n) {
    if (depth == 0) return hot(n), 1;
    int below = deep(depth - 1, n);
    sum += below;
    return below + 1;
}
static int compare(const void* a, const void* b) {
    for (int i = 0; i < 2; i++) sum += i;
    return *(const int*)a - *(const int*)b;
}
int main(int count, char** words) {
    unsigned long n = count > 1 ? strtoul(words[1], 0, 10) : 300;
    static int data[1000];
    for (unsigned long k = 0; k < n; k++) {
        deep(10, 50000);
        for (int i = 0; i < 1000; i++) data[i] = (i * 7919 + k) % 1000;
        qsort(data, 1000, sizeof *data, compare);
    }
    return 0;
}
"""
LIBRARY = r"""
volatile unsigned long sum;
__attribute__((noinline)) void work(unsigned long n) { for (unsigned long i = 0; i < n; i++) sum += i; }
void NAME(unsigned long n) { work(n); sum++; }
"""
# Loads a library, removes its file once it has run for a while, and calls it again.
LOADER = r"""
#include <dlfcn.h>
#include <unistd.h>
int main(int count, char** words) {
    void* library = dlopen(words[1], RTLD_NOW);
    void (*call)(unsigned long) = (void (*)(unsigned long))dlsym(library, "from_library");
    call(300000000);
    if (count > 2) unlink(words[1]);
    call(300000000);
    return 0;
}
"""
# Code that a JIT might make: it keeps a frame pointer and has no call frame information.
JIT = r"""
#include <string.h>
#include <sys/mman.h>
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5,                    /* push rbp; mov rbp, rsp */
                                     0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3}; /* dec rdi; jnz; pop rbp; ret */
volatile int calls;
__attribute__((noinline)) void calls_generated(void (*run)(unsigned long)) { run(600000000); calls++; }
int main(void) {
    void* memory = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(memory, code, sizeof code);
    calls_generated((void (*)(unsigned long))memory);
    return 0;
}
"""
# Each sample of the threads is a large record in one ring.
THREADS = r"""
#include <pthread.h>
volatile unsigned long sum;
static void* work(void* unused) { for (unsigned long i = 0; i < 30000000; i++) sum += i; return unused; }
int main(void) {
    pthread_t threads[16];
    for (int i = 0; i < 16; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 16; i++) pthread_join(threads[i], 0);
    return 0;
}
"""
CLOCK = ("--kernel", "-e", "cpu-clock:u", "-F", "1000")


class Unwound(Recorder):
    def compile(self, source, name, *options):
        path = self.file(name)
        subprocess.run(["cc", "-O2", "-fno-inline", "-fomit-frame-pointer", *options, "-x", "c", "-", "-o", path], input=source, text=True,
                       check=True, timeout=60)
        return path

    def setUp(self):
        super().setUp()
        self.deep = self.compile(DEEP, "deep")

    def stacks(self, path=None):
        """How often each stack is in the recording, as names from the innermost function outwards."""
        found = collections.Counter()
        for sample in run(ANYPERF, "script", "--no-inline", "-i", path or self.path).stdout.decode().split("\n\n"):
            names = re.findall(r"^\s+[0-9a-f]+ (.+?)(?:\+0x[0-9a-f]+)? \(", sample, re.M)
            if names:
                found[tuple(names)] += 1
        return found

    def share(self, *wanted, path=None):
        """The share of stacks in which these functions follow one another."""
        stacks = self.stacks(path)
        has = sum(count for names, count in stacks.items() if any(names[i:i + len(wanted)] == wanted for i in range(len(names))))
        return has / max(stacks.total(), 1)

    def test_threads_that_wait_for_each_other_to_write_lose_little(self):
        """On a busy machine a thread may have to wait long for the one that writes its record."""
        threads = self.compile(THREADS, "threads", "-pthread")
        result = run(ANYPERF, "record", "--virtual", "-F", "4000", "--call-graph", "dwarf", "-o", self.path, "--", threads)
        self.assertEqual(result.returncode, 0, result.stderr)
        lost = sum(map(int, re.findall(rb"(\d+) records were lost", result.stderr)))
        written = sum(self.stacks().values())
        self.assertGreater(written, 300)
        self.assertLess(lost, 0.15 * (lost + written))

    def test_the_callers_are_those_of_the_copied_stacks(self):
        """A deterministic run takes the same samples twice."""
        texts = []
        for kind in ("dwarf,65528", "dwarf,raw,65528"):
            self.record("--virtual", "--deterministic", "-e", "instructions:u", "-c", "1000000", "--call-graph", kind, command=[self.deep, 200])
            text = run(ANYPERF, "script", "--no-inline", "-i", self.path).stdout.decode()
            texts.append(re.sub(r"^\S.*:\s+(?=\d+ instructions)", "", text, flags=re.M))
        self.assertGreater(texts[0].count("deep+"), 300)
        self.assertEqual(texts[0], texts[1])

    def test_perf_reads_callers_instead_of_stacks(self):
        self.record(*CLOCK, "--call-graph", "dwarf", command=[self.deep, 1000])
        self.assertGreater(self.share(*["deep"] * 11, "main"), 0.2)
        self.assertGreater(self.share("main", "__libc_start_call_main"), 0.9)
        self.assert_perf_agrees()
        attrs = run("perf", "evlist", "-v", "-i", self.path).stdout
        self.assertIn(b"CALLCHAIN", attrs)
        self.assertNotIn(b"STACK_USER", attrs)

    def test_the_file_is_small(self):
        self.record(*CLOCK, "--call-graph", "dwarf", command=[self.deep, 1000])
        samples = self.stacks().total()
        self.assertLess(self.path.stat().st_size, 20_000 + 600 * samples)

    def test_copied_stacks_are_kept_compressed_if_they_are_wanted(self):
        self.record(*CLOCK, "--call-graph", "dwarf,raw", command=[self.deep, 1000])
        self.assertGreater(self.share(*["deep"] * 11, "main"), 0.2)
        if shutil.which("perf"):
            self.assertIn(b"STACK_USER", run("perf", "evlist", "-v", "-i", self.path).stdout)
            self.assertIn(b"compressed :", run("perf", "report", "--header-only", "-i", self.path).stdout)
        self.assertLess(self.path.stat().st_size, 3000 * self.stacks().total())

    def test_several_events_are_unwound_into_a_pipe_and_compressed(self):
        # Long enough for many more samples of the clock than page faults.
        options = ("--kernel", "-e", "cpu-clock:u/freq=1000/,page-faults:u/period=1/", "--call-graph", "dwarf")
        self.record(*options, "-z", command=[self.deep, 4000])
        self.assertGreater(self.share(*["deep"] * 11, "main"), 0.2)
        self.assert_perf_agrees()
        result = run(ANYPERF, "record", *options, "-o", "-", "--", self.deep, "4000")
        self.path.write_bytes(result.stdout)
        self.assertGreater(self.share(*["deep"] * 11, "main"), 0.2)
        self.assert_perf_agrees()

    def test_an_event_may_have_other_callers_than_the_rest(self):
        self.record("--kernel", "-e", "cpu-clock/freq=1000,call-graph=dwarf,stack-size=4096/u,task-clock/freq=1000,call-graph=no/u",
                    command=[self.deep, 1000])
        self.assertGreater(self.share(*["deep"] * 11, "main"), 0.2)
        self.assert_perf_agrees()

    def test_kernel_frames_come_before_the_users(self):
        self.record("--kernel", "-e", "cpu-clock", "-F", "2000", "--call-graph", "dwarf", command=["ls", "-lR", "/usr/include"])
        self.assert_perf_agrees()

    def test_processes_and_threads_have_their_own_maps(self):
        script = f"for i in 1 2 3 4 5 6 7 8; do {self.deep} 40 & {self.program} 0.05s & wait; done"
        self.record(*CLOCK, "--call-graph", "dwarf", command=["sh", "-c", script])
        stacks = self.stacks()
        inner = sum(count for names, count in stacks.items() if names[0] in ("hot", "deep", "compare", "hot_function"))
        whole = sum(count for names, count in stacks.items() if names[0] in ("hot", "deep", "compare", "hot_function") and "main" in names)
        self.assertGreater(inner, 100)
        self.assertGreater(whole, 0.99 * inner)

    def test_a_running_process_is_unwound(self):
        process = subprocess.Popen([self.deep, "1000000"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        result = run(ANYPERF, "record", *CLOCK, "--call-graph", "dwarf", "-o", self.path, "-p", process.pid, "--", "sleep", "0.5")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(self.share("main", "__libc_start_call_main"), 0.9)

    def test_a_library_that_is_loaded_and_removed_meanwhile_is_unwound(self):
        library = self.compile(LIBRARY.replace("NAME", "from_library"), "library.so", "-shared", "-fPIC")
        loader = self.compile(LOADER, "loader")
        kept = self.file("kept.so")
        shutil.copy(library, kept)
        self.record(*CLOCK, "--call-graph", "dwarf", command=[loader, library, "remove"])
        self.assertFalse(os.path.exists(library))
        shutil.move(kept, library)  # for the names
        self.assertGreater(self.share("work", "from_library", "main"), 0.9)

    def test_a_program_that_replaces_another_of_its_name_is_unwound_by_its_own_tables(self):
        """The second program has the frame of another size: by the tables of the first, its callers are not found."""
        second = DEEP.replace("bytes[256]", "bytes[512]").replace("i & 255", "i & 511").replace("int depth,", "int depth, unsigned long more,") \
            .replace("deep(depth - 1, n)", "deep(depth - 1, n + more, n)").replace("deep(10, 50000)", "deep(10, 0, 50000)")
        other = self.compile(second, "other")
        program = self.file("program")
        script = f"cp {self.deep} {program}; {program} 2000; sleep 0.3; cp {other} {program}.new; mv {program}.new {program}; {program} 2000"
        self.record(*CLOCK, "--call-graph", "dwarf", command=["sh", "-c", script])
        text = run(ANYPERF, "script", "--no-inline", "--comms", "program", "-F", "ip", "-i", self.path).stdout.decode()
        depths = [len(sample.split()) for sample in text.split("\n\n") if sample]
        self.assertGreater(sum(depth >= 5 for depth in depths), 0.95 * len(depths))

    def test_generated_code_is_unwound_by_its_frame_pointers(self):
        jit = self.compile(JIT, "jit")
        self.record(*CLOCK, "--call-graph", "dwarf", command=[jit])
        self.assertGreater(self.share("calls_generated", "main"), 0.9)

    def test_small_rings_have_smaller_stacks(self):
        notes = self.record(*CLOCK, "--call-graph", "dwarf", "-m", "256K", command=[self.deep, 500])
        self.assertIn("32768 bytes of each stack are copied", notes)
        self.assertGreater(self.share(*["deep"] * 11, "main"), 0.2)
        notes = self.record(*CLOCK, "--call-graph", "dwarf,1024", "-m", "256K", command=[self.deep, 500])
        self.assertNotIn("of each stack", notes)

    def test_a_ring_that_had_to_shrink_wakes_the_recorder_before_it_is_full(self):
        """1 MiB may be locked beyond what the kernel allows for each CPU: the rings have less than the 32 MiB wanted."""
        user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        words = ["prlimit", f"--memlock={1 << 20}", *user, ANYPERF, "record", "-v", *CLOCK, "--call-graph", "dwarf", "-o", "/dev/null", "--", "true"]
        result = run(*words)
        self.assertEqual(result.returncode, 0, result.stderr)
        marks = [int(mark, 16) for mark in re.findall(rb"wakeup_watermark (0x[0-9a-f]+)", result.stderr)]
        allowed = (int(Path("/proc/sys/kernel/perf_event_mlock_kb").read_text()) << 10) + (1 << 20)
        self.assertTrue(marks)
        self.assertLessEqual(max(marks), allowed // 4)

    def test_ctrl_c_and_a_full_disk_leave_valid_files(self):
        process = subprocess.Popen([self.deep, "1000000"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        recorder = subprocess.Popen([ANYPERF, "record", *CLOCK[1:], "--call-graph", "dwarf", "-o", self.path, "-p", str(process.pid)],
                                    stderr=subprocess.PIPE)
        time.sleep(0.5)
        recorder.send_signal(signal.SIGINT)
        _, notes = recorder.communicate(timeout=30)
        self.assertIn(b"samples in", notes)
        self.assert_perf_agrees()
        words = f"ulimit -f 120; exec {ANYPERF} record --kernel -e cpu-clock:u -F 10000 --call-graph dwarf -o {self.path} -- {self.deep} 2000"
        result = run("bash", "-c", f"trap '' XFSZ; {words}")
        self.assertEqual(result.returncode, 125, result.stderr)
        self.assertIn(b"has the records from before that", result.stderr)
        self.assertGreater(self.share("main", "__libc_start_call_main"), 0.9)


if __name__ == "__main__":
    unittest.main()
