#include "recording/exact_profile.h"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "run/exact_counts.h"

namespace anyperf::recording {

namespace {

using namespace run::exact;

constexpr std::uint64_t offset_of_unit(std::uint32_t unit) {
    return kOffset + unit * kUnitBytes;
}

/// A record of an image, with the lengths of its instructions if it is a block.
struct ParsedRecord {
    Record record;
    std::vector<Length> lengths;

    /// How many cells it gives a meaning.
    std::uint32_t cells() const {
        const auto segments = std::ranges::count_if(lengths, [](Length each) { return each.begins_segment != 0; });
        return record.kind == RecordKind::block ? static_cast<std::uint32_t>(segments) : 1;
    }
    /// The address after a block, to which its call returns.
    std::uint64_t end() const {
        std::uint64_t address = record.pc;
        for (const Length each : lengths) address += each.bytes;
        return address;
    }
};

struct Image {
    ImageHeader header{};
    std::vector<ParsedRecord> records;  // in the order of their cells
};

/// What one process has counted in one image: the sums over its threads.
struct Totals {
    std::uint64_t start_ns = ~std::uint64_t{0};
    std::vector<std::uint64_t> cells;
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> calls;  // not in cells yet; by site and target
};

template <class T>
std::optional<T> read_one(const ReadMemory& read, std::uint64_t offset) {
    T value{};
    const auto bytes = std::as_writable_bytes(std::span{&value, 1});
    if (read(offset, bytes) != bytes.size()) return std::nullopt;
    return value;
}

/// As many bytes as could be read.
std::vector<std::byte> read_bytes(const ReadMemory& read, std::uint64_t offset, std::uint64_t size) {
    constexpr std::size_t kReadPiece = std::size_t{1} << 20;
    std::vector<std::byte> bytes;
    while (bytes.size() < size) {
        const std::size_t before = bytes.size();
        bytes.resize(std::min<std::size_t>(size, before + kReadPiece));
        const std::size_t got = read(offset + before, std::span{bytes}.subspan(before));
        if (got == bytes.size() - before) continue;
        bytes.resize(before + got);
        break;
    }
    return bytes;
}

template <class T>
T load(std::span<const std::byte> bytes, std::size_t at) {
    T value;
    std::copy_n(bytes.data() + at, sizeof value, reinterpret_cast<std::byte*>(&value));
    return value;
}

/// The records up to the first that makes no sense. Cells are numbered without gaps, so a record whose first cell is
/// not the next number makes no sense.
std::vector<ParsedRecord> parse_records(std::span<const std::byte> bytes, std::uint32_t next_cell) {
    std::vector<ParsedRecord> records;
    for (std::size_t at = 0; bytes.size() - at >= sizeof(Record);) {
        ParsedRecord parsed{load<Record>(bytes, at), {}};
        const std::uint64_t size = bytes_of(parsed.record);
        if (bytes.size() - at < size || parsed.record.cell != next_cell) break;
        for (std::size_t i = 0; i < parsed.record.instructions; ++i)
            parsed.lengths.push_back(load<Length>(bytes, at + sizeof(Record) + i));
        const std::uint32_t cells = parsed.cells();
        if (cells == 0 || (!parsed.lengths.empty() && parsed.lengths.front().begins_segment == 0)) break;
        next_cell += cells;
        at += size;
        records.push_back(std::move(parsed));
    }
    return records;
}

/// Adds up what one process did in one image, by address.
class Gatherer {
  public:
    Gatherer(const std::map<std::uint32_t, Image>& images, std::int32_t pid, Totals& totals, ExactProfile& to)
        : images_(images), pid_(pid), totals_(totals), to_(to) {}

    void gather(const Image& image);

  private:
    /// The count at one address while one mapping is there: in one epoch of the process.
    struct Place {
        std::uint32_t epoch = 0;
        std::uint64_t time_ns = 0;
        std::int64_t count = 0;
    };

    void collect_records(const Image& image);
    std::int64_t count_of(std::uint32_t cell) const {
        return cell < totals_.cells.size() ? static_cast<std::int64_t>(totals_.cells[cell]) : 0;
    }
    const ParsedRecord* block_with(std::uint32_t cell) const;
    void add(std::uint64_t address, const Record& record, std::int64_t count);
    void add_call(const ParsedRecord& block, std::uint64_t target, std::int64_t count);
    void add_block(const ParsedRecord& block);
    void uncount_rest(const Record& left, std::int64_t count);
    void uncount(std::uint64_t address, std::int64_t count);
    std::uint64_t time_of(const Record& record) const { return std::max(record.time_ns, totals_.start_ns); }
    void put() const;

