"""`anyperf report -s KEY` has the rows that perf report has, for keys that a machine without a PMU has nothing to record for: a made
recording of a real program, with data addresses, cgroups, namespaces, latencies, branches and two sockets."""
import collections
import json
import re
import shutil
import subprocess
import unittest

from made_file import CALLCHAIN, COMM, IP, PERIOD, SAMPLE, TID, TIME, USER, MadeFile, padded
from program import ANYPERF, Case

ADDR, CPU, BRANCH_STACK, DATA_SRC, CGROUP_BIT, WEIGHT_STRUCT = 1 << 3, 1 << 7, 1 << 11, 1 << 15, 1 << 21, 1 << 24
MMAP2, NAMESPACES, CGROUP = 10, 16, 19
MMAP_DATA = 1 << 13
CONTEXT_USER = (1 << 64) - 512
RAW_EVENT = 4
PID = 5_000_001
SEPARATOR = "\x01"
SOURCE = """
int table[1000] = {1};
static const int consts[100] = {5, 6, 7};
__attribute__((noinline)) int inner(int x) { return table[x] + consts[x % 100]; }
__attribute__((noinline)) int outer(int x) { return inner(x) * 2 + 1; }
int main(int argc, char** argv) { return outer(argc); }
"""
LOOP = """
__attribute__((noipa)) int inner(int x) { return x % 3 ? x * 2 : x - 1; }
__attribute__((noipa)) int outer(int x) { return x % 7 == 5 ? 3 : inner(x) * 2 + 1; }
int main(void) { int sum = 0; for (int i = 0; i < 100000; ++i) sum ^= outer(i); return sum == 1; }
"""


def run(*words):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=100, check=False)


