"""Whether code compares accesses with the most recent ones before it records them, always, never, or where that is faster: all count the same."""
import os
import subprocess
import unittest

from compiled_program import CompiledProgram

ANYPERF = os.environ.get("ANYPERF", "anyperf")

# Between two times in which nearly all accesses repeat is one in which few do, and every segment is different from the one
# before. So code is translated again when it has been one of these for long enough.
SOURCE = r"""
#include <signal.h>
#include <setjmp.h>
#include <string.h>
static unsigned char data[1 << 20];
static sigjmp_buf back;
static unsigned long sum;
static void handler(int signal) { (void)signal; sum += data[64]; siglongjmp(back, 1); }
static __attribute__((noinline)) unsigned long call(unsigned long n) { return n < 2 ? n : call(n - 1) + (n & 1 ? data[n] : data[64 + n]); }
static void repeat(void) { for (int i = 0; i < 60000; i++) sum += call(20); }
static void differ(void) {
    unsigned long at = 1;
    for (int i = 0; i < 300000; i++) {
        at = at * 6364136223846793005ul + 1442695040888963407ul;
        data[at >> 44] += data[(at >> 40) & 0xfffff];
        if (at >> 63) sum += data[(at >> 20) & 0xfffff];
        if (i % 1000 == 0) memset(data + (i & 0xffff), 1, 3000);
    }
}
static void fault(void) {
    struct { unsigned long a, b; } pair = {1, 2};
    volatile unsigned long* nowhere = (volatile unsigned long*)8;
    for (int i = 0; i < 20; i++) if (!sigsetjmp(back, 1)) sum += pair.a + *nowhere + pair.b;
}
int main(void) {
    signal(SIGSEGV, handler);
    repeat(), fault(), differ(), repeat(), fault();
    return sum == 0;
}
"""
EVENTS = "r1d1,r8d1,r10d1,L1-dcache-load-misses,L1-icache-load-misses,LLC-loads,LLC-stores,r41d0,r42d0,dTLB-load-misses,dTLB-store-misses,r2008,iTLB-loads"


class ComparedAccesses(CompiledProgram):
    name = "phases"
    source = SOURCE
    options = ("-O1", "-fno-inline")

    def counts(self, machine, checks, pages="by-lines"):
        # The program reads its environment, and its stack begins after it: so each run has one of the same length.
        wish = {"ANYPERF_ENGINE_CHECKS": checks} if checks else {"ANYPERF_ENGINE_WITHOUT"[:21]: "never"}
        wish["ANYPERF_ENGINE_PAGES" if pages else "ANYPERF_ENGINE_WITHO"] = pages or "in-turns"
        environment = {"PATH": os.environ["PATH"], **wish}
        environment["ROOM"] = "x" * (200 - sum(len(value) for value in wish.values()))
        got = subprocess.run([ANYPERF, "stat", "--virtual", "--deterministic", "--machine", machine, "-x,", "-e", EVENTS, "--", str(self.program)],
                             text=True, capture_output=True, timeout=200, cwd=self.directory, env=environment)
        self.assertEqual(got.returncode, 0, got.stderr)
        found = {line.split(",")[2]: int(line.split(",")[0]) for line in got.stderr.splitlines() if line[:1].isdigit()}
        self.assertEqual(len(found), len(EVENTS.split(",")), got.stderr)
        return found

    def test_all_count_the_same(self):
        for machine in ("skx", "zen5", "neoverse-n1", "tiny"):
            with self.subTest(machine=machine):
                recorded = self.counts(machine, "never")
                self.assertEqual(self.counts(machine, "always"), recorded)
                self.assertEqual(self.counts(machine, None), recorded)

    def test_all_ways_to_find_pages_count_the_same(self):
        for machine in ("skx", "zen5"):
            with self.subTest(machine=machine):
                by_lines = self.counts(machine, "never")
                for checks in ("never", None):
                    for pages in ("looked-up", "in-turns", None):
                        self.assertEqual(self.counts(machine, checks, pages), by_lines, (checks, pages))

    def test_other_words_are_refused(self):
        for name, why in (("CHECKS", "neither always nor never"), ("PAGES", "none of the ways to find pages")):
            wish = {"ANYPERF_ENGINE_" + name: "often"}
            got = subprocess.run([ANYPERF, "run", "--", "true"], text=True, capture_output=True, timeout=20, env={**os.environ, **wish})
            self.assertEqual(got.returncode, 125)
            self.assertIn(f"ANYPERF_ENGINE_{name}=often is {why}", got.stderr)


if __name__ == "__main__":
    unittest.main()
