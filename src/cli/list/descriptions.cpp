// descriptions.cpp: parses event files and finds the description of an event. The files are the user's: anything may be
// in them, so wrong types, huge files and broken JSON are skipped, never an error.
#include "cli/list/descriptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

namespace anyperf::cli {

namespace {

constexpr std::uintmax_t kLargestFile = 64U << 20;  // bytes; the vendors' files have a few MB

/// A name as a key: capitals, with dots between event and masks, as the vendors' files have it.
std::string key(std::string_view name) {
    std::string text{name};
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return c == ':' ? '.' : static_cast<char>(std::toupper(c)); });
    return text;
}

/// A string field; empty if it is missing or no string.
std::string text_of(const nlohmann::json& event, const char* field) {
    const auto found = event.find(field);
    return found != event.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

/// A number, as a JSON number or as text: 192, "0xC0". Of a list ("0xB7,0xBB", for offcore events) the first number.
std::optional<std::uint64_t> number_of(const nlohmann::json& event, const char* field) {
    const auto found = event.find(field);
    if (found == event.end()) return std::nullopt;
    if (found->is_number_unsigned()) return found->get<std::uint64_t>();
    if (!found->is_string()) return std::nullopt;
    const auto text = found->get<std::string>();
    char* end = nullptr;
    const std::uint64_t value = std::strtoull(text.c_str(), &end, 0);
    return end == text.c_str() ? std::nullopt : std::optional{value};
}

std::string code_of(std::uint64_t event, std::uint64_t mask) {
    return fmt::format("{:x}/{:x}", event, mask);
}

/// Parses one element of a list: "EventName" (or "ArchStdEvent", by which the kernel's ARM files refer to a common
/// list), "BriefDescription" (or "PublicDescription"), "Unit", "EventCode", "UMask".
DescribedEvent parse_event(const nlohmann::json& event) {
    DescribedEvent made;
    made.name = key(text_of(event, "EventName"));
    if (made.name.empty()) made.name = key(text_of(event, "ArchStdEvent"));
    made.text = text_of(event, "BriefDescription");
    if (made.text.empty()) made.text = text_of(event, "PublicDescription");
    made.unit = text_of(event, "Unit");
    if (const auto code = number_of(event, "EventCode"))
        made.code = code_of(*code, number_of(event, "UMask").value_or(0));
    return made;
}

/// The events of a file that have a name and a description. Intel's files wrap the list in {"Events": [...]}; the
/// kernel's and others are the list itself. Sets `uses_common_list` if an event refers to one.
std::vector<DescribedEvent> read_file(const std::filesystem::path& path, bool& uses_common_list) {
    std::error_code error;
    if (std::filesystem::file_size(path, error) > kLargestFile || error) return {};
    std::ifstream file{path};
    const auto json = nlohmann::json::parse(file, nullptr, false);
    if (json.is_discarded()) return {};
    const bool wrapped = json.is_object() && json.contains("Events") && json["Events"].is_array();
    const nlohmann::json& listed = wrapped ? json["Events"] : json;
    std::vector<DescribedEvent> events;
    if (!listed.is_array()) return events;
    for (const nlohmann::json& event : listed) {
        if (!event.is_object()) continue;
        uses_common_list = uses_common_list || event.contains("ArchStdEvent");
        DescribedEvent made = parse_event(event);
        if (!made.name.empty() && !made.text.empty()) events.push_back(std::move(made));
    }
    return events;
}

bool is_below(const std::filesystem::path& file, const std::filesystem::path& folder) {
    const auto [end, ignored] = std::ranges::mismatch(folder, file);
    return end == folder.end();
}

// From arch/arm64/arm/cortex-a76 to arch/arm64, where the kernel keeps the common list.
constexpr int kFoldersAbove = 2;

}  // namespace

Result<Descriptions> Descriptions::read(const std::string& directory) {
    std::error_code error;
    const auto root = std::filesystem::weakly_canonical(directory, error);
    std::filesystem::recursive_directory_iterator files{
        root, std::filesystem::directory_options::skip_permission_denied, error};
    const std::string what = "cannot read descriptions of events from " + directory;
    if (error)
        return std::unexpected(Error{what, error.message(), "give a directory with the vendor's JSON event files"});
    Descriptions descriptions;
    bool uses_common_list = false;
    const auto add_file = [&](const std::filesystem::path& path) {
        if (path.extension() != ".json") return;
        if (auto events = read_file(path, uses_common_list); !events.empty())
            descriptions.files_.push_back({path, std::move(events)});
    };
    for (const auto end = std::filesystem::end(files); files != end && !error; files.increment(error)) {
        if (!files->is_regular_file(error)) continue;
        add_file(files->path());
        if (files->path().filename() == "mapfile.csv")
            std::ranges::move(read_vendor_map(files->path()), std::back_inserter(descriptions.map_));
    }
    // The user may have named the folder of one CPU: then the common list is above it.
    std::filesystem::path above = root.parent_path();
    for (int i = 0; uses_common_list && i < kFoldersAbove; ++i, above = above.parent_path())
        for (std::filesystem::directory_iterator entry{above, error}, end; entry != end && !error;
             entry.increment(error))
            add_file(entry->path());
    std::ranges::sort(descriptions.files_, {}, &File::path);  // directory order must not decide which description wins
    if (descriptions.files_.empty())
        return std::unexpected(
            Error{what, "no JSON file in it describes an event",
                  "give a directory with the vendor's event files, or the kernel's tools/perf/pmu-events/arch"});
    return descriptions;
}

PmuDescriptions Descriptions::for_pmu(std::string_view pmu) const {
    const events::CpuIds cpu = events::cpu_ids(pmu);
    PmuDescriptions found;
    std::vector<const File*> common;
    // Files of this CPU first: add() keeps the first description of a name.
    for (const File& file : files_) {
        bool in_map = false, assigned = false;
        for (const VendorMapRow& row : map_) {
            if (!is_below(file.path, row.file)) continue;
            in_map = true;
            assigned = assigned || is_for(row, cpu);
        }
        if (!in_map) common.push_back(&file);
        for (std::size_t i = 0; assigned && i < file.events.size(); ++i) found.add(file.events[i], cpu);
    }
    for (const File* file : common)
        for (const DescribedEvent& event : file->events) found.add(event, cpu);
    return found;
}

void PmuDescriptions::add(const DescribedEvent& event, const events::CpuIds& cpu) {
    // Files of a hybrid CPU have the events of both kinds of cores; take those of this PMU's kind.
    const bool of_a_core_type = event.unit == "cpu_core" || event.unit == "cpu_atom";
    if (of_a_core_type && !cpu.core_type.empty() && event.unit != cpu.core_type) return;
    by_name_.emplace(event.name, event.text);
    // Codes are unique only within a PMU, so uncore events are left out.
    const bool of_the_cpu = event.unit.empty() || of_a_core_type;
    if (cpu.vendor_names_differ && of_the_cpu && !event.code.empty()) by_code_.emplace(event.code, event.text);
}

std::string PmuDescriptions::find(std::string_view event, std::string_view mask, std::uint64_t event_code,
                                  std::uint64_t mask_code) const {
    std::string name = key(event);
    if (!mask.empty()) name += '.' + key(mask);
    if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
    // The catalog's name is not in the files. They may have another name for the same code.
    const auto found = by_code_.find(code_of(event_code, mask_code));
    return found == by_code_.end() ? std::string{} : found->second;
}

}  // namespace anyperf::cli