class ReportKeys(Case):
    def setUp(self):
        super().setUp()
        if not all(map(shutil.which, ("perf", "cc", "nm", "readelf"))):
            self.skipTest("perf or binutils are not installed")
        source, self.program = self.file("keys.c"), self.file("keys")
        source.write_text(SOURCE)
        subprocess.run(["cc", "-g", "-O1", "-no-pie", "-Wl,--build-id", "-o", self.program, source], check=True, timeout=60)
        self.at = {name: int(address, 16) for address, name in re.findall(r"^([0-9a-f]+) \w (\w+)$", run("nm", self.program).stdout, re.M)}

    def map(self, made, pid, start, size, offset, path, writable, executable, shared=False):
        body = made.pack("IIQQQIIQQII", pid, pid, start, size, offset, 8, 1, 77, 0, 1 | 2 * writable | 4 * executable, 1 if shared else 2)
        made.record(MMAP2, USER | (0 if executable else MMAP_DATA), body + padded(str(path).encode() + b"\0"))

    def map_all(self, made, pid):
        headers = run("readelf", "-lW", self.program).stdout
        for offset, address, size, flags in re.findall(r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) 0x\w+ (...)", headers):
            offset, address, size = int(offset, 16), int(address, 16), int(size, 16)
            start = address & ~0xfff
            self.map(made, pid, start, (address + size - start + 0xfff) & ~0xfff, offset & ~0xfff, self.program, "W" in flags, "E" in flags)
        self.map(made, pid, 0x7f0000000000, 0x10000, 0, "/dev/shm/shared", True, False, shared=True)
        self.map(made, pid, 0x7f0000100000, 0x10000, 0, "//anon", True, False)
        self.map(made, pid, 0x7ffc00000000, 0x10000, 0, "[stack]", True, False)

    def describe_machine(self, made):
        def texts(words):
            rooms = [padded(word.encode() + b"\0", 64) for word in words]
            return made.pack("I", len(words)) + b"".join(made.pack("I", len(room)) + room for room in rooms)
        made.text_feature(3, "host")
        made.text_feature(6, "x86_64")
        made.feature(7, made.pack("II", 4, 4))
        made.feature(13, texts(["0-1", "2-3"]) + texts(["0", "1", "2", "3"]) + b"".join(made.pack("II", i % 2, i // 2) for i in range(4)))

    def recording(self, chains=False, branches=False):
        """Each combination of some code addresses, some data addresses and two processes."""
        kinds = IP | TID | TIME | ADDR | CPU | PERIOD | WEIGHT_STRUCT | DATA_SRC | CGROUP_BIT
        made = MadeFile(sample_type=kinds | (CALLCHAIN if chains else 0) | (BRANCH_STACK if branches else 0))
        made.attr(kind=RAW_EVENT, config=0x1cd, flags=0, branches=9 if branches else 0)
        for pid in (PID, PID + 1):
            made.record(COMM, 0, made.pack("II", pid, pid) + padded(b"prog\0"))
            self.map_all(made, pid)
        made.record(CGROUP, 0, made.pack("Q", 123) + padded(b"/user.slice\0"))
        made.record(NAMESPACES, 0, made.pack("IIQ", PID, PID, 7) + b"".join(made.pack("QQ", 4, 0xf0000000 + i) for i in range(7)))
        self.describe_machine(made)
        at = self.at
        code = [at["inner"], at["inner"] + 5, at["outer"] + 3, at["main"] + 8, 0x999000]
        data = [at["table"] + 8, at["table"] + 70, at["consts"], 0x7f0000000040, 0x7f0000000041, 0x7f0000100200, 0x7ffc00000123, 0xdead0000,
                at["inner"] + 2]
        taken = [(at["main"] + 4, at["inner"], 1 << 4), (at["inner"] + 3, at["outer"] + 2, 2), (0x999000, at["main"], 0), (at["outer"], 0x999008, 0)]
        for i, (ip, address, pid) in enumerate((ip, address, pid) for ip in code for address in data for pid in (PID, PID + 1)):
            body = made.pack("QIIQQIIQ", ip, pid, pid, 1000 * (i + 1), address, i % 4, 0, 1 + i % 3)
            if chains:
                body += made.pack("5Q", 4, CONTEXT_USER, ip, at["outer"] + 9, at["main"] + 20)
            if branches:
                last = taken[i % 3:]
                body += made.pack("Q", len(last)) + b"".join(made.pack("3Q", *each) for each in last)
            body += made.pack("IHH", 10 + i % 4, i % 3, i % 2) + made.pack("2Q", 2 | (8 | 2) << 5, (0, 123, 124)[i % 3])
            made.record(SAMPLE, USER, body)
        path = self.file("keys.data")
        path.write_bytes(made.bytes())
        return path

    def samples_by(self, path, keys, *options, turn=None):
        """How many samples perf and we have for each combination of the keys' texts."""
        perf, ours = collections.Counter(), collections.Counter()
        text = run("perf", "report", "-i", path, "--stdio", "--no-children", "-g", "none", "-n", "-t", SEPARATOR, "-s", ",".join(keys), *options).stdout
        for line in text.splitlines():
            fields = [each.strip() for each in line.split(SEPARATOR)]
            if fields[0].endswith("%") and len(fields) >= len(keys) + 2:
                perf[tuple(map(turn or str, fields[2:len(keys) + 2]))] += int(fields[1])
        result = run(ANYPERF, "report", "-i", path, "--json", "-s", ",".join(keys), *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        for row in json.loads(result.stdout):
            ours[tuple((turn or str)(str(row[key]).strip()) for key in keys)] += row["samples"]
        return perf, ours

    def assert_agree(self, path, keys, *options, turn=None):
        perf, ours = self.samples_by(path, keys, *options, turn=turn)
        self.assertGreater(perf.total(), 50, keys)
        self.assertEqual(ours, perf, keys)

    def test_keys_of_samples(self):
        path = self.recording()
        for keys in (["symbol_size"], ["dso_size"], ["cgroup"], ["cgroup_id"], ["local_ins_lat"], ["ins_lat"], ["addr"], ["local_weight"]):
            self.assert_agree(path, keys)
        self.assert_agree(path, ["socket"], turn=lambda text: int(text.split()[0]))

    def test_keys_of_data(self):
        path = self.recording()
        for keys in (["symbol_daddr"], ["dso_daddr"], ["symbol_iaddr"], ["symbol_daddr", "dso_daddr", "local_ins_lat"]):
            self.assert_agree(path, keys, "--mem-mode")

    def test_lines_of_the_cache(self):
        """perf's offset in a variable mixes addresses with offsets in the file, so only the variable is compared."""
        self.assert_agree(self.recording(), ["dcacheline"], "--mem-mode", turn=lambda text: re.sub(r"[+-]0x.*", "", text))

    def test_addresses_of_branches(self):
        path = self.recording(branches=True)
        for keys in (["addr_from"], ["addr_to"], ["addr_from", "addr_to"]):
            self.assert_agree(path, keys, "-b")

    def blocks(self, path):
        """Share, cycles, mean, range and file of each block."""
        lines = run(ANYPERF, "report", "-i", path, "--total-cycles").stdout.splitlines()
        rows = [re.match(r"\s+(\S+%)\s+(\S+)\s+\S+%\s+(\S+)\s+(\[.*\])\s+(\S+)", line) for line in lines if line and line[0] != "#"]
        return [row.groups() for row in rows if row]

    @staticmethod
    def cycles_text(cycles):
        return f"{cycles / 1e6:.1f}M" if cycles >= 1_000_000 else f"{cycles / 1e3:.1f}K" if cycles >= 1000 else str(cycles)

    def blocks_of_branches(self, path):
        """The cycles of the blocks of the program's functions by their ranges, and of all branches: from the branches as perf script
        prints them, since perf 6.1 of Debian 12 crashes in its own table."""
        sizes = {int(start, 16): int(size) for start, size in
                 re.findall(r"^ *\d+: (\w+) +(\d+) FUNC", run("readelf", "-sW", self.program).stdout, re.M)}
        ends, starts, whole = collections.defaultdict(list), {}, 0
        for line in run("perf", "script", "-F", "brstack", "-i", path).stdout.splitlines():
            before = None
            for word in reversed(line.split()):
                source, target, _, _, _, cycles = word.split("/")[:6]
                source, target, cycles = int(source, 16), int(target, 16), int(cycles)
                whole += cycles
                start = next((start for start, size in sizes.items() if start <= source < start + size), None)
                if cycles and start is not None:
                    ends[source].append(cycles)
                    if before is not None and start <= before < source:
                        starts[source] = min(before, starts.get(source, before))
                before = target
        function = {end: next(start for start, size in sizes.items() if start <= end < start + size) for end in ends}
        return {f"[{starts.get(end, function[end]) - function[end]:7x} -> {end - function[end]:7x}]": counts
                for end, counts in ends.items()}, whole

    def test_cycles_of_blocks(self):
        source, path = self.file("loop.c", LOOP), self.file("blocks.data")
        subprocess.run(["cc", "-O1", "-no-pie", "-o", self.program, source], check=True, timeout=60)
        recorded = run(ANYPERF, "record", "--virtual", "-q", "-b", "-e", "branches:u", "-c", "997", "-o", path, "--", self.program)
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        expected, whole = self.blocks_of_branches(path)
        rows = self.blocks(path)
        self.assertGreater(len(expected), 5)
        self.assertEqual({row[3] for row in rows if row[4] == "keys"} - set(expected), set())
        for share, cycles, mean, place, file in rows:
            if file != "keys":
                continue
            counts = expected[place]
            self.assertEqual(share, f"{100 * sum(counts) / whole:.2f}%", place)
            self.assertEqual(cycles, self.cycles_text(sum(counts)), place)
            self.assertEqual(mean, self.cycles_text(sum(counts) // len(counts)), place)
        self.assertEqual(len([row for row in rows if row[4] == "keys"]), len(expected))
        refused = run(ANYPERF, "report", "-i", self.recording(), "--total-cycles")
        self.assertEqual(refused.returncode, 125)
        self.assertIn("no sample has branches", refused.stderr)

    def test_samples_by_the_callers_that_match(self):
        path = self.recording(chains=True)
        self.assert_agree(path, ["parent"])
        self.assert_agree(path, ["parent", "symbol"], "-p", "^out|^mai", turn=lambda text: text.removeprefix("[.] "))
        refused = run(ANYPERF, "report", "-i", path, "-p", "(")
        self.assertEqual(refused.returncode, 125)
        self.assertIn("regular expression", refused.stderr)

    def titles(self, program, path, *words):
        """Of the columns, without blanks."""
        text = run(program, "report", "-i", path, "--stdio", *words).stdout
        line = next(line for line in text.splitlines() if line.startswith(("# Overhead", "# Children")))
        return [each.strip() for each in line.removeprefix("#").split(SEPARATOR)]

    def test_a_plus_adds_to_the_default_keys_and_fields(self):
        path = self.recording()
        for words in (["-s", "+cpu"], ["-F", "+period"], ["-F+period"], ["-s", "+sample"], ["-s", "+period"]):
            ours, perfs = (self.titles(program, path, "-t", SEPARATOR, *more, *words)
                           for program, more in ((ANYPERF, []), ("perf", ["--no-children", "-g", "none"])))
            self.assertCountEqual(ours, perfs, words)

    def test_fields_among_the_keys_are_columns(self):
        path = self.recording()
        self.assertEqual(self.titles(ANYPERF, path, "-t", SEPARATOR, "-s", "overhead,sym"), ["Overhead", "Symbol"])
        self.assertEqual(self.titles(ANYPERF, path, "-t", SEPARATOR, "-s", "sym,sample"), ["Overhead", "Symbol", "Samples"])
        self.assertEqual(self.titles(ANYPERF, path, "-t", SEPARATOR, "--child", "-s", "period,sym"), ["Children", "Self", "Period", "Symbol"])

    def test_more_keys_than_a_table_has_are_refused(self):
        keys = "+pid,tid,cpu,socket,dso_size,symbol_size,srcline,srcfile,addr,time"
        refused = run(ANYPERF, "report", "-i", self.recording(), "-s", keys)
        self.assertEqual(refused.returncode, 125)
        self.assertIn("there are 13", refused.stderr)

    def test_keys_that_perf_counts_for_blocks_only_are_refused(self):
        refused = run(ANYPERF, "report", "-i", self.recording(), "-s", "ipc_lbr")
        self.assertEqual(refused.returncode, 125)
        self.assertIn("cannot sort by 'ipc_lbr'", refused.stderr)


if __name__ == "__main__":
    unittest.main()
