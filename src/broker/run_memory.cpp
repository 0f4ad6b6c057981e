// run_memory.cpp: see run_memory.h.
#include "broker/run_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace anyperf::broker {

OwnedFd& OwnedFd::operator=(OwnedFd&& other) noexcept {
    if (fd_ >= 0 && fd_ != other.fd_) ::close(fd_);
    fd_ = other.release();
    return *this;
}

OwnedFd::~OwnedFd() {
    if (fd_ >= 0) ::close(fd_);
}

int OwnedFd::release() {
    return std::exchange(fd_, -1);
}

void RunMemory::Unmap::operator()(char* memory) const {
    ::munmap(memory, resident::kRingsOffset);
}

namespace {

/// The kernel holds memory against RLIMIT_FSIZE as it does files on disks, and kills who goes beyond (getrlimit(2)).
std::uint64_t size_within_limits() {
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    return std::min<std::uint64_t>(kRunFileBytes, limit.rlim_cur);
}

/// Which limit may be in the way.
std::string fix_for(int error) {
    switch (error) {
        case EMFILE: return "see `ulimit -n`";
        case EFBIG: return "see `ulimit -Hf`: the run's memory is a file to the kernel";
        case ENOMEM: return "see `ulimit -v`: a run wants some gigabytes of addresses, not of memory";
        default: return "";
    }
}

}  // namespace

Result<RunMemory> RunMemory::make() {
    const auto refused = [](const char* call) {
        const int error = errno;
        return std::unexpected(Error{"cannot make the memory of the run",
                                     std::string{call} + ": " + std::generic_category().message(error),
                                     fix_for(error)});
    };
    RunMemory made;
    made.fd_ = OwnedFd{::memfd_create(kRunMemoryName, MFD_CLOEXEC)};
    if (!made.fd_) return refused("memfd_create");
    made.file_bytes_ = size_within_limits();
    if (made.file_bytes_ < resident::kRingsOffset) errno = EFBIG;
    if (made.file_bytes_ < resident::kRingsOffset || ::ftruncate(made.fd(), static_cast<off_t>(made.file_bytes_)) != 0)
        return refused("ftruncate");
    void* const memory =
        ::mmap(nullptr, resident::kRingsOffset, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, made.fd(), 0);
    if (memory == MAP_FAILED) return refused("mmap");
    made.memory_.reset(static_cast<char*>(memory));
    return made;
}

}  // namespace anyperf::broker
