// run_memory.cpp: creates and maps the memory of a run.
//
// There are two memfds. The facts are sealed so that only the mapping that the broker made before can write them:
// programs map them read-only, and cannot change that. The other one is shared by all, and the broker trusts nothing in
// it. Both have a fixed size. If a program could shrink one, the broker and all other programs would get a SIGBUS for
// accesses beyond its new end.
#include "broker/run_memory.h"

#include "try.h"

#include <fcntl.h>
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

template <std::size_t kBytes>
void RunMemory::Unmap<kBytes>::operator()(char* memory) const {
    ::munmap(memory, kBytes);
}
template struct RunMemory::Unmap<run::kFactsBytes>;
template struct RunMemory::Unmap<run::kRingsOffset>;

namespace {

/// The size of the run memory with all its parts, or RLIMIT_FSIZE if that is less. A memfd counts as a file for this
/// limit: the kernel sends SIGXFSZ to a process that makes one larger (getrlimit(2)).
std::uint64_t size_within_limits() {
    // The file is sparse, so its size costs no memory.
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    return std::min<std::uint64_t>(run::exact::kOffset + run::exact::kBytes, limit.rlim_cur);
}

/// How to raise the limit that may have caused the error.
std::string fix_for(int error) {
    switch (error) {
        case EMFILE: return "see `ulimit -n`";
        case EFBIG: return "raise `ulimit -Hf`: the run's memory counts as a file";
        case ENOMEM: return "raise `ulimit -v`: a run reserves some gigabytes of address space, not of memory";
        default: return "";
    }
}

std::unexpected<Error> refused(const char* call) {
    const int error = errno;
    return std::unexpected(Error{"cannot create the memory of the run",
                                 std::string{call} + ": " + std::generic_category().message(error), fix_for(error)});
}

/// Makes a memfd of this size, which cannot be changed later.
Result<OwnedFd> make_file(const char* name, std::uint64_t bytes) {
    OwnedFd fd{::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    if (!fd) return refused("memfd_create");
    if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) return refused("ftruncate");
    if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) return refused("F_ADD_SEALS");
    return fd;
}

Result<char*> map_file(const OwnedFd& fd, std::size_t bytes) {
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
    if (memory == MAP_FAILED) return refused("mmap");
    return static_cast<char*>(memory);
}

}  // namespace

Result<void> RunMemory::make_facts() {
    facts_fd_ = TRY(make_file(kFactsName, run::kFactsBytes));
    facts_.reset(TRY(map_file(facts_fd_, run::kFactsBytes)));
    // From here on no process can make a writable mapping of the facts, make a read-only mapping writable, or call
    // write(2) on them. Linux before 5.1 lacks this seal (EINVAL): there programs can write the facts.
    if (::fcntl(facts_fd(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE) != 0 && errno != EINVAL) return refused("F_ADD_SEALS");
    if (::fcntl(facts_fd(), F_ADD_SEALS, F_SEAL_SEAL) != 0) return refused("F_ADD_SEALS");
    return {};
}

Result<void> RunMemory::make_shared() {
    file_bytes_ = size_within_limits();
    if (file_bytes_ < run::kRingsOffset) {
        errno = EFBIG;
        return refused("ftruncate");
    }
    fd_ = TRY(make_file(kRunMemoryName, file_bytes_));
    memory_.reset(TRY(map_file(fd_, run::kRingsOffset)));
    if (::fcntl(fd(), F_ADD_SEALS, F_SEAL_SEAL) != 0) return refused("F_ADD_SEALS");
    return {};
}

Result<RunMemory> RunMemory::make() {
    RunMemory made;
    TRY(made.make_shared());
    TRY(made.make_facts());
    return made;
}

}  // namespace anyperf::broker
