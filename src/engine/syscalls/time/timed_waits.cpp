// timed_waits.cpp: calls that wait until a time, in a deterministic run. The time is that of the virtual clock
// (time/virtual_clock.h); without such a run these calls are the kernel's.
//
// A wait for nothing but time takes no real time while the thread is alone. Any other wait is made in the kernel, with
// a timeout that is computed from now, since the kernel's clocks show other times. If it times out, the virtual clock
// is advanced to its end. If the wait ends before its timeout, no virtual time has passed. So the timeout in the
// application's memory is left as it was, where the kernel would store what remains of it (select(2)).
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/time.h>
#include <time.h>

#include <algorithm>
#include <array>

#include "engine/syscalls/handlers.h"
#include "engine/threads/run_records.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

/// Longer waits, such as that of `sleep infinity`, take real time even if the thread is alone: a signal will end them.
constexpr std::int64_t kLongestAdvance = std::int64_t{366} * 24 * 3600 * kNsOfSecond;

enum class Form : std::uint8_t {
    milliseconds,  ///< an int; below 0: no timeout
    timespec,      ///< a pointer; null: no timeout
    timeval,       ///< the same
    time_of_day,   ///< a pointer to a timespec of CLOCK_REALTIME
};

/// What a call waits for besides the time.
enum class Waits : std::uint8_t {
    for_nothing,      ///< for a signal at most
    for_descriptors,  ///< their number is argument `count`
    for_others,       ///< for what other threads or processes do
};

struct TimedRow {
    std::uint16_t number;
    Form form;
    std::uint8_t timeout;  ///< the index of the argument that holds it
    long timed_out;        ///< the call's answer after the timeout
    Waits waits;
    std::uint8_t count = 0;  ///< for_descriptors: the index of the argument with their number
};

constexpr std::array kRows{
    TimedRow{__NR_poll, Form::milliseconds, 2, 0, Waits::for_descriptors, 1},
    TimedRow{__NR_select, Form::timeval, 4, 0, Waits::for_descriptors, 0},
    TimedRow{__NR_rt_sigtimedwait, Form::timespec, 2, -EAGAIN, Waits::for_nothing},
    TimedRow{__NR_semtimedop, Form::timespec, 3, -EAGAIN, Waits::for_others},
    TimedRow{__NR_epoll_wait, Form::milliseconds, 3, 0, Waits::for_others},
    TimedRow{__NR_mq_timedsend, Form::time_of_day, 4, -ETIMEDOUT, Waits::for_others},
    TimedRow{__NR_mq_timedreceive, Form::time_of_day, 4, -ETIMEDOUT, Waits::for_others},
    TimedRow{__NR_pselect6, Form::timespec, 4, 0, Waits::for_descriptors, 0},
    TimedRow{__NR_ppoll, Form::timespec, 2, 0, Waits::for_descriptors, 1},
    TimedRow{__NR_epoll_pwait, Form::milliseconds, 3, 0, Waits::for_others},
    TimedRow{__NR_epoll_pwait2, Form::timespec, 3, 0, Waits::for_others},
};
static_assert(std::ranges::is_sorted(kRows, {}, &TimedRow::number));

/// Whether a thread that waits for nothing but time may go on at once: nothing else can happen before the time has
/// come.
bool may_advance(const Thread& thread) {
    return !thread.engine->has_real_timer && thread.pending == 0 && is_alone(thread);
}

timespec timespec_of(std::int64_t ns) {
    return {ns / kNsOfSecond, ns % kNsOfSecond};
}

std::uint64_t units_after(std::uint64_t start, std::int64_t ns) {
    return start + units_of(static_cast<std::uint64_t>(ns));
}

/// ns until the clock has reached `units`; at least 0.
std::int64_t ns_until(std::uint64_t units, std::uint64_t now) {
    return units > now ? static_cast<std::int64_t>((units - now + kUnitsOfNanosecond - 1) / kUnitsOfNanosecond) : 0;
}

/// The timespec of a timeval's two words. More than a second of microseconds is valid, as in do_sys_select()
/// (fs/select.c).
timespec from_timeval(const timespec& words) {
    constexpr long kMicroseconds = 1'000'000;
    if (words.tv_nsec < 0) return words;  // not valid in either form
    return {words.tv_sec + words.tv_nsec / kMicroseconds, words.tv_nsec % kMicroseconds * 1000};
}

