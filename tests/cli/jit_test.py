"""Names of code that a JIT compiler has generated: from its jit-PID.dump, at the time of each sample, and from perf-PID.map."""
import json
import re
import shutil
import unittest

from program import ANYPERF
from record_test import Recorder
from report_test import report, run

# A JIT without a compiler: the code of spin() is copied to a page, which is used for one function after the other. Each is
# called from main() and, by its name, takes 150 ms.
JIT = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
enum { FIRST_LINE = __LINE__ + 1 };
// The function begins,
// counts down
// and returns.
static const unsigned char spin[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3};  // loops rdi times
static int dump;
static uint64_t now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ull + t.tv_nsec; }
static void put(const void* bytes, size_t size) { if (write(dump, bytes, size) != (ssize_t)size) abort(); }
struct prefix { uint32_t kind, size; uint64_t time; };
static void load(void* code, size_t size, const char* name, uint64_t index) {
    struct { struct prefix prefix; uint32_t pid, tid; uint64_t vma, address, size, index; } record =
        {{0, sizeof record + strlen(name) + 1 + size, now()}, getpid(), getpid(), (uintptr_t)code, (uintptr_t)code, size, index};
    put(&record, sizeof record), put(name, strlen(name) + 1), put(code, size);
}
static void lines(char* code) {  // of "second": the first line of spin's comment, and the next ones
    static const struct { uint32_t offset, line; const char* file; } each[] = {{0, FIRST_LINE, __FILE__}, {4, FIRST_LINE + 1, "\xff"}, {9, FIRST_LINE + 2, "\xff"}};
    struct { struct prefix prefix; uint64_t address, count; } record = {{2, sizeof record, now()}, (uintptr_t)code, 3};
    for (int i = 0; i < 3; i++) record.prefix.size += 16 + strlen(each[i].file) + 1;
    put(&record, sizeof record);
    for (int i = 0; i < 3; i++) {
        struct { uint64_t address; uint32_t line, discriminator; } entry = {(uintptr_t)code + each[i].offset, each[i].line, 0};
        put(&entry, sizeof entry), put(each[i].file, strlen(each[i].file) + 1);
    }
}
static void moved(void* to, size_t size, uint64_t index) {
    struct { struct prefix prefix; uint32_t pid, tid; uint64_t vma, old, address, size, index; } record =
        {{1, sizeof record, now()}, getpid(), getpid(), (uintptr_t)to, 0, (uintptr_t)to, size, index};
    put(&record, sizeof record);
}
static void call(void* code) {
    uint64_t end = now() + 150000000;
    while (now() < end) { ((void (*)(long))code)(300000); __asm__ volatile(""); }
}
int main(int argc, char** argv) {
    char path[64];
    snprintf(path, sizeof path, "jit-%d.dump", getpid());
    dump = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    struct { uint32_t magic, version, size, machine, pad, pid; uint64_t time, flags; } header = {0x4a695444, 1, 40, 62, 0, getpid(), now(), 0};
    put(&header, sizeof header);
    mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0);
    char* memory = mmap(0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(memory, spin, sizeof spin);
    load(memory, sizeof spin, "first", 1);
    call(memory);
    lines(memory);
    load(memory, sizeof spin, "second", 2);
    call(memory);
    memcpy(memory + 4096, spin, sizeof spin);
    moved(memory + 4096, sizeof spin, 1);
    call(memory + 4096);
    return 0;
}
"""
CLOCK = ("--kernel", "-e", "cpu-clock:u", "-F", "2000")


class JitDump(Recorder):
    def setUp(self):
        super().setUp()
        source = self.file("jit.c", JIT)
        self.program = self.file("jit")
        self.assertEqual(run("cc", "-O1", "-fno-omit-frame-pointer", "-o", self.program, source).returncode, 0)

    def record(self, *options):
        """In a directory of its own, which has the dump."""
        self.path = self.file("perf.data")
        result = run(ANYPERF, "record", *options, "-o", self.path, "--", "sh", "-c", f"cd {self.path.parent} && exec ./jit")
        if result.returncode != 0:
            self.skipTest(f"cannot be recorded here: {result.stderr.decode().strip()}")

    def rows(self):
        return json.loads(report("-i", self.path, "--json").stdout)

    def shares(self):
        """Of the functions of the dump, in parts of all of its samples."""
        rows = [row for row in self.rows() if row["dso"].startswith("jit-")]
        total = sum(row["period"] for row in rows)
        return {row["symbol"]: row["period"] / total for row in rows}

    def assert_times_are_told_apart(self):
        shares = self.shares()
        self.assertEqual(set(shares), {"first", "second"})
        self.assertAlmostEqual(shares["second"], 1 / 3, delta=0.15)

    def test_memory_that_is_used_again_has_the_name_of_each_time(self):
        self.record(*CLOCK, "-g", "-k", "monotonic")
        self.assert_times_are_told_apart()
        text = run(ANYPERF, "script", "-i", self.path, "-F", "ip,sym,symoff,dso").stdout.decode()
        self.assertRegex(text, r"first\+0x[0-9a-f]+ \(.*/jit-\d+\.dump\)\n.* call")
        self.assertRegex(text, r"second\+0x[0-9a-f]+ \(.*/jit-\d+\.dump\)\n.* call")

    def test_the_virtual_pmu_records_them_as_well(self):
        self.record("--virtual", "-g", "-k", "monotonic")
        self.assert_times_are_told_apart()

    def test_without_the_clock_of_the_dump_the_last_code_counts(self):
        self.record(*CLOCK)
        shares = self.shares()
        self.assertEqual(set(shares), {"first", "second"})  # the first has been moved to memory that was not used again
        self.assertAlmostEqual(shares["second"], 2 / 3, delta=0.15)

    def test_a_lone_sample_has_its_address_in_the_process(self):
        self.record(*CLOCK, "-k", "monotonic")
        ours = run(ANYPERF, "script", "-i", self.path, "-F", "ip").stdout.split()
        if shutil.which("perf"):
            self.assertEqual(ours, run("perf", "script", "-i", self.path, "-F", "ip").stdout.split())
        self.assertFalse([address for address in ours if len(address) == 16 and address.startswith(b"4")])

    def test_perf_has_the_same_names_after_inject(self):
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        self.record(*CLOCK, "-k", "monotonic")
        injected = self.file("injected.data")
        run("perf", "inject", "--jit", "-i", self.path, "-o", injected)
        text = run("perf", "report", "--stdio", "-s", "sym", "-F", "sample,sym", "-i", injected).stdout.decode()
        theirs = {name: int(count) for count, name in re.findall(r"^\s+(\d+)\s+\[\.\] (first|second)\s*$", text, re.M)}
        ours = {row["symbol"]: row["samples"] for row in self.rows()}
        self.assertEqual(ours["second"], theirs["second"])

    def test_the_code_is_annotated(self):
        self.record(*CLOCK, "-k", "monotonic")
        text = run(ANYPERF, "annotate", "-i", self.path, "second").stdout.decode()
        self.assertRegex(text, r"\d\.\d+.*dec %rdi")
        self.assertRegex(text, r"jnz .*<second\+0x4>")

    def test_source_lines_of_the_dump_are_annotated(self):
        self.record(*CLOCK, "-k", "monotonic")
        text = run(ANYPERF, "annotate", "-i", self.path, "second").stdout.decode()
        self.assertRegex(text, r"// The function begins,(.|\n)*push %rbp(.|\n)*// counts down(.|\n)*dec %rdi(.|\n)*// and returns\.(.|\n)*pop %rbp")
        self.assertNotIn("// counts down", run(ANYPERF, "annotate", "-i", self.path, "first").stdout.decode())

    def test_source_lines_of_the_dump_are_keys_and_fields(self):
        self.record(*CLOCK, "-k", "monotonic")
        loop = JIT.splitlines().index("// counts down") + 1  # where most samples are
        rows = json.loads(run(ANYPERF, "report", "-i", self.path, "--json", "-s", "sym,srcline").stdout)
        lines = {row["srcline"]: row["samples"] for row in rows if row["symbol"] == "second"}
        self.assertEqual(max(lines, key=lines.get), f"jit.c:{loop}")
        text = run(ANYPERF, "script", "-i", self.path, "-F", "ip,sym,srcline").stdout.decode()
        self.assertRegex(text, rf"second\n +jit\.c:{loop}\n")

    def test_source_lines_are_those_of_perf_inject(self):
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        self.record(*CLOCK, "-k", "monotonic")
        functions = json.loads(run(ANYPERF, "annotate", "-i", self.path, "--json", "second").stdout)
        begin = functions[0]["begin"]
        ours = {each["address"] - begin: each["line"] for each in functions[0]["code"]}
        self.assertEqual(len(ours), 6)
        run("perf", "inject", "--jit", "-i", self.path, "-o", self.file("injected.data"))
        made = next(self.path.parent.glob("jitted-*-2.so"))
        table = run("readelf", "--debug-dump=decodedline", made).stdout.decode(errors="replace")
        rows = [(int(address, 16), int(line)) for line, address in re.findall(r"\s(\d+)\s+0x([0-9a-f]+)\s+x$", table, re.M)]
        self.assertEqual(len(rows), 3)
        for address, line in rows:
            self.assertEqual(ours[address - rows[0][0]], line)

    def test_a_dump_that_is_gone_leaves_addresses(self):
        self.record(*CLOCK, "-k", "monotonic")
        for path in self.path.parent.glob("jit-*.dump"):
            path.unlink()
        self.assertNotIn("first", [row["symbol"] for row in self.rows()])


if __name__ == "__main__":
    unittest.main()
