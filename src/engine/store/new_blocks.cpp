#include "engine/store/new_blocks.h"

#include <array>

namespace anyperf::engine {

namespace {

constexpr std::size_t kTupleWords = sizeof(run::Tuple) / sizeof(std::uint64_t);

/// Writes parts one after the other, each from a multiple of 8 bytes on.
class Parts {
  public:
    explicit Parts(std::uint8_t* at) : at_(at) {}

    void put(const void* from, std::size_t bytes) {
        __builtin_memcpy(at_, from, bytes);
        for (at_ += bytes; address_of(at_) % 8 != 0; ++at_) *at_ = 0;
    }

  private:
    std::uint8_t* at_;
};

StoredExit stored_form(Cache& cache, const Block& block, const NewBlock& noted, const Exit& exit) {
    StoredExit stored;
    stored.target = static_cast<std::int32_t>(exit.target() - block.pc);
    stored.operand = exit.operand;
    if (exit.operand != 0) stored.stub = static_cast<std::uint32_t>(cache.stub_of(exit) - noted.cold);
    stored.control = exit.control_number & 63u;
    stored.length = exit.length & 15u;
    stored.was_linked = exit.to != 0 ? 1 : 0;
    return stored;
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

bool NewBlocks::add(std::uint32_t mapping, BlockId block, const x86_64::Relocations& relocations, std::uint32_t code) {
    const std::size_t words = relocations.count() + relocations.tuples() * kTupleWords + relocations.pages.count;
    const std::uint32_t first = words_.allocate(static_cast<std::uint32_t>(words));
    const std::uint32_t number = first != 0 || words == 0 ? blocks_.allocate() : 0;
    if (number == 0) return false;
    std::uint64_t* to = &words_[first];
    for (std::size_t i = 0; i < relocations.count(); ++i) __builtin_memcpy(to++, &relocations[i], sizeof *to);
    for (std::size_t i = 0; i < relocations.tuples(); ++i, to += kTupleWords)
        __builtin_memcpy(to, &relocations.tuple(i), sizeof(run::Tuple));
    for (std::size_t i = 0; i < relocations.pages.count; ++i) *to++ = relocations.pages.page[i];
    blocks_[number] = {block,
                       mapping,
                       first,
                       static_cast<std::uint16_t>(relocations.cold_bytes),
                       static_cast<std::uint8_t>(relocations.count()),
                       static_cast<std::uint8_t>(relocations.tuples()),
                       relocations.cold,
                       static_cast<std::uint32_t>(relocations.pages.count),
                       code};
    return true;
}

std::uint64_t NewBlocks::page(const NewBlock& block, std::size_t index) {
    return words_[block.first + block.relocations + block.tuples * static_cast<std::uint32_t>(kTupleWords) +
                  static_cast<std::uint32_t>(index)];
}

StoredBlockHead NewBlocks::head_of(const NewBlock& noted, const Block& block, std::uint32_t place) const {
    StoredBlockHead head;
    head.place = place;
    head.guest_bytes = block.guest_bytes;
    head.hot_bytes = block.host_bytes;
    head.cold_bytes = noted.cold_bytes;
    head.counted = block.counted;
    head.instructions = block.instructions;
    head.exits = block.exits;
    head.relocations = noted.relocations;
    head.tuples = noted.tuples;
    head.pages = static_cast<std::uint8_t>(noted.pages);
    head.code = noted.code;
    head.alignment = static_cast<std::uint8_t>((address_of(block.host) & 7u) | (address_of(noted.cold) & 7u) << 4);
    head.lane = block.lane;
    if (block.budgeted) head.flags |= StoredBlockHead::kBudgeted;
    if (block.indirect_entry != 0) head.flags |= StoredBlockHead::kIndirect;
    head.bytes = static_cast<std::uint32_t>(stored_bytes(head));
    return head;
}

void NewBlocks::write(const NewBlock& noted, const Block& block, const StoredBlockHead& head,
                      const std::uint32_t* page_index, Cache& cache, std::uint8_t* record) {
    Parts parts{record};
    parts.put(&head, sizeof head);
    parts.put(page_index, head.pages * sizeof(std::uint32_t));
    parts.put(&words_[noted.first + noted.relocations], head.tuples * sizeof(run::Tuple));
    parts.put(&words_[noted.first], head.relocations * sizeof(x86_64::Relocation));
    std::array<StoredExit, 256> exits;
    for (std::uint32_t i = 0; i < head.exits; ++i)
        exits[i] = stored_form(cache, block, noted, cache.exits[block.first_exit + i]);
    parts.put(exits.data(), head.exits * sizeof(StoredExit));
    parts.put(block.marks, (head.instructions + std::size_t{1}) * sizeof(Mark));
    parts.put(block.host, head.hot_bytes);
    parts.put(noted.cold, head.cold_bytes);
    const std::uint64_t checksum = checksum_of_record(record, head.bytes);
    __builtin_memcpy(record, &checksum, sizeof checksum);
}

}  // namespace anyperf::engine
