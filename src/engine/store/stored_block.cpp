#include "engine/store/stored_block.h"

#include "engine/store/checksum.h"
#include "engine/x86_64/translate/routines.h"

namespace anyperf::engine {

using x86_64::Relocation;
using x86_64::RelocationKind;

namespace {

constexpr std::size_t padded(std::size_t bytes) {
    return (bytes + 3) & ~std::size_t{3};
}

std::size_t cold_rest_of(const StoredBlockHead& head) {
    return head.cold_bytes - head.stubs * x86_64::kExitToEngineBytes;
}

bool is_valid(const StoredBlock& block, const Relocation& relocation) {
    const std::size_t room = relocation.in_cold != 0 ? block.head.cold_bytes : block.head.hot_bytes;
    if (relocation.kind >= RelocationKind::count || relocation.at + relocation.bytes() > room) return false;
    const auto value = static_cast<std::uint32_t>(relocation.value);
    switch (relocation.kind) {
        case RelocationKind::to_cold: return value < block.head.cold_bytes;
        case RelocationKind::to_exit_jump: return value < x86_64::kExitReasons;
        case RelocationKind::exit: return value < block.head.exits;
        case RelocationKind::segment: return value < 256;
        case RelocationKind::word: return value < block.head.tuples;
        default: return true;
    }
}

/// Whether the operand and the stub of each exit are inside of the block, and the stubs follow each other.
bool has_valid_exits(const StoredBlock& block) {
    const StoredBlockHead& head = block.head;
    std::size_t stubs = 0;
    std::size_t end = 0;  // of the last stub
    for (std::size_t i = 0; i < head.exits; ++i) {
        const StoredExit exit = block.exits[i];
        if (exit.operand == 0) continue;
        // link() patches the operand by one store, so it must not cross a multiple of 8 bytes.
        if ((block.hot_alignment() + exit.operand) % 8 > 4 || exit.operand + std::size_t{4} > head.hot_bytes ||
            exit.stub < end)
            return false;
        end = exit.stub + x86_64::kExitToEngineBytes;
        ++stubs;
    }
    return stubs == head.stubs && end <= head.cold_bytes;
}

bool has_valid_parts(const StoredBlock& block) {
    const StoredBlockHead& head = block.head;
    for (std::size_t i = 0; i < head.relocations; ++i)
        if (!is_valid(block, block.relocations[i])) return false;
    for (std::size_t i = 0; i < head.tuples; ++i)
        for (const std::uint8_t amount : block.tuples[i].amount)
            if (amount > run::kLargestAmount) return false;
    return has_valid_exits(block);
}

// A mark in a file: a byte, of which these bits say what follows. Without kWhole the instruction borrows nothing, and
// its code begins kDistance's byte (or none) after the end of the code of an instruction that was copied as it is.
constexpr std::uint8_t kLength = 15;  // Mark::guest_length
constexpr std::uint8_t kBeginsSegment = 1 << 4;
constexpr std::uint8_t kDistance = 1 << 5;  // a byte follows
constexpr std::uint8_t kWhole = 1 << 6;     // the first four bytes of the Mark follow
// Last come the second four bytes of the Mark, if StoredBlockHead::kMarksCount is set.
constexpr std::size_t kHalf = sizeof(Mark) / 2;

/// Writes what follows, or only counts its bytes.
struct Bytes {
    std::uint8_t* to;
    std::size_t count = 0;

    void put(const void* from, std::size_t bytes) {
        if (to != nullptr) __builtin_memcpy(to + count, from, bytes);
        count += bytes;
    }
    void put(std::size_t byte) {
        if (to != nullptr) to[count] = static_cast<std::uint8_t>(byte);
        ++count;
    }
};

}  // namespace

std::size_t encode_marks(const Mark* marks, std::size_t count, bool counting, std::uint8_t* to) {
    Bytes out{to};
    std::size_t expected = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const Mark& mark = marks[i];
        const std::size_t distance = mark.host - expected;
        const std::uint8_t common = mark.guest_length | (mark.begins_segment != 0 ? kBeginsSegment : 0);
        if (mark.lent != Mark::kNotLent || mark.spilled != Mark::kNone || distance > 255) {
            out.put(common | kWhole);
            out.put(&mark, kHalf);
        } else if (distance != 0) {
            out.put(common | kDistance);
            out.put(distance);
        } else {
            out.put(common);
        }
        if (counting) out.put(reinterpret_cast<const std::uint8_t*>(&mark) + kHalf, kHalf);
        expected = mark.host + std::size_t{mark.guest_length};
    }
    return out.count;
}

