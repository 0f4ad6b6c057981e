#include "engine/store/stored_block.h"

#include <bit>

#include "engine/store/checksum.h"
#include "engine/x86_64/translate/routines.h"

namespace anyperf::engine {

using x86_64::Relocation;

namespace {

constexpr std::size_t padded(std::size_t bytes) {
    return (bytes + 3) & ~std::size_t{3};
}

std::size_t cold_rest_of(const StoredBlockHead& head) {
    return head.cold_bytes - head.stubs * x86_64::kExitToEngineBytes;
}

}  // namespace

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
           out.head.guest_bytes <= kLongestBlockBytes && out.head.ranges <= x86_64::CodeRead::kMost;
}

}  // namespace anyperf::engine
