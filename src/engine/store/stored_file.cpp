#include "engine/store/stored_file.h"

#include "engine/store/checksum.h"

namespace anyperf::engine {

namespace {

/// Whether `count` entries of `size` bytes at `at` are inside of the file.
bool fits(const run::StoredCodeHeader& header, std::uint32_t at, std::uint32_t count, std::size_t size) {
    return at >= sizeof header && at <= header.file_bytes && (header.file_bytes - at) / size >= count;
}

bool is_valid(const run::StoredCodeHeader& header, std::size_t bytes) {
    return header.magic == run::kStoredCodeMagic && header.checksum == checksum_of_head(header) &&
           header.file_bytes == bytes && header.slots != 0 && (header.slots & (header.slots - 1)) == 0 &&
           header.blocks < header.slots && fits(header, header.slots_at, header.slots, sizeof(StoredSlot)) &&
           fits(header, header.pages_at, header.pages, sizeof(StoredPage));
}

}  // namespace

std::uint64_t checksum_of_head(const run::StoredCodeHeader& header) {
    constexpr std::size_t kFrom = offsetof(run::StoredCodeHeader, key);
    return checksum(reinterpret_cast<const std::uint8_t*>(&header) + kFrom, sizeof header - kFrom);
}

StoredFile::StoredFile(std::span<const std::uint8_t> bytes, const run::StoredCodeKey& key) {
    if (bytes.size() < sizeof header_ || bytes.size() > run::kMostStoredCodeBytes) return;
    __builtin_memcpy(&header_, bytes.data(), sizeof header_);
    if (is_valid(header_, bytes.size()) && header_.key == key) bytes_ = bytes;
}

StoredSlot StoredFile::slot(std::uint32_t index) const {
    StoredSlot slot;
    __builtin_memcpy(&slot, bytes_.data() + header_.slots_at + std::size_t{index} * sizeof slot, sizeof slot);
    return slot;
}

StoredPage StoredFile::page(std::uint32_t index) const {
    StoredPage page{~0u, 0, 0};
    if (index < header_.pages)
        __builtin_memcpy(&page, bytes_.data() + header_.pages_at + std::size_t{index} * sizeof page, sizeof page);
    return page;
}

const std::uint8_t* StoredFile::in_slot(std::uint32_t index, StoredBlock& out) const {
    const StoredSlot found = slot(index);
    if (found.place == 0 || found.at > bytes_.size()) return nullptr;
    const std::span<const std::uint8_t> record = bytes_.subspan(found.at);
    return parse_stored_block(record, out) && out.head.place == found.place - 1 ? record.data() : nullptr;
}

// A damaged table may be full, so the search is bounded.
bool StoredFile::find(std::uint32_t place, StoredBlock& out) const {
    if (!usable()) return false;
    std::uint32_t index = first_slot(place, header_.slots);
    for (std::uint32_t i = 0; i < header_.slots; ++i, index = (index + 1) & (header_.slots - 1)) {
        const StoredSlot found = slot(index);
        if (found.place == 0) return false;
        if (found.place == place + 1) return in_slot(index, out) != nullptr;
    }
    return false;
}

}  // namespace anyperf::engine
