#include "engine/store/new_blocks.h"

#include <array>

#include "engine/cache/packed_marks.h"
#include "engine/x86_64/translate/routines.h"

namespace anyperf::engine {

namespace {

constexpr std::size_t kTupleWords = sizeof(run::Tuple) / sizeof(std::uint64_t);

StoredExit stored_form(Cache& cache, const Block& block, const NewBlock& noted, const Exit& exit) {
    StoredExit stored;
    stored.target = static_cast<std::int32_t>(exit.target() - block.pc);
    stored.operand = exit.operand;
    if (exit.operand != 0) stored.stub = static_cast<std::uint16_t>(cache.stub_of(exit) - noted.cold);
    stored.control = exit.control_number & 63u;
    stored.steps = exit.steps & 1u;
    stored.length = exit.length & 15u;
    stored.was_linked = exit.to != 0;
    return stored;
}

/// The bytes of the block's packed marks.
std::size_t mark_bytes(const Block& block) {
    MarkReader marks{block};
    for (std::size_t i = 0; i <= block.instructions; ++i) marks.next();
    return static_cast<std::size_t>(marks.at() - block.packed_marks());
}

std::uint8_t stubs_of(Cache& cache, const Block& block) {
    std::uint8_t stubs = 0;
    for (std::uint32_t i = 0; i < block.exits; ++i)
        if (cache.exits[block.first_exit + i].operand != 0) ++stubs;
    return stubs;
}

}  // namespace

bool NewBlocks::reserve(OwnArea& area) {
    return blocks_.reserve(area) && words_.reserve(area);
}

void NewBlocks::clear() {
    if (blocks_.used() == 0) return;
    blocks_.free_all();
    words_.free_all();
}

bool NewBlocks::add(std::uint32_t mapping, BlockId id, const Block& block, const x86_64::Relocations& relocations) {
    const x86_64::CodeRead& read = relocations.read;
    std::array<StoredRange, x86_64::CodeRead::kMost> ranges;
    for (std::size_t i = 0; i < read.count; ++i) {
        const auto from = static_cast<std::int64_t>(read.range[i].start - block.pc);
        ranges[i] = {static_cast<std::int32_t>(from),
                     static_cast<std::uint16_t>(read.range[i].end - read.range[i].start)};
        if (ranges[i].from != from) return false;
    }
    const std::size_t range_bytes = read.count * sizeof(StoredRange);
    const std::size_t words = relocations.count() + relocations.tuples() * kTupleWords +
                              (range_bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
    const std::uint32_t first = words_.allocate(static_cast<std::uint32_t>(words));
    const std::uint32_t number = first != 0 || words == 0 ? blocks_.allocate() : 0;
    if (number == 0) return false;
    std::uint64_t* to = &words_[first];
    for (std::size_t i = 0; i < relocations.count(); ++i) __builtin_memcpy(to++, &relocations[i], sizeof *to);
    for (std::size_t i = 0; i < relocations.tuples(); ++i, to += kTupleWords)
        __builtin_memcpy(to, &relocations.tuple(i), sizeof(run::Tuple));
    __builtin_memcpy(to, ranges.data(), range_bytes);
    blocks_[number] = {id,
                       mapping,
                       first,
                       static_cast<std::uint16_t>(relocations.cold_bytes),
                       static_cast<std::uint8_t>(relocations.count()),
                       static_cast<std::uint8_t>(relocations.tuples()),
                       relocations.cold,
                       static_cast<std::uint32_t>(read.count),
                       checksum_of_code(block.pc, ranges.data(), read.count)};
    return true;
}

const StoredRange* NewBlocks::ranges(const NewBlock& block) {
    const std::uint64_t& first =
        words_[block.first + block.relocations + block.tuples * static_cast<std::uint32_t>(kTupleWords)];
    return reinterpret_cast<const StoredRange*>(&first);
}

StoredBlockHead NewBlocks::head_of(const NewBlock& noted, const Block& block, std::uint32_t place, Cache& cache) const {
    StoredBlockHead head;
    head.place = place;
    head.code = noted.code;
    head.guest_bytes = block.guest_bytes;
    head.hot_bytes = block.host_bytes;
    head.cold_bytes = noted.cold_bytes;
    head.mark_bytes = static_cast<std::uint16_t>(mark_bytes(block));
    head.instructions = block.instructions;
    head.exits = block.exits;
    head.stubs = stubs_of(cache, block);
    head.relocations = noted.relocations;
    head.tuples = noted.tuples;
    head.ranges = static_cast<std::uint8_t>(noted.ranges);
    head.alignment = static_cast<std::uint8_t>((address_of(block.host) & 7u) | (address_of(noted.cold) & 7u) << 4);
    head.lane = block.lane;
    if (block.counts_executions) head.flags |= StoredBlockHead::kCountsExecutions;
    if (block.budgeted) head.flags |= StoredBlockHead::kBudgeted;
    if (block.indirect_entry != 0) head.flags |= StoredBlockHead::kIndirect;
    if (block.counted != 0) head.flags |= StoredBlockHead::kCounted;
    const std::size_t bytes = stored_bytes(head);
    head.bytes = bytes <= kMostRecordBytes ? static_cast<std::uint16_t>(bytes) : 0;
    return head;
}

std::size_t NewBlocks::most_bytes(const NewBlock& noted, const Block& block) {
    return sizeof(StoredBlockHead) + noted.tuples * sizeof(run::Tuple) +
           noted.relocations * sizeof(x86_64::Relocation) + block.exits * sizeof(StoredExit) +
           noted.ranges * sizeof(StoredRange) + (block.instructions + 1u) * kMostMarkBytes + block.host_bytes +
           noted.cold_bytes + sizeof(std::uint32_t);
}

void NewBlocks::write(const NewBlock& noted, const Block& block, const StoredBlockHead& head, Cache& cache,
                      std::uint8_t* record) {
    std::uint8_t* at = record;
    const auto put = [&at](const void* from, std::size_t bytes) {
        __builtin_memcpy(at, from, bytes);
        at += bytes;
    };
    put(&head, sizeof head);
    put(&words_[noted.first + noted.relocations], head.tuples * sizeof(run::Tuple));
    put(&words_[noted.first], head.relocations * sizeof(x86_64::Relocation));
    std::uint8_t* const exits = at;
    for (std::uint32_t i = 0; i < head.exits; ++i) {
        const StoredExit exit = stored_form(cache, block, noted, cache.exits[block.first_exit + i]);
        put(&exit, sizeof exit);
    }
    put(ranges(noted), head.ranges * sizeof(StoredRange));
    put(block.packed_marks(), head.mark_bytes);
    put(block.host, head.hot_bytes);
    std::size_t cold = 0;
    for (std::uint32_t i = 0; i < head.exits; ++i) {
        const StoredExit exit = reinterpret_cast<const StoredExit*>(exits)[i];
        if (exit.operand == 0) continue;
        put(noted.cold + cold, exit.stub - cold);
        cold = exit.stub + x86_64::kExitToEngineBytes;
    }
    put(noted.cold + cold, head.cold_bytes - cold);
    while (at < record + head.bytes) *at++ = 0;
    const std::uint32_t checksum = checksum_of_record(record, head.bytes);
    __builtin_memcpy(record, &checksum, sizeof checksum);
}

}  // namespace anyperf::engine
