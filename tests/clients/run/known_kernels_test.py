"""Kernels whose cost is well known show the known effect at the known place: rows against columns, sorted against
unsorted data, a chase over growing sets, false sharing, a blocked matrix multiplication, a partitioned hash join, virtual
calls, and loads of what was just stored. Counts are what the rounds of a kernel add, so start-up is not among them."""
import os
import re
import shutil
import subprocess
import unittest

from compiled_program import CompiledProgram

ANYPERF = os.environ.get("ANYPERF", "anyperf")
SOURCE = """
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned long u64;
static u64 seed = 1;
volatile u64 sink;
static u64 next(void) { return (seed = seed * 6364136223846793005ul + 1442695040888963407ul) >> 33; }

/* Rows and columns of a matrix of 1 MiB. */
int grid[512][512];
#define AGAIN(n) for (; n-- > 0; ({ __asm__ volatile("" : : : "memory"); }))
static void rows(long n) { u64 s = 0; AGAIN(n) for (int i = 0; i < 512; i++) for (int j = 0; j < 512; j++) s += grid[i][j]; sink = s; }
static void columns(long n) { u64 s = 0; AGAIN(n) for (int j = 0; j < 512; j++) for (int i = 0; i < 512; i++) s += grid[i][j]; sink = s; }

/* A branch on data. */
static unsigned char bytes[32768];
static int by_value(const void* a, const void* b) { return *(unsigned char*)a - *(unsigned char*)b; }
static void large_ones(long n) {
    u64 s = 0;
    AGAIN(n) for (int i = 0; i < 32768; i++) if (bytes[i] >= 128) { s += bytes[i]; __asm__ volatile("" : "+r"(s)); }
    sink = s;
}
static void unsorted(long n) { for (int i = 0; i < 32768; i++) bytes[i] = next(); large_ones(n); }
static void sorted(long n) { for (int i = 0; i < 32768; i++) bytes[i] = next(); qsort(bytes, 32768, 1, by_value); large_ones(n); }

/* Each load has the address of the next one; a line is 64 bytes, in random order. */
static char lines[1 << 20] __attribute__((aligned(4096)));
static void chase(long n, long kib) {
    static long order[1 << 14];
    long count = kib * 16;
    for (long i = 0; i < count; i++) order[i] = i;
    for (long i = count - 1; i > 0; i--) { long j = next() % (i + 1), t = order[i]; order[i] = order[j]; order[j] = t; }
    for (long i = 0; i < count; i++) *(char**)(lines + 64 * order[i]) = lines + 64 * order[(i + 1) % count];
    char* at = lines;
    while (n--) at = *(char**)at;
    sink = (u64)at;
}

/* Two threads that write words of one line, or of two. They take turns, so that both write on a busy machine, too. */
static struct { volatile u64 word[32]; } __attribute__((aligned(128))) words = {{1}};  /* in a file, so that perf knows its name */
static struct { sem_t turn; } __attribute__((aligned(128))) turns[2];
static long all_turns;
static int distance;
static void* writer(void* of) {
    long me = (long)of;
    for (long i = 0; i < all_turns; i++) {
        sem_wait(&turns[me].turn);
        for (int k = 0; k < 20; k++) ++words.word[me * distance];
        sem_post(&turns[1 - me].turn);
    }
    return 0;
}
static void two_writers(long n, int apart) {
    pthread_t other;
    all_turns = n;
    distance = apart;
    sem_init(&turns[0].turn, 0, 1);
    sem_init(&turns[1].turn, 0, 0);
    pthread_create(&other, 0, writer, (void*)1);
    writer((void*)0);
    pthread_join(other, 0);
}

/* Products of matrices of 96 by 96 doubles. */
enum { N = 96, BLOCK = 16 };
double a[N][N], b[N][N], c[N][N];
static void plain_product(long n) {
    AGAIN(n) for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) for (int k = 0; k < N; k++) c[i][j] += a[i][k] * b[k][j];
}
static void blocked_product(long n) {
    AGAIN(n) for (int kk = 0; kk < N; kk += BLOCK) for (int jj = 0; jj < N; jj += BLOCK)
        for (int i = 0; i < N; i++) for (int j = jj; j < jj + BLOCK; j++) { double s = c[i][j]; for (int k = kk; k < kk + BLOCK; k++) s += a[i][k] * b[k][j]; c[i][j] = s; }
}

/* A join: keys look up a table of 64 KiB, as they come, or sorted into parts that each look up 4 KiB. */
enum { SLOTS = 8192, KEYS = 32768, PARTS = 16 };
static u64 table[SLOTS];
static unsigned keys[KEYS], parts[PARTS][KEYS];
static void make_keys(void) { for (int i = 0; i < KEYS; i++) keys[i] = next() % SLOTS; for (int i = 0; i < SLOTS; i++) table[i] = i; }
static void join_at_once(long n) { make_keys(); u64 s = 0; AGAIN(n) for (int i = 0; i < KEYS; i++) s += table[keys[i]]; sink = s; }
static void join_by_parts(long n) {
    make_keys();
    int count[PARTS] = {0};
    for (int i = 0; i < KEYS; i++) { int p = keys[i] / (SLOTS / PARTS); parts[p][count[p]++] = keys[i]; }
    u64 s = 0;
    AGAIN(n) for (int p = 0; p < PARTS; p++) for (int i = 0; i < count[p]; i++) s += table[parts[p][i]];
    sink = s;
}

/* Calls through a table of functions, as virtual functions are: always the same one, or any of four. */
static u64 one(u64 x) { return x + 1; }
static u64 two(u64 x) { return x ^ 5; }
static u64 three(u64 x) { return x * 3; }
static u64 four(u64 x) { return x - 7; }
static u64 (*volatile const functions[])(u64) = {one, two, three, four};
static void same_call(long n) { u64 x = 0; while (n--) { x = functions[0](x); next(); } sink = x; }
static void any_call(long n) { u64 x = 0; while (n--) x = functions[next() % 4](x); sink = x; }

/* A chain of additions in a register, and one through memory. */
static void in_register(long n) { u64 x = 0; while (n--) __asm__ volatile("inc %0; inc %0; inc %0; inc %0" : "+r"(x)); sink = x; }
static void through_memory(long n) { u64 x = 0; while (n--) __asm__ volatile("incq %0; incq %0; incq %0; incq %0" : "+m"(x)); sink = x; }

#define KERNEL(name) if (!strcmp(argv[1], #name)) name(n)
int main(int argc, char** argv) {
    long n = atol(argv[2]);
    KERNEL(rows); KERNEL(columns); KERNEL(sorted); KERNEL(unsorted); KERNEL(plain_product); KERNEL(blocked_product);
    KERNEL(join_at_once); KERNEL(join_by_parts); KERNEL(same_call); KERNEL(any_call); KERNEL(in_register); KERNEL(through_memory);
    if (!strcmp(argv[1], "chase")) chase(n, atol(argv[3]));
    if (!strcmp(argv[1], "one_line")) two_writers(n, 1);
    if (!strcmp(argv[1], "two_lines")) two_writers(n, 8);
    return argc < 3;
}
"""


