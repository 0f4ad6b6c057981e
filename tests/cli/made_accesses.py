"""Writes a perf.data file of memory accesses with chosen DATA_SRC words: a machine without a PMU has none to record."""
import struct

# IP | TID | TIME | ADDR | PERIOD | WEIGHT | DATA_SRC | TRANSACTION | PHYS_ADDR | DATA_PAGE_SIZE
SAMPLE_TYPE = 1 | 2 | 4 | 8 | 1 << 8 | 1 << 14 | 1 << 15 | 1 << 17 | 1 << 19 | 1 << 22
RAW_EVENT, SAMPLE, USER = 4, 9, 2
HEADER_BYTES, ATTR_BYTES = 104, 128
HIT, MISS = 2, 4
TRANSACTIONS = [0, *(1 << i for i in range(8)), 0xff, 2 | 4 | 32, 2 | 8 | 0x2a << 32, 0x1f << 32]  # PERF_TXN_*


def word(op=0, level=0, snoop=0, lock=0, tlb=0, number=0, remote=0, more_snoop=0, block=0, hops=0):
    """The fields of union perf_mem_data_src, linux/perf_event.h."""
    return (op | level << 5 | snoop << 19 | lock << 24 | tlb << 26 | number << 33 | remote << 37 | more_snoop << 38 | block << 40 |
            hops << 43)


NEWER_FIELDS = word(number=15, remote=1, more_snoop=3, hops=7)


def words():
    """Each value of each field, and the combinations that decide its text."""
    found = [word()] + [word(op=1 << i) for i in range(5)]
    for i in range(14):
        found += [word(op=2, level=1 << i | outcome) for outcome in (0, HIT, MISS)]
    for i in range(16):
        found += [word(number=i), word(number=i, remote=1), word(number=i, level=HIT | 8), word(number=i, hops=1, remote=1, level=HIT)]
    for i in range(5):
        found += [word(snoop=1 << i), word(hops=i, number=1), word(hops=i, level=8 | HIT)]
    for i in range(4):
        found += [word(more_snoop=i, snoop=2), word(more_snoop=i), word(lock=i)]
    for i in range(7):
        found += [word(tlb=1 << i), word(tlb=HIT | 1 << i), word(tlb=MISS | 8 | 1 << i)]
    return found + [word(block=i) for i in range(8)]


def recording(pid, contents=None):
    records = b""
    for i, each in enumerate(contents or words()):
        body = struct.pack("<QIIQQQQQQQQ", 0x401000 + 16 * (i % 7), pid, pid, 1_000_000 * (i + 1), 0x7f0000000000 + i, 1 + i % 3, 10 + i % 5,
                           each, TRANSACTIONS[i % len(TRANSACTIONS)], 0x1000 * i, 4096 if i % 2 else 2 << 20)
        records += struct.pack("<IHH", SAMPLE, USER, 8 + len(body)) + body
    attr = struct.pack("<IIQQQQQ", RAW_EVENT, ATTR_BYTES, 0x1cd, 1, SAMPLE_TYPE, 0, 1 << 18).ljust(ATTR_BYTES, b"\0")
    attr += struct.pack("<QQ", 0, 0)  # no ids
    head = b"PERFILE2" + struct.pack("<QQQQQQQQ", HEADER_BYTES, len(attr), HEADER_BYTES, len(attr), HEADER_BYTES + len(attr), len(records), 0, 0)
    return head + b"\0" * 32 + attr + records
