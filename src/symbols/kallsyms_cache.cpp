// kallsyms_cache.cpp: the file is a header, the state as a text, the symbols as they are in memory, and their names. It
// is written under another name and renamed, so that readers never see a part of it. A file of another byte order or
// layout has another size or magic number.
#include "symbols/kallsyms_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

namespace anyperf::symbols {

namespace {

struct Header {
    std::array<char, 8> magic;
    std::uint64_t state_bytes, symbols, text_bytes;
};
constexpr std::array<char, 8> kMagic{'a', 'n', 'y', 'k', 's', 'y', 'm', '1'};

/// A descriptor that is closed at the end of the scope.
struct File {
    int fd;
    explicit File(int opened) : fd(opened) {}
    ~File() {
        if (fd >= 0) ::close(fd);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
};

bool read_all(int fd, void* to, std::size_t bytes) {
    auto* at = static_cast<char*>(to);
    while (bytes > 0) {
        const ssize_t got = ::read(fd, at, bytes);
        if (got <= 0) return false;
        at += got;
        bytes -= static_cast<std::size_t>(got);
    }
    return true;
}

bool write_all(int fd, const void* from, std::size_t bytes) {
    const auto* at = static_cast<const char*>(from);
    while (bytes > 0) {
        const ssize_t put = ::write(fd, at, bytes);
        if (put <= 0) return false;
        at += put;
        bytes -= static_cast<std::size_t>(put);
    }
    return true;
}

}  // namespace

// A line of /proc/modules: name, size, users, their names, state, address. A kernel without modules has no such file.
std::string kernel_state(const std::string& boot_id_path, const std::string& modules_path) {
    std::ifstream boot{boot_id_path}, modules{modules_path};
    std::string state;
    if (!std::getline(boot, state) || state.empty()) return {};
    for (std::string line; std::getline(modules, line);) {
        std::istringstream words{line};
        const std::vector<std::string> row{std::istream_iterator<std::string>{words}, {}};
        if (row.size() < 6) return {};
        state += '\n' + row[0] + ' ' + row[1] + ' ' + row[5];
    }
    return state;
}

std::string kallsyms_cache_path() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    if (cache != nullptr && *cache == '/') return std::string{cache} + "/anyperf/kallsyms";
    const char* home = std::getenv("HOME");
    return home != nullptr && *home == '/' ? std::string{home} + "/.cache/anyperf/kallsyms" : std::string{};
}

std::optional<SymbolTable> read_kallsyms_cache(const std::string& path, const std::string& state) {
    const File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    struct stat about{};
    Header header{};
    if (file.fd < 0 || fstat(file.fd, &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != geteuid() ||
        !read_all(file.fd, &header, sizeof header) || header.magic != kMagic || header.state_bytes != state.size())
        return {};
    const auto size = static_cast<std::uint64_t>(about.st_size);
    if (header.symbols > size / sizeof(Symbol) || header.text_bytes > size ||
        size != sizeof header + header.state_bytes + header.symbols * sizeof(Symbol) + header.text_bytes)
        return {};
    std::string written(state.size(), '\0');
    std::vector<Symbol> symbols(header.symbols);
    std::vector<char> texts(header.text_bytes);
    if (!read_all(file.fd, written.data(), written.size()) || written != state ||
        !read_all(file.fd, symbols.data(), symbols.size() * sizeof(Symbol)) ||
        !read_all(file.fd, texts.data(), texts.size()))
        return {};
    return SymbolTable::of(std::move(symbols), std::move(texts));
}

void write_kallsyms_cache(const std::string& path, const std::string& state, const SymbolTable& table) {
    std::error_code failed;
    const std::filesystem::path target{path};
    std::filesystem::create_directories(target.parent_path(), failed);
    std::string made = path + ".XXXXXX";
    const File file{mkostemp(made.data(), O_CLOEXEC)};  // mode 0600
    if (file.fd < 0) return;
    const Header header{kMagic, state.size(), table.size(), table.texts().size()};
    const bool written = write_all(file.fd, &header, sizeof header) && write_all(file.fd, state.data(), state.size()) &&
                         write_all(file.fd, table.symbols().data(), table.size() * sizeof(Symbol)) &&
                         write_all(file.fd, table.texts().data(), table.texts().size());
    if (!written || ::rename(made.c_str(), path.c_str()) != 0) ::unlink(made.c_str());
}

}  // namespace anyperf::symbols
