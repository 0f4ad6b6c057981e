#include "perfdata/bytes/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace anyperf::perfdata {

namespace {

// Giving memory back costs a system call, and a page fault if a page is needed again. So it is done in large steps.
constexpr std::size_t kReleaseStep = 4 << 20;
constexpr std::size_t kPage = 4096;

Error cannot_open(const std::string& path, int errno_value) {
    // Recordings may be read by their owner only, as they have addresses and data of the recorded programs.
    const bool denied = errno_value == EACCES || errno_value == EPERM;
    return {fmt::format("cannot open {}", path), strerror(errno_value),
            denied ? "read it as the user who recorded it" : "record it with anyperf record, or name another file"};
}

}  // namespace

Result<Input> Input::open(const std::string& path) {
    const int fd = path == "-" ? dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::unexpected(cannot_open(path, errno));
    struct stat status{};
    if (fstat(fd, &status) != 0 || S_ISDIR(status.st_mode)) {
        ::close(fd);
        return std::unexpected(Error{fmt::format("cannot read {}", path), "it is a directory",
                                     "name a file, or a directory of perf record --threads"});
    }
    if (!S_ISREG(status.st_mode)) return Input{fd, nullptr, 0};
    if (status.st_size == 0) {
        ::close(fd);
        return std::unexpected(Error{fmt::format("cannot read {}", path), "the file is empty", "record it again"});
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    void* mapped = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) {
        const int error = errno;
        ::close(fd);
        return std::unexpected(Error{fmt::format("cannot map {}", path), strerror(error), {}});
    }
    // The records are read once from front to back: the kernel may read ahead and drop what was used.
    madvise(mapped, size, MADV_SEQUENTIAL);
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return Input{fd, static_cast<const std::byte*>(mapped), size};
}

Input::Input(Input&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      mapped_(std::exchange(other.mapped_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      released_(other.released_) {}

Input& Input::operator=(Input&& other) noexcept {
    close();
    fd_ = std::exchange(other.fd_, -1);
    mapped_ = std::exchange(other.mapped_, nullptr);
    size_ = std::exchange(other.size_, 0);
    released_ = other.released_;
    return *this;
}

Input::~Input() {
    close();
}

void Input::close() {
    if (mapped_) munmap(const_cast<std::byte*>(mapped_), size_);
    if (fd_ >= 0) ::close(fd_);
}

Result<std::size_t> Input::read(std::byte* to, std::size_t room) {
    for (;;) {
        const ssize_t got = ::read(fd_, to, room);
        if (got >= 0) return static_cast<std::size_t>(got);
        if (errno != EINTR) return std::unexpected(Error{"cannot read the recording", strerror(errno), {}});
    }
}

Result<std::size_t> Input::read_at(std::size_t offset, std::span<std::byte> to) {
    for (std::size_t got = 0;;) {
        const ssize_t more = pread(fd_, &to[got], to.size() - got, static_cast<off_t>(offset + got));
        if (more > 0) got += static_cast<std::size_t>(more);
        if (more == 0 || got == to.size()) return got;
        if (more < 0 && errno != EINTR) return std::unexpected(Error{"cannot read the recording", strerror(errno), {}});
    }
}

void Input::release_before(std::size_t offset) {
    if (!mapped_ || offset < released_ + kReleaseStep) return;
    drop_before(offset);
    released_ = offset & ~(kPage - 1);
}

void Input::drop_before(std::size_t offset) {
    // MADV_DONTNEED on a shared mapping of a file drops the pages of this process only; the page cache may keep them.
    const std::size_t upto = offset & ~(kPage - 1);
    if (mapped_ && upto > released_)
        madvise(const_cast<std::byte*>(mapped_) + released_, upto - released_, MADV_DONTNEED);
}

}  // namespace anyperf::perfdata
