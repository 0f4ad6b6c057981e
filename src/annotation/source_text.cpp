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

// Looks below --symfs first, where the files of another machine are, then at the path itself.
SourceText::File SourceText::read(const std::string& path) {
    File file;
    if ((root_.empty() || !read_file(root_ + path, file.text)) && !read_file(path, file.text))
        unreadable_.emplace(path, std::strerror(errno));
    return file;
}

std::string_view SourceText::line(std::string_view file, std::uint32_t number) {
    auto found = files_.find(file);
    if (found == files_.end()) {
        const std::string path{file};
        found = files_.emplace(path, read(path)).first;
        // The lines are views of the text. They are made after the file is in the map, where its text no longer moves.
        std::string_view rest = found->second.text;
        while (!rest.empty()) {
            const auto end = rest.find('\n');
            std::string_view line = rest.substr(0, end);
            if (line.ends_with('\r')) line.remove_suffix(1);
            found->second.lines.push_back(line);
            rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        }
    }
    const std::vector<std::string_view>& lines = found->second.lines;
    return number == 0 || number > lines.size() ? std::string_view{} : lines[number - 1];
}

}  // namespace anyperf::annotation
