// clocks.cpp: the calls that read the time, in a deterministic run (time/virtual_clock.h). In other runs the kernel
// answers them.
#include <errno.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <time.h>

#include "engine/syscalls/handlers.h"
#include "engine/syscalls/usage.h"
#include "engine/threads/run_records.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

timespec timespec_of(std::uint64_t ns) {
    constexpr auto kSecond = static_cast<std::uint64_t>(kNsOfSecond);
    return {static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
}

timeval timeval_of(std::uint64_t ns) {
    const timespec time = timespec_of(ns);
    return {time.tv_sec, time.tv_nsec / 1000};
}

std::uint64_t time_of_day(Thread& thread) {
    std::uint64_t ns = 0;
    virtual_time(thread, CLOCK_REALTIME, look_at_clock(thread, kUnitsOfCall), ns);
    return ns;
}

std::uint64_t load(const std::uint64_t& word) {
    return __atomic_load_n(&word, __ATOMIC_RELAXED);
}

/// CPU time of the children that the thread's process has waited for, in ns.
std::uint64_t children_cpu_ns(const Thread& thread) {
    const run::ProcessRecord* const record = record_of(thread);
    return record == nullptr ? 0 : load(record->cpu_units_of_children) / kUnitsOfNanosecond;
}

/// Replaces a struct rusage: the program has used `ns` in user mode. What else the kernel reports of it, such as page
/// faults, differs from run to run and is 0.
void replace_usage(std::uint64_t address, std::uint64_t ns) {
    rusage usage{};
    usage.ru_utime = timeval_of(ns);
    if (address != 0) x86_64::guarded_write(address, usage);
}

/// What adjtimex(2) reports of a clock that nobody has adjusted. Returns the call's answer.
long show_adjustment(Thread& thread, std::uint64_t address, long answer) {
    timex about{};
    if (is_error(answer) || !has_virtual_clock(*thread.engine) || !x86_64::guarded_read(address, about)) return answer;
    constexpr long kUnknownError = 16'000'000;  // µs; NTP_PHASE_LIMIT of Linux
    const unsigned modes = about.modes;
    about = {};
    about.modes = modes;
    about.maxerror = about.esterror = kUnknownError;
    about.status = STA_UNSYNC;
    about.constant = 2;
    about.precision = 1;
    about.tolerance = 32'768'000;
    about.time = timeval_of(time_of_day(thread));
    about.tick = 10'000;
    return x86_64::guarded_write(address, about) ? TIME_ERROR : -EFAULT;
}

}  // namespace

void make_usage_virtual(const Thread& thread, std::int32_t child, std::uint64_t usage, bool reaped) {
    run::ProcessRecord* const own = record_of(thread);
    run::ProcessRecord* const record = record_of_process(*thread.engine, child);
    if (own == nullptr || record == nullptr) return;
    const std::uint64_t units = load(record->cpu_units) + load(record->cpu_units_of_children);
    replace_usage(usage, units / kUnitsOfNanosecond);
    if (reaped) __atomic_add_fetch(&own->cpu_units_of_children, units, __ATOMIC_RELAXED);
}

void make_own_usage_virtual(Thread& thread, std::int32_t who, std::uint64_t usage) {
    std::uint64_t ns = 0;
    if (who == RUSAGE_CHILDREN)
        ns = children_cpu_ns(thread);
    else
        virtual_time(thread, who == RUSAGE_THREAD ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID, 0, ns);
    replace_usage(usage, ns);
}

namespace handlers {

long clock_gettime(Call& call) {
    if (!has_virtual_clock(call.engine)) return call.pass_to_kernel();
    std::uint64_t ns = 0;
    const std::uint64_t units = look_at_clock(call.thread, kUnitsOfCall);
    if (!virtual_time(call.thread, static_cast<std::int32_t>(call.argument[0]), units, ns))
        return call.pass_to_kernel();
    return x86_64::guarded_write(call.argument[1], timespec_of(ns)) ? 0 : -EFAULT;
}

long clock_getres(Call& call) {
    std::uint64_t ns = 0;
    const auto clock = static_cast<std::int32_t>(call.argument[0]);
    if (!has_virtual_clock(call.engine) || !virtual_time(call.thread, clock, 0, ns)) return call.pass_to_kernel();
    constexpr long kTick = 4'000'000;  // of a kernel with CONFIG_HZ=250, as Debian's
    const bool coarse = clock == CLOCK_REALTIME_COARSE || clock == CLOCK_MONOTONIC_COARSE;
    return call.argument[1] == 0 || x86_64::guarded_write(call.argument[1], timespec{0, coarse ? kTick : 1}) ? 0
                                                                                                             : -EFAULT;
}

long adjtimex(Call& call) {
    const long answer = call.pass_to_kernel();
    return show_adjustment(call.thread, call.argument[0], answer);
}

long clock_adjtime(Call& call) {
    const long answer = call.pass_to_kernel();
    const auto clock = static_cast<std::int32_t>(call.argument[0]);
    return clock == CLOCK_REALTIME ? show_adjustment(call.thread, call.argument[1], answer) : answer;
}

long gettimeofday(Call& call) {
    if (!has_virtual_clock(call.engine)) return call.pass_to_kernel();
    const timeval time = timeval_of(time_of_day(call.thread));
    if (call.argument[0] != 0 && !x86_64::guarded_write(call.argument[0], time)) return -EFAULT;
    constexpr struct timezone kUtc{};
    return call.argument[1] == 0 || x86_64::guarded_write(call.argument[1], kUtc) ? 0 : -EFAULT;
}

long time(Call& call) {
    if (!has_virtual_clock(call.engine)) return call.pass_to_kernel();
    const timespec now = timespec_of(time_of_day(call.thread));
    if (call.argument[0] != 0 && !x86_64::guarded_write(call.argument[0], now.tv_sec)) return -EFAULT;
    return now.tv_sec;
}

long times(Call& call) {
    if (!has_virtual_clock(call.engine)) return call.pass_to_kernel();
    constexpr std::uint64_t kTick = 10'000'000;  // ns: USER_HZ is 100
    const std::uint64_t now = monotonic_ns(look_at_clock(call.thread, kUnitsOfCall));
    tms usage{};
    usage.tms_utime = static_cast<clock_t>(process_cpu_ns(call.thread) / kTick);
    usage.tms_cutime = static_cast<clock_t>(children_cpu_ns(call.thread) / kTick);
    if (call.argument[0] != 0 && !x86_64::guarded_write(call.argument[0], usage)) return -EFAULT;
    return static_cast<long>(now / kTick);
}

long getcpu(Call& call) {
    if (!has_virtual_clock(call.engine)) return call.pass_to_kernel();
    constexpr std::uint32_t kFirst = 0;  // the only CPU that such a run shows, and its node
    if (call.argument[0] != 0 && !x86_64::guarded_write(call.argument[0], kFirst)) return -EFAULT;
    return call.argument[1] == 0 || x86_64::guarded_write(call.argument[1], kFirst) ? 0 : -EFAULT;
}

}  // namespace handlers

}  // namespace anyperf::engine
