#include "engine/store/stored_block.h"

#include <bit>

#include "engine/cache/packed_marks.h"
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

bool has_range_of_block(const StoredBlock& block) {
    for (std::size_t i = 0; i < block.head.ranges; ++i) {
        const StoredRange range = block.ranges[i];
        if (range.from <= 0 && std::int64_t{range.from} + range.bytes >= block.head.guest_bytes) return true;
    }
    return false;
}

bool has_valid_parts(const StoredBlock& block) {
    const StoredBlockHead& head = block.head;
    if (!has_range_of_block(block)) return false;
    for (std::size_t i = 0; i < head.relocations; ++i)
        if (!is_valid(block, block.relocations[i])) return false;
    for (std::size_t i = 0; i < head.tuples; ++i)
        for (const std::uint8_t amount : block.tuples[i].amount)
            if (amount > run::kLargestAmount) return false;
    return has_valid_exits(block);
}

}  // namespace

bool has_valid_marks(const StoredBlock& block) {
    return are_valid_marks({block.marks, block.head.mark_bytes}, block.head.instructions + std::size_t{1},
                           block.head.hot_bytes);
}

std::size_t StoredBlock::cold_rest() const {
    return cold_rest_of(head);
}

std::size_t stored_bytes(const StoredBlockHead& head) {
    return padded(sizeof head + head.tuples * sizeof(run::Tuple) + head.relocations * sizeof(Relocation) +
                  head.exits * sizeof(StoredExit) + head.ranges * sizeof(StoredRange) + head.mark_bytes +
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
    block.ranges = reinterpret_cast<const StoredRange*>(part(head.ranges * sizeof(StoredRange)));
    block.marks = part(head.mark_bytes);
    block.hot = part(head.hot_bytes);
    block.cold = part(cold_rest_of(head));
}

std::uint32_t checksum_of_record(const std::uint8_t* record, std::size_t bytes) {
    constexpr std::size_t kFrom = sizeof StoredBlockHead::checksum;
    return checksum32(record + kFrom, bytes - kFrom);
}

std::uint64_t checksum_of_code(std::uint64_t pc, const StoredRange* ranges, std::size_t count) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t start = pc + static_cast<std::uint64_t>(std::int64_t{ranges[i].from});
        sum = std::rotl(sum, 1) ^ checksum(at_address<const void>(start), ranges[i].bytes);
    }
    return sum;
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
           out.head.guest_bytes <= kLongestBlockBytes && out.head.ranges <= x86_64::CodeRead::kMost &&
           has_valid_parts(out);
}

}  // namespace anyperf::engine