    const std::map<std::uint32_t, Image>& images_;
    std::int32_t pid_;
    Totals& totals_;
    ExactProfile& to_;
    std::vector<const ParsedRecord*> records_;  // in the order of their cells
    std::unordered_map<std::uint64_t, std::vector<Place>> places_;
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>, Place> calls_;  // by caller, target and epoch
};

/// Collects the records of the image and, before them, those that it inherits from the images of its parents. The loop
/// ends, since read_exact_profile() accepts an image only if its parent has a lower unit.
void Gatherer::collect_records(const Image& image) {
    std::vector<std::pair<const Image*, std::uint32_t>> images;  // each with the end of its cells that are inherited
    std::uint32_t end = ~std::uint32_t{0};
    for (const Image* each = &image; each != nullptr;) {
        images.emplace_back(each, end);
        end = std::min(end, each->header.inherited);
        const auto parent = each->header.parent != 0 ? images_.find(each->header.parent - 1) : images_.end();
        each = parent != images_.end() ? &parent->second : nullptr;
    }
    for (const auto& [each, its_end] : images | std::views::reverse)
        for (const ParsedRecord& parsed : each->records)
            if (parsed.record.cell < its_end) records_.push_back(&parsed);
}

const ParsedRecord* Gatherer::block_with(std::uint32_t cell) const {
    const auto after =
        std::ranges::upper_bound(records_, cell, {}, [](const ParsedRecord* parsed) { return parsed->record.cell; });
    if (after == records_.begin()) return nullptr;
    const ParsedRecord& parsed = **std::prev(after);
    return parsed.record.kind == RecordKind::block && cell - parsed.record.cell < parsed.cells() ? &parsed : nullptr;
}

void Gatherer::add(std::uint64_t address, const Record& record, std::int64_t count) {
    if (count == 0) return;
    std::vector<Place>& places = places_[address];
    auto place = std::ranges::find(places, record.epoch, &Place::epoch);
    if (place == places.end()) place = places.insert(places.end(), {record.epoch, time_of(record), 0});
    place->count += count;
}

void Gatherer::add_call(const ParsedRecord& block, std::uint64_t target, std::int64_t count) {
    if (count == 0) return;
    Place& place =
        calls_.try_emplace({block.end(), target, block.record.epoch}, Place{0, time_of(block.record), 0}).first->second;
    place.count += count;
}

void Gatherer::add_block(const ParsedRecord& block) {
    std::uint64_t address = block.record.pc;
    std::uint32_t cell = block.record.cell - 1;
    for (const Length each : block.lengths) {
        if (each.begins_segment != 0) ++cell;
        if (each.by_itself == 0) add(address, block.record, count_of(cell));
        address += each.bytes;
    }
    if (block.record.end == BlockEnd::call) add_call(block, block.record.target, count_of(cell));
}

/// `count` times a segment was left before its instruction `left.index`, so this one and those after it did not run.
void Gatherer::uncount_rest(const Record& left, std::int64_t count) {
    const ParsedRecord* const block = block_with(left.of);
    if (block == nullptr) return;
    std::uint64_t address = block->record.pc;
    std::uint32_t cell = block->record.cell - 1;
    std::size_t index = 0;  // in the segment
    for (const Length each : block->lengths) {
        if (each.begins_segment != 0) ++cell, index = 0;
        if (cell == left.of && index >= left.index && each.by_itself == 0) add(address, block->record, -count);
        address += each.bytes;
        ++index;
    }
    if (cell == left.of && block->record.end == BlockEnd::call) add_call(*block, block->record.target, -count);
}

/// `count` times the instruction at the address was counted and did not retire. The translation that counted it may be
/// of an earlier epoch than the record of this, so the count is subtracted wherever there is enough.
void Gatherer::uncount(std::uint64_t address, std::int64_t count) {
    const auto places = places_.find(address);
    if (places == places_.end()) return;
    for (Place& place : places->second) {
        const std::int64_t taken = std::clamp<std::int64_t>(count, 0, std::max<std::int64_t>(place.count, 0));
        place.count -= taken;
        count -= taken;
    }
}

void Gatherer::gather(const Image& image) {
    collect_records(image);
    for (const ParsedRecord* const parsed : records_) {
        if (parsed->record.kind == RecordKind::block) add_block(*parsed);
        if (parsed->record.kind == RecordKind::instruction)
            add(parsed->record.pc, parsed->record, count_of(parsed->record.cell));
    }
    for (const ParsedRecord* const parsed : records_) {
        const std::int64_t count = count_of(parsed->record.cell);
        if (count == 0) continue;
        if (parsed->record.kind == RecordKind::left) uncount_rest(parsed->record, count);
        if (parsed->record.kind == RecordKind::call)
            if (const ParsedRecord* const site = block_with(parsed->record.of))
                add_call(*site, parsed->record.target, count);
    }
    for (const ParsedRecord* const parsed : records_)
        if (parsed->record.kind == RecordKind::undone) uncount(parsed->record.pc, count_of(parsed->record.cell));
    for (const auto& [call, count] : totals_.calls)
        if (const ParsedRecord* const site = block_with(call.first))
            add_call(*site, call.second, static_cast<std::int64_t>(count));
    put();
}

void Gatherer::put() const {
    for (const auto& [address, places] : places_)
        for (const Place& place : places)
            if (place.count > 0)
                to_.instructions.push_back({place.time_ns, address, static_cast<std::uint64_t>(place.count), pid_, 0});
    for (const auto& [call, place] : calls_)
        if (place.count > 0)
            to_.calls.push_back(
                {place.time_ns, std::get<1>(call), static_cast<std::uint64_t>(place.count), pid_, std::get<0>(call)});
}

/// Adds an area's cells, and the indirect calls that its thread has written down and not added to a cell.
void add_area(const ReadMemory& read, std::uint32_t unit, const AreaHeader& area, std::uint32_t cells, Totals& totals) {
    totals.start_ns = std::min(totals.start_ns, area.start_ns);
    const std::uint64_t start = offset_of_unit(unit);
    const auto bytes =
        read_bytes(read, start + kCellsOffset, std::uint64_t{std::min(cells, kCells)} * sizeof(std::uint64_t));
    totals.cells.resize(std::max(totals.cells.size(), bytes.size() / sizeof(std::uint64_t)));
    for (std::size_t i = 0; i < bytes.size() / sizeof(std::uint64_t); ++i)
        totals.cells[i] += load<std::uint64_t>(bytes, i * sizeof(std::uint64_t));
    constexpr std::int64_t kCall = sizeof(IndirectCall);
    const std::int64_t position = std::clamp<std::int64_t>(area.position, -kCallsBytes, 0);
    const auto calls = read_bytes(read, start + kCallsOffset, static_cast<std::uint64_t>(position + kCallsBytes));
    for (std::size_t at = 0; at + kCall <= calls.size(); at += kCall) {
        const auto call = load<IndirectCall>(calls, at);
        ++totals.calls[{static_cast<std::uint32_t>(call.site), call.target}];
    }
}

}  // namespace

ExactProfile read_exact_profile(const ReadMemory& read, std::uint32_t units) {
    ExactProfile profile;
    std::map<std::uint32_t, Image> images;
    std::map<std::pair<std::uint32_t, std::int32_t>, Totals> processes;  // by image and pid
    std::vector<std::pair<std::uint32_t, AreaHeader>> areas;
    units = std::min(units, kUnits);
    for (std::uint32_t unit = 0; unit < units; ++unit) {
        const auto kind = read_one<UnitKind>(read, offset_of_unit(unit));
        if (kind == UnitKind::area) {
            if (const auto area = read_one<AreaHeader>(read, offset_of_unit(unit))) areas.emplace_back(unit, *area);
        } else if (kind == UnitKind::image) {
            const auto header = read_one<ImageHeader>(read, offset_of_unit(unit));
            if (!header || header->parent > unit) continue;
            const auto bytes = read_bytes(read, offset_of_unit(unit) + kRecordsOffset,
                                          std::min(header->used, kImageBytes - kRecordsOffset));
            images[unit] = {*header, parse_records(bytes, header->inherited)};
            profile.incomplete = profile.incomplete || header->full != 0;
            unit += kImageUnits - 1;
        }
    }
    for (const auto& [unit, area] : areas)
        if (const auto image = images.find(area.image); image != images.end())
            add_area(read, unit, area, image->second.header.cells, processes[{area.image, area.pid}]);
    for (auto& [key, totals] : processes) Gatherer{images, key.second, totals, profile}.gather(images[key.first]);
    const auto order = [](const ExactCount& one) { return std::tuple{one.time_ns, one.pid, one.address, one.caller}; };
    std::ranges::sort(profile.instructions, {}, order);
    std::ranges::sort(profile.calls, {}, order);
    return profile;
}

}  // namespace anyperf::recording
