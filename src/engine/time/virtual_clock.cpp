#include "engine/time/virtual_clock.h"

#include <algorithm>

#include "engine/threads/run_records.h"

namespace anyperf::engine {

namespace {

std::uint64_t load(const std::uint64_t& word) {
    return __atomic_load_n(&word, __ATOMIC_RELAXED);
}

/// What the thread has retired since its last look, in units. This is a look.
std::uint64_t take_retired(Thread& thread) {
    const std::uint64_t retired = retired_by(thread);
    const std::uint64_t since = retired - thread.retired_at_look;
    thread.retired_at_look = retired;
    return since * kUnitsOfInstruction;
}

/// The kernel's numbers of CPU time clocks (include/linux/posix-timers.h): an inverted id, and three bits below it.
constexpr std::int32_t kOfThread = 4;
constexpr std::int32_t kOfDescriptor = 3;  // both low bits: a clock device

std::int32_t id_of(std::int32_t clock) {
    return ~(clock >> 3);
}

/// The CPU time of thread `tid` of this process in units; false: there is no such thread.
bool thread_cpu(const Thread& caller, std::int32_t tid, std::uint64_t& units) {
    for (const Thread* thread = caller.engine->threads; thread != nullptr; thread = thread->next_thread) {
        if (thread->tid != tid) continue;
        units = retired_by(*thread) * kUnitsOfInstruction;
        return true;
    }
    return false;
}

/// The clocks of the CPU time of a process or a thread that the number names.
bool named_cpu_time(Thread& thread, std::int32_t clock, std::uint64_t& ns) {
    if ((clock & 3) == kOfDescriptor) return false;
    const std::int32_t id = id_of(clock);
    if ((clock & kOfThread) == 0) {
        if (id != 0 && id != thread.page.pid) return false;
        ns = process_cpu_ns(thread);
        return true;
    }
    std::uint64_t units = 0;
    const LockGuard held{thread.engine->cache.lock};
    if (!thread_cpu(thread, id == 0 ? thread.tid : id, units)) return false;
    ns = units / kUnitsOfNanosecond;
    return true;
}

}  // namespace

void begin_thread_time(Thread& thread) {
    thread.retired_at_look = retired_by(thread);
}

std::uint64_t look_at_clock(Thread& thread, std::uint64_t more) {
    return __atomic_add_fetch(&thread.engine->run_use->clock, take_retired(thread) + more, __ATOMIC_RELAXED);
}

std::uint64_t clock_for(const Thread& thread) {
    const std::uint64_t since = retired_by(thread) - thread.retired_at_look;
    return load(thread.engine->run_use->clock) + since * kUnitsOfInstruction;
}

void advance_clock(Engine& engine, std::uint64_t units) {
    std::uint64_t& clock = engine.run_use->clock;
    std::uint64_t now = load(clock);
    while (now < units &&
           !__atomic_compare_exchange_n(&clock, &now, units, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

bool virtual_time(Thread& thread, std::int32_t clock, std::uint64_t units, std::uint64_t& ns) {
    if (run::clock_of_machine(clock, units, thread.engine->run->epoch_ns, ns)) return true;
    switch (clock) {
        case CLOCK_PROCESS_CPUTIME_ID: ns = process_cpu_ns(thread); return true;
        case CLOCK_THREAD_CPUTIME_ID: ns = run::cpu_ns(retired_by(thread)); return true;
        default: return clock < 0 && named_cpu_time(thread, clock, ns);
    }
}

std::uint64_t units_at(const Engine& engine, std::int32_t clock, std::uint64_t ns) {
    const bool is_of_day = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_ALARM || clock == CLOCK_TAI;
    const std::uint64_t start = is_of_day ? engine.run->epoch_ns : kUptimeNs;
    return ns > start ? units_of(ns - start) : 0;
}

std::uint64_t process_cpu_ns(const Thread& thread) {
    const run::ProcessRecord* const record = record_of(thread);
    std::uint64_t units = record != nullptr ? load(record->cpu_units) : 0;
    const LockGuard held{thread.engine->cache.lock};
    for (const Thread* one = thread.engine->threads; one != nullptr; one = one->next_thread)
        if (one->page.pid == thread.page.pid) units += retired_by(*one) * kUnitsOfInstruction;
    return units / kUnitsOfNanosecond;
}

std::uint64_t time_stamp(std::uint64_t units) {
    return kUptimeNs / 10 * 32 + units / 5 * 4 + units % 5 * 4 / 5;  // 3.2 for a nanosecond, 0.8 for a unit
}

void end_thread_time(Thread& thread, bool whole_process) {
    look_at_clock(thread);
    run::ProcessRecord* const record = record_of(thread);
    if (record == nullptr) return;
    const std::uint64_t units = whole_process ? process_cpu_ns(thread) * kUnitsOfNanosecond - load(record->cpu_units)
                                              : retired_by(thread) * kUnitsOfInstruction;
    __atomic_add_fetch(&record->cpu_units, units, __ATOMIC_RELAXED);
}

bool is_alone(const Thread& thread) {
    return !has_other_thread_that_can_run(thread);
}

std::int64_t ns_of(const timespec& time) {
    if (time.tv_sec < 0 || time.tv_nsec < 0 || time.tv_nsec >= kNsOfSecond) return -1;
    return time.tv_sec >= INT64_MAX / kNsOfSecond ? INT64_MAX : time.tv_sec * kNsOfSecond + time.tv_nsec;
}

}  // namespace anyperf::engine
