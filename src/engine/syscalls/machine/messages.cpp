#include "engine/syscalls/messages.h"

#include <asm/unistd.h>
#include <errno.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>

#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

/// The timeout of recvmmsg(2), which the kernel looks at only after it has received a message, by the run's clock.
class Timeout {
  public:
    explicit Timeout(const Call& call) : call_(call) {
        if (call.number != __NR_recvmmsg || call.argument[4] == 0) return;
        timespec time{};
        given_ = x86_64::guarded_read(call.argument[4], time);
        const std::int64_t ns = given_ ? ns_of(time) : 0;
        error_ = !given_ ? -EFAULT : ns < 0 ? -EINVAL : 0;
        if (error_ == 0) end_ = look_at_clock(call.thread) + units_of(static_cast<std::uint64_t>(ns));
    }

    /// The error of a timeout that is not valid, or 0.
    long error() const { return error_; }

    bool has_passed() const { return given_ && look_at_clock(call_.thread) >= end_; }

    /// Stores what is left, as the kernel does after a call that has received something.
    void store_rest() const {
        if (!given_) return;
        const std::uint64_t now = look_at_clock(call_.thread);
        const auto ns = static_cast<std::int64_t>(end_ > now ? (end_ - now) / kUnitsOfNanosecond : 0);
        x86_64::guarded_write(call_.argument[4], timespec{ns / kNsOfSecond, ns % kNsOfSecond});
    }

  private:
    const Call& call_;
    bool given_ = false;
    long error_ = 0;
    std::uint64_t end_ = 0;
};

}  // namespace

bool has_many_messages(std::uint64_t number) {
    return number == __NR_sendmmsg || number == __NR_recvmmsg;
}

long answer_messages(Call& call, long (*answer_one)(Call&)) {
    constexpr std::uint32_t kMost = 1024;  // UIO_MAXIOV
    const bool receives = call.number == __NR_recvmmsg;
    const Timeout timeout{call};
    if (timeout.error() != 0) return timeout.error();
    const std::uint32_t count = std::min(static_cast<std::uint32_t>(call.argument[2]), kMost);
    std::uint32_t done = 0;
    long got = 0;
    while (done < count) {
        const std::uint64_t message = call.argument[1] + done * sizeof(mmsghdr);
        std::uint64_t flags = call.argument[3] & ~std::uint64_t{MSG_WAITFORONE};
        if (receives && done > 0 && (call.argument[3] & MSG_WAITFORONE) != 0) flags |= MSG_DONTWAIT;
        Call one{call.engine,
                 call.thread,
                 static_cast<std::uint64_t>(receives ? __NR_recvmsg : __NR_sendmsg),
                 {call.argument[0], message, flags, 0, 0, 0},
                 call.next_rip};
        got = answer_one(one);
        if (is_error(got) || got == kRestartSyscall) break;
        const auto bytes = static_cast<std::uint32_t>(got);
        if (!x86_64::guarded_write(message + offsetof(mmsghdr, msg_len), bytes)) {
            got = -EFAULT;
            break;
        }
        ++done;
        if (receives && timeout.has_passed()) break;
    }
    if (done == 0) return got;
    timeout.store_rest();
    return static_cast<long>(done);
}

}  // namespace anyperf::engine