class KnownKernels(CompiledProgram):
    name = "known"
    source = SOURCE
    options = ("-O1", "-g", "-pthread")

    def counts(self, machine, events, *kernel):
        got = subprocess.run([ANYPERF, "stat", "--virtual", "--machine", machine, "-x,", "-e", events, "--", str(self.program), *kernel],
                             text=True, capture_output=True, timeout=200, cwd=self.directory)
        self.assertEqual(got.returncode, 0, got.stderr)
        lines = [line.split(",") for line in got.stderr.splitlines() if line[:1].isdigit()]
        return [int(fields[0]) for fields in lines]

    def grown(self, machine, events, kernel, few, many, *more):
        """What `many` rounds count beyond `few`, for each event."""
        before, after = (self.counts(machine, events, kernel, str(n), *more) for n in (few, many))
        return [b - a for a, b in zip(before, after)]

    def test_columns_miss_at_each_access_and_rows_once_a_line(self):
        accesses = 512 * 512
        rows, columns = (self.grown("skl", "L1-dcache-load-misses", kernel, 1, 2)[0] for kernel in ("rows", "columns"))
        self.assertAlmostEqual(rows, accesses / 16, delta=accesses / 160)
        self.assertGreater(columns, 0.95 * accesses)

    def test_a_branch_on_unsorted_data_is_mispredicted(self):
        values = 32768
        unsorted, ordered = (self.grown("skl", "branch-misses", kernel, 2, 4)[0] / 2 for kernel in ("unsorted", "sorted"))
        self.assertGreater(unsorted, values / 3)
        self.assertLess(ordered, values / 500, "each change of direction, and little else")

    def test_a_chase_has_its_knees_where_the_machine_has_its_levels(self):
        loads = 30000
        cycles = {}
        for kib in (4, 32, 256, 1024):
            l1, l2, l3, memory, walks, cycles[kib] = self.grown("tiny", "r1d1,r2d1,r4d1,r20d1,dTLB-load-misses,cycles", "chase", 1, loads, str(kib))
            found = {4: l2, 32: l3, 256: memory, 1024: memory}[kib]
            # The tables and the code of the loop share the levels, and a set of random lines may exceed its ways.
            self.assertGreater(found, 0.6 * loads, f"{kib} KiB: {l1} {l2} {l3} {memory}")
            self.assertEqual(walks > 0.3 * loads, kib > 128, f"{kib} KiB: {walks} page walks; the TLBs reach 128 KiB")
        self.assertLess(2 * cycles[4], cycles[32])
        self.assertLess(1.5 * cycles[32], cycles[256])
        l1, l2, _ = self.grown("skl", "r1d1,r2d1,r4d1", "chase", 1, loads, "16")
        self.assertGreater(l1, 0.99 * loads, "16 KiB are in an L1 of 32")
        l1, l2, _ = self.grown("skl", "r1d1,r2d1,r4d1", "chase", 1, loads, "128")
        self.assertGreater(l2, 0.6 * loads, "128 KiB are in an L2 of 256")

    def test_false_sharing_hits_modified_lines_of_the_other_thread(self):
        turns = 500
        shared, apart = (self.grown("skl", "r4d2", kernel, 1, turns)[0] for kernel in ("one_line", "two_lines"))
        # The semaphores are shared, too, but in both.
        self.assertGreater(shared - apart, 1.5 * turns)

    def test_blocks_of_a_product_stay_in_l1(self):
        plain, blocked = (self.grown("skl", "L1-dcache-load-misses", kernel, 1, 2)[0] for kernel in ("plain_product", "blocked_product"))
        self.assertLess(3 * blocked, plain)

    def test_a_join_by_parts_finds_its_table_in_l1(self):
        keys = 32768
        at_once, by_parts = (self.grown("skl", "r8d1", kernel, 1, 3)[0] / 2 for kernel in ("join_at_once", "join_by_parts"))
        self.assertGreater(at_once, 0.3 * keys)
        self.assertLess(by_parts, 0.1 * keys)

    def test_virtual_calls_of_one_function_are_predicted(self):
        calls = 20000
        same, other = (self.grown("skl", "branch-misses", kernel, 1, calls)[0] for kernel in ("same_call", "any_call"))
        self.assertLess(same, calls / 100)
        self.assertGreater(other, calls / 2, "three of four calls go to another function than the one before")

    def test_a_load_waits_for_the_store_before_it(self):
        rounds = 20000
        register, memory = (self.grown("skl", "cycles", kernel, 1, rounds)[0] / rounds for kernel in ("in_register", "through_memory"))
        self.assertAlmostEqual(register, 4, delta=0.5)
        self.assertGreater(memory, 4 * 4.5, "each waits some five cycles for the store, and one for the addition")

    def perf(self, *words):
        got = subprocess.run(words, text=True, capture_output=True, timeout=200, cwd=self.directory)
        self.assertEqual(got.returncode, 0, got.stderr)
        return got.stdout

    @unittest.skipIf(shutil.which("perf") is None, "perf is not installed")
    def test_perf_mem_shows_false_sharing(self):
        self.perf(ANYPERF, "run", "--", "perf", "mem", "record", "-o", "mem.data", "--", "-c", "20", str(self.program), "one_line", "3000")
        report = self.perf("perf", "mem", "report", "-i", "mem.data", "--stdio", "--sort", "mem,snoop,symbol_daddr,locked")
        self.assertRegex(report, r"L3 or L3 hit +HitM +\[\.\] words\b")
        self.assertNotRegex(report, r"N/A +\[\.\] words")

    @unittest.skipIf(shutil.which("perf") is None, "perf is not installed")
    def test_perf_c2c_names_the_line_that_two_threads_write(self):
        hitm = {}
        for kernel in ("one_line", "two_lines"):
            self.perf(ANYPERF, "run", "--", "perf", "c2c", "record", "-o", "c2c.data", "--", "-c", "20", str(self.program), kernel, "3000")
            report = self.perf("perf", "c2c", "report", "-i", "c2c.data", "--stdio", "--stats")
            hitm[kernel] = int(re.search(r"LLC? ?Load Hit Hitm|Load Local HITM\s*:\s*(\d+)", report, re.I)[1] or 0)
        # The semaphores are shared, too, but in both: 6,000 turns, of which each takes the line from the other thread.
        self.assertAlmostEqual(hitm["one_line"] - hitm["two_lines"], 6000 / 20, delta=60)

    def test_samples_have_levels_and_latencies(self):
        self.perf(ANYPERF, "record", "--virtual", "-q", "-e", "cpu/mem-loads,ldlat=30/pp", "-c", "50", "-d", "-W", "-o", "own.data", "--",
                  str(self.program), "one_line", "3000")
        report = self.perf(ANYPERF, "report", "-i", "own.data", "-s", "mem,snoop,daddr")
        self.assertRegex(report, r"L3 or L3 hit +HitM")
        weights = [int(line.split()[-1]) for line in self.perf(ANYPERF, "script", "-i", "own.data", "-F", "addr,weight").splitlines()]
        self.assertTrue(weights)
        self.assertGreaterEqual(min(weights), 30, "no load is faster than ldlat")


if __name__ == "__main__":
    unittest.main(verbosity=2)
