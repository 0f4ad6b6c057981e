// vendor_map.cpp: parses mapfile.csv. It assumes that fields contain no commas: no known map quotes one.
#include "cli/list/vendor_map.h"

#include <algorithm>
#include <fstream>
#include <optional>

namespace anyperf::cli {

namespace {

// Columns: Family-model,Version,Filename,EventType,…,Role. Only Intel's file has the last column.
constexpr std::size_t kCpus = 0, kFile = 2, kRole = 6;

constexpr std::uintmax_t kLargestMap = 4 << 20;  // Intel's has 20 KB

std::vector<std::string> cells_of(std::string_view line) {
    std::vector<std::string> cells;
    for (std::size_t from = 0; from <= line.size();) {
        const std::size_t end = std::min(line.find(',', from), line.size());
        cells.emplace_back(line.substr(from, end - from));
        from = end + 1;
    }
    return cells;
}

/// Compiles a CPU expression. Nothing if it is not valid: the file is the user's. std::regex reports that by an
/// exception only.
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

std::vector<VendorMapRow> read_vendor_map(const std::filesystem::path& mapfile) {
    std::vector<VendorMapRow> rows;
    std::error_code error;
    if (std::filesystem::file_size(mapfile, error) > kLargestMap || error) return rows;
    std::ifstream file{mapfile};
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        if (line.ends_with('\r')) line.pop_back();
        const auto cells = cells_of(line);
        if (cells.size() <= kFile || cells[kFile].empty()) continue;
        auto cpus = expression(cells[kCpus]);
        if (!cpus) continue;
        // Intel's paths begin with '/', but are relative to the folder of the map.
        const std::filesystem::path below =
            cells[kFile].substr(std::min(cells[kFile].find_first_not_of('/'), cells[kFile].size()));
        rows.push_back({*std::move(cpus), (mapfile.parent_path() / below).lexically_normal(), core_type_of(cells)});
    }
    return rows;
}

bool is_for(const VendorMapRow& row, const events::CpuIds& cpu) {
    if (!row.core_type.empty() && !cpu.core_type.empty() && row.core_type != cpu.core_type) return false;
    return std::ranges::any_of(cpu.names, [&](const std::string& id) { return std::regex_match(id, row.cpus); });
}

}  // namespace anyperf::cli
