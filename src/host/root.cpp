// root.cpp: see root.h.
#include "host/root.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace anyperf::host {

namespace {

Error cannot_read(const std::filesystem::path& path, int error) {
    return Error{"cannot read " + path.string(), std::generic_category().message(error), ""};
}

}  // namespace

std::filesystem::path Root::path(std::string_view absolute) const {
    absolute.remove_prefix(std::min(absolute.find_first_not_of('/'), absolute.size()));
    std::error_code ignored;
    if (!front_.empty() && std::filesystem::exists(front_ / absolute, ignored)) return front_ / absolute;
    return directory_ / absolute;
}

Result<std::string> Root::read(std::string_view absolute) const {
    const auto file = path(absolute);
    // Not a stream: files of /proc and /sys have no size, and errno is the cause that people need.
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::unexpected(cannot_read(file, errno));
    std::string text;
    std::array<char, 4096> piece;
    ssize_t got = 0;
    while ((got = ::read(fd, piece.data(), piece.size())) > 0) text.append(piece.data(), static_cast<std::size_t>(got));
    const int error = errno;
    ::close(fd);
    if (got < 0) return std::unexpected(cannot_read(file, error));
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

std::vector<std::string> Root::list(std::string_view absolute) const {
    std::vector<std::string> names;
    std::error_code ignored;  // "empty where it can't be read" is the contract
    for (const auto& entry : std::filesystem::directory_iterator(path(absolute), ignored))
        names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
}

bool Root::exists(std::string_view absolute) const {
    std::error_code ignored;
    return std::filesystem::exists(path(absolute), ignored);
}

std::string Root::link(std::string_view absolute) const {
    std::error_code ignored;
    return std::filesystem::read_symlink(path(absolute), ignored).string();
}

}  // namespace anyperf::host
