// reader_walk.cpp: where a recording's records are: in a mapped file, in a stream, or in the files of a directory.
// reader_state.h describes the whole.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "perfdata/byte_order.h"
#include "perfdata/reader_state.h"

namespace anyperf::perfdata {

namespace {

/// Bytes that one read(2) of a stream may give. It must hold the longest record (kLongestRecord).
constexpr std::size_t kBuffer = 1 << 20;

/// Bytes of a mapped file that are walked over before memory is given back, if no mark of a round comes first.
constexpr std::size_t kReleaseEvery = 4 << 20;

/// Bytes of a mapped file that are walked over before there may be room to read into again.
constexpr std::size_t kMappedPiece = 1 << 20;

/// Bytes of a directory's file that are read before another file's turn may come.
constexpr std::size_t kRingPiece = 1 << 20;

/// Formats of tracepoints that are larger are skipped. Those of all 2,305 tracepoints of Linux 6.18 have 3 MB.
constexpr std::size_t kMostFormats = 64 << 20;

/// Records of simpleperf have sizes of 32 bits. One that is not in a mapped file must fit into memory.
constexpr std::size_t kLongestUnpacked = 64 << 20;

}  // namespace

void Reader::State::read_all() {
    if (!header.note.empty()) summary.damage = Error{"the recording is damaged", header.note, {}};
    input.is_stream() ? read_stream() : read_mapped();
    read_rings();
    waiting.end(delivering());
    waiting = {};  // its memory is wanted for what the consumer makes of the records
}

void Reader::State::read_initial_maps() {
    for (const FeatureSection& section : header.features)
        if (section.feature == Feature::simpleperf_initial_maps)
            walk({input.mapped().subspan(section.place.offset, section.place.size), section.place.offset,
                  Memory::mapped});
}

void Reader::State::read_mapped() {
    read_initial_maps();
    if (stopped) return;
    const std::size_t begin = header.data.offset, end = begin + header.data.size;
    for (std::size_t at = begin; at < end;) {
        if (skip != 0 && !keeps_payload) {
            const std::size_t step = std::min<std::uint64_t>(skip, end - at);
            skip -= step;
            at += step;
            continue;
        }
        const std::size_t used = walk_at(at, end - at);
        if (stopped) return;
        if (used == 0) {
            if (!summary.damage) fail(at, fmt::format("the last record is cut: {} bytes are left", end - at));
            return;
        }
        at += used;
    }
}

// A chunk that is full, or a record that has no room in one (of simpleperf), leaves the mapping.
std::size_t Reader::State::walk_at(std::size_t offset, std::size_t size) {
    const std::span<std::byte> chunk = waiting.begin_chunk();
    if (const std::span<std::byte> room = chunk.first(std::min(chunk.size(), size)); !room.empty()) {
        const auto got = input.read_at(offset, room);
        if (!got) {
            fail(offset, got.error().cause);
            return 0;
        }
        const std::size_t used = walk({room.first(*got), offset, Memory::chunk});
        if (used != 0 || stopped || *got == size) return used;
    }
    const Bytes rest = input.mapped().subspan(offset, size);
    if (chunk.empty()) {
        const std::size_t used = walk({rest.first(std::min(size, kMappedPiece)), offset, Memory::mapped});
        if (used != 0 || stopped) return used;
    }
    return walk({rest, offset, Memory::mapped});
}

// The bytes of an incomplete record at the end of the buffer move to its front before the next read(2).
void Reader::State::read_stream() {
    std::vector<std::byte> buffer(kBuffer);
    std::size_t kept = 0;
    std::uint64_t offset = kPipeHeaderSize;
    for (;;) {
        const auto got = input.read(&buffer[kept], buffer.size() - kept);
        if (!got) return fail(offset + kept, got.error().cause);
        if (*got == 0) break;
        const std::size_t size = kept + *got;
        const std::size_t used = walk({Bytes{buffer}.first(size), offset, Memory::passing});
        if (stopped) return;
        kept = size - used;
        std::memmove(buffer.data(), &buffer[used], kept);
        offset += used;
    }
    if (kept != 0) fail(offset, fmt::format("the last record is cut: {} bytes are left", kept));
}

// Reads a piece of the file whose newest record is the oldest. So no file gets ahead of the others by more than a
// piece.
void Reader::State::read_rings() {
    for (;;) {
        RingFile* oldest = nullptr;
        for (RingFile& each : rings)
            if (!each.is_done() && (!oldest || each.newest < oldest->newest)) oldest = &each;
        if (!oldest) return;
        waiting.deliver_until(oldest->newest, delivering());
        read_piece(*oldest);
    }
}

// Damage ends only the file that has it.
void Reader::State::read_piece(RingFile& file) {
    const Bytes all = file.input.mapped();
    ring = &file;
    std::swap(compressed, file.compressed);
    std::swap(skip, file.skip);
    const std::size_t begin = file.at;
    file.at += walk({all.subspan(begin, std::min(kRingPiece, all.size() - begin)), begin, Memory::mapped});
    if (!stopped && file.at == begin)
        fail(begin, fmt::format("the last record is cut: {} bytes are left", all.size() - begin));
    if (std::exchange(stopped, false)) file.at = all.size();
    std::swap(compressed, file.compressed);
    std::swap(skip, file.skip);
    ring = nullptr;
    const std::byte* lowest = waiting.lowest_in(all);
    file.input.release_before(lowest ? static_cast<std::size_t>(lowest - all.data()) : file.at);
}

void Reader::State::fail(std::uint64_t offset, std::string cause) {
    stopped = true;
    const std::string place = ring ? ring->name + ", " : "";
    summary.damage = Error{"the recording is damaged", fmt::format("{}offset {}: {}", place, offset, std::move(cause)),
                           "what comes before it has been read"};
}

// The size is checked before it is used: with a size below 8 the walk could not go on. A record that passes the end of
// the piece waits for the next piece (of a stream, or of a compressed record), or is the cut end of the file. In a
// stream the payload of the last record may go on in the next buffer; `skip` has how much of it is left.
std::size_t Reader::State::walk(const Piece& piece) {
    std::size_t at = 0;
    uses_mapping |= piece.memory == Memory::mapped;
    while (piece.bytes.size() - at >= kRecordHeader) {
        if (skip != 0) {
            const std::uint64_t step = std::min<std::uint64_t>(skip, piece.bytes.size() - at);
            skip -= step;
            take_payload(piece.bytes.subspan(at, step));
            at += step;
            continue;
        }
        auto head = load<RecordHeader>(&piece.bytes[at]);
        if (header.foreign)
            head = {static_cast<RecordType>(reversed(static_cast<std::uint32_t>(head.type))), reversed(head.misc),
                    reversed(head.size)};
        const std::size_t size = head.size + (is_simpleperf(head.type) ? std::size_t{head.misc} << 16 : 0);
        if (size < kRecordHeader) {
            fail(piece.offset + at, fmt::format("a record of {} bytes is impossible", size));
            break;
        }
        if (!piece.is_of_file() && size > kLongestUnpacked) {
            fail(piece.offset + at, fmt::format("a record of {} bytes is too long to be unpacked", size));
            break;
        }
        if (size > piece.bytes.size() - at) break;
        const Piece record{piece.bytes.subspan(at, size), piece.is_unpacked ? piece.offset : piece.offset + at,
                           piece.memory, piece.is_unpacked};
        skip = payload_after(record.bytes, head.type);
        ++summary.records;
        if (piece.is_of_file() && !ring) {
            walked = record.offset;
            if (walked >= next_release) release();
        }
        take(record, head);
        at += size;
        if (stopped) break;
    }
    return at;
}

/// Bytes that belong to a record but are not counted in its size, because they may be more than its 16 bits can say:
/// the hardware trace of AUXTRACE (its first u64) and the formats of HEADER_TRACING_DATA (a u32, padded to 8). Old
/// simpleperfs have the formats within the record.
std::uint64_t Reader::State::payload_after(Bytes record, RecordType type) {
    Cursor body{record.subspan(kRecordHeader), header.foreign};
    if (type == RecordType::auxtrace) return body.u64();
    if (type != RecordType::header_tracing_data) return 0;
    const std::uint64_t size = (std::uint64_t{body.u32()} + 7) & ~std::uint64_t{7};
    if (body.left() > 4) {
        simpleperf.take(type, record, facts);
        return 0;
    }
    keeps_payload = size != 0 && size <= kMostFormats;
    return size;
}

// A pipe gives the formats in many parts.
void Reader::State::take_payload(Bytes bytes) {
    if (!keeps_payload) return;
    payload.insert(payload.end(), bytes.begin(), bytes.end());
    if (skip != 0) return;
    read_feature(Feature::tracing_data, payload, header.foreign, facts);
    keeps_payload = false;
    payload = {};
}

void Reader::State::release() {
    if (input.is_stream() || ring) return;
    next_release = walked + kReleaseEvery;
    if (!uses_mapping) return;
    const std::byte* lowest = waiting.lowest_in(input.mapped());
    const std::size_t needed = lowest ? static_cast<std::size_t>(lowest - input.mapped().data()) : walked;
    input.release_before(needed);
    if (walked - needed > kMostResident && walked >= next_drop) {
        next_drop = walked + kMostResident;
        drop();
    }
}

}  // namespace anyperf::perfdata
