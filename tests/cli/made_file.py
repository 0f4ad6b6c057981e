"""Writes perf.data files as any writer does: in either byte order, with attrs of any size, with feature sections and records of simpleperf."""
import struct

IP, TID, TIME, CALLCHAIN, ID, PERIOD, IDENTIFIER = 1, 2, 4, 1 << 5, 1 << 6, 1 << 8, 1 << 16
REGS_USER, STACK_USER = 1 << 12, 1 << 13
MMAP, COMM, SAMPLE = 1, 3, 9
KERNEL, USER = 1, 2
SAMPLE_ID_ALL = 1 << 18
HEADER_BYTES = 104
FIRST_SIMPLEPERF = 32768


def padded(data, multiple=8):
    return data + b"\0" * (-len(data) % multiple)


def turned_bits(number):
    """The word of an attr's one-bit fields as a big-endian compiler lays it out: the bits of each byte are reversed."""
    return bytes(int(f"{byte:08b}"[::-1], 2) for byte in struct.pack("<Q", number))


class MadeFile:
    """`order` is '<' or '>'. `attr_bytes` is the size of the attr in the file: 64, 72, 80, 96 and so on by the age of the writer."""

    def __init__(self, order="<", attr_bytes=128, sample_type=IP | TID | TIME | PERIOD):
        self.order, self.attr_bytes, self.sample_type = order, attr_bytes, sample_type
        self.attrs, self.records, self.features = [], [], {}
        self.halves_swapped = False

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def attr(self, config=0, ids=(), kind=1, size_field=None, flags=SAMPLE_ID_ALL, branches=0, regs=0, stack=0):
        flags = struct.pack("<Q", flags) if self.order == "<" else turned_bits(flags)
        body = self.pack("IIQQQQ", kind, self.attr_bytes if size_field is None else size_field, config, 1000, self.sample_type, 0) + flags
        body += self.pack("IIQQQQII", 0, 0, 0, 0, branches, regs, stack, 0)
        self.attrs.append((padded(body, 256)[:self.attr_bytes], ids))

    def record(self, kind, misc, body):
        body = padded(body)
        self.records.append(self.pack("IHH", kind, misc, 8 + len(body)) + body)

    def own_record(self, number, body):
        """A record of simpleperf: the upper 16 bits of its size are where others have `misc`."""
        body = padded(body)
        size = 8 + len(body)
        return self.pack("IHH", FIRST_SIMPLEPERF + number, size >> 16, size & 0xffff) + body

    def trailer(self, tid):
        """The sample id of other records than samples, with the time 0."""
        return self.pack("II", tid, tid) + (self.pack("Q", 0) if self.sample_type & TIME else b"")

    def mmap(self, pid, start, size, offset, path, misc=USER):
        self.record(MMAP, misc, self.pack("IIQQQ", pid, pid, start, size, offset) + padded(path.encode() + b"\0") + self.trailer(pid & 0x7fffffff))

    def comm(self, tid, name):
        self.record(COMM, 0, self.pack("II", tid, tid) + padded(name.encode() + b"\0") + self.trailer(tid))

    def sample(self, tid, time, ip, period=1, misc=USER, more=b"", event_id=None):
        body = self.pack("Q", event_id) if self.sample_type & IDENTIFIER else b""
        body += self.pack("QII", ip, tid, tid)
        body += self.pack("Q", time) if self.sample_type & TIME else b""
        self.record(SAMPLE, misc, body + self.pack("Q", period) + more)

    def feature(self, bit, body):
        self.features[bit] = body

    def text_feature(self, bit, text):
        body = padded(text.encode() + b"\0", 64)
        self.feature(bit, self.pack("I", len(body)) + body)

    def bytes(self):
        entry = self.attr_bytes + 16
        ids_at = HEADER_BYTES + entry * len(self.attrs)
        attrs, ids = b"", b""
        for attr, numbers in self.attrs:
            attrs += attr + self.pack("QQ", ids_at + len(ids), 8 * len(numbers))
            ids += b"".join(self.pack("Q", each) for each in numbers)
        data, data_at = b"".join(self.records), ids_at + len(ids)
        words = [sum(1 << bit % 64 for bit in self.features if bit // 64 == i) for i in range(4)]
        if self.halves_swapped:
            words = [(word << 32 | word >> 32) & (1 << 64) - 1 for word in words]
        head = b"PERFILE2" if self.order == "<" else b"2ELIFREP"
        head += self.pack("8Q4Q", HEADER_BYTES, entry, HEADER_BYTES, len(attrs), data_at, len(data), 0, 0, *words)
        table, bodies, at = b"", b"", data_at + len(data) + 16 * len(self.features)
        for bit in sorted(self.features):
            table += self.pack("QQ", at + len(bodies), len(self.features[bit]))
            bodies += self.features[bit]
        return head + attrs + ids + data + table + bodies


def simpleperf_recording(pid):
    """One of simpleperf with names of all kinds in it."""
    made = MadeFile()
    made.attr(kind=0)
    made.text_feature(6, "aarch64")
    lines = "".join(f"{0xffffff8000000000 + 64 * i:x} T kernel_{i}\n" for i in range(20)).encode()
    symbols = made.own_record(1, made.pack("I", len(lines)) + lines)
    made.records += [symbols, made.own_record(4, symbols[:200]), made.own_record(4, symbols[200:]), made.own_record(5, b"")]
    made.records += [made.own_record(6, made.pack("3Q", 1, 0, 70)), made.own_record(2, made.pack("3Q", 2, 1, 0) + b"/data/older.so\0"),
                     made.own_record(3, made.pack("3Q", 0x10, 0x20, 1) + b"older_code\0")]
    made.comm(pid, "app")
    made.mmap(0xffffffff, 0xffffff8000000000, 1 << 30, 0, "[kernel.kallsyms]", misc=KERNEL)
    for i, path in enumerate(("/data/a.so", "/data/b.so", "/data/older.so")):
        made.mmap(pid, 0x70000000 + (i << 24), 0x10000, 0, path)
    for i in range(30):
        made.sample(pid, 10 + i, 0x70000010 + (i % 3 << 24) + i)
        made.sample(pid, 10 + i, 0xffffff8000000008 + 64 * (i % 20), misc=KERNEL)
    body = b"/data/a.so\0" + made.pack("IQI", 2, 0, 1) + made.pack("QI", 0, 0x100) + b"_ZN2ns1aEv\0" + made.pack("Q", 0)
    made.feature(128, made.pack("I", len(body)) + body)
    made.feature(129, b"event_type_info\0cpu-cycles,0,0\0")
    body = bytes([10, 10]) + b"/data/b.so" + bytes([16, 2, 34, 9, 8, 0, 16, 100, 26, 3]) + b"b()"
    made.feature(132, made.pack("I", len(body)) + body)
    return made.bytes()
