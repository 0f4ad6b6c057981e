"""`anyperf report` on recordings of perf: each (comm, dso, symbol) has the weight that perf report gives it. Damaged files are
read as far as they go."""
import collections
import json
import re
import shutil
import struct
import subprocess
import unittest

import made_accesses
from perf_recording import perf_record, perf_record_through_a_pipe
from program import ANYPERF, Case

# Forks, execs, threads (sort), C++ names (the compiler), and calls of the kernel.
LOAD = "seq 1 60000 | sort -R --parallel=2 | md5sum; ls -lR /usr/include/linux; echo 'int f(){return 1;}' | c++ -x c++ -S -o /dev/null -"
SEPARATOR = "\x01"


def run(*words, **options):
    return subprocess.run(list(map(str, words)), capture_output=True, timeout=100, check=False, **options)


def perf_rows(path):
    """The weights by (comm, dso, symbol). With a group perf prints the numbers of all its events in one field."""
    text = run("perf", "report", "-i", path, "--stdio", "--no-children", "-g", "none", "--no-inline", "-t", SEPARATOR,
               "-F", "sample,period,comm,dso,sym", "-s", "comm,dso,sym").stdout.decode(errors="replace")
    rows = collections.Counter()
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(SEPARATOR)]
        if not line.startswith("#") and len(fields) == 5:
            rows[fields[2], fields[3], fields[4][4:].strip()] += sum(map(int, fields[1].split()))
    return rows


def report(*words, **options):
    return run(ANYPERF, "report", *words, **options)


def our_rows(result):
    rows = collections.Counter()
    for row in json.loads(result.stdout):
        rows[row["comm"], row["dso"], row["symbol"]] += row["period"]
    return rows