bool decode_marks(const StoredBlock& block, Mark* out) {
    const std::uint8_t* at = block.marks;
    const std::uint8_t* const end = at + block.head.mark_bytes;
    const bool counting = (block.head.flags & StoredBlockHead::kMarksCount) != 0;
    std::size_t expected = 0;
    for (std::size_t i = 0; i <= block.head.instructions; ++i) {
        if (at == end) return false;
        const std::uint8_t first = *at++;
        const std::size_t more = ((first & kWhole) != 0      ? kHalf
                                  : (first & kDistance) != 0 ? 1
                                                             : 0) +
                                 (counting ? kHalf : 0);
        if (static_cast<std::size_t>(end - at) < more) return false;
        Mark mark;
        if ((first & kWhole) != 0) {
            __builtin_memcpy(static_cast<void*>(&mark), at, kHalf);
            at += kHalf;
        } else {
            mark.host = static_cast<std::uint16_t>(expected + ((first & kDistance) != 0 ? *at++ : 0));
            mark.guest_length = first & kLength;
            mark.begins_segment = (first & kBeginsSegment) != 0;
        }
        if (counting) {
            __builtin_memcpy(reinterpret_cast<std::uint8_t*>(&mark) + kHalf, at, kHalf);
            at += kHalf;
        }
        if (mark.host > block.head.hot_bytes) return false;
        expected = mark.host + std::size_t{mark.guest_length};
        out[i] = mark;
    }
    return at == end;
}

std::size_t StoredBlock::cold_rest() const {
    return cold_rest_of(head);
}

std::size_t stored_bytes(const StoredBlockHead& head) {
    return padded(sizeof head + head.tuples * sizeof(run::Tuple) + head.relocations * sizeof(Relocation) +
                  head.exits * sizeof(StoredExit) + head.pages * sizeof(std::uint16_t) + head.mark_bytes +
                  head.hot_bytes + cold_rest_of(head));
}

void locate_parts(const std::uint8_t* record, StoredBlock& block) {
    const StoredBlockHead& head = block.head;
    const std::uint8_t* at = record + sizeof head;
    const auto part = [&at](std::size_t bytes) {
        const std::uint8_t* const start = at;
        at += bytes;
        return start;
    };
    block.tuples = reinterpret_cast<const run::Tuple*>(part(head.tuples * sizeof(run::Tuple)));
    block.relocations = reinterpret_cast<const Relocation*>(part(head.relocations * sizeof(Relocation)));
    block.exits = reinterpret_cast<const StoredExit*>(part(head.exits * sizeof(StoredExit)));
    block.pages = part(head.pages * sizeof(std::uint16_t));
    block.marks = part(head.mark_bytes);
    block.hot = part(head.hot_bytes);
    block.cold = part(cold_rest_of(head));
}

std::uint32_t checksum_of_record(const std::uint8_t* record, std::size_t bytes) {
    constexpr std::size_t kFrom = sizeof StoredBlockHead::checksum;
    return checksum32(record + kFrom, bytes - kFrom);
}

bool parse_stored_block(std::span<const std::uint8_t> bytes, StoredBlock& out) {
    if (bytes.size() < sizeof out.head || reinterpret_cast<std::uintptr_t>(bytes.data()) % 4 != 0) return false;
    __builtin_memcpy(&out.head, bytes.data(), sizeof out.head);
    if (out.head.stubs * x86_64::kExitToEngineBytes > out.head.cold_bytes || out.head.bytes > bytes.size() ||
        out.head.bytes != stored_bytes(out.head))
        return false;
    if (out.head.checksum != checksum_of_record(bytes.data(), out.head.bytes)) return false;
    locate_parts(bytes.data(), out);
    return out.head.instructions <= x86_64::kLongestBlock &&
           out.head.hot_bytes > (out.counts_executions() ? kHeatBytes : 0) &&
           out.head.guest_bytes <= kLongestBlockBytes && out.head.pages <= x86_64::CodePages::kMost &&
           has_valid_parts(out);
}

}  // namespace anyperf::engine
