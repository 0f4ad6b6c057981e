// run_memory.cpp: see run_memory.h.
#include "broker/run_memory.h"

#include <sys/mman.h>
#include <unistd.h>

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

Result<RunMemory> RunMemory::make() {
    const auto refused = [](const char* call) {
        return std::unexpected(Error{"cannot make the memory of the run",
                                     std::string{call} + ": " + std::generic_category().message(errno), ""});
    };
    RunMemory made;
    made.fd_ = OwnedFd{::memfd_create(kRunMemoryName, MFD_CLOEXEC)};
    if (!made.fd_) return refused("memfd_create");
    if (::ftruncate(made.fd(), static_cast<off_t>(resident::kRingsOffset)) != 0) return refused("ftruncate");
    void* const memory =
        ::mmap(nullptr, resident::kRingsOffset, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, made.fd(), 0);
    if (memory == MAP_FAILED) return refused("mmap");
    made.memory_.reset(static_cast<char*>(memory));
    return made;
}

}  // namespace anyperf::broker
