// fault_event.h: a page-fault event of the running kernel with its ring, as the oracle for the subsystem's rings. A
// page fault happens exactly when a test touches a fresh page, on every machine that has perf_event_open.
#pragma once

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "subsystem/shared/ring.h"

namespace anyperf::subsystem::testing {

inline perf_event_attr page_faults() {
    perf_event_attr attr{};
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_PAGE_FAULTS;
    attr.sample_period = 1;
    attr.disabled = 1;
    attr.exclude_kernel = 1;
    return attr;
}

/// Pages that have not been touched.
class FreshPages {
  public:
    FreshPages()
        : memory_(
              static_cast<char*>(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        ::madvise(memory_, kBytes, MADV_NOHUGEPAGE);
    }
    ~FreshPages() { ::munmap(memory_, kBytes); }
    FreshPages(const FreshPages&) = delete;
    FreshPages& operator=(const FreshPages&) = delete;

    /// Causes exactly one fault. Not sanitized, because accesses to shadow memory fault, too.
    __attribute__((no_sanitize("address", "thread"))) void touch() {
        if (next_ == kBytes) {
            ::madvise(memory_, kBytes, MADV_DONTNEED);
            next_ = 0;
        }
        *static_cast<volatile char*>(memory_ + next_) = 1;
        next_ += 4096;
    }

  private:
    static constexpr std::size_t kBytes = std::size_t{4096} * 4096;
    char* memory_;
    std::size_t next_ = 0;
};

/// The event of this thread; not open() if the kernel refuses it.
class FaultEvent {
  public:
    explicit FaultEvent(const perf_event_attr& attr)
        : fd_(static_cast<int>(::syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC))) {}
    ~FaultEvent() {
        if (ring_ != nullptr) ::munmap(ring_, bytes_);
        if (fd_ >= 0) ::close(fd_);
    }
    FaultEvent(const FaultEvent&) = delete;
    FaultEvent& operator=(const FaultEvent&) = delete;

    bool open() const { return fd_ >= 0; }
    int fd() const { return fd_; }
    void enable() { ::ioctl(fd_, PERF_EVENT_IOC_ENABLE, 0); }
    void disable() { ::ioctl(fd_, PERF_EVENT_IOC_DISABLE, 0); }
    std::uint64_t id() const {
        std::uint64_t id = 0;
        ::ioctl(fd_, PERF_EVENT_IOC_ID, &id);
        return id;
    }
    std::uint64_t count() const {
        std::uint64_t count = 0;
        return ::read(fd_, &count, sizeof count) == sizeof count ? count : ~0ull;
    }
    bool map(std::size_t data_pages, bool writable) {
        bytes_ = (1 + data_pages) * 4096;
        void* ring = ::mmap(nullptr, bytes_, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd_, 0);
        ring_ = ring == MAP_FAILED ? nullptr : static_cast<std::byte*>(ring);
        return ring_ != nullptr;
    }
    abi::MmapPage& header() { return *reinterpret_cast<abi::MmapPage*>(ring_); }
    const std::byte* data() const { return ring_ + 4096; }

  private:
    int fd_;
    std::byte* ring_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace anyperf::subsystem::testing