class Report(Case):
    def record(self, *options, name="perf.data", command=LOAD):
        return perf_record(self, self.file(name), "-F", "2000", *options, command=["sh", "-c", command])

    def assert_agrees(self, path):
        perf, ours = perf_rows(path), our_rows(report("-i", path, "--json"))
        self.assertGreater(perf.total(), 0)
        self.assertEqual(ours.total(), perf.total())
        differs = perf - ours
        self.assertLessEqual(differs.total(), 0.005 * perf.total(), differs.most_common(10))

    def test_addresses_agree(self):
        self.assert_agrees(self.record("-e", "cpu-clock:u"))

    def test_frame_pointer_stacks_agree(self):
        self.assert_agrees(self.record("-e", "cpu-clock:u", "-g"))

    def test_copied_stacks_agree(self):
        self.assert_agrees(self.record("-e", "cpu-clock:u", "--call-graph", "dwarf,1024"))

    def test_copied_stacks_have_callers(self):
        path = self.record("-e", "cpu-clock:u", "--call-graph", "dwarf", command="exec python3 -c 'print(sum([i * i for i in range(9000000)]))'")
        rows = json.loads(report("-i", path, "--json", "--children", "-s", "symbol").stdout)
        totals = {row["symbol"]: row["total"] for row in rows}
        whole = sum(row["period"] for row in rows)
        self.assertGreater(totals.get("__libc_start_main_impl", totals.get("__libc_start_main@@GLIBC_2.34", 0)), 0.8 * whole)

    def test_compressed_file_agrees(self):
        self.assert_agrees(self.record("-e", "cpu-clock:u", "-g", "-z"))

    def test_several_events_agree(self):
        self.assert_agrees(self.record("-e", "cpu-clock:u", "-e", "page-faults:u"))

    def test_a_group_has_a_column_for_each_event(self):
        # A member that counts nothing between two samples has no sample.
        waits = "exec python3 -c 'import time\nfor i in range(40): x = [j * j for j in range(40000)]; time.sleep(0.001)'"
        path = self.record("-e", "{cpu-clock,page-faults,context-switches}:S", command=waits)
        perf = run("perf", "report", "-i", path, "--stdio", "--no-children", "-g", "none", "--group").stdout.decode(errors="replace")
        shares = [[sorted(re.findall(r"(\d+\.\d\d)%", line) for line in text.splitlines() if "%" in line and line[:1] == " ")]
                  for text in (perf, report("-i", path).stdout.decode())]
        self.assertEqual(len(shares[1][0][0]), 3)
        self.assertEqual(shares[0], shares[1])
        alone = report("-i", path, "--no-group").stdout.decode()
        self.assertEqual(alone.count("# Samples:"), 3)

    def test_leader_sampling_agrees(self):
        # Forked children of such a group have no samples.
        loop = "exec python3 -c 'print(sum([i * i for i in range(9000000)]))'"
        self.assert_agrees(self.record("-e", "{cpu-clock,page-faults}:S", command=loop))

    def test_pipe_mode_agrees_from_a_file_and_from_standard_input(self):
        self.record("-e", "cpu-clock:u", "-g")  # skips the test if perf can't
        path = perf_record_through_a_pipe(self.file("pipe.data"), "-e", "cpu-clock:u", "-g", command=["sh", "-c", f"({LOAD}) >/dev/null"])
        self.assert_agrees(path)
        with path.open("rb") as pipe:
            self.assertEqual(our_rows(report("-i", "-", "--json", stdin=pipe)), our_rows(report("-i", path, "--json")))

    def test_kernel_samples_agree(self):
        path = self.record("-e", "cpu-clock")
        with open("/proc/kallsyms") as symbols:
            if int(symbols.readline().split()[0], 16) == 0:
                self.skipTest("the kernel hides its addresses (kernel.kptr_restrict)")
        self.assert_agrees(path)

    def test_names_of_the_kernel_may_come_from_a_copy(self):
        path = self.record("-e", "cpu-clock")
        addresses = sorted({int(line, 16) for line in run("perf", "script", "-i", path, "-F", "ip").stdout.decode().split()})
        kernel = [address for address in addresses if address >> 63]
        if not kernel:
            self.skipTest("no sample is in the kernel")
        copy = self.file("kallsyms", f"{kernel[0]:016x} T all_of_it\n")
        for verb, option in (("report", "--json"), ("script", "-Fip,sym"), ("export", "-fcsv")):
            self.assertIn(b"all_of_it", run(ANYPERF, verb, "-i", path, option, "--kallsyms", copy).stdout)

    def test_totals_of_callers_add_up(self):
        path = self.record("-e", "cpu-clock:u", "-g")
        rows = json.loads(report("-i", path, "--json", "-g", "--children").stdout)
        whole = sum(row["period"] for row in rows)
        for row in rows:
            self.assertLessEqual(row["period"], row["total"])
            self.assertLessEqual(row["total"], whole)
            self.assertLessEqual(sum(caller["period"] for caller in row["callers"]), row["period"])

    def test_rows_are_summed_up_by_the_keys(self):
        path = self.record("-e", "cpu-clock:u")
        by_comm = json.loads(report("-i", path, "--json", "--sort", "comm").stdout)
        self.assertEqual(len({row["comm"] for row in by_comm}), len(by_comm))
        by_task = json.loads(report("-i", path, "--json", "--sort", "pid,tid").stdout)
        self.assertEqual(sum(row["period"] for row in by_task), sum(row["period"] for row in by_comm))
        self.assertTrue(all(row["pid"] > 0 for row in by_task))

    def test_files_of_one_name_are_one_row(self):
        places = [self.file("one"), self.file("two")]
        for place in places:
            place.mkdir()
            shutil.copy(shutil.which("gzip"), place / "packer")
        path = self.record("-e", "cpu-clock:u", command="; ".join(f"head -c 3000000 /dev/urandom | {place}/packer > /dev/null" for place in places))
        text = run("perf", "report", "-i", path, "--stdio", "-n", "-t", SEPARATOR, "-s", "dso").stdout.decode()
        counts = [int(line.split(SEPARATOR)[1]) for line in text.splitlines() if line.strip().endswith("packer")]
        ours = [row["samples"] for row in json.loads(report("-i", path, "--json", "-s", "dso").stdout) if row["dso"] == "packer"]
        self.assertEqual(len(ours), 1)
        self.assertEqual(ours, counts)

    def samples_by(self, keys, path, option):
        """How many samples perf and we have for each combination of the keys' texts."""
        perf, ours = collections.Counter(), collections.Counter()
        perf_option = [] if option == "-b" else [option]
        text = run("perf", "report", "-i", path, "--stdio", "-n", "-t", SEPARATOR, "-s", ",".join(keys), *perf_option).stdout.decode()
        for line in text.splitlines():
            fields = [each.strip() for each in line.split(SEPARATOR)]
            if fields[0].endswith("%") and len(fields) >= len(keys) + 2:
                perf[tuple(fields[2:len(keys) + 2])] += int(fields[1])
        for row in json.loads(report("-i", path, "--json", option, "-s", ",".join(keys)).stdout):
            ours[tuple(str(row[key]).strip() for key in keys)] += row["samples"]
        return perf, ours

    def test_branches_agree(self):
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        path = self.file("perf.data")
        run(ANYPERF, "run", "--", "perf", "record", "-q", "-j", "any,save_type", "-e", "branches:u", "-c", "20000", "-o", path, "--", "seq",
            "20000")
        for keys in (["comm", "dso_from", "symbol_from", "symbol_to"], ["dso_from", "dso_to", "mispredict", "in_tx", "abort", "cycles"]):
            perf, ours = self.samples_by(keys, path, "-b")
            self.assertGreater(perf.total(), 100)
            self.assertEqual(ours.total(), perf.total())
            # An address in the stubs of a PLT may have another name in perf.
            self.assertLess((perf - ours).total(), 0.03 * perf.total(), (perf - ours, ours - perf))
        refused = report("-i", path, "-s", "symbol_from")
        self.assertEqual(refused.returncode, 125)
        self.assertIn(b"add -b", refused.stderr)

    def test_memory_accesses_agree(self):
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        path = self.file("perf.data")
        # perf 6.1 puts accesses into one row that differ in the newer fields for levels and snoops only.
        old = [word for word in made_accesses.words() if word & made_accesses.NEWER_FIELDS == 0]
        for words, keys in ((made_accesses.words(), ["local_weight", "tlb", "locked", "blocked"]), (old, ["local_weight", "mem", "snoop"]),
                            (old, ["phys_daddr", "data_page_size"]), (old, ["weight", "time"]), (old, ["transaction", "local_weight"])):
            path.write_bytes(made_accesses.recording(5_000_001, words))
            perf, ours = self.samples_by(keys, path, "--mem-mode")
            self.assertEqual(perf.total(), len(words))
            self.assertEqual(ours, perf)

    def test_tracepoints_are_shown_by_what_they_say(self):
        path = self.record("-e", "sched:sched_process_exec", "-e", "raw_syscalls:sys_enter")
        text = run("perf", "report", "-i", path, "--stdio", "-t", SEPARATOR, "-F", "sample,trace", "-s", "trace").stdout.decode()
        perf = collections.Counter()
        for line in text.splitlines():
            fields = line.split(SEPARATOR)
            if not line.startswith("#") and len(fields) == 2:
                perf[fields[1].strip()] += int(fields[0])
        self.assertGreater(perf.total(), 0)
        ours = collections.Counter()
        for row in json.loads(report("-i", path, "--json").stdout):
            ours[row["trace"].strip()] += row["samples"]
        self.assertEqual(ours, perf)

    def test_a_cut_file_gives_what_it_has_and_the_offset(self):
        path = self.record("-e", "cpu-clock:u", "-g")
        whole = our_rows(report("-i", path, "--json")).total()
        data = path.read_bytes()
        records, size = struct.unpack_from("<QQ", data, 40)
        for part in (0.3, 0.6, 0.9):
            cut = self.file("cut.data")
            cut.write_bytes(data[:records + int(size * part)])
            result = report("-i", cut, "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(b"the recording is damaged", result.stderr)
            self.assertLess(our_rows(result).total(), whole)

    def test_an_impossible_record_ends_the_reading(self):
        path = self.record("-e", "cpu-clock:u")
        data = bytearray(path.read_bytes())
        offset, size = struct.unpack_from("<QQ", data, 40)
        at = offset
        while at < offset + size // 2:
            at += struct.unpack_from("<H", data, at + 6)[0]
        struct.pack_into("<H", data, at + 6, 3)
        path.write_bytes(data)
        result = report("-i", path, "--json")
        self.assertIn(f"offset {at}: a record of 3 bytes is impossible".encode(), result.stderr)
        self.assertGreater(len(json.loads(result.stdout)), 0)


class BadInput(Case):
    def report(self, *words):
        return subprocess.run([ANYPERF, "report", *map(str, words)], text=True, capture_output=True, timeout=60, check=False)

    def test_files_that_are_no_recordings_are_refused(self):
        self.assert_error(self.report("-i", self.file("absent")), 125, "No such file or directory", "name another file")
        self.assert_error(self.report("-i", self.file("empty", "")), 125, "the file is empty")
        self.assert_error(self.report("-i", self.directory.name), 125, "directory")
        self.assert_error(self.report("-i", self.file("text", "x" * 200)), 125, "does not begin with PERFILE2")
        self.assert_error(self.report("-i", self.file("short", "PERFILE2" + "h" + "\0" * 31)), 125, "ends within its header")

    def test_unknown_keys_are_refused_with_the_known_ones(self):
        self.assert_error(self.report("-i", self.file("text", "x"), "--sort", "colour"), 125, "cannot sort by 'colour'", "comm pid")


if __name__ == "__main__":
    unittest.main()
