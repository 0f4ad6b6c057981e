// source_text.cpp: the paths are those of debug information, which anybody may have written. So only regular files are
// read: a FIFO would block (hence O_NONBLOCK), and a device may give bytes for ever. A file that is newer than the
// program is shown as it is; its lines may be others than those that were compiled.
#include "annotation/source_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace anyperf::annotation {

namespace {

constexpr off_t kMaxSourceBytes = 64 << 20;  // bytes; a larger file is not read: it can hardly be source text

/// Reads a regular file of at most kMaxSourceBytes bytes into `text`. Returns false and sets errno if it can't.
bool read_file(const std::string& path, std::string& text) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return false;
    struct stat status{};
    int error_number = ::fstat(fd, &status) != 0          ? errno
                       : S_ISDIR(status.st_mode)          ? EISDIR
                       : !S_ISREG(status.st_mode)         ? EINVAL
                       : status.st_size > kMaxSourceBytes ? EFBIG
                                                          : 0;
    text.resize(error_number == 0 ? static_cast<std::size_t>(status.st_size) : 0);
    const ssize_t got = error_number == 0 ? ::read(fd, text.data(), text.size()) : -1;
    if (error_number == 0 && got < 0) error_number = errno;
    ::close(fd);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    errno = error_number;
    return got >= 0;
}

}  // namespace

// As objdump's --prefix and --prefix-strip: only absolute paths change, and the file's own name stays.
std::string SourceText::prefixed(std::string_view path) const {
    if (prefix_.path.empty() || !path.starts_with('/')) return {};
    for (std::size_t i = 0; i < prefix_.strip; ++i) {
        const std::size_t next = path.find('/', 1);
        if (next == std::string_view::npos) break;
        path.remove_prefix(next);
    }
    return prefix_.path + std::string{path};
}

// The paths with --prefix and --symfs come first: the files of another machine are there.
bool SourceText::read(const std::string& path, std::string& text) const {
    const std::string moved = prefixed(path);
    return (!moved.empty() && read_file(moved, text)) || (!root_.empty() && read_file(root_ + path, text)) ||
           read_file(path, text);
}

namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.push_back(line);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

}  // namespace

// The lines are views of the text. They are made after the file is in the map, where its text no longer moves. Servers
// may have different files of one path for two build ids.
SourceText::File& SourceText::file_of(std::string_view path) {
    if (const auto local = files_.find(path); local != files_.end()) return local->second;
    const bool ask = servers_ && !build_id_.empty();
    const std::string fetched_key = build_id_ + std::string{path};
    if (const auto fetched = files_.find(fetched_key); ask && fetched != files_.end()) return fetched->second;
    const std::string name{path};
    std::string text;
    const bool is_local = read(name, text);
    const std::string why = is_local ? std::string{} : std::strerror(errno);
    if (!is_local) {
        const auto copy = ask ? servers_->source(build_id_, name) : std::nullopt;
        if (!copy || !read_file(*copy, text)) unreadable_.emplace(name, why);
    }
    File& file = files_[!is_local && ask ? fetched_key : name];
    file.text = std::move(text);
    file.lines = lines_of(file.text);
    return file;
}

std::string_view SourceText::line(std::string_view file, std::uint32_t number) {
    const std::vector<std::string_view>& lines = file_of(file).lines;
    return number == 0 || number > lines.size() ? std::string_view{} : lines[number - 1];
}

}  // namespace anyperf::annotation
