// new_blocks.h: what this process has translated and may store: for each such block how to relocate it. The code itself
// is read from the cache when it is stored.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cache/cache.h"
#include "engine/freestanding/own_area.h"
#include "engine/store/stored_block.h"
#include "engine/x86_64/translate/relocations.h"

namespace anyperf::engine {

struct NewBlock {
    BlockId block = 0;
    std::uint32_t mapping = 0;
    std::uint32_t first = 0;  ///< of its relocations, then its tuples, then its ranges, in words of the list
    std::uint16_t cold_bytes = 0;
    std::uint8_t relocations = 0;
    std::uint8_t tuples = 0;
    const std::uint8_t* cold = nullptr;
    std::uint32_t ranges = 0;  ///< their number
    std::uint64_t code = 0;    ///< checksum_of_code() of what it was made from
};

class NewBlocks {
  public:
    static constexpr std::uint32_t kMost = 1u << 17;

    bool reserve(OwnArea& area);
    /// Adds a block of the cache. Precondition: what it was made from can be read. False if there is no room, or some
    /// of that is too far away.
    bool add(std::uint32_t mapping, BlockId id, const Block& block, const x86_64::Relocations& relocations);
    std::uint32_t count() const { return blocks_.used(); }
    /// The blocks are numbered from 1 on.
    NewBlock& operator[](std::uint32_t number) { return blocks_[number]; }
    /// The ranges of code that it was made from.
    const StoredRange* ranges(const NewBlock& block);
    void clear();
    /// How many pages it has touched, about.
    std::size_t touched_pages() const { return blocks_.touched_pages() + words_.touched_pages(); }

    /// The head of its record, without its checksum. `block`: the record in the cache. `bytes` is 0 if a record has
    /// no room for it.
    StoredBlockHead head_of(const NewBlock& noted, const Block& block, std::uint32_t place, Cache& cache) const;
    /// Not less than the bytes of its record.
    static std::size_t most_bytes(const NewBlock& noted, const Block& block);
    /// Writes the record with this head. `record` has head.bytes.
    void write(const NewBlock& noted, const Block& block, const StoredBlockHead& head, Cache& cache,
               std::uint8_t* record);

  private:
    static constexpr std::size_t kMostRecordBytes = 0xffff;

    Pool<NewBlock, kMost> blocks_;
    Pool<std::uint64_t, kMost * 8> words_;
};

}  // namespace anyperf::engine
