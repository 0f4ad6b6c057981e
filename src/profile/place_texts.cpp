#include "profile/place_texts.h"

#include <fmt/format.h>

#include <cstdlib>

#include "profile/rows.h"

namespace anyperf::profile {

namespace {

/// PERF_SAMPLE_ADDR as the place of its data: "table+0x8", "function" or the address itself.
std::string data_place_text(const Profile& profile, const Detail& detail, std::uint64_t address, bool by_offset) {
    if (detail.data != kNone<LocationId>) {
        const Location& place = profile.locations[detail.data];
        const std::int64_t back = static_cast<std::int64_t>(detail.data_address - address);
        if (const FunctionId id = function_of(profile, place); id != kNone<FunctionId>) {
            const Function& symbol = profile.functions[id];
            if (!symbol.is_data) return std::string{profile.text(symbol.name)};
            const std::int64_t offset = static_cast<std::int64_t>(place.address - symbol.address) - back;
            return fmt::format("{}{}0x{:x}", profile.text(symbol.name), offset < 0 ? '-' : '+', std::abs(offset));
        }
        const bool has_file = profile.dsos[place.dso].kind == Dso::Kind::file;
        if (by_offset && has_file) address = place.file_offset - static_cast<std::uint64_t>(back);
    }
    return fmt::format("0x{:016x}", address);
}

}  // namespace

std::string data_symbol_text(const Profile& profile, const Detail& detail, bool kernel) {
    return (kernel ? "[k] " : "[.] ") + data_place_text(profile, detail, detail.data_address, false);
}

std::string cache_line_text(const Profile& profile, const Detail& detail, bool kernel) {
    constexpr std::uint64_t kLine = 64;
    const char* mark = kernel ? "[k] " : "[.] ";
    if (!kernel && detail.data_map == Detail::DataMap::shared) mark = "[s] ";
    if (detail.data_map == Detail::DataMap::none) mark = "[X] ";
    const bool has_file =
        detail.data != kNone<LocationId> && profile.dsos[profile.locations[detail.data].dso].kind == Dso::Kind::file;
    const std::uint64_t within = (has_file ? profile.locations[detail.data].file_offset : detail.data_address) % kLine;
    return mark + data_place_text(profile, detail, detail.data_address - within, true);
}

std::string branch_address_text(const Profile& profile, LocationId id) {
    if (id == kNone<LocationId>) return "N/A";
    const Location& place = profile.locations[id];
    const FunctionId function = function_of(profile, place);
    std::string text = (place.kernel ? "[k] " : "[.] ") + symbol_text(profile, place, kSymbolFrame);
    if (function == kNone<FunctionId> || place.address == profile.functions[function].address) return text;
    return text + fmt::format("+0x{:x}", place.address - profile.functions[function].address);
}

// The texts are those of perf's sort__cgroup: a cgroup that no record names is unknown, and 0 is none.
std::string cgroup_text(const Profile& profile, std::uint64_t cgroup) {
    if (cgroup == 0) return "N/A";
    const auto known = profile.cgroups.find(cgroup);
    return known == profile.cgroups.end() ? "unknown" : std::string{profile.text(known->second)};
}

}  // namespace anyperf::profile
