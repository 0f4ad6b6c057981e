// probed_file.cpp: of process_maps.h, the file of a probe. It is mapped for a moment: stat(2) need not call it what
// /proc/PID/maps does.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "broker/process_maps.h"
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
