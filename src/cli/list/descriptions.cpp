// descriptions.cpp: see descriptions.h.
#include "cli/list/descriptions.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

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

/// {"EventName", "BriefDescription", "PublicDescription"}; the kernel's ARM files refer to others by "ArchStdEvent".
void add(const nlohmann::json& event, std::map<std::string, std::string>& by_name) {
    if (!event.is_object()) return;
    const std::string name = text_of(event, "EventName");
    std::string text = text_of(event, "BriefDescription");
    if (text.empty()) text = text_of(event, "PublicDescription");
    if (!name.empty() && !text.empty()) by_name.emplace(key(name), text);
}

void read_file(const std::filesystem::path& path, std::map<std::string, std::string>& by_name) {
    std::error_code error;
    if (std::filesystem::file_size(path, error) > kLargest || error) return;
    std::ifstream file{path};
    const auto json = nlohmann::json::parse(file, nullptr, false);
    if (json.is_discarded()) return;
    const bool wrapped = json.is_object() && json.contains("Events") && json["Events"].is_array();
    const nlohmann::json& events = wrapped ? json["Events"] : json;
    if (events.is_array())
        for (const nlohmann::json& event : events) add(event, by_name);
}

}  // namespace

Result<Descriptions> Descriptions::read(const std::string& directory) {
    std::error_code error;
    std::filesystem::recursive_directory_iterator files{
        directory, std::filesystem::directory_options::skip_permission_denied, error};
    const std::string what = "cannot read descriptions of events from " + directory;
    if (error) return std::unexpected(Error{what, error.message(), "a directory with the vendor's JSON event files"});
    Descriptions descriptions;
    for (const auto end = std::filesystem::end(files); files != end && !error; files.increment(error))
        if (files->is_regular_file(error) && files->path().extension() == ".json")
            read_file(files->path(), descriptions.by_name_);
    if (descriptions.by_name_.empty())
        return std::unexpected(
            Error{what, "no JSON file in it lists an event with a description",
                  "a directory of the vendor's event files, or of the kernel's tools/perf/pmu-events/arch"});
    return descriptions;
}

std::string Descriptions::of(std::string_view event, std::string_view mask) const {
    std::string name = key(event);
    if (!mask.empty()) name += '.' + key(mask);
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? std::string{} : found->second;
}

}  // namespace anyperf::cli
