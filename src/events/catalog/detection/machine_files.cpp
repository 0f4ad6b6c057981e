// machine_files.cpp: a path is put together on the stack from the root and its pieces, so that detection allocates
// nothing. read() takes regular files only and never blocks: the root may be a copy that a stranger has made.
#include "events/catalog/detection/machine_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace anyperf::catalog {

// "/" and "" both become the empty root. A root that is too long is cut, so that its files are not found.
Files::Files(std::string_view root) {
    while (root.ends_with('/')) root.remove_suffix(1);
    root_length_ = std::min(root.size(), root_.size());
    std::ranges::copy(root.substr(0, root_length_), root_.begin());
}

bool Files::join(std::initializer_list<std::string_view> pieces, Path& path) const {
    std::size_t length = root_length_;
    std::copy_n(root_.begin(), root_length_, path.begin());
    for (const std::string_view piece : pieces) {
        if (length + piece.size() + 1 > path.size()) return false;
        std::ranges::copy(piece, path.begin() + static_cast<std::ptrdiff_t>(length));
        length += piece.size();
    }
    path[length] = '\0';
    return true;
}

bool Files::exists(std::initializer_list<std::string_view> pieces) const {
    Path path;
    return join(pieces, path) && ::access(path.data(), F_OK) == 0;
}

// R_OK is needed to list the directory, X_OK to open a file in it.
bool Files::is_searchable(std::initializer_list<std::string_view> pieces) const {
    Path path;
    return join(pieces, path) && ::access(path.data(), R_OK | X_OK) == 0;
}

// Files of sysfs and procfs report no useful size, so the loop reads until the end or until the buffer is full.
std::optional<std::string_view> Files::read(std::initializer_list<std::string_view> pieces,
                                            std::span<char> buffer) const {
    Path path;
    if (!join(pieces, path)) return std::nullopt;
    const int fd = ::open(path.data(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // to open a FIFO would wait for its writer
    if (fd < 0) return std::nullopt;
    struct stat facts{};
    if (::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        ::close(fd);
        return std::nullopt;
    }
    std::size_t length = 0;
    ssize_t got = 0;
    while (length < buffer.size() && (got = ::read(fd, buffer.data() + length, buffer.size() - length)) > 0)
        length += static_cast<std::size_t>(got);
    ::close(fd);
    if (got < 0) return std::nullopt;
    return std::string_view{buffer.data(), length};
}

std::string Files::read_all(std::initializer_list<std::string_view> pieces) const {
    std::string contents;
    Path path;
    const int fd = join(pieces, path) ? ::open(path.data(), O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return contents;
    std::array<char, 4096> buffer;
    for (ssize_t got = 0; (got = ::read(fd, buffer.data(), buffer.size())) > 0;)
        contents.append(buffer.data(), static_cast<std::size_t>(got));
    ::close(fd);
    return contents;
}

void Files::visit_entries(std::initializer_list<std::string_view> pieces,
                          const std::function<void(std::string_view)>& visit) const {
    Path path;
    DIR* directory = join(pieces, path) ? ::opendir(path.data()) : nullptr;
    if (directory == nullptr) return;
    while (const dirent* entry = ::readdir(directory)) {
        const std::string_view name{entry->d_name};
        if (name != "." && name != "..") visit(name);
    }
    ::closedir(directory);
}

// The key must be followed by blanks and a colon: "model" must not find "model name".
std::optional<std::string_view> cpuinfo_value(std::string_view cpuinfo, std::string_view key, std::size_t& from) {
    constexpr std::string_view kBlanks = " \t";
    while (from < cpuinfo.size()) {
        const std::size_t end = std::min(cpuinfo.find('\n', from), cpuinfo.size());
        std::string_view line = cpuinfo.substr(from, end - from);
        from = end + 1;
        if (!line.starts_with(key)) continue;
        line.remove_prefix(key.size());
        line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
        if (!line.starts_with(':')) continue;
        line.remove_prefix(1);
        line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
        return line;
    }
    return std::nullopt;
}

}  // namespace anyperf::catalog
