// code_cache.cpp: the file is a header, the build id, the ranges of all units, a UnitPlace for each unit, then the
// units' arrays as they are in memory. A file of another layout has another magic number.
#include "symbols/dwarf/code_cache.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>

namespace anyperf::symbols {

namespace {

struct Header {
    std::array<char, 8> magic;
    std::uint64_t id_bytes, ranges, units;
};
constexpr std::array<char, 8> kMagic{'a', 'n', 'y', 'c', 'o', 'd', 'e', '1'};
constexpr std::uint64_t kMostFileBytes = 128 << 20;  // a larger file is not written
constexpr std::uint64_t kMostBytes = 256 << 20;      // of all files; those that were written longest ago are removed

constexpr std::size_t aligned(std::size_t size) {
    return (size + 7) & ~std::size_t{7};
}

/// `count` rows that begin at `at`; moves `at` after them. Nothing if they are not whole in `bytes`.
template <class Row>
std::optional<std::span<const Row>> rows_at(std::span<const std::byte> bytes, std::size_t& at, std::uint64_t count) {
    if (at > bytes.size() || at % alignof(Row) != 0 || count > (bytes.size() - at) / sizeof(Row)) return {};
    const auto* first = reinterpret_cast<const Row*>(bytes.data() + at);
    at += count * sizeof(Row);
    return std::span{first, count};
}

template <class Row>
void append(std::vector<std::byte>& bytes, std::span<const Row> rows) {
    const auto raw = std::as_bytes(rows);
    bytes.insert(bytes.end(), raw.begin(), raw.end());
}

}  // namespace

std::optional<CodeCache> CodeCache::open(const std::string& path, std::string_view build_id) {
    CodeCache cache;
    auto file = map_cache_file(path);
    if (!file || file->bytes.size() < sizeof(Header)) return {};
    cache.file_ = std::move(*file);
    Header header;
    std::memcpy(&header, cache.file_.bytes.data(), sizeof header);
    std::size_t at = sizeof header;
    const auto id = rows_at<char>(cache.file_.bytes, at, header.id_bytes);
    if (header.magic != kMagic || !id || std::string_view{id->data(), id->size()} != build_id) return {};
    at = aligned(at);
    const auto ranges = rows_at<UnitRange>(cache.file_.bytes, at, header.ranges);
    if (!ranges) return {};
    const auto places = rows_at<UnitPlace>(cache.file_.bytes, at, header.units);
    if (!places) return {};
    cache.ranges_ = *ranges;
    cache.places_ = *places;
    return cache;
}

std::optional<CodeTable> CodeCache::table(std::uint64_t unit) const {
    if (unit >= places_.size() || places_[unit].offset == 0) return {};
    const UnitPlace& place = places_[unit];
    std::size_t at = place.offset;
    const auto ranges = rows_at<FunctionRange>(file_.bytes, at, place.ranges);
    if (!ranges) return {};
    const auto calls = rows_at<InlinedCall>(file_.bytes, at, place.calls);
    if (!calls) return {};
    const auto functions = rows_at<CodeFunction>(file_.bytes, at, place.functions);
    if (!functions) return {};
    const auto texts = rows_at<char>(file_.bytes, at, place.texts);
    if (!texts) return {};
    return CodeTable{*ranges, *functions, *calls, {texts->data(), texts->size()}};
}

void write_code_cache(const std::string& path, std::string_view build_id, std::span<const UnitRange> ranges,
                      std::size_t units, const std::map<std::uint64_t, GatheredCode>& gathered,
                      const std::optional<CodeCache>& before) {
    const Header header{kMagic, build_id.size(), ranges.size(), units};
    std::string id{build_id};
    id.resize(aligned(id.size()));
    const std::size_t body = sizeof header + id.size() + ranges.size_bytes() + units * sizeof(UnitPlace);
    std::vector<UnitPlace> places(units);
    std::vector<std::byte> arrays;
    for (std::uint64_t unit = 0; unit < units; ++unit) {
        const auto fresh = gathered.find(unit);
        const auto table = fresh != gathered.end() ? std::optional{fresh->second.view()}
                           : before                ? before->table(unit)
                                                   : std::nullopt;
        if (!table) continue;
        arrays.resize(aligned(arrays.size()));
        places[unit] = {body + arrays.size(), static_cast<std::uint32_t>(table->ranges.size()),
                        static_cast<std::uint32_t>(table->functions.size()),
                        static_cast<std::uint32_t>(table->calls.size()),
                        static_cast<std::uint32_t>(table->texts.size())};
        append(arrays, table->ranges);
        append(arrays, table->calls);
        append(arrays, table->functions);
        append(arrays, std::span{table->texts});
        if (arrays.size() > kMostFileBytes) return;
    }
    if (write_cache_file(path, {std::as_bytes(std::span{&header, 1}), std::as_bytes(std::span{id}),
                                std::as_bytes(ranges), std::as_bytes(std::span{places}), arrays}))
        bound_cache(std::filesystem::path{path}.parent_path(), kMostBytes);
}

}  // namespace anyperf::symbols
