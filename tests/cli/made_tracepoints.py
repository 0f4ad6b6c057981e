"""Writes a perf.data file with one sample of each tracepoint of this kernel, with made contents, so that all of their formats can be
compared with perf's output without making the events happen."""
import pathlib
import random
import re
import struct

EVENTS = pathlib.Path("/sys/kernel/tracing/events")
TRACEPOINT, SAMPLE, KERNEL = 2, 9, 1
# IP | TID | TIME | CPU | PERIOD | RAW | IDENTIFIER
SAMPLE_TYPE = 1 | 2 | 4 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 16
SAMPLE_ID_ALL = 1 << 18
HEADER_BYTES = 104
TRACING_DATA, EVENT_DESC = 1, 12
HEADER_ATTR, HEADER_TRACING_DATA = 64, 66
NUMBERS = (0, 1, 2, 3, 4, 7, 8, 0x10, 0x11, -1)


def formats():
    """(system, event) and the text of its format."""
    found = {}
    for path in sorted(EVENTS.glob("*/*/format")):
        system, event = path.parts[-3:-1]
        if system != "ftrace":
            found[system, event] = path.read_text()
    return found


def content(declaration, size, number, chance):
    """What a field of fixed size gets: a text if it is an array of characters."""
    if re.search(r"\bchar\b.*\[", declaration) and "unsigned" not in declaration:
        return f"name{number}".encode()[:size - 1].ljust(size, b"\0")
    value = chance.choice(NUMBERS) if size in (1, 2, 4, 8) else chance.getrandbits(8 * size)
    return (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def raw_record(text, number, chance):
    fields = re.findall(r"field:([^;]+);\s*offset:(\d+);\s*size:(\d+);", text)
    fixed = max(int(offset) + int(size) for _, offset, size in fields)
    record, dynamic = bytearray(fixed), b""
    for declaration, offset, size in ((each, int(at), int(size)) for each, at, size in fields):
        if "__data_loc" in declaration or "__rel_loc" in declaration:
            more = f"text{len(dynamic)}\0".encode() if "char" in declaration else struct.pack("<QQ", 5, 7)
            begin = fixed + len(dynamic) - (offset + size if "__rel_loc" in declaration else 0)
            dynamic += more
            value = struct.pack("<I", len(more) << 16 | begin)
        else:
            value = content(declaration, size, number, chance)
        record[offset:offset + size] = value
    record[:2] = struct.pack("<H", event_id(text))
    whole = bytes(record) + dynamic
    return whole + b"\0" * (-(len(whole) + 4) % 8)


def event_id(text):
    return int(re.search(r"^ID: (\d+)", text, re.M)[1])


def tracing_data(events):
    """The layout of trace-cmd.dat.v6(5)."""
    def sized(data):
        return struct.pack("<Q", len(data)) + data

    systems = {}
    for (system, _), text in events.items():
        systems.setdefault(system, []).append(text)
    data = b"\x17\x08\x44tracing" + b"0.6\0" + b"\0\x08" + struct.pack("<I", 4096)
    for name in ("header_page", "header_event"):
        data += name.encode() + b"\0" + sized((EVENTS / name).read_bytes())
    data += struct.pack("<II", 0, len(systems))
    for system, texts in systems.items():
        data += system.encode() + b"\0" + struct.pack("<I", len(texts)) + b"".join(sized(text.encode()) for text in texts)
    return data + struct.pack("<IIQ", 0, 0, 0)


def string(text):
    room = (len(text) // 64 + 1) * 64
    return struct.pack("<I", room) + text.encode().ljust(room, b"\0")


def recording(events, seed):
    """The bytes of a file with a sample of each of `events`, which are as formats() has them."""
    chance = random.Random(seed)
    described, attrs, ids, records = b"", b"", b"", b""
    for number, ((system, event), text) in enumerate(events.items()):
        raw, own = raw_record(text, number, chance), 1000 + number
        body = struct.pack("<QQIIQIIQI", own, 0xffffffff81000000, 1, 1, 1_000_000 * (number + 1), 0, 0, 1, len(raw)) + raw
        records += struct.pack("<IHH", SAMPLE, KERNEL, 8 + len(body)) + body
        attr = struct.pack("<IIQQQQQ", TRACEPOINT, 64, event_id(text), 1, SAMPLE_TYPE, 0, SAMPLE_ID_ALL) + b"\0" * 16
        attrs += attr + struct.pack("<QQ", HEADER_BYTES + 8 * number, 8)
        ids += struct.pack("<Q", own)
        described += attr + struct.pack("<I", 1) + string(f"{system}:{event}") + struct.pack("<Q", own)
    sections = [(TRACING_DATA, tracing_data(events)), (EVENT_DESC, struct.pack("<II", len(events), 64) + described)]
    attrs_at = HEADER_BYTES + len(ids)
    data_at = attrs_at + len(attrs)
    place, table = data_at + len(records) + 16 * len(sections), b""
    for _, body in sections:
        table += struct.pack("<QQ", place, len(body))
        place += len(body)
    head = b"PERFILE2" + struct.pack("<QQQQQQQQ", HEADER_BYTES, 80, attrs_at, len(attrs), data_at, len(records), 0, 0)
    head += sum(1 << bit for bit, _ in sections).to_bytes(32, "little")
    return head + ids + attrs + records + table + b"".join(body for _, body in sections)


def in_pipe_mode(recording):
    """The same recording as `perf record -o -` writes it: what the header says becomes records before the others."""
    _, attr_bytes, attrs_at, attrs_size, data_at, data_size = struct.unpack_from("<QQQQQQ", recording, 8)
    stream = b"PERFILE2" + struct.pack("<Q", 16)
    for at in range(attrs_at, attrs_at + attrs_size, attr_bytes):
        ids_at, ids_size = struct.unpack_from("<QQ", recording, at + attr_bytes - 16)
        body = recording[at:at + attr_bytes - 16] + recording[ids_at:ids_at + ids_size]
        stream += struct.pack("<IHH", HEADER_ATTR, 0, 8 + len(body)) + body
    formats_at, size = struct.unpack_from("<QQ", recording, data_at + data_size)
    stream += struct.pack("<IHHI", HEADER_TRACING_DATA, 0, 12, size) + recording[formats_at:formats_at + size] + b"\0" * (-size % 8)
    return stream + recording[data_at:data_at + data_size]
