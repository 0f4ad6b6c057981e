#include "engine/store/stored_block.h"

#include "engine/store/checksum.h"
#include "engine/x86_64/translate/routines.h"

namespace anyperf::engine {

using x86_64::Relocation;
using x86_64::RelocationKind;

namespace {

/// Sizes of the parts, in their order.
struct Parts {
    std::size_t bytes[7];

    explicit Parts(const StoredBlockHead& head)
        : bytes{head.pages * sizeof(std::uint32_t),
                head.tuples * sizeof(run::Tuple),
                head.relocations * sizeof(Relocation),
                head.exits * sizeof(StoredExit),
                (head.instructions + std::size_t{1}) * sizeof(Mark),
                head.hot_bytes,
                head.cold_bytes} {}
};

constexpr std::size_t padded(std::size_t bytes) {
    return (bytes + 7) & ~std::size_t{7};
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

bool is_valid(const StoredBlock& block, const StoredExit& exit) {
    if (exit.operand == 0) return true;
    // link() patches the operand by one store, so it must not cross a multiple of 8 bytes.
    return (block.hot_alignment() + exit.operand) % 8 <= 4 && exit.operand + std::size_t{4} <= block.head.hot_bytes &&
           exit.stub <= block.head.cold_bytes && block.head.cold_bytes - exit.stub >= x86_64::kExitToEngineBytes;
}

bool has_valid_parts(const StoredBlock& block) {
    const StoredBlockHead& head = block.head;
    for (std::size_t i = 0; i < head.relocations; ++i)
        if (!is_valid(block, block.relocations[i])) return false;
    for (std::size_t i = 0; i < head.exits; ++i)
        if (!is_valid(block, block.exits[i])) return false;
    for (std::size_t i = 0; i <= head.instructions; ++i)
        if (block.marks[i].host > head.hot_bytes) return false;
    for (std::size_t i = 0; i < head.tuples; ++i)
        for (const std::uint8_t amount : block.tuples[i].amount)
            if (amount > run::kLargestAmount) return false;
    return true;
}

}  // namespace

std::size_t stored_bytes(const StoredBlockHead& head) {
    std::size_t bytes = sizeof head;
    for (const std::size_t part : Parts{head}.bytes) bytes += padded(part);
    return bytes;
}

void locate_parts(const std::uint8_t* record, StoredBlock& block) {
    const std::uint8_t* part[7];
    std::size_t at = sizeof block.head;
    const Parts parts{block.head};
    for (std::size_t i = 0; i < 7; ++i) {
        part[i] = record + at;
        at += padded(parts.bytes[i]);
    }
    block.pages = reinterpret_cast<const std::uint32_t*>(part[0]);
    block.tuples = reinterpret_cast<const run::Tuple*>(part[1]);
    block.relocations = reinterpret_cast<const Relocation*>(part[2]);
    block.exits = reinterpret_cast<const StoredExit*>(part[3]);
    block.marks = reinterpret_cast<const Mark*>(part[4]);
    block.hot = part[5];
    block.cold = part[6];
}

std::uint64_t checksum_of_record(const std::uint8_t* record, std::size_t bytes) {
    constexpr std::size_t kFrom = sizeof StoredBlockHead::checksum;
    return checksum(record + kFrom, bytes - kFrom);
}

bool parse_stored_block(std::span<const std::uint8_t> bytes, StoredBlock& out) {
    if (bytes.size() < sizeof out.head || reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 != 0) return false;
    __builtin_memcpy(&out.head, bytes.data(), sizeof out.head);
    if (out.head.bytes > bytes.size() || out.head.bytes != stored_bytes(out.head)) return false;
    if (out.head.checksum != checksum_of_record(bytes.data(), out.head.bytes)) return false;
    locate_parts(bytes.data(), out);
    return out.head.instructions <= x86_64::kLongestBlock && out.head.hot_bytes != 0 &&
           out.head.guest_bytes <= kLongestBlockBytes && out.head.pages <= x86_64::CodePages::kMost &&
           has_valid_parts(out);
}

}  // namespace anyperf::engine
