// stored_file.h: a file of stored translations as it is read. Its bytes are not trusted: every offset and count is
// checked before it is used, and a damaged part is treated as missing.
//
//   StoredCodeHeader
//   starts  for each page of the translated file from first_page on, the index of the first block in it; one more for
//           the end
//   blocks  by rising place: the place of a block in the translated file, and where its record is
//   records each with a checksum of its own (stored_block.h), in the order in which the blocks were translated
//
// Only the head and the records have checksums. A damaged entry leads to no record or to one of another place. So
// nothing is read that is not needed.
//
// The table is in the order of the code, because neighbours are looked up soon after each other: the same lookup in a
// hash table took 130 ns in a process of 85,000 blocks, since each one missed the CPU's caches and its TLB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/store/stored_block.h"
#include "run/stored_code.h"

namespace anyperf::engine {

/// An entry of the table of blocks.
struct StoredPlace {
    std::uint32_t place = 0;  ///< offset in the translated file of the block's first instruction
    std::uint32_t at = 0;     ///< where its record is
};

/// The page of the translated file that has this place.
constexpr std::uint32_t page_of_place(std::uint32_t place) {
    return place >> 12;
}

class StoredFile {
  public:
    /// No file.
    StoredFile() = default;
    /// The file with these bytes, which must stay as long as this. Without `usable()` if its head is not valid, or not
    /// for `key`.
    StoredFile(std::span<const std::uint8_t> bytes, const run::StoredCodeKey& key);

    bool usable() const { return !bytes_.empty(); }
    const run::StoredCodeHeader& header() const { return header_; }

    /// Where the record of the block at `place` of the translated file is, by the table; 0 if it has none.
    std::uint32_t record_of(std::uint32_t place) const;
    /// Prefetches that record.
    void prefetch(std::uint32_t record) const {
        constexpr std::size_t kLine = 64;
        constexpr std::size_t kLines = 3;  // most records have no more
        for (std::size_t i = 0; i < kLines; ++i) __builtin_prefetch(bytes_.data() + record + i * kLine);
    }
    /// The record at `record`. False if it is damaged, or of a block at another place.
    bool read(std::uint32_t record, std::uint32_t place, StoredBlock& out) const;
    /// The block that begins at `place` of the translated file. False if there is none, or it is damaged.
    bool find(std::uint32_t place, StoredBlock& out) const;

    /// Calls visit(record, block) for each record in the order of the file, until one is damaged.
    template <class Visit>
    void for_each_record(Visit&& visit) const {
        StoredBlock block;
        for (std::size_t at = header_.records_at; usable() && at < bytes_.size(); at += block.head.bytes) {
            if (!parse_stored_block(bytes_.subspan(at), block)) return;
            visit(bytes_.data() + at, block);
        }
    }

  private:
    template <class T>
    T entry(std::uint32_t table, std::uint32_t index) const {
        T value;
        __builtin_memcpy(&value, bytes_.data() + table + std::size_t{index} * sizeof value, sizeof value);
        return value;
    }

    std::span<const std::uint8_t> bytes_;
    run::StoredCodeHeader header_{};
};

/// The checksum of a head, as StoredCodeHeader::checksum has it.
std::uint64_t checksum_of_head(const run::StoredCodeHeader& header);

}  // namespace anyperf::engine
