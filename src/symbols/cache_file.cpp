#include "symbols/cache_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

namespace anyperf::symbols {

namespace {

/// A descriptor that is closed at the end of the scope.
struct Descriptor {
    int fd;
    explicit Descriptor(int opened) : fd(opened) {}
    ~Descriptor() {
        if (fd >= 0) ::close(fd);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
};

bool write_all(int fd, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t put = ::write(fd, bytes.data(), bytes.size());
        if (put <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return true;
}

}  // namespace

std::optional<CacheFile> map_cache_file(const std::string& path) {
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    struct stat about{};
    if (file.fd < 0 || fstat(file.fd, &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != geteuid() ||
        about.st_size <= 0)
        return {};
    const auto size = static_cast<std::size_t>(about.st_size);
    void* mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (mapped == MAP_FAILED) return {};
    return CacheFile{{mapped, [size](void* memory) { munmap(memory, size); }},
                     {static_cast<const std::byte*>(mapped), size}};
}

// Nobody writes to the mapping, so the kernel reads its pages from the file again if they are used (madvise(2)).
void give_back(const CacheFile& file) {
    madvise(const_cast<std::byte*>(file.bytes.data()), file.bytes.size(), MADV_DONTNEED);
}

bool write_cache_file(const std::string& path, std::initializer_list<std::span<const std::byte>> pieces) {
    std::error_code failed;
    std::filesystem::create_directories(std::filesystem::path{path}.parent_path(), failed);
    std::string made = path + ".XXXXXX";
    const Descriptor file{mkostemp(made.data(), O_CLOEXEC)};  // mode 0600
    if (file.fd < 0) return false;
    const bool written = std::ranges::all_of(pieces, [&](const auto& piece) { return write_all(file.fd, piece); });
    if (written && ::rename(made.c_str(), path.c_str()) == 0) return true;
    ::unlink(made.c_str());
    return false;
}

void bound_cache(const std::string& directory, std::uint64_t most) {
    namespace fs = std::filesystem;
    std::error_code failed;
    std::vector<std::pair<fs::file_time_type, fs::path>> files;
    std::uint64_t bytes = 0;
    for (const fs::directory_entry& each : fs::directory_iterator{directory, failed}) {
        const std::uint64_t size = each.is_regular_file(failed) ? each.file_size(failed) : 0;
        const fs::file_time_type time = each.last_write_time(failed);
        if (failed) continue;
        bytes += size;
        files.emplace_back(time, each.path());
    }
    if (bytes <= most) return;
    std::ranges::sort(files);
    for (const auto& [time, path] : files) {
        if (bytes <= most) return;
        const std::uint64_t size = fs::file_size(path, failed);
        if (!failed && fs::remove(path, failed)) bytes -= std::min(bytes, size);
    }
}

}  // namespace anyperf::symbols
