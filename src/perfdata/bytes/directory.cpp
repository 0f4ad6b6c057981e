#include "perfdata/bytes/directory.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "try.h"

namespace anyperf::perfdata {

namespace {

/// 3 of "data.3"; nothing of any other name.
std::optional<unsigned> number_of(std::string_view name) {
    constexpr std::string_view kPrefix = "data.";
    if (!name.starts_with(kPrefix)) return {};
    name.remove_prefix(kPrefix.size());
    unsigned number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc{} || end != name.data() + name.size()) return {};
    return number;
}

}  // namespace

std::string header_path(const std::string& path) {
    std::error_code error;
    return path != "-" && std::filesystem::is_directory(path, error) ? path + "/data" : path;
}

bool is_recording_directory(const std::string& path) {
    std::error_code error;
    bool has_header = false;
    for (std::filesystem::directory_iterator each{path, error}, end; !error && each != end; each.increment(error)) {
        std::error_code no_file;
        const std::string name = each->path().filename().string();
        if (each->is_symlink(no_file) || !each->is_regular_file(no_file) || (name != "data" && !number_of(name)))
            return false;
        has_header = has_header || name == "data";
    }
    return !error && has_header;
}

Result<std::vector<RingFile>> open_ring_files(const std::string& path) {
    std::vector<RingFile> files;
    if (header_path(path) == path) return files;
    std::map<unsigned, std::filesystem::path> found;
    std::error_code error;
    for (std::filesystem::directory_iterator each{path, error}, end; !error && each != end; each.increment(error)) {
        std::error_code no_file;
        const auto number = number_of(each->path().filename().string());
        if (number && each->is_regular_file(no_file) && each->file_size(no_file) > 0)
            found.emplace(*number, each->path());
    }
    if (error) return std::unexpected(Error{fmt::format("cannot read {}", path), error.message(), {}});
    for (const auto& [number, file] : found) {
        Input input = TRY(Input::open(file));
        if (input.is_stream())
            return std::unexpected(Error{fmt::format("cannot read {}", file.string()), "it is not a regular file", {}});
        files.push_back({.input = std::move(input), .name = file.filename().string(), .compressed = {}});
    }
    return files;
}

}  // namespace anyperf::perfdata
