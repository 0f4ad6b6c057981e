// probe_target.cpp: the file of a uprobe (declared in process_maps.h). It is mapped for a moment to learn its device
// and inode as /proc/PID/maps shows them: stat(2) may give another device for the same file, as on btrfs.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "broker/host/process_maps.h"
#include "broker/run_memory.h"

namespace anyperf::broker {

subsystem::ProbedFile probed_file(const std::string& path) {
    constexpr std::size_t kPage = 4096;
    subsystem::ProbedFile found;
    struct stat about{};
    if (::stat(path.c_str(), &about) != 0)
        found.error = errno;
    else if (!S_ISREG(about.st_mode))
        found.error = EINVAL;
    if (found.error != 0) return found;
    const OwnedFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    void* const memory = file ? ::mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE, file.get(), 0) : MAP_FAILED;
    if (memory == MAP_FAILED) return found.error = errno, found;
    const auto mapped = mapping_of(::getpid(), reinterpret_cast<std::uint64_t>(memory));
    ::munmap(memory, kPage);
    if (!mapped) return found.error = EIO, found;
    found.name = {std::uint64_t{mapped->device_major} << 32 | mapped->device_minor, mapped->inode};
    found.bytes = static_cast<std::uint64_t>(about.st_size);
    return found;
}

}  // namespace anyperf::broker