/// A timeout in ns. False: the call has no timeout, or one that the kernel refuses.
bool timeout_of(Thread& thread, const TimedRow& row, std::uint64_t argument, std::int64_t& ns) {
    if (row.form == Form::milliseconds) {
        const auto milliseconds = static_cast<std::int32_t>(argument);
        ns = std::int64_t{milliseconds} * 1'000'000;
        return milliseconds >= 0;
    }
    timespec time{};
    if (argument == 0 || !x86_64::guarded_read(argument, time)) return false;
    if (row.form == Form::timeval) time = from_timeval(time);
    ns = ns_of(time);
    if (ns < 0) return false;
    if (row.form != Form::time_of_day) return true;
    const Engine& engine = *thread.engine;
    ns = ns_until(units_at(engine, CLOCK_REALTIME, static_cast<std::uint64_t>(ns)), look_at_clock(thread));
    return true;
}

/// Puts the timeout for the kernel into the call's argument, and stores what the application sees of it afterwards.
class KernelTimeout {
  public:
    KernelTimeout(Call& call, const TimedRow& row, std::int64_t ns) : call_(call), row_(row) {
        if (row.form == Form::milliseconds) {
            call.argument[row.timeout] = static_cast<std::uint64_t>(ns / 1'000'000);
            return;
        }
        place_ = call.argument[row.timeout];
        call.argument[row.timeout] = address_of(&time_);
        time_ = timespec_of(ns);
        if (row.form == Form::timeval) time_.tv_nsec /= 1000;
        if (row.form != Form::time_of_day) return;
        timespec now{};
        kernel_call(__NR_clock_gettime, CLOCK_REALTIME, address_of(&now));
        time_ = timespec_of(std::min(ns, kLongestAdvance) + ns_of(now));
    }
    /// The calls that store what remains of a timeout (select(2), ppoll(2)) store that nothing does.
    void store_end() const {
        if (row_.form == Form::timeval || row_.number == __NR_ppoll || row_.number == __NR_pselect6)
            x86_64::guarded_write(place_, timespec{});
    }

  private:
    Call& call_;
    const TimedRow& row_;
    std::uint64_t place_ = 0;
    timespec time_{};
};

/// Sleeps from `start`, the present time, until the clock shows `until`. Returns as nanosleep(2) does, and
/// kRestartSyscall if a signal came first. `remaining`: where the application wants the rest after a signal; 0:
/// nowhere.
long sleep_until(Call& call, std::uint64_t start, std::uint64_t until, std::uint64_t remaining) {
    const std::int64_t ns = ns_until(until, start);
    if (ns <= kLongestAdvance && may_advance(call.thread)) {
        advance_clock(call.engine, until);
        return 0;
    }
    const timespec time = timespec_of(ns);
    timespec left{};
    const std::uint64_t arguments[6] = {CLOCK_MONOTONIC, 0, address_of(&time), address_of(&left)};
    const long got = interruptible_call(call.thread, __NR_clock_nanosleep, arguments);
    if (got == 0) advance_clock(call.engine, until);
    if (got == -EINTR) {
        advance_clock(call.engine, until - static_cast<std::uint64_t>(ns_of(left)) * kUnitsOfNanosecond);
        if (remaining != 0 && !x86_64::guarded_write(remaining, left)) return -EFAULT;
    }
    return got;
}

