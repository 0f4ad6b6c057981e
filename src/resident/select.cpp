// select.cpp: select(2) and pselect(2) with events among the descriptors: asked as ppoll(2), told in sets.
#include <errno.h>
#include <time.h>

#include "engine/x86_64/guarded_copy.h"
#include "resident/calls.h"
#include "resident/polled.h"

namespace anyperf::resident {

using engine::address_of;
using engine::at_address;
using engine::x86_64::guarded_copy;

namespace {

constexpr std::size_t kWords = kPolled / 64;

/// Of read, write and exceptional conditions: what each is in poll's words (fs/select.c, POLLIN_SET …).
struct SetRow {
    short events;
    short told_by;
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

bool fetch(const Call& call, Sets& sets) {
    const auto count = static_cast<std::int32_t>(call.argument[0]);
    if (count <= 0 || static_cast<std::size_t>(count) > kPolled) return false;
    sets.bytes = (static_cast<std::size_t>(count) + 63) / 64 * 8;
    for (std::size_t set = 0; set < 3; ++set) {
        const std::uint64_t at = call.argument[1 + set];
        if (at != 0 && !guarded_copy(sets.word[set], at_address<const void>(at), sets.bytes)) return false;
    }
    return true;
}

void list(const Sets& sets, std::size_t count, Polled& polled) {
    for (std::size_t fd = 0; fd < count; ++fd) {
        short events = 0;
        for (std::size_t set = 0; set < 3; ++set)
            if (sets.has(set, fd)) events = static_cast<short>(events | kSets[set].events);
        if (events != 0) polled.wanted[polled.count++] = {static_cast<int>(fd), events, 0};
    }
}

/// Leaves in the sets who is ready. How many, or EBADF.
long tell(const Polled& polled, Sets& sets) {
    long ready = 0;
    for (std::size_t i = 0; i < polled.count; ++i) {
        const pollfd& one = polled.wanted[i];
        if ((one.revents & POLLNVAL) != 0) return -EBADF;
        const auto fd = static_cast<std::size_t>(one.fd);
        for (std::size_t set = 0; set < 3; ++set) {
            if (!sets.has(set, fd)) continue;
            if ((one.revents & kSets[set].told_by) != 0)
                ++ready;
            else
                sets.clear(set, fd);
        }
    }
    return ready;
}

bool put_back(const Call& call, const Sets& sets) {
    for (std::size_t set = 0; set < 3; ++set) {
        const std::uint64_t at = call.argument[1 + set];
        if (at != 0 && !guarded_copy(at_address<void>(at), sets.word[set], sets.bytes)) return false;
    }
    return true;
}

/// The timeout of either call: select's has microseconds. The kernel writes back what is left of it.
class Timeout {
  public:
    Timeout(const Call& call, bool micro) : at_(call.argument[4]), micro_(micro) {
        good_ = at_ == 0 || guarded_copy(&left_, at_address<const void>(at_), sizeof left_);
        if (micro_) left_.tv_nsec *= kPerMicro;
    }
    bool good() const { return good_; }
    std::uint64_t address() const { return at_ == 0 ? 0 : address_of(&left_); }
    void put_back() {
        if (at_ == 0) return;
        if (micro_) left_.tv_nsec /= kPerMicro;
        guarded_copy(at_address<void>(at_), &left_, sizeof left_);
    }

  private:
    static constexpr long kPerMicro = 1000;
    std::uint64_t at_;
    bool micro_;
    bool good_ = true;
    timespec left_{};
};

struct MaskArgument {
    std::uint64_t mask = 0;
    std::uint64_t bytes = 0;
};

}  // namespace

bool select_events(Call& call, long& answer) {
    if (known_process(call.engine) == nullptr) return false;
    Sets sets;
    Polled polled;
    if (!fetch(call, sets)) return false;
    list(sets, static_cast<std::uint32_t>(call.argument[0]), polled);
    if (polled.count == 0 || !find_events(call.engine, polled)) return false;
    const bool micro = call.number == __NR_select;
    Timeout timeout{call, micro};
    MaskArgument mask;
    if (!timeout.good() || (!micro && call.argument[5] != 0 &&
                            !guarded_copy(&mask, at_address<const void>(call.argument[5]), sizeof mask)))
        return false;  // the kernel has the error for it
    Call waiting = call;
    waiting.number = __NR_ppoll;
    const std::uint64_t arguments[6] = {0, polled.count, timeout.address(), mask.mask, mask.bytes, 0};
    for (std::size_t i = 0; i < 6; ++i) waiting.argument[i] = arguments[i];
    answer = wait_for(waiting, polled);
    if (answer >= 0) answer = tell(polled, sets);
    if (answer != engine::kBeginAgain) timeout.put_back();
    if (answer >= 0 && !put_back(call, sets)) answer = -EFAULT;
    return true;
}

}  // namespace anyperf::resident
