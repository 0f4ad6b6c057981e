// json.cpp: a comparison for programs.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "cli/diff/views.h"

namespace anyperf::cli {

namespace {

using Json = nlohmann::ordered_json;

Json cell_as_json(const profile::DiffRow& row, std::size_t which, const std::string& file) {
    const profile::DiffCell& cell = row.cells[which];
    Json json{{"file", file}, {"samples", cell.samples}, {"period", cell.weight}, {"share", cell.share}};
    if (which == 0) return json;
    json["delta"] = cell.delta;
    json["period_delta"] = static_cast<std::int64_t>(cell.weight - row.cells.front().weight);
    json["z"] = cell.z;
    json["p"] = cell.probability;
    json["significant"] = cell.significant;
    return json;
}

}  // namespace

std::string diff_as_json(const ComparedEvent& compared, const DiffOptions& options) {
    std::string text;
    for (const profile::DiffRow& row : compared.diff.rows) {
        if (!is_shown(row, options)) continue;
        Json json{{"event", compared.event}};
        for (std::size_t i = 0; i < options.keys.size(); ++i)
            json[std::string{std::ranges::find(profile::kKeyNames, options.keys[i], &profile::KeyName::key)->name}] =
                row.keys[i];
        for (std::size_t i = 0; i < row.cells.size(); ++i)
            json["recordings"].push_back(cell_as_json(row, i, compared.files[i]));
        // Names in files need not be UTF-8.
        text += (text.empty() ? "" : ",\n") + json.dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    return text;
}

}  // namespace anyperf::cli
