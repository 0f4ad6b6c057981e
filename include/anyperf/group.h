// group.h: a group of events in one place. The kernel puts the members of a group on the counters together or not at
// all, so their counts cover the same time and can be compared.
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

/// Owns the descriptor of an open event; the destructor closes it. The kernel must outlive it.
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
    disabled,  ///< when enable() is called
    enabled,   ///< as soon as the whole group is open
    on_exec,   ///< when the counted thread calls execve(2)
};

/// How an event is opened.
struct OpenOptions {
    Start start = Start::disabled;
    bool inherit = false;  ///< also count the threads and processes that the counted thread creates from then on
};

/// Which event of a group the kernel refused, and with which errno.
struct OpenFailure {
    std::size_t event = 0;  ///< index in the group
    int errno_value = 0;    ///< positive
};

/// An open group in one place. Move-only; the destructor closes it. It may be used by one thread at a time.
class Group {
  public:
    /// Opens all events of `group`. `kernel` must outlive the group.
    /// Error: the kernel refused an event; the Error has the cause that was found. Nothing stays open.
    /// Kernels before 4.13 refuse PERF_FORMAT_GROUP for inherited events; there the members are read one by one.
    static Result<Group> open(const events::EventGroup& group, Place place, OpenOptions options,
                              Kernel& kernel = system_kernel());

    /// The same without an explanation, for callers that handle a refusal. `events` must not be empty.
    static std::expected<Group, OpenFailure> try_open(std::span<const events::Event* const> events, Place place,
                                                      OpenOptions options, Kernel& kernel = system_kernel());

    /// How many members the group has.
    std::size_t size() const { return fds_.size(); }
    /// The descriptor of a member, for calls that this class doesn't offer. The group keeps it; don't close it.
    int fd(std::size_t member) const { return fds_[member].get(); }

    /// One Count for each member, leader first. `counts` must have size() elements. Allocates no memory if it succeeds.
    /// If a pinned group didn't get its counters, no member is counted() (the kernel returns end of file).
    /// Error: the kernel refused the read, or an exec has removed members (attr.remove_on_exec).
    Result<void> read(std::span<Count> counts);

    /// Start and stop counting, all members at once. Their counts stay.
    Result<void> enable();
    Result<void> disable();
    /// Start and stop one member. It counts only while the leader is enabled, too.
    Result<void> enable(std::size_t member);
    Result<void> disable(std::size_t member);
    /// Makes a member, a tracepoint, count only the occurrences for which `filter` holds. Error: the kernel refuses the
    /// filter.
    Result<void> set_filter(std::size_t member, const std::string& filter);
    /// Sets the counts of all members to 0. The times continue.
    Result<void> reset();

  private:
    Group() = default;
    Result<void> read_together(std::span<Count> counts);
    Result<void> read_one_by_one(std::span<Count> counts);
    Result<void> control(unsigned long request, const char* what);
    Result<void> control_member(std::size_t member, unsigned long request, const char* what);

    std::vector<EventFd> fds_;
    std::vector<std::uint64_t> buffer_;  ///< for one read of the whole group
    std::uint64_t read_format_ = 0;      ///< the one that the kernel accepted
    std::string name_;                   ///< of the leader, for messages
};

}  // namespace anyperf::counting
