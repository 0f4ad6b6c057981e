// select.cpp: select(2) and pselect(2) with events among the descriptors. They are made as ppoll(2), and its answer is
// converted to sets.
#include <errno.h>
#include <time.h>

#include "agent/syscalls/event_syscalls.h"
#include "agent/syscalls/poll_set.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::agent {

using engine::address_of;
using engine::at_address;
using engine::x86_64::guarded_copy;

namespace {

constexpr std::size_t kWords = kMaximumPolled / 64;

/// The sets for read, write and exceptional conditions in terms of poll(2) (fs/select.c of Linux, POLLIN_SET …).
struct SetRow {
    short events;    ///< to poll for
    short ready_by;  ///< a descriptor with any of these stays in the set
};
constexpr SetRow kSets[] = {
    {POLLIN | POLLRDNORM | POLLRDBAND, POLLIN | POLLRDNORM | POLLRDBAND | POLLHUP | POLLERR},
    {POLLOUT | POLLWRNORM | POLLWRBAND, POLLOUT | POLLWRNORM | POLLWRBAND | POLLERR},
    {POLLPRI, POLLPRI},
};

struct Sets {
    std::uint64_t word[3][kWords] = {};
    std::size_t bytes = 0;  ///< of each

    bool has(std::size_t set, std::size_t fd) const { return (word[set][fd / 64] >> (fd % 64) & 1) != 0; }
    void clear(std::size_t set, std::size_t fd) { word[set][fd / 64] &= ~(std::uint64_t{1} << (fd % 64)); }
};

/// Reads the application's sets. False: the kernel is to do the call.
bool fetch(const Call& call, Sets& sets) {
    const auto count = static_cast<std::int32_t>(call.argument[0]);
    if (count <= 0 || static_cast<std::size_t>(count) > kMaximumPolled) return false;
    sets.bytes = (static_cast<std::size_t>(count) + 63) / 64 * 8;
    for (std::size_t set = 0; set < 3; ++set) {
        const std::uint64_t at = call.argument[1 + set];
        if (at != 0 && !guarded_copy(sets.word[set], at_address<const void>(at), sets.bytes)) return false;
    }
    return true;
}

/// Lists the descriptors below `count` that are in a set.
void list(const Sets& sets, std::size_t count, PollSet& polled) {
    for (std::size_t fd = 0; fd < count; ++fd) {
        short events = 0;
        for (std::size_t set = 0; set < 3; ++set)
            if (sets.has(set, fd)) events = static_cast<short>(events | kSets[set].events);
        if (events != 0) polled.wanted[polled.count++] = {static_cast<int>(fd), events, 0};
    }
}

/// Keeps in the sets only descriptors that are ready. Returns how many, or -EBADF.
long keep_ready(const PollSet& polled, Sets& sets) {
    long ready = 0;
    for (std::size_t i = 0; i < polled.count; ++i) {
        const pollfd& one = polled.wanted[i];
        if ((one.revents & POLLNVAL) != 0) return -EBADF;
        const auto fd = static_cast<std::size_t>(one.fd);
        for (std::size_t set = 0; set < 3; ++set) {
            if (!sets.has(set, fd)) continue;
            if ((one.revents & kSets[set].ready_by) != 0)
                ++ready;
            else
                sets.clear(set, fd);
        }
    }
    return ready;
}

/// Writes the sets back to the application. False: they cannot be written.
bool put_back(const Call& call, const Sets& sets) {
    for (std::size_t set = 0; set < 3; ++set) {
        const std::uint64_t at = call.argument[1 + set];
        if (at != 0 && !guarded_copy(at_address<void>(at), sets.word[set], sets.bytes)) return false;
    }
    return true;
}

/// The timeout of either call; that of select is in microseconds. The remaining time is written back, as by the kernel.
class Timeout {
  public:
    Timeout(const Call& call, bool micro) : at_(call.argument[4]), micro_(micro) {
        good_ = at_ == 0 || guarded_copy(&left_, at_address<const void>(at_), sizeof left_);
        if (micro_) {
            // A million microseconds and more are seconds, too (kern_select() in fs/select.c).
            left_.tv_sec += left_.tv_nsec / kMicros;
            left_.tv_nsec = left_.tv_nsec % kMicros * kPerMicro;
        }
        good_ = good_ && left_.tv_sec >= 0 && left_.tv_nsec >= 0 && left_.tv_nsec < kMicros * kPerMicro;
    }
    /// Whether the kernel would accept it.
    bool good() const { return good_; }
    std::uint64_t address() const { return at_ == 0 ? 0 : address_of(&left_); }
    void put_back() {
        if (at_ == 0) return;
        if (micro_) left_.tv_nsec /= kPerMicro;
        guarded_copy(at_address<void>(at_), &left_, sizeof left_);
    }

  private:
    static constexpr long kPerMicro = 1000;
    static constexpr long kMicros = 1'000'000;
    std::uint64_t at_;
    bool micro_;
    bool good_ = true;
    timespec left_{};
};

/// The last argument of pselect6(2).
struct MaskArgument {
    std::uint64_t mask = 0;
    std::uint64_t bytes = 0;
};

}  // namespace

// The sets become a list, and poll_until_ready() asks the broker and the kernel. The engine makes a call that names no
// event or has an error, so that the kernel reports that error.
bool select_events(Call& call, long& answer) {
    if (existing_process(call.engine) == nullptr) return false;
    Sets sets;
    PollSet polled;
    if (!fetch(call, sets)) return false;
    list(sets, static_cast<std::uint32_t>(call.argument[0]), polled);
    if (polled.count == 0 || !find_events(call.thread, polled)) return false;
    const bool micro = call.number == __NR_select;
    Timeout timeout{call, micro};
    MaskArgument mask;
    if (!timeout.good() || (!micro && call.argument[5] != 0 &&
                            !guarded_copy(&mask, at_address<const void>(call.argument[5]), sizeof mask)))
        return false;  // the kernel reports EFAULT or EINVAL
    Call waiting = call;
    waiting.number = __NR_ppoll;
    const std::uint64_t arguments[6] = {0, polled.count, timeout.address(), mask.mask, mask.bytes, 0};
    for (std::size_t i = 0; i < 6; ++i) waiting.argument[i] = arguments[i];
    answer = poll_until_ready(waiting, polled);
    if (answer >= 0) answer = keep_ready(polled, sets);
    if (answer != engine::kRestartSyscall) timeout.put_back();
    if (answer >= 0 && !put_back(call, sets)) answer = -EFAULT;
    return true;
}

}  // namespace anyperf::agent
