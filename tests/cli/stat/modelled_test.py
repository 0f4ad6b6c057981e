"""Known programs show the known effect in the modelled events of caches, TLBs and branch predictors."""
import json
import shutil
import subprocess
import unittest
from pathlib import Path

from program import ANYPERF, Case, stat

COMPILER = shutil.which("cc") or shutil.which("gcc")

PROGRAM = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { kRows = 1024, kColumns = 1024 };
static volatile int matrix[kRows][kColumns];
static long sum;
__attribute__((noinline)) void rows(void) {
    for (int i = 0; i < 128; ++i) for (int j = 0; j < kColumns; ++j) sum += matrix[i][j];
}
__attribute__((noinline)) void columns(void) {
    for (int j = 0; j < 128; ++j) for (int i = 0; i < kRows; ++i) sum += matrix[i][j];
}
static unsigned state = 1;
static unsigned next(void) { return (state = state * 1664525u + 1013904223u) >> 16; }
static volatile unsigned char bytes[4096];
__attribute__((noinline)) void branch(int sorted) {
    for (int i = 0; i < 4096; ++i) bytes[i] = sorted ? i / 16 : next();
    for (int round = 0; round < 20; ++round)
        for (int i = 0; i < 4096; ++i) if (bytes[i] < 128) __asm__ volatile("incq %0" : "+m"(sum));
}
static void** chain;
__attribute__((noinline)) void chase(unsigned lines) {
    chain = aligned_alloc(4096, lines * 64);
    unsigned* order = malloc(lines * sizeof *order);
    for (unsigned i = 0; i < lines; ++i) order[i] = i;
    for (unsigned i = lines - 1; i > 0; --i) { unsigned j = next() % i, t = order[i]; order[i] = order[j]; order[j] = t; }
    for (unsigned i = 0; i < lines; ++i) chain[order[i] * 8] = &chain[order[(i + 1) % lines] * 8];
    void** at = chain;
    for (unsigned i = 0; i < 200000; ++i) at = *at;
    sum += (long)at;
}
static volatile long shared[16] __attribute__((aligned(128)));
static int there[2], back[2];
struct Player { int in, out; volatile long* own; };
/// Two threads take turns: each adds to its own word, then hands over.
static void* play(void* argument) {
    struct Player* player = argument;
    char turn;
    for (int i = 0; i < 1000 && read(player->in, &turn, 1) == 1; ++i) {
        ++*player->own;
        if (write(player->out, &turn, 1) != 1) break;
    }
    return 0;
}
void threads(int apart) {
    if (pipe(there) || pipe(back)) exit(1);
    struct Player first = {there[0], back[1], &shared[0]}, second = {back[0], there[1], &shared[apart]};
    pthread_t other;
    if (write(there[1], "x", 1) != 1) exit(1);
    pthread_create(&other, 0, play, &second);
    play(&first);
    pthread_join(other, 0);
}
int main(int argc, char** argv) {
    if (!strcmp(argv[1], "rows")) rows();
    if (!strcmp(argv[1], "columns")) columns();
    if (!strcmp(argv[1], "sorted")) branch(1);
    if (!strcmp(argv[1], "random")) branch(0);
    if (!strcmp(argv[1], "chase")) chase(atoi(argv[2]));
    if (!strcmp(argv[1], "threads")) threads(atoi(argv[2]));
    return 0;
}
"""


@unittest.skipIf(COMPILER is None, "no C compiler")
class Modelled(Case):
    def setUp(self):
        super().setUp()
        source = self.file("known.c")
        source.write_text(PROGRAM)
        self.program = str(self.file("known"))
        subprocess.run([COMPILER, "-O1", "-pthread", "-o", self.program, source], check=True)

    def counts(self, events, *words, machine="skx"):
        result = stat("--virtual", "--json", "--deterministic", "--machine", machine, "-e", ",".join(events), "--",
                      self.program, *map(str, words))
        return {event["name"]: event["value"] for event in json.loads(result.stderr)["events"]}

    def test_a_walk_along_columns_misses_where_one_along_rows_hits(self):
        events = ["L1-dcache-load-misses", "dTLB-load-misses", "r8d1"]
        rows, columns = (self.counts(events, order) for order in ("rows", "columns"))
        self.assertGreater(columns["L1-dcache-load-misses"], 10 * rows["L1-dcache-load-misses"])
        self.assertGreater(columns["r8d1"], 128 * 1024 * 0.9, "each load misses L1: a column has more lines than it")

    def test_a_branch_on_sorted_data_is_predicted(self):
        ordered, random = (self.counts(["branch-misses"], data)["branch-misses"] for data in ("sorted", "random"))
        self.assertGreater(random, 15_000, "half of 80,000 branches can't be foreseen, but the data repeats")
        self.assertLess(ordered, random / 5)

    def test_a_chase_has_its_knees_at_the_sizes_of_the_levels(self):
        # tiny has 16, 128 and 1,024 lines, and skx 512, 16,384 and some 360,000.
        served = ["r1d1", "r2d1", "r4d1", "r20d1"]
        for machine, lines, level in (("skx", 256, "r1d1"), ("skx", 4096, "r2d1"), ("skx", 65536, "r4d1"),
                                      ("tiny", 64, "r2d1"), ("tiny", 700, "r4d1"), ("tiny", 4096, "r20d1")):
            counts = self.counts(served, "chase", lines, machine=machine)
            base = self.counts(served, "chase", 2, machine=machine)
            grown = {event: counts[event] - base[event] for event in served}
            self.assertGreater(grown[level] if level != "r1d1" else counts[level], 120_000, (machine, lines, counts))

    def test_false_sharing_shows_as_hits_of_modified_lines_in_another_cache(self):
        near, far = (self.counts(["r4d2"], "threads", apart)["r4d2"] for apart in (1, 8))
        self.assertGreater(near, 1800, "each of 2,000 turns but the first finds the line in the other core")
        self.assertLess(far, near / 10)

    def test_samples_of_misses_name_the_instruction_that_missed(self):
        recording = self.file("misses")
        command = [ANYPERF, "record", "--virtual", "-e", "r8d1:pp", "-c", "1000", "-o", str(recording), "--", self.program, "columns"]
        subprocess.run(command, check=True, capture_output=True)
        text = subprocess.run([ANYPERF, "script", "-i", str(recording), "--fields", "ip,sym"], check=True, text=True, capture_output=True)
        addresses = [line.split()[0] for line in text.stdout.splitlines() if "columns" in line]
        self.assertGreater(len(addresses), 120)
        self.assertEqual(len(set(addresses)), 1, "one load of the loop misses")

    def test_an_event_overflows_exactly_as_often_as_its_count_says(self):
        recording = self.file("exact")
        count = self.counts(["branch-misses"], "random")["branch-misses"]
        command = [ANYPERF, "record", "--virtual", "--deterministic", "--machine", "skx", "-e", "branch-misses", "-c", "100",
                   "-o", str(recording), "--", self.program, "random"]
        note = subprocess.run(command, check=True, text=True, capture_output=True).stderr
        samples = int(note.split(" samples")[0].split()[-1].replace(",", ""))
        self.assertAlmostEqual(samples, count // 100, delta=1)

    def test_samples_of_mispredictions_name_the_branch(self):
        recording = self.file("mispredicted")
        command = [ANYPERF, "record", "--virtual", "--deterministic", "--machine", "skx", "-e", "branch-misses:pp", "-c", "7",
                   "-o", str(recording), "--", self.program, "random"]
        subprocess.run(command, check=True, capture_output=True)
        text = subprocess.run([ANYPERF, "script", "-i", str(recording), "--fields", "sym,symoff"], check=True, text=True,
                              capture_output=True).stdout
        inside = [int(line.split("+")[1], 16) for line in text.splitlines() if line.strip().startswith("branch+")]
        self.assertGreater(len(inside), 2000)
        code = subprocess.run([shutil.which("objdump"), "-d", "--disassemble=branch", self.program], check=True, text=True,
                              capture_output=True).stdout
        lines = [line.split("\t") for line in code.splitlines() if line.count("\t") == 2]
        start = int(lines[0][0].strip(" :"), 16)
        branches = {int(line[0].strip(" :"), 16) - start for line in lines if line[2].startswith(("j", "call", "ret"))}
        self.assertLessEqual(set(inside), branches)

    def test_a_child_of_a_fork_begins_with_empty_caches(self):
        once = self.counts(["L1-icache-load-misses"], "rows")["L1-icache-load-misses"]
        result = stat("--virtual", "--json", "--machine", "skx", "-e", "L1-icache-load-misses", "--", "sh", "-c",
                      f"{self.program} rows; {self.program} rows; :")
        self.assertGreater(json.loads(result.stderr)["events"][0]["value"], 2 * once)

    def test_several_machines_stand_side_by_side(self):
        events = ["instructions", "branch-misses", "L1-dcache-load-misses"]
        result = stat("--virtual", "--deterministic", "--machine", "tiny,skx", "-e", ",".join(events), "--", self.program, "rows")
        rows = {line.split()[0].removesuffix(":u"): line.split()[1:] for line in result.stderr.splitlines() if line.strip()}
        self.assertEqual(rows["tiny"], ["skx"], "a column for each machine")
        for column, machine in enumerate(("tiny", "skx")):
            alone = self.counts(events, "rows", machine=machine)
            self.assertEqual({name: int(rows[name][column].replace(",", "")) for name in events}, alone, machine)
        self.assertRegex(result.stderr, r"branch-misses +[0-9,]+ +[0-9,]+ +\([+-][0-9.]+%\)")

    def test_several_machines_have_a_table_only(self):
        result = stat("--machine", "tiny,skx", "-x", ",", "--", "true")
        self.assertIn("--machine with several machines", result.stderr)
        result = stat("--machine", "tiny,nothing", "--", "true")
        self.assertIn("bad --machine nothing", result.stderr)
        self.assertNotEqual(result.returncode, 0)


if __name__ == "__main__":
    unittest.main()
