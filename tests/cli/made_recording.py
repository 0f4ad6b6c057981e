"""Writes perf.data files with chosen stacks, so that tests need no perf and have the same numbers on every machine."""
import os
import struct

IP, TID, TIME, CALLCHAIN, PERIOD = 1 << 0, 1 << 1, 1 << 2, 1 << 5, 1 << 8
COMM, MMAP, SAMPLE = 3, 1, 9
USER = 2  # PERF_RECORD_MISC_USER
CONTEXT_USER = (1 << 64) - 512
SOFTWARE, CPU_CLOCK = 1, 0
CODE, CODE_BYTES = 0x10000000, 0x10000000


def record(kind, misc, body):
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(name):
    data = name.encode() + b"\0"
    return data + b"\0" * (-len(data) % 8)


def absent_pid():
    """A number that no process has, since it is above PID_MAX_LIMIT (2^22). Each test process has one of its own, so that tests that run
    at the same time do not share a /tmp/perf-PID.map."""
    return 10_000_000 + os.getpid()


class MadeRecording:
    """Functions are named by /tmp/perf-PID.map, as those of JIT compilers. `pid` must be no process of this machine: see absent_pid()."""

    def __init__(self, pid):
        self.pid, self.functions, self.records = pid, {}, []
        self.records.append(record(MMAP, USER, struct.pack("<IIQQQ", pid, pid, CODE, CODE_BYTES, 0) + text("//anon")))

    def address(self, name):
        return self.functions.setdefault(name, CODE + 16 * len(self.functions))

    def comm(self, tid, name):
        self.records.append(record(COMM, 0, struct.pack("<II", self.pid, tid) + text(name)))

    def sample(self, time, outermost_first, period=1_000_000, tid=None):
        chain = [self.address(name) for name in reversed(outermost_first)]
        body = struct.pack("<QIIQQ", chain[0], self.pid, tid or self.pid, time, period)
        body += struct.pack(f"<Q{len(chain) + 1}Q", len(chain) + 1, CONTEXT_USER, *chain)
        self.records.append(record(SAMPLE, USER, body))

    def map_text(self):
        return "".join(f"{address:x} 10 {name}\n" for name, address in self.functions.items())

    def bytes(self):
        attr = struct.pack("<IIQQQQQ", SOFTWARE, 64, CPU_CLOCK, 1_000_000, IP | TID | TIME | CALLCHAIN | PERIOD, 0, 0)
        attr += b"\0" * (64 - len(attr)) + struct.pack("<QQ", 0, 0)  # no ids
        data = b"".join(self.records)
        head = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, len(attr), 104, len(attr), 104 + len(attr), len(data), 0, 0)
        return head + b"\0" * 32 + attr + data
