// recorded_files.cpp: simpleperf writes in its machine's byte order and runs on little-endian machines only, so nothing
// is swapped here.
#include "perfdata/recorded_files.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "perfdata/bytes/text_of.h"

namespace anyperf::perfdata {

RecordedFile::Kind recorded_kind(std::uint64_t number) {
    return static_cast<RecordedFile::Kind>(std::min(number, static_cast<std::uint64_t>(RecordedFile::Kind::unknown)));
}

namespace {

/// The body of a file in FILE: path, kind, lowest address, symbols, then by the kind.
RecordedFile read_file(Cursor& cursor) {
    RecordedFile file;
    file.path = cursor.text();
    file.kind = recorded_kind(cursor.u32());
    file.address = cursor.u64();
    for (std::uint64_t left = cursor.count(cursor.u32(), 13); left > 0; --left) {
        RecordedFile::Symbol symbol;
        symbol.start = cursor.u64();
        symbol.size = cursor.u32();
        symbol.name = cursor.text();
        file.symbols.push_back(std::move(symbol));
    }
    const bool has_offset = file.kind == RecordedFile::Kind::elf || file.kind == RecordedFile::Kind::kernel_module;
    if (has_offset && cursor.ok() && cursor.left() >= 8) file.offset = cursor.u64();
    if (file.offset == std::numeric_limits<std::uint64_t>::max()) file.offset.reset();
    return file;
}

/// A field of a message (protobuf.dev, "Encoding"): a varint, or a length with bytes.
struct MessageField {
    std::uint64_t number = 0;
    std::uint64_t value = 0;  ///< of a varint
    Bytes bytes{};
};

std::uint64_t take_varint(Cursor& cursor) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const std::uint8_t byte = cursor.u8();
        value |= std::uint64_t{byte & 0x7fu} << shift;
        if ((byte & 0x80) == 0) return value;
    }
    cursor.fail();
    return 0;
}

MessageField take_field(Cursor& cursor) {
    enum : std::uint64_t { kVarint = 0, kEightBytes = 1, kWithLength = 2, kFourBytes = 5 };
    const std::uint64_t key = take_varint(cursor);
    MessageField field{.number = key >> 3};
    switch (key & 7) {
        case kVarint: field.value = take_varint(cursor); break;
        case kEightBytes: cursor.skip(8); break;
        case kWithLength: field.bytes = cursor.bytes(take_varint(cursor)); break;
        case kFourBytes: cursor.skip(4); break;
        default: cursor.fail();
    }
    return field;
}

// The numbers are those of record_file.proto.
RecordedFile::Symbol symbol_of(Bytes message) {
    enum : std::uint64_t { kAddress = 1, kLength = 2, kName = 3 };
    RecordedFile::Symbol symbol;
    for (Cursor cursor{message}; cursor.left() > 0;) {
        const MessageField field = take_field(cursor);
        if (field.number == kAddress) symbol.start = field.value;
        if (field.number == kLength) symbol.size = field.value;
        if (field.number == kName) symbol.name = text_of(field.bytes);
    }
    return symbol;
}

RecordedFile file_of(Cursor& cursor) {
    enum : std::uint64_t { kPath = 1, kKind = 2, kAddress = 3, kSymbol = 4, kElfFile = 6, kKernelModule = 7 };
    RecordedFile file;
    file.kind = RecordedFile::Kind::kernel;  // 0, which proto3 leaves out
    while (cursor.left() > 0) {
        const MessageField field = take_field(cursor);
        if (field.number == kPath) file.path = text_of(field.bytes);
        if (field.number == kKind) file.kind = recorded_kind(field.value);
        if (field.number == kAddress) file.address = field.value;
        if (field.number == kSymbol) file.symbols.push_back(symbol_of(field.bytes));
        if (field.number != kElfFile && field.number != kKernelModule) continue;
        Cursor place{field.bytes};
        file.offset = place.left() > 0 ? take_field(place).value : 0;
    }
    return file;
}

/// Both sections: u32 size, then as many bytes, for each file.
void read_each(Cursor& cursor, std::vector<RecordedFile>& files, RecordedFile (*read)(Cursor&)) {
    while (cursor.left() > 0) {
        Cursor body{cursor.bytes(cursor.u32())};
        if (!cursor.ok()) return;
        RecordedFile file = read(body);
        if (!body.ok()) return cursor.fail();
        files.push_back(std::move(file));
    }
}

}  // namespace

void read_recorded_files(Cursor& cursor, std::vector<RecordedFile>& files) {
    read_each(cursor, files, read_file);
}

void read_recorded_messages(Cursor& cursor, std::vector<RecordedFile>& files) {
    read_each(cursor, files, file_of);
}

}  // namespace anyperf::perfdata