/// FUTEX_WAIT and its like with a timeout. For FUTEX_WAIT the timeout is relative, otherwise it is a time of a clock:
/// of CLOCK_REALTIME for FUTEX_LOCK_PI and with FUTEX_CLOCK_REALTIME, else of CLOCK_MONOTONIC (futex(2)).
long timed_futex(Call& call) {
    const std::uint64_t command = call.argument[1] & FUTEX_CMD_MASK;
    const bool waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI ||
                       command == FUTEX_LOCK_PI2 || command == FUTEX_WAIT_REQUEUE_PI;
    timespec time{};
    if (!waits || call.argument[3] == 0 || !x86_64::guarded_read(call.argument[3], time) || ns_of(time) < 0)
        return call.pass_to_kernel();
    const bool of_day = command == FUTEX_LOCK_PI || (call.argument[1] & FUTEX_CLOCK_REALTIME) != 0;
    const std::uint64_t now = look_at_clock(call.thread);
    const auto wanted = static_cast<std::uint64_t>(ns_of(time));
    const std::uint64_t until = command == FUTEX_WAIT
                                    ? units_after(now, ns_of(time))
                                    : units_at(call.engine, of_day ? CLOCK_REALTIME : CLOCK_MONOTONIC, wanted);
    std::int64_t ns = ns_until(until, now);
    // No other process can change a private futex word. So it keeps its value while the only thread waits.
    if (ns <= kLongestAdvance && (call.argument[1] & FUTEX_PRIVATE_FLAG) != 0 && may_advance(call.thread)) ns = 0;
    timespec kernel_time = timespec_of(ns);
    if (command != FUTEX_WAIT) {
        timespec kernel_now{};
        kernel_call(__NR_clock_gettime, of_day ? CLOCK_REALTIME : CLOCK_MONOTONIC, address_of(&kernel_now));
        kernel_time = timespec_of(std::min(ns, kLongestAdvance) + ns_of(kernel_now));
    }
    call.argument[3] = address_of(&kernel_time);
    const long got = call.pass_to_kernel();
    if (got == -ETIMEDOUT) advance_clock(call.engine, until);
    return got;
}

}  // namespace

namespace handlers {

long wait_with_timeout(Call& call, long (*wait)(Call&)) {
    const auto* const row = std::ranges::lower_bound(kRows, call.number, {}, &TimedRow::number);
    std::int64_t ns = 0;
    if (!has_virtual_clock(call.engine) || row == kRows.end() || row->number != call.number ||
        !timeout_of(call.thread, *row, call.argument[row->timeout], ns) || ns == 0)
        return wait(call);
    const std::uint64_t until = units_after(look_at_clock(call.thread), ns);
    const bool only_for_time =
        row->waits == Waits::for_nothing || (row->waits == Waits::for_descriptors && call.argument[row->count] == 0);
    const bool at_once = only_for_time && ns <= kLongestAdvance && may_advance(call.thread);
    const KernelTimeout timeout{call, *row, at_once ? 0 : ns};
    const long got = wait(call);
    if (got != row->timed_out) return got;
    advance_clock(call.engine, until);
    timeout.store_end();
    return got;
}

long nanosleep(Call& call) {
    timespec time{};
    if (!has_virtual_clock(call.engine)) return call.pass_to_kernel();
    if (!x86_64::guarded_read(call.argument[0], time)) return -EFAULT;
    if (ns_of(time) < 0) return -EINVAL;
    const std::uint64_t start = look_at_clock(call.thread, kUnitsOfCall);
    return sleep_until(call, start, units_after(start, ns_of(time)), call.argument[1]);
}

long clock_nanosleep(Call& call) {
    timespec time{};
    std::uint64_t ns = 0;
    const auto clock = static_cast<std::int32_t>(call.argument[0]);
    // A thread can't sleep by its own CPU time, which does not advance meanwhile: the kernel answers EINVAL. By the CPU
    // time of others it waits in the kernel.
    const bool advances = clock >= 0 && clock != CLOCK_THREAD_CPUTIME_ID && clock != CLOCK_PROCESS_CPUTIME_ID;
    if (!has_virtual_clock(call.engine) || !advances || !virtual_time(call.thread, clock, 0, ns))
        return call.pass_to_kernel();
    if (!x86_64::guarded_read(call.argument[2], time)) return -EFAULT;
    if (ns_of(time) < 0) return -EINVAL;
    const std::uint64_t start = look_at_clock(call.thread, kUnitsOfCall);
    if ((call.argument[1] & TIMER_ABSTIME) == 0)
        return sleep_until(call, start, units_after(start, ns_of(time)), call.argument[3]);
    return sleep_until(call, start, units_at(call.engine, clock, static_cast<std::uint64_t>(ns_of(time))), 0);
}

long futex(Call& call) {
    return has_virtual_clock(call.engine) ? timed_futex(call) : call.pass_to_kernel();
}

long timed_wait(Call& call) {
    return wait_with_timeout(call, [](Call& waiting) { return waiting.pass_to_kernel(); });
}

}  // namespace handlers

}  // namespace anyperf::engine
