// vendor_map.cpp: see vendor_map.h.
#include "cli/list/vendor_map.h"

#include <algorithm>
#include <fstream>
#include <optional>

namespace anyperf::cli {

namespace {

constexpr std::size_t kCpus = 0, kFile = 2, kRole = 6;  // columns: Family-model,Version,Filename,EventType,…,Role

std::vector<std::string> cells_of(std::string_view line) {
    std::vector<std::string> cells;
    for (std::size_t from = 0; from <= line.size();) {
        const std::size_t end = std::min(line.find(',', from), line.size());
        cells.emplace_back(line.substr(from, end - from));
        from = end + 1;
    }
    return cells;
}

/// Who wrote the file decides what stands there, so it may be no expression at all.
std::optional<std::regex> expression(const std::string& text) {
    try {
        return std::regex{text, std::regex::extended | std::regex::icase | std::regex::optimize};
    } catch (const std::regex_error&) {
        return std::nullopt;
    }
}

std::string core_type_of(const std::vector<std::string>& cells) {
    if (cells.size() <= kRole) return {};
    return cells[kRole] == "Core" ? "cpu_core" : cells[kRole] == "Atom" ? "cpu_atom" : std::string{};
}

}  // namespace

std::vector<VendorRow> read_vendor_map(const std::filesystem::path& mapfile) {
    std::vector<VendorRow> rows;
    std::ifstream file{mapfile};
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        if (line.ends_with('\r')) line.pop_back();
        const auto cells = cells_of(line);
        if (cells.size() <= kFile || cells[kFile].empty()) continue;
        auto cpus = expression(cells[kCpus]);
        if (!cpus) continue;
        const std::filesystem::path below =
            cells[kFile].substr(std::min(cells[kFile].find_first_not_of('/'), cells[kFile].size()));
        rows.push_back({*std::move(cpus), (mapfile.parent_path() / below).lexically_normal(), core_type_of(cells)});
    }
    return rows;
}

bool is_for(const VendorRow& row, const events::CpuIds& cpu) {
    if (!row.core_type.empty() && !cpu.core_type.empty() && row.core_type != cpu.core_type) return false;
    return std::ranges::any_of(cpu.names, [&](const std::string& id) { return std::regex_match(id, row.cpus); });
}

}  // namespace anyperf::cli
