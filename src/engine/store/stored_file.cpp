#include "engine/store/stored_file.h"

#include <algorithm>

#include "engine/store/checksum.h"

namespace anyperf::engine {

namespace {

/// Whether `count` entries of `size` bytes at `at` are inside of the file.
bool fits(const run::StoredCodeHeader& header, std::uint32_t at, std::uint64_t count, std::size_t size) {
    return at >= sizeof header && at <= header.file_bytes && (header.file_bytes - at) / size >= count;
}

bool is_valid(const run::StoredCodeHeader& header, std::size_t bytes) {
    return header.magic == run::kStoredCodeMagic && header.checksum == checksum_of_head(header) &&
           header.file_bytes == bytes &&
           fits(header, header.starts_at, std::uint64_t{header.page_count} + 1, sizeof(std::uint32_t)) &&
           fits(header, header.blocks_at, header.blocks, sizeof(StoredPlace)) && fits(header, header.records_at, 0, 1);
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

std::uint32_t StoredFile::record_of(std::uint32_t place) const {
    const std::uint32_t page = page_of_place(place) - header_.first_page;
    if (!usable() || page >= header_.page_count) return 0;
    const auto first = entry<std::uint32_t>(header_.starts_at, page);
    const std::uint32_t end = std::min(entry<std::uint32_t>(header_.starts_at, page + 1), header_.blocks);
    if (first >= end) return 0;
    // Each step is a conditional move: a branch would be mispredicted every other time.
    std::uint32_t low = first;
    for (std::uint32_t count = end - first; count > 1;) {
        const std::uint32_t half = count / 2;
        low = entry<StoredPlace>(header_.blocks_at, low + half).place <= place ? low + half : low;
        count -= half;
    }
    const auto found = entry<StoredPlace>(header_.blocks_at, low);
    return found.place == place ? found.at : 0;
}

bool StoredFile::read(std::uint32_t record, std::uint32_t place, StoredBlock& out) const {
    return record < bytes_.size() && parse_stored_block(bytes_.subspan(record), out) && out.head.place == place;
}

bool StoredFile::find(std::uint32_t place, StoredBlock& out) const {
    const std::uint32_t record = record_of(place);
    return record != 0 && read(record, place, out);
}

}  // namespace anyperf::engine
