// stored_file.h: a file of stored translations as it is read. Its bytes are not trusted: every offset and count is
// checked before it is used, and a damaged part is treated as missing.
//
//   StoredCodeHeader
//   slots   a hash table: place of a block in the translated file -> place of its record
//   pages   the pages of code that blocks were made from, with a checksum each
//   records each with a checksum of its own (stored_block.h)
//
// Only the head and the records have checksums. A damaged slot leads to no record or to one of another place; a damaged
// page fits no code. So nothing is read that is not needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/store/stored_block.h"
#include "run/stored_code.h"

namespace anyperf::engine {

/// An entry of the table of blocks.
struct StoredSlot {
    std::uint32_t place = 0;  ///< 1 + the offset in the translated file; 0: the slot is free
    std::uint32_t at = 0;     ///< where the record is
};

/// A page of the translated file.
struct StoredPage {
    std::uint32_t number = 0;
    std::uint32_t unused = 0;
    std::uint64_t content = 0;  ///< its checksum
};

class StoredFile {
  public:
    /// No file.
    StoredFile() = default;
    /// The file with these bytes, which must stay as long as this. Without `usable()` if its head is not valid, or not
    /// for `key`.
    StoredFile(std::span<const std::uint8_t> bytes, const run::StoredCodeKey& key);

    bool usable() const { return !bytes_.empty(); }
    const run::StoredCodeHeader& header() const { return header_; }

    /// The block that begins at `place` of the translated file. False if there is none, or it is damaged.
    bool find(std::uint32_t place, StoredBlock& out) const;
    /// Prefetches what find() will read first.
    void prefetch(std::uint32_t place) const {
        __builtin_prefetch(bytes_.data() + header_.slots_at + first_slot(place, header_.slots) * sizeof(StoredSlot));
    }
    /// The page with this index. Content 0 and number ~0 if there is no such page.
    StoredPage page(std::uint32_t index) const;
    /// The block of slot `index`, of `header().slots`. Returns its record; null if the slot is free or the record
    /// damaged.
    const std::uint8_t* in_slot(std::uint32_t index, StoredBlock& out) const;

    /// Where the search for `place` begins in a table of `slots`.
    static std::uint32_t first_slot(std::uint32_t place, std::uint32_t slots) {
        return (place * 0x9e3779b1u >> 7) & (slots - 1);
    }

  private:
    StoredSlot slot(std::uint32_t index) const;

    std::span<const std::uint8_t> bytes_;
    run::StoredCodeHeader header_{};
};

/// The checksum of a head, as StoredCodeHeader::checksum has it.
std::uint64_t checksum_of_head(const run::StoredCodeHeader& header);

}  // namespace anyperf::engine
