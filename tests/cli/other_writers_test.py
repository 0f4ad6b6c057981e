"""`anyperf report` and `script` of recordings that were not written by today's perf on this machine: old perfs, machines of the other byte
order or of 32 bits, and Android's simpleperf."""
import json
import shutil
import subprocess
import unittest

import made_file
from made_file import CALLCHAIN, ID, IP, KERNEL, PERIOD, REGS_USER, STACK_USER, TID, TIME, MadeFile
from made_recording import absent_pid
from perf_recording import perf_record
from program import ANYPERF, Case

CONTEXT_USER = (1 << 64) - 512
FILE, META_INFO, FILE2, INITIAL_MAPS = 128, 129, 132, 134
KERNEL_SYMBOLS, SPLIT, SPLIT_END, EVENT_ID, CALL_CHAIN = 1, 4, 5, 6, 7
ELF_KIND, DEX_KIND, MAP_KIND = 2, 3, 4


class OtherWriters(Case):
    def read(self, made, verb="report", *words):
        path = self.file("other.data")
        path.write_bytes(made.bytes())
        result = subprocess.run([ANYPERF, verb, "-i", path, *words], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("damaged", result.stderr)
        self.assertNotIn("left out", result.stderr)
        return result.stdout

    def rows(self, made, *keys):
        keys = keys or ("comm", "dso", "symbol")
        return {tuple(row[key] for key in keys): row["period"] for row in json.loads(self.read(made, "report", "--json"))}

    def assert_two_samples_are_read(self, made, pid):
        made.comm(pid, "program")
        made.mmap(pid, 0x400000, 0x1000, 0, "/absent/program")
        made.sample(pid, 20, 0x400010, 5)
        made.sample(pid, 10, 0x400020, 7)
        self.assertEqual(self.rows(made), {("program", "program", "0x0000000000000010"): 5, ("program", "program", "0x0000000000000020"): 7})
        lines = self.read(made, "script", "-F", "comm,pid,time,period,event,ip").splitlines()
        self.assertEqual([line.split() for line in lines], [["program", str(pid), "0.000000:", "7", "cycles:", "400020"],
                                                            ["program", str(pid), "0.000000:", "5", "cycles:", "400010"]])


class OldPerfs(OtherWriters):
    def test_attrs_of_every_published_size_are_read(self):
        for order in "<>":
            for size in (64, 72, 80, 96, 104, 112, 120, 128, 136):
                with self.subTest(order=order, size=size):
                    made = MadeFile(order, attr_bytes=size)
                    made.attr(kind=0)
                    self.assert_two_samples_are_read(made, absent_pid())

    def test_an_attr_of_size_0_has_the_size_of_the_first_version(self):
        made = MadeFile(attr_bytes=64)
        made.attr(kind=0, size_field=0)
        self.assert_two_samples_are_read(made, absent_pid())

    def test_several_events_are_told_apart_by_their_ids_without_an_identifier(self):
        pid = absent_pid()
        for order in "<>":
            made = MadeFile(order, attr_bytes=96, sample_type=IP | TID | TIME | PERIOD | ID)
            made.attr(config=0, ids=(7, 8), kind=0)
            made.attr(config=1, ids=(9,), kind=0)
            for time, event in ((10, 9), (20, 8), (30, 9)):
                body = made.pack("QIIQQQ", 0x400010, pid, pid, time, event, 1)
                made.record(made_file.SAMPLE, made_file.USER, body)
            events = [line.split()[0] for line in self.read(made, "script", "-F", "event").splitlines()]
            self.assertEqual(events, ["instructions:", "cycles:", "instructions:"])


class OtherMachines(OtherWriters):
    def test_features_of_the_other_byte_order_are_read(self):
        made = MadeFile(">")
        made.attr(kind=0)
        made.text_feature(3, "bigbox")
        made.text_feature(4, "5.10-s390x")
        made.text_feature(6, "s390x")
        self.assert_two_samples_are_read(made, absent_pid())
        exported = self.file("out.json")
        subprocess.run([ANYPERF, "export", "-f", "json", "-i", self.file("other.data"), "-o", exported], check=True, timeout=60)
        self.assertEqual({key: json.loads(exported.read_text())["recording"][key] for key in ("host", "release", "arch")},
                         {"host": "bigbox", "release": "5.10-s390x", "arch": "s390x"})

    def test_a_bitmap_of_longs_of_32_bits_is_read(self):
        made = MadeFile(">")
        made.halves_swapped = True
        made.attr(kind=0)
        made.text_feature(3, "ppc32")
        self.assert_two_samples_are_read(made, absent_pid())
        exported = self.file("out.json")
        subprocess.run([ANYPERF, "export", "-f", "json", "-i", self.file("other.data"), "-o", exported], check=True, timeout=60)
        self.assertEqual(json.loads(exported.read_text())["recording"]["host"], "ppc32")

    def test_addresses_of_32_bits_are_read(self):
        pid = absent_pid()
        made = MadeFile(sample_type=IP | TID | TIME | PERIOD | CALLCHAIN)
        made.attr(kind=0)
        made.text_feature(6, "i686")
        made.mmap(pid, 0x8048000, 0x1000, 0, "/absent/old32")
        made.mmap(pid, 0xb7700000, 0x1000, 0, "/absent/libc.so.6")
        made.sample(pid, 10, 0xb7700123, 1, more=made.pack("4Q", 3, CONTEXT_USER, 0xb7700123, 0x8048456))
        text = self.read(made, "script", "-F", "ip,sym,dso")
        self.assertEqual([line.split() for line in text.splitlines() if line.strip()],
                         [["123", "[unknown]", "(/absent/libc.so.6)"], ["456", "[unknown]", "(/absent/old32)"]])

    def test_registers_of_another_architecture_are_not_unwound(self):
        """A stack of zeros and registers of arm64: unwound as x86's it would give callers."""
        pid = absent_pid()
        made = MadeFile(sample_type=IP | TID | TIME | PERIOD | REGS_USER | STACK_USER | CALLCHAIN)
        made.attr(kind=0, regs=(1 << 33) - 1, stack=64)
        made.text_feature(6, "aarch64")
        made.mmap(pid, 0x400000, 0x10000, 0, "/absent/arm")
        more = made.pack("Q", 0) + made.pack("Q33Q", 2, *(0x400000 + 16 * i for i in range(33))) + made.pack("Q", 64)
        made.sample(pid, 10, 0x400010, 1, more=more + made.pack("8Q", *(0x400100 + i for i in range(8))) + made.pack("Q", 64))
        self.assertEqual(self.read(made, "script", "-F", "ip").split(), ["10"])
        self.assertEqual(json.loads(self.read(made, "report", "--json"))[0]["symbol"], "0x0000000000000010")


class Directories(OtherWriters):
    """What `perf record --threads` writes: a file with the header, and one for each ring."""

    SAMPLES = 60_000  # 2.4 MB for each ring

    def setUp(self):
        super().setUp()
        self.recording = self.file("rings.data")
        self.recording.mkdir()
        self.pid = absent_pid()
        made = MadeFile()
        made.attr(kind=0)
        made.comm(self.pid, "program")
        made.mmap(self.pid, 0x400000, 0x1000, 0, "/absent/program")
        (self.recording / "data").write_bytes(made.bytes())
        for ring in range(2):
            samples = MadeFile()
            for i in range(self.SAMPLES):
                samples.sample(self.pid, (2 * i + ring + 1) * 1000, 0x400010 + ring)
            (self.recording / f"data.{ring}").write_bytes(b"".join(samples.records))

    def anyperf(self, verb, *words):
        result = subprocess.run([ANYPERF, verb, "-i", self.recording, *words], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_the_rings_are_read_in_the_order_of_time(self):
        (self.recording / "data.2").touch()
        (self.recording / "data.txt").write_text("not a ring")
        result = self.anyperf("script", "-F", "time,ip")
        self.assertEqual(result.stderr, "")
        lines = [line.split() for line in result.stdout.splitlines()]
        expected = [[f"0.{i + 1:06}:", f"40001{i % 2}"] for i in range(2 * self.SAMPLES)]
        self.assertEqual(lines, expected)

    def test_damage_ends_only_the_ring_that_has_it(self):
        ring = self.recording / "data.1"
        ring.write_bytes(ring.read_bytes()[:-12])
        result = self.anyperf("report", "--json")
        self.assertIn("data.1, offset 2399960: the last record is cut: 28 bytes are left", result.stderr)
        self.assertEqual({row["symbol"]: row["samples"] for row in json.loads(result.stdout)},
                         {"0x0000000000000010": self.SAMPLES, "0x0000000000000011": self.SAMPLES - 1})

    def test_a_directory_without_a_header_is_refused(self):
        (self.recording / "data").unlink()
        result = subprocess.run([ANYPERF, "report", "-i", self.recording], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 125)
        self.assertIn(f"cannot open {self.recording}/data\n  cause: No such file or directory", result.stderr)

    @unittest.skipUnless(shutil.which("perf"), "perf is not installed")
    def test_those_of_perf_have_perfs_samples(self):
        for options in ([], ["-z"]):
            recording = self.file(f"perf{len(options)}.data")
            loops = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done & j=0; while [ $j -lt 30000 ]; do j=$((j+1)); done; wait"
            perf_record(self, recording, "--threads", *options, "-g", "-e", "cpu-clock", "-F", "5000", command=["sh", "-c", loops])
            self.recording = recording
            fields = "comm,tid,time,event,ip"
            theirs = subprocess.run(["perf", "script", "-i", recording, "-F", fields], capture_output=True, text=True, timeout=60, check=True)
            self.assertEqual(self.anyperf("script", "-F", fields).stdout, theirs.stdout)
            self.assertGreater(theirs.stdout.count("cpu-clock"), 20)


def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def message(*fields):
    """A message of Protocol Buffers: numbers become varints, bytes have their length before them."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


class Simpleperf(OtherWriters):
    """The layouts are those of record.h, record_file_format.h and record_file.proto in system/extras/simpleperf of Android."""

    def made(self, pid, sample_type=IP | TID | TIME | PERIOD):
        made = MadeFile(sample_type=sample_type)
        made.attr(kind=0, ids=(1,) if sample_type & ID else ())
        made.text_feature(6, "aarch64")
        made.comm(pid, "app")
        return made

    def file_section(self, made, path, kind, lowest, symbols, offset=None):
        body = path.encode() + b"\0" + made.pack("IQI", kind, lowest, len(symbols))
        for start, size, name in symbols:
            body += made.pack("QI", start, size) + name.encode() + b"\0"
        body += b"" if offset is None else made.pack("Q", offset)
        return made.pack("I", len(body)) + body

    def test_names_in_the_recording_are_shown(self):
        pid = absent_pid()
        made = self.made(pid)
        made.mmap(pid, 0x70000000, 0x2000, 0x1000, "/system/lib64/libabsent.so")
        made.mmap(pid, 0x71000000, 0x2000, 0x3000, "/data/old.so")
        made.mmap(pid, 0x72000000, 0x2000, 0x100, "/system/app.vdex")
        made.mmap(pid, 0x73000000, 0x2000, 0, "app_jit_cache:0-4096")
        made.mmap(pid, 0x74000000, 0x100, 0x3c78, "app_jit_cache:4096-8192")
        for i, address in enumerate((0x70000010, 0x71000020, 0x72000030, 0x73000040, 0x70001ff0, 0x74000010)):
            made.sample(pid, 10 + i, address, 1 << i)
        # The code of the first begins at offset 0x800 with the address 0x4800. Old simpleperfs have no offset.
        made.feature(FILE, self.file_section(made, "/system/lib64/libabsent.so", ELF_KIND, 0x4800, [(0x5000, 0x20, "_ZN2ns3runEv")], 0x800)
                     + self.file_section(made, "/data/old.so", ELF_KIND, 0x9000, [(0x9000, 0x40, "old_code")])
                     + self.file_section(made, "/system/app.vdex", DEX_KIND, 0, [(0x120, 0x20, "com.app.Main.run")])
                     + self.file_section(made, "app_jit_cache:0-4096", MAP_KIND, 0, [(0x73000000, 0x100, "jitted")])
                     + self.file_section(made, "app_jit_cache:4096-8192", ELF_KIND, 0, [(0x74000000, 0x100, "also_jitted")], 0))
        self.assertEqual(self.rows(made), {("app", "libabsent.so", "ns::run"): 1, ("app", "old.so", "old_code"): 2,
                                           ("app", "app.vdex", "com.app.Main.run"): 4, ("app", "app_jit_cache:0-4096", "jitted"): 8,
                                           ("app", "libabsent.so", "0x0000000000002ff0"): 16,
                                           ("app", "app_jit_cache:4096-8192", "also_jitted"): 32})
        self.assertIn("ns::run+0x10 (/system/lib64/libabsent.so)", self.read(made, "script", "-F", "ip,sym,symoff,dso"))

    def test_names_in_messages_are_shown(self):
        pid = absent_pid()
        made = self.made(pid)
        made.mmap(pid, 0x70000000, 0x2000, 0x1000, "/system/lib64/libabsent.so")
        made.sample(pid, 10, 0x70000010)
        symbol = message((1, 0x5000), (2, 0x20), (3, b"run"))
        file = message((1, b"/system/lib64/libabsent.so"), (2, ELF_KIND), (3, 0x4800), (4, symbol), (6, message((1, 0x800))))
        made.feature(FILE2, made.pack("I", len(file)) + file)
        self.assertEqual(self.rows(made), {("app", "libabsent.so", "run"): 1})

    def test_a_cut_section_gives_the_files_before_the_cut(self):
        pid = absent_pid()
        made = self.made(pid)
        made.mmap(pid, 0x70000000, 0x2000, 0, "/data/old.so")
        made.sample(pid, 10, 0x70000010)
        section = self.file_section(made, "/data/old.so", ELF_KIND, 0, [(0, 0x40, "old_code")])
        made.feature(FILE, section + section[:-4])
        self.assertEqual(self.rows(made), {("app", "old.so", "old_code"): 1})

    def test_events_have_the_names_of_the_meta_information(self):
        pid = absent_pid()
        made = self.made(pid)
        made.sample(pid, 10, 0x1000)
        made.feature(META_INFO, b"simpleperf_version\x001.0\0event_type_info\0other,0,1\ncpu-cycles,0,0\0")
        self.assertEqual(self.read(made, "script", "-F", "event").split(), ["cpu-cycles:"])

    def test_the_kernels_symbols_come_in_one_long_record_or_in_pieces(self):
        pid = absent_pid()
        lines = "".join(f"{0xffffff8000000000 + 64 * i:x} T kernel_function_{i}\n" for i in range(3000)).encode()
        for in_pieces in (False, True):
            with self.subTest(in_pieces=in_pieces):
                made = self.made(pid)
                record = made.own_record(KERNEL_SYMBOLS, made.pack("I", len(lines)) + lines)
                self.assertGreater(len(record), 65536)
                if in_pieces:
                    for at in range(0, len(record), 60000):
                        made.records.append(made.own_record(SPLIT, record[at:at + 60000]))
                    made.records.append(made.own_record(SPLIT_END, b""))
                else:
                    made.records.append(record)
                made.mmap(0xffffffff, 0xffffff8000000000, 1 << 30, 0, "[kernel.kallsyms]", misc=KERNEL)
                made.sample(pid, 10, 0xffffff8000000000 + 64 * 2999 + 8, misc=KERNEL)
                self.assertEqual(self.rows(made, "dso", "symbol"), {("[kernel.kallsyms]", "kernel_function_2999"): 1})
                self.assertIn("kernel_function_2999", self.read(made, "script", "-F", "ip,sym"))

    def test_ids_of_events_come_in_a_record(self):
        pid = absent_pid()
        made = MadeFile(sample_type=IP | TID | TIME | PERIOD | ID)
        made.attr(kind=0, config=0)
        made.attr(kind=0, config=1)
        made.records.append(made.own_record(EVENT_ID, made.pack("Q4Q", 2, 0, 70, 1, 80)))
        for time, event in ((10, 80), (20, 70)):
            made.record(made_file.SAMPLE, made_file.USER, made.pack("QIIQQQ", 0x400010, pid, pid, time, event, 1))
        self.assertEqual(self.read(made, "script", "-F", "event").split(), ["instructions:", "cycles:"])

    def test_maps_and_names_may_have_a_section_of_their_own(self):
        pid = absent_pid()
        made = self.made(pid)
        made.mmap(pid, 0x70000000, 0x2000, 0, "/data/first.so")
        made.feature(INITIAL_MAPS, b"".join(made.records))
        made.records.clear()
        made.sample(pid, 10, 0x70000010)
        self.assertEqual(self.rows(made, "comm", "dso"), {("app", "first.so"): 1})

    def test_records_that_only_help_to_debug_simpleperf_are_passed_over(self):
        pid = absent_pid()
        made = self.made(pid)
        made.records.append(made.own_record(CALL_CHAIN, made.pack("5Q2Q", pid, pid, 0, 5, 1, 0x1000, 0x2000)))
        made.sample(pid, 10, 0x1000)
        self.assertEqual(self.rows(made, "comm"), {("app",): 1})


if __name__ == "__main__":
    unittest.main()
