"""What the models count does not depend on which other events are open, and what branch predictors miss does not depend on
where the kernel has put the program, its libraries and the vDSO."""
import os
import subprocess
import unittest

from compiled_program import CompiledProgram

ANYPERF = os.environ.get("ANYPERF", "anyperf")

# Half of the branches are in libc, at random data, through pointers to functions, and in the vDSO.
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static unsigned values[4096];
static unsigned long seed = 1;
static unsigned next(void) { return (seed = seed * 6364136223846793005ul + 1442695040888963407ul) >> 33; }
static int upwards(const void* a, const void* b) { return *(unsigned*)a < *(unsigned*)b ? -1 : *(unsigned*)a > *(unsigned*)b; }
static int downwards(const void* a, const void* b) { return upwards(b, a); }
static int by_low_byte(const void* a, const void* b) { return (*(unsigned*)a & 255) - (*(unsigned*)b & 255); }
int main(int count, char** arguments) {
    static int (*const orders[])(const void*, const void*) = {upwards, downwards, by_low_byte};
    time_t now = 0;
    for (int i = 0; i < 4096; i++) values[i] = next();
    for (int i = 0; i < 20; i++) {
        qsort(values, 512 + next() % 512, sizeof *values, orders[next() % 3]);
        now = time(0);
    }
    if (count > 1) printf("%s %p %p %p\n", arguments[1], (void*)main, (void*)qsort, (void*)values);
    return now == 0;
}
"""
BRANCHES = "branch-misses,BR_MISP_RETIRED:CONDITIONAL,BR_MISP_RETIRED:RET"
ACCESSES = "L1-dcache-load-misses,LLC-load-misses,dTLB-load-misses"
# What else may be open. Each makes the engine keep other things in memory.
OTHERS = ("instructions", "cycles", "page-faults", "instructions,cycles,branches,L1-dcache-loads")


class SameCounts(CompiledProgram):
    name = "sorts"
    source = SOURCE

    def run_with(self, events, machine, *options, arguments=()):
        """The counts by event, and the program's output."""
        got = subprocess.run([ANYPERF, "stat", "--virtual", "--machine", machine, *options, "-x,", "-e", events, "--", str(self.program), *arguments],
                             text=True, capture_output=True, timeout=200, cwd=self.directory)
        self.assertEqual(got.returncode, 0, got.stderr)
        lines = [line.split(",") for line in got.stderr.splitlines() if line[:1].isdigit()]
        return {fields[2]: int(fields[0]) for fields in lines}, got.stdout

    def counted(self, events, others, machine, *options):
        counts, _ = self.run_with(",".join((events, *others)), machine, *options)
        return {event: counts[event] for event in events.split(",")}

    def test_addresses_that_are_not_random_are_the_same_whatever_is_open(self):
        outputs = {self.run_with(events, "skx", "--deterministic", arguments=("addresses",))[1] for events in (*OTHERS, BRANCHES, ACCESSES, BRANCHES + "," + ACCESSES)}
        self.assertEqual(len(outputs), 1, outputs)

    def test_mispredictions_are_the_same_whatever_is_open(self):
        for machine in ("skx", "zen5", "cachegrind"):
            with self.subTest(machine=machine):
                alone = self.counted(BRANCHES, (), machine, "--deterministic")
                self.assertGreater(alone["branch-misses"], 1000)
                for others in ((ACCESSES,), OTHERS[-1:]):
                    self.assertEqual(self.counted(BRANCHES, others, machine, "--deterministic"), alone, others)

    def test_random_addresses_of_code_do_not_change_mispredictions(self):
        # What is left is the loader's: some of its branches depend on where the initial stack has its strings.
        counts = [self.counted(BRANCHES, others, "skx")["branch-misses"] for others in 4 * ((), (ACCESSES,))]
        self.assertLess(max(counts) - min(counts), max(counts) / 1000, counts)

    def test_misses_of_caches_are_the_same_whatever_is_open(self):
        for machine in ("skx", "zen5"):
            with self.subTest(machine=machine):
                alone = self.counted(ACCESSES, (), machine, "--deterministic")
                for others in ((BRANCHES,), OTHERS[1:2], OTHERS[-1:]):
                    self.assertEqual(self.counted(ACCESSES, others, machine, "--deterministic"), alone, others)


if __name__ == "__main__":
    unittest.main()
