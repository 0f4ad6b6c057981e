// root.cpp: reads a machine's files below a directory, so that the same code makes findings about this machine and
// about another (a copy by `explain --save`). A copy may come from a stranger: FIFOs are not waited for, and no file
// may be larger than kMostFileBytes.
#include "host/root.h"

#include "try.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace anyperf::host {

namespace {

Error cannot_read(const std::filesystem::path& path, std::string cause) {
    return Error{"cannot read " + path.string(), std::move(cause), ""};
}

Error cannot_read(const std::filesystem::path& path, int error) {
    return cannot_read(path, std::generic_category().message(error));
}

}  // namespace

// A file of the overlay takes precedence over the machine's file of the same name.
std::filesystem::path Root::path(std::string_view absolute) const {
    absolute.remove_prefix(std::min(absolute.find_first_not_of('/'), absolute.size()));
    std::error_code ignored;
    if (!overlay_.empty() && std::filesystem::exists(overlay_ / absolute, ignored)) return overlay_ / absolute;
    return directory_ / absolute;
}

// O_NONBLOCK, because opening a FIFO otherwise waits for a writer.
Result<int> Root::open(std::string_view absolute) const {
    const auto file = path(absolute);
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return std::unexpected(cannot_read(file, errno));
    struct stat facts{};
    if (::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode)) return fd;
    ::close(fd);
    return std::unexpected(cannot_read(file, "it is not a regular file"));
}

Result<std::string> Root::read(std::string_view absolute) const {
    // read(2) and not a stream, because a stream hides the errno, which is the cause in the Error.
    const int fd = TRY(open(absolute));
    std::string text;
    std::array<char, 4096> piece;
    ssize_t got = 0;
    while (text.size() <= kMostFileBytes && (got = ::read(fd, piece.data(), piece.size())) > 0)
        text.append(piece.data(), static_cast<std::size_t>(got));
    const int error = errno;
    ::close(fd);
    if (got < 0) return std::unexpected(cannot_read(path(absolute), error));
    if (text.size() > kMostFileBytes) return std::unexpected(cannot_read(path(absolute), "it is too large"));
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

std::vector<std::string> Root::list(std::string_view absolute) const {
    std::vector<std::string> names;
    std::error_code ignored;  // the promise: empty if it can't be read
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
