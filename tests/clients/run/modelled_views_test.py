"""What perf's own views make of modelled events: the default table with stalls, three levels of detail, the metrics of
top-down level 1, `perf mem` and `perf c2c`; and that stalls of known kernels have the known cause."""
import os
import re
import shutil
import subprocess
import unittest

from compiled_program import CompiledProgram

ANYPERF = os.environ.get("ANYPERF", "anyperf")
SOURCE = """
#include <stdlib.h>
#include <string.h>
static long table[1 << 20];
volatile long sink;
int main(int argc, char** argv) {
    long n = atol(argv[2]);
    unsigned long seed = 1;
    if (!strcmp(argv[1], "chase")) {          /* each load waits for the one before it, and misses */
        for (long i = 0; i < 1 << 20; i++) table[i] = (i * 40503 + 12345) & ((1 << 20) - 1);
        long at = 0;
        for (long i = 0; i < n; i++) at = table[at];
        sink = at;
    } else if (!strcmp(argv[1], "branch")) {  /* an unpredictable branch in each round */
        for (long i = 0; i < n; i++) {
            seed = seed * 6364136223846793005ul + 1442695040888963407ul;
            if (seed >> 63) sink++; else sink--;
        }
    } else if (!strcmp(argv[1], "busy")) {    /* independent additions */
        long a = 0, b = 0, c = 0, d = 0;
        for (long i = 0; i < n; i++) __asm__ volatile("inc %0; inc %1; inc %2; inc %3" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
        sink = a + b + c + d;
    } else {                                  /* a chain of divisions */
        unsigned long x = ~0ul;
        for (long i = 0; i < n; i++) __asm__ volatile("xor %%edx, %%edx; div %1" : "+a"(x) : "r"(1ul) : "rdx");
        sink = x;
    }
    return argc != 3;
}
"""
CYCLES = "cycles,stalled-cycles-frontend,stalled-cycles-backend"


class ModelledViews(CompiledProgram):
    name = "kernels"
    source = SOURCE
    options = ("-O1", "-g")

    def test_events_have_the_names_of_a_skylake_on_every_machine(self):
        for event in ("BR_MISP_RETIRED:CONDITIONAL", "br_misp_retired.conditional", "OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE"):
            stat = subprocess.run([ANYPERF, "stat", "--virtual", "-x,", "-e", event, "--", "true"], capture_output=True, text=True)
            self.assertRegex(stat.stderr, r"(?m)^[1-9]\d*,", event)
        other = subprocess.run([ANYPERF, "stat", "--virtual", "-e", "arm_n1::INST_RETIRED", "--", "true"], capture_output=True, text=True)
        self.assertEqual(other.returncode, 125)
        self.assertRegex(other.stderr, "this CPU is sk[xl]")

    def output_of(self, *command):
        got = subprocess.run(command, text=True, capture_output=True, timeout=200, cwd=self.directory)
        self.assertEqual(got.returncode, 0, got.stderr)
        return got.stdout + got.stderr

    def counts(self, events, *kernel):
        text = self.output_of(ANYPERF, "stat", "--virtual", "--machine", "skl", "-x,", "-e", events, "--", str(self.program), *kernel)
        lines = [line.split(",") for line in text.splitlines() if line[:1].isdigit()]
        return {fields[2].split(":u")[0]: int(fields[0]) for fields in lines}

    def shares(self, kernel, rounds, more=""):
        """Shares of cycles that have no instructions, and that wait, of what the rounds of a kernel add."""
        few, many = (self.counts(CYCLES + more, kernel, str(n)) for n in (rounds // 10, rounds))
        grown = {name: many[name] - few[name] for name in many}
        return grown["stalled-cycles-frontend"] / grown["cycles"], grown["stalled-cycles-backend"] / grown["cycles"], grown

    def test_stalls_have_the_known_cause(self):
        front, back, _ = self.shares("busy", 200000)
        self.assertLess(front + back, 0.3, "four additions a cycle")
        front, back, _ = self.shares("divide", 20000)
        self.assertLess(front, 0.05)
        self.assertGreater(back, 0.7, "a chain of divisions waits")
        front, back, _ = self.shares("branch", 50000, ",branch-misses")
        self.assertGreater(front, 0.3, "every second branch is mispredicted")
        front, back, grown = self.shares("chase", 50000, ",cache-misses,CYCLE_ACTIVITY:STALLS_MEM_ANY,CYCLE_ACTIVITY:STALLS_L1D_MISS")
        self.assertGreater(back, 0.85, "each load waits for memory")
        waits = grown["CYCLE_ACTIVITY:STALLS_MEM_ANY"]
        self.assertGreater(waits, 0.8 * grown["cycles"])
        self.assertGreaterEqual(waits, grown["CYCLE_ACTIVITY:STALLS_L1D_MISS"])

    def test_parts_never_exceed_cycles(self):
        for kernel in ("busy", "divide", "branch", "chase"):
            got = self.counts(CYCLES + ",cycle_activity.stalls_total,r02c2,branch-misses,cache-misses", kernel, "5000")
            stalls = got["stalled-cycles-frontend"] + got["stalled-cycles-backend"]
            self.assertLessEqual(stalls, got["cycles"])
            self.assertAlmostEqual(got["cycle_activity.stalls_total"], stalls, delta=2)
            self.assertAlmostEqual(stalls + got["r02c2"] / 4, got["cycles"], delta=0.1 * got["cycles"])

    @unittest.skipIf(shutil.which("perf") is None, "perf is not installed")
    def test_perfs_default_table_has_stalls(self):
        text = self.output_of(ANYPERF, "run", "--", "perf", "stat", str(self.program), "branch", "20000")
        self.assertRegex(text, r"[\d,]+ +stalled-cycles-frontend.*frontend cycles idle")
        self.assertRegex(text, r"[\d,]+ +stalled-cycles-backend.*backend cycles idle")
        self.assertNotIn("<not", text)

    @unittest.skipIf(shutil.which("perf") is None, "perf is not installed")
    def test_perf_counts_three_levels_of_detail(self):
        text = self.output_of(ANYPERF, "run", "--", "perf", "stat", "-d", "-d", "-d", str(self.program), "chase", "2000")
        for event in ("cycles", "instructions", "branch-misses", "L1-dcache-loads", "L1-dcache-load-misses", "LLC-loads", "LLC-load-misses",
                      "L1-icache-load-misses", "dTLB-loads", "dTLB-load-misses", "iTLB-loads", "iTLB-load-misses"):
            self.assertRegex(text, rf"[\d,]+ +{event}(:u)?\b")
        for event in ("L1-icache-loads", "L1-dcache-prefetches", "L1-dcache-prefetch-misses"):
            self.assertRegex(text, rf"<not supported> +{event}", "a Skylake lacks it")

    @unittest.skipIf(shutil.which("perf") is None, "perf is not installed")
    def test_top_down_level_1_adds_up(self):
        for command in (("perf", "stat"), (ANYPERF, "stat")):
            text = self.output_of(ANYPERF, "run", "--", *command, "-M", "TopdownL1", "--", str(self.program), "branch", "20000")
            parts = {}
            for name in ("retiring", "bad_speculation", "frontend_bound", "backend_bound"):
                found = re.search(rf"(-?[\d.]+) *(%|) +(?:tma_)?{name}\b", text, re.I)
                self.assertIsNotNone(found, text)
                parts[name] = float(found[1]) / (100 if found[2] or float(found[1]) > 1.5 else 1)
            self.assertAlmostEqual(sum(parts.values()), 1, delta=0.05)
            self.assertGreater(parts["bad_speculation"], 0.2, text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
