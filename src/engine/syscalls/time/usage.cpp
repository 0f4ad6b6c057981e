// usage.cpp: getrusage, and the usage that wait4 and waitid report of a child: page faults without those of the engine
// (threads/own_faults.h). Times and the size of memory are the kernel's, with the engine's part.
#include <sys/resource.h>

#include <algorithm>

#include "engine/syscalls/usage.h"

#include "engine/syscalls/handlers.h"
#include "engine/threads/own_faults.h"
#include "engine/threads/run_records.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

std::uint64_t load(const std::uint64_t& count) {
    return __atomic_load_n(&count, __ATOMIC_RELAXED);
}

/// Subtracts `faults` from ru_minflt of the program's struct rusage at `usage`; 0: it has none.
void subtract_faults(std::uint64_t usage, std::uint64_t faults) {
    std::int64_t count = 0;
    const std::uint64_t place = usage + offsetof(struct rusage, ru_minflt);
    if (usage == 0 || faults == 0 || !x86_64::guarded_copy(&count, at_address<const void>(place), sizeof count)) return;
    count = std::max<std::int64_t>(count - static_cast<std::int64_t>(faults), 0);
    x86_64::guarded_copy(at_address<void>(place), &count, sizeof count);
}

}  // namespace

// A child's faults include those of its own children that it has waited for, as the kernel's do. They are added to the
// parent's sum when the parent reaps the child, and only then.
void correct_usage_of_child(const Thread& thread, std::int32_t child, std::uint64_t usage, bool reaped) {
    if (has_virtual_clock(*thread.engine)) return make_usage_virtual(thread, child, usage, reaped);
    run::ProcessRecord* const own = record_of(thread);
    run::ProcessRecord* const record = own == nullptr ? nullptr : record_of_process(*thread.engine, child);
    if (record == nullptr) return;
    const std::uint64_t faults = load(record->own_faults) + load(record->own_faults_of_children);
    subtract_faults(usage, faults);
    if (reaped) __atomic_add_fetch(&own->own_faults_of_children, faults, __ATOMIC_RELAXED);
}

namespace handlers {

long getrusage(Call& call) {
    const long answer = call.pass_to_kernel();
    const run::ProcessRecord* const record = record_of(call.thread);
    if (answer != 0 || record == nullptr) return answer;
    const auto who = static_cast<std::int32_t>(call.argument[0]);
    if (has_virtual_clock(call.engine)) {
        make_own_usage_virtual(call.thread, who, call.argument[1]);
        return answer;
    }
    const bool is_only_thread = call.engine.threads != nullptr && call.engine.threads->next_thread == nullptr;
    if (who == RUSAGE_CHILDREN) subtract_faults(call.argument[1], load(record->own_faults_of_children));
    // The engine does not know how many of its faults one of several threads has caused.
    if (who == RUSAGE_SELF || (who == RUSAGE_THREAD && is_only_thread)) {
        update_own_faults(call.thread);
        subtract_faults(call.argument[1], load(record->own_faults));
    }
    return answer;
}

}  // namespace handlers

}  // namespace anyperf::engine
