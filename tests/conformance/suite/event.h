// event.h: perf_event_open(2) as the manual describes it: the attr with every field up to Linux 6.18, the call, and the
// descriptor.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace conformance {

/// perf_event_attr of 136 bytes; the header of Debian 12 lacks config3. Value-initialise it.
struct Attr : perf_event_attr {
    std::uint64_t config3;
};
static_assert(sizeof(Attr) == 136);

inline constexpr std::uint32_t kAttrSize = sizeof(Attr);

/// The arguments of one call.
struct Call {
    Attr attr{};
    pid_t pid = 0;
    int cpu = -1;
    int group = -1;
    unsigned long flags = 0;
};

/// The raw system call; returns a descriptor, or -errno.
long open_event(const void* attr, pid_t pid, int cpu, int group, unsigned long flags);
long open_event(Call& call);

/// Opens an event and closes it again; returns 0, or -errno.
long result_of(Call call);
long result_of(const Attr& attr);

/// Attrs of size 136, disabled, user mode only: unprivileged users may open them if kernel.perf_event_paranoid is 2.
Attr software(std::uint64_t config, std::uint64_t period = 0);
Attr page_faults(std::uint64_t period = 0);
Attr dummy();
Attr task_clock(std::uint64_t period = 0);
Attr hardware(std::uint64_t config, std::uint64_t period = 0);
Attr instructions(std::uint64_t period = 0);
Attr watchpoint(const void* address, std::uint64_t length = 8, std::uint32_t type = 2, std::uint64_t period = 0);

/// Returns the attr after `change` has been applied to it: `changed(dummy(), [](Attr& a) { a.comm = 1; })`.
template <typename Change>
Attr changed(Attr attr, Change change) {
    change(attr);
    return attr;
}

/// Owns an event's descriptor. Calls that return long return a result as of or_errno(); all others end the case if they
/// fail.
class Event {
  public:
    Event() = default;
    /// Opens the event; ends the case if that fails.
    explicit Event(const Attr& attr, pid_t pid = 0, int cpu = -1, int group = -1, unsigned long flags = 0);
    /// Takes ownership of an open descriptor.
    static Event adopt(int fd);
    Event(Event&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
    Event& operator=(Event&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { close(); }

    int fd() const { return fd_; }
    void close();

    long ioctl(unsigned long request, unsigned long argument = 0) const;
    long ioctl(unsigned long request, const void* argument) const;
    void enable(unsigned long flags = 0) const;
    void disable(unsigned long flags = 0) const;
    void reset(unsigned long flags = 0) const;
    std::uint64_t id() const;

    /// read(2) with a buffer of `bytes` bytes; returns the number of bytes read, or -errno.
    long read_result(std::size_t bytes) const;
    /// All 64-bit words that read(2) returns.
    std::vector<std::uint64_t> words() const;
    /// The first word of read(2): the count, unless read_format has PERF_FORMAT_GROUP.
    std::uint64_t count() const;

  private:
    int fd_ = -1;
};

/// Opens an event on this thread in the leader's group.
Event sibling(const Attr& attr, const Event& leader);

}  // namespace conformance
