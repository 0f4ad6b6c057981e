"""What code costs that does the same in each round: the models replay its first rounds one by one, and later ones by
generated code. Both count the same."""
import os
import subprocess
import unittest

from compiled_program import CompiledProgram

ANYPERF = os.environ.get("ANYPERF", "anyperf")

# In a round a load misses, then code runs that accesses only what the caches have, then a REP instruction misses, then
# such code again. It is longer than any machine's window, so that the two misses don't overlap.
SOURCE = r"""
#include <stdlib.h>
static char data[1 << 21];
#define HITS __asm__ volatile(".rept 200\n\tmovq (%%rsp), %%rax\n\tjmp 1f\n1:\n\t.endr" : : : "rax", "memory")
int main(int count, char** arguments) {
    static char to[64];
    const int rounds = atoi(arguments[1]);
    for (unsigned long i = 0; i < sizeof data; i += 4096) data[i] = 1;
    for (unsigned long i = 0; i < rounds; i++) {
        *(volatile char*)(data + i * 12288);
        HITS;
        const char* from = data + (1 << 20) + i * 12288;
        char* into = to;
        unsigned long bytes = 8;
        __asm__ volatile("rep movsb" : "+S"(from), "+D"(into), "+c"(bytes) : : "memory");
        HITS;
    }
    return count < 2;
}
"""
EVENTS = "CYCLE_ACTIVITY.STALLS_MEM_ANY,MEM_LOAD_RETIRED.L1_MISS,dTLB-load-misses"


class SameRounds(CompiledProgram):
    name = "rounds"
    source = SOURCE

    def counts(self, machine, rounds):
        got = subprocess.run([ANYPERF, "stat", "--virtual", "--deterministic", "--machine", machine, "-x,", "-e", EVENTS, "--", str(self.program), f"{rounds:02}"],
                             text=True, capture_output=True, timeout=200, cwd=self.directory)
        self.assertEqual(got.returncode, 0, got.stderr)
        return [int(line.split(",")[0]) for line in got.stderr.splitlines() if line[:1].isdigit()]

    def round(self, machine, rounds):
        """What the last of so many rounds counts."""
        return [after - before for after, before in zip(self.counts(machine, rounds), self.counts(machine, rounds - 1), strict=True)]

    def test_a_late_round_counts_what_an_early_one_does(self):
        for machine in ("tiny", "cachegrind"):
            with self.subTest(machine=machine):
                early = self.round(machine, 5)
                self.assertGreater(early[0], 0, early)
                self.assertEqual(self.round(machine, 40), early)


if __name__ == "__main__":
    unittest.main()
