// descriptions.cpp: see descriptions.h.
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

constexpr std::uintmax_t kLargest = 64U << 20;  // of a file: the vendors' have some MB

/// As a key: capitals, with dots between event and masks.
std::string key(std::string_view name) {
    std::string text{name};
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return c == ':' ? '.' : static_cast<char>(std::toupper(c)); });
    return text;
}

std::string text_of(const nlohmann::json& event, const char* field) {
    const auto found = event.find(field);
    return found != event.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

/// A number as JSON or as text: "0xC0", 192; of "0xB7,0xBB" the first.
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

/// {"EventName", "BriefDescription", "PublicDescription"}; the kernel's ARM files refer to its common list by
/// "ArchStdEvent".
DescribedEvent described(const nlohmann::json& event) {
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

std::vector<DescribedEvent> read_file(const std::filesystem::path& path, bool& refers) {
    std::error_code error;
    if (std::filesystem::file_size(path, error) > kLargest || error) return {};
    std::ifstream file{path};
    const auto json = nlohmann::json::parse(file, nullptr, false);
    if (json.is_discarded()) return {};
    const bool wrapped = json.is_object() && json.contains("Events") && json["Events"].is_array();
    const nlohmann::json& listed = wrapped ? json["Events"] : json;
    std::vector<DescribedEvent> events;
    if (!listed.is_array()) return events;
    for (const nlohmann::json& event : listed) {
        if (!event.is_object()) continue;
        refers = refers || event.contains("ArchStdEvent");
        DescribedEvent made = described(event);
        if (!made.name.empty() && !made.text.empty()) events.push_back(std::move(made));
    }
    return events;
}

bool is_in(const std::filesystem::path& file, const std::filesystem::path& folder) {
    const auto [end, ignored] = std::ranges::mismatch(folder, file);
    return end == folder.end();
}

constexpr int kFoldersAbove = 2;  // arch/arm64/arm/cortex-a76: the common list is in arch/arm64

}  // namespace

Result<Descriptions> Descriptions::read(const std::string& directory) {
    std::error_code error;
    const auto root = std::filesystem::weakly_canonical(directory, error);
    std::filesystem::recursive_directory_iterator files{
        root, std::filesystem::directory_options::skip_permission_denied, error};
    const std::string what = "cannot read descriptions of events from " + directory;
    if (error) return std::unexpected(Error{what, error.message(), "a directory with the vendor's JSON event files"});
    Descriptions descriptions;
    bool refers = false;
    const auto take = [&](const std::filesystem::path& path) {
        if (path.extension() != ".json") return;
        if (auto events = read_file(path, refers); !events.empty())
            descriptions.files_.push_back({path, std::move(events)});
    };
    for (const auto end = std::filesystem::end(files); files != end && !error; files.increment(error)) {
        if (!files->is_regular_file(error)) continue;
        take(files->path());
        if (files->path().filename() == "mapfile.csv")
            std::ranges::move(read_vendor_map(files->path()), std::back_inserter(descriptions.map_));
    }
    std::filesystem::path above = root.parent_path();
    for (int i = 0; refers && i < kFoldersAbove; ++i, above = above.parent_path())
        for (std::filesystem::directory_iterator near{above, error}, end; near != end && !error; near.increment(error))
            take(near->path());
    std::ranges::sort(descriptions.files_, {}, &File::path);  // the same answer wherever the directory is copied to
    if (descriptions.files_.empty())
        return std::unexpected(
            Error{what, "no JSON file in it lists an event with a description",
                  "a directory of the vendor's event files, or of the kernel's tools/perf/pmu-events/arch"});
    return descriptions;
}

PmuDescriptions Descriptions::of_pmu(std::string_view pmu) const {
    const events::CpuIds cpu = events::cpu_ids(pmu);
    PmuDescriptions found;
    std::vector<const File*> everyones;
    for (const File& file : files_) {
        bool spoken_of = false, its_own = false;
        for (const VendorRow& row : map_) {
            if (!is_in(file.path, row.file)) continue;
            spoken_of = true;
            its_own = its_own || is_for(row, cpu);
        }
        if (!spoken_of) everyones.push_back(&file);
        for (std::size_t i = 0; its_own && i < file.events.size(); ++i) found.add(file.events[i], cpu);
    }
    for (const File* file : everyones)
        for (const DescribedEvent& event : file->events) found.add(event, cpu);
    return found;
}

void PmuDescriptions::add(const DescribedEvent& event, const events::CpuIds& cpu) {
    const bool of_a_core_type = event.unit == "cpu_core" || event.unit == "cpu_atom";
    if (of_a_core_type && !cpu.core_type.empty() && event.unit != cpu.core_type) return;
    by_name_.emplace(event.name, event.text);
    const bool of_the_cpu = event.unit.empty() || of_a_core_type;
    if (cpu.named_otherwise && of_the_cpu && !event.code.empty()) by_code_.emplace(event.code, event.text);
}

std::string PmuDescriptions::of(std::string_view event, std::string_view mask, std::uint64_t event_code,
                                std::uint64_t mask_code) const {
    std::string name = key(event);
    if (!mask.empty()) name += '.' + key(mask);
    if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
    const auto found = by_code_.find(code_of(event_code, mask_code));
    return found == by_code_.end() ? std::string{} : found->second;
}

}  // namespace anyperf::cli
