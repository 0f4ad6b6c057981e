// debug_info.cpp: a lookup is a binary search for the unit, another for the function, and a pass over the function's
// own inlined calls. DWARF is opened only for units that were not kept, and for lines.
#include "symbols/dwarf/debug_info.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace anyperf::symbols {

DebugInfo::DebugInfo(std::string path, std::string cache_path, std::string build_id)
    : path_(std::move(path)), cache_path_(std::move(cache_path)), build_id_(std::move(build_id)) {}

DebugInfo::~DebugInfo() {
    if (cache_path_.empty() || gathered_.empty() || dwarf_->is_split()) return;
    if (kept_ && kept_->size() != dwarf_->size()) kept_.reset();
    write_code_cache(cache_path_, build_id_, dwarf_->ranges(), dwarf_->size(), gathered_, kept_);
}

std::unique_ptr<DebugInfo> DebugInfo::open(const ElfImage& image, const std::string& cache) {
    if (!has_debug_info(image) || image.path().empty()) return nullptr;
    const std::string id = image.build_id();
    const std::string cache_path = cache.empty() || id.empty() ? std::string{} : cache + "/" + id;
    std::unique_ptr<DebugInfo> info{new DebugInfo{image.path(), cache_path, id}};
    if (!cache_path.empty()) info->kept_ = CodeCache::open(cache_path, id);
    return info->kept_ || info->dwarf() ? std::move(info) : nullptr;
}

// libdw opens the file by itself: it writes to memory that it is given when it unpacks sections.
DwarfUnits* DebugInfo::dwarf() {
    if (!std::exchange(opened_, true)) dwarf_ = DwarfUnits::open(path_);
    return dwarf_.get();
}

std::span<const UnitRange> DebugInfo::ranges() {
    if (kept_) return kept_->ranges();
    return dwarf() ? std::span<const UnitRange>{dwarf()->ranges()} : std::span<const UnitRange>{};
}

std::optional<std::uint64_t> DebugInfo::unit_at(std::uint64_t address) {
    const std::span<const UnitRange> all = ranges();
    const auto after =
        std::ranges::upper_bound(all, address, {}, [](const UnitRange& each) { return each.range.begin; });
    if (after == all.begin() || !std::prev(after)->range.contains(address)) return {};
    return std::prev(after)->unit;
}

std::optional<CodeTable> DebugInfo::table_of(std::uint64_t unit) {
    if (const auto known = gathered_.find(unit); known != gathered_.end()) return known->second.view();
    if (kept_)
        if (const auto table = kept_->table(unit)) return table;
    if (!dwarf() || unit >= dwarf()->size()) return {};
    return gathered_.emplace(unit, dwarf()->gather(unit)).first->second.view();
}

// Each frame shows the line of the call inside of it: the innermost one the line of the address, the others that of
// DW_AT_call_line.
std::vector<SourceFrame> DebugInfo::frames(std::uint64_t address, Lines lines) {
    const auto unit = unit_at(address);
    const auto table = unit ? table_of(*unit) : std::nullopt;
    const auto active = table ? table->at(address) : std::nullopt;
    if (!active) return {};
    std::vector<SourceFrame> frames;
    frames.reserve(active->calls.size() + 1);
    for (const InlinedCall* call : active->calls)
        frames.push_back({.name = table->text(call->name), .at = {}, .declared = {}});
    frames.push_back({.name = table->text(active->function->name), .at = {}, .declared = {}});
    if (lines == Lines::none || !dwarf() || *unit >= dwarf()->size()) return frames;
    frames.front().at = dwarf()->line(*unit, address);
    for (std::size_t i = 0; i < active->calls.size(); ++i) {
        frames[i].declared = dwarf()->resolved(*unit, active->calls[i]->declared);
        frames[i + 1].at = dwarf()->resolved(*unit, active->calls[i]->call);
    }
    frames.back().declared = dwarf()->resolved(*unit, active->function->declared);
    return frames;
}

SourceLine DebugInfo::line(std::uint64_t address) {
    const auto unit = unit_at(address);
    return unit && dwarf() && *unit < dwarf()->size() ? dwarf()->line(*unit, address) : SourceLine{};
}

bool has_debug_info(const ElfImage& image) {
    return image.section(".debug_info") != nullptr || image.section(".zdebug_info") != nullptr;
}

}  // namespace anyperf::symbols
