#include "events/catalog/detection/machine_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace anyperf::catalog {

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

bool Files::is_searchable(std::initializer_list<std::string_view> pieces) const {
    Path path;
    return join(pieces, path) && ::access(path.data(), R_OK | X_OK) == 0;
}

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
