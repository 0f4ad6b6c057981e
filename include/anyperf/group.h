// group.h: events that the kernel schedules as a unit: all of them count at the same time, or none does.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "anyperf/count.h"
#include "anyperf/error.h"
#include "anyperf/event.h"
#include "anyperf/kernel.h"
#include "anyperf/target.h"

namespace anyperf::counting {

/// An open event's descriptor; closes it. Does not own the kernel, which must live longer.
class EventFd {
  public:
    EventFd() = default;
    EventFd(Kernel& kernel, int fd) : kernel_(&kernel), fd_(fd) {}
    EventFd(EventFd&& other) noexcept : kernel_(other.kernel_), fd_(std::exchange(other.fd_, -1)) {}
    EventFd& operator=(EventFd&& other) noexcept {
        std::swap(kernel_, other.kernel_);
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~EventFd() {
        if (fd_ >= 0) kernel_->close(fd_);
    }

    int get() const { return fd_; }
    Kernel& kernel() const { return *kernel_; }

  private:
    Kernel* kernel_ = nullptr;
    int fd_ = -1;
};

/// When counting begins.
enum class Start {
    disabled,  ///< with enable()
    enabled,   ///< at once, when the whole group is open
    on_exec,   ///< when the thread that is counted executes a program
};

struct OpenOptions {
    Start start = Start::disabled;
    bool inherit = false;  ///< threads and processes that are created from then on are counted too
};

/// Which event of a group the kernel refused, and with which errno.
struct OpenFailure {
    std::size_t event = 0;
    int errno_value = 0;
};

/// An open group in one place. Move-only; closing is the destructor's. One thread at a time.
class Group {
  public:
    /// Opens all of `group`, or nothing. The Error names the event, and the cause that was found for it.
    /// Kernels before 4.13 refuse PERF_FORMAT_GROUP on inherited events: then the members are read one by one.
    static Result<Group> open(const events::EventGroup& group, Place place, OpenOptions options,
                              Kernel& kernel = system_kernel());

    /// The same for those who have their own answer to a refusal. `events` must not be empty.
    static std::expected<Group, OpenFailure> try_open(std::span<const events::Event* const> events, Place place,
                                                      OpenOptions options, Kernel& kernel = system_kernel());

    std::size_t size() const { return fds_.size(); }
    /// The descriptor of a member, for what this class doesn't do. Stays the group's.
    int fd(std::size_t member) const { return fds_[member].get(); }

    /// One Count a member, leader first. `counts` must have size() elements. Allocates nothing where it succeeds. A
    /// pinned group that didn't get its counters (the kernel reads as end of file) is "not counted".
    /// Error: the kernel refused the read.
    Result<void> read(std::span<Count> counts);

    Result<void> enable();
    Result<void> disable();
    /// Counts become 0; the times go on.
    Result<void> reset();

  private:
    Group() = default;
    Result<void> read_together(std::span<Count> counts);
    Result<void> read_one_by_one(std::span<Count> counts);
    Result<void> control(unsigned long request, const char* what);

    std::vector<EventFd> fds_;
    std::vector<std::uint64_t> buffer_;
    std::uint64_t read_format_ = 0;
    std::string name_;
};

}  // namespace anyperf::counting
