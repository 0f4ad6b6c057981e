// local_read.cpp: what a thread knows of its own events without a request. An event is not locally readable if it also
// counts what the thread cannot know: other threads, a CPU, or migrations, which the broker reads.
#include "agent/sampling/local_read.h"

#include "abi/sample_bits.h"
#include "agent/broker_request.h"
#include "agent/clocks.h"
#include "engine/x86_64/decode/classes.h"
#include "run/live_value.h"
#include "run/lock_holder.h"
#include "subsystem/shared/local_toggle.h"
#include "subsystem/shared/page_lock.h"

namespace anyperf::agent {

using subsystem::Source;

namespace {

/// `counts`: of the thread.
template <class Counts>
std::uint64_t value_of(const Thread& thread, const Source& source, Counts& counts) {
    switch (source.kind) {
        case Source::Kind::counters: return run::live_value(source, counts);
        case Source::Kind::task_clock:
        case Source::Kind::cpu_clock: return task_clock(thread);
        case Source::Kind::page_faults: return thread.page.faults[0] + thread.page.faults[1];
        case Source::Kind::minor_faults: return thread.page.faults[0];
        case Source::Kind::major_faults: return thread.page.faults[1];
        case Source::Kind::context_switches: return context_switches(thread);
        case Source::Kind::cpu_migrations: return __atomic_load_n(&thread.page.migrations, __ATOMIC_RELAXED);
        default: return 0;
    }
}

}  // namespace

std::uint64_t local_value(const Thread& thread, const Source& source) {
    const run::ThreadCounts counts = counts_of(thread);
    return value_of(thread, source, counts);
}

std::uint64_t local_value(const Thread& thread, const Source& source, run::CountsOfMoment& counts) {
    return value_of(thread, source, counts);
}

std::uint64_t modelled_cost(const Thread& thread) {
    using namespace engine::x86_64;
    const run::ThreadCounts counts = counts_of(thread);
    return counts.count(kCostRow) + counts.count(kLongCostRow) * kLongCost + counts.count(kFrontendRow);
}

bool has_local_value(const Source& source) {
    switch (source.kind) {
        case Source::Kind::nothing:
        case Source::Kind::occurrences:
        case Source::Kind::counters:
        case Source::Kind::task_clock:
        case Source::Kind::cpu_clock:
        case Source::Kind::page_faults:
        case Source::Kind::minor_faults:
        case Source::Kind::major_faults:
        case Source::Kind::context_switches: return true;
        default: return false;
    }
}

// The group's links are in memory that programs can write, so the walk is bounded and each index is checked. No lock is
// taken: the answer may or may not include a change of the group at the same moment.
bool is_locally_readable(const Thread& thread, const Process& process, const EventPage& event) {
    const auto counts_this_thread_only = [&](const EventPage& member) {
        return is_counted_on(thread, member) && member.has_children == 0 && member.leader == event.leader &&
               member.state >= subsystem::EventState::off && has_local_value(member.source);
    };
    if (!counts_this_thread_only(event)) return false;
    if ((event.shape.read_format & abi::read_format("PERF_FORMAT_GROUP")) == 0) return true;
    if (event.leader == 0 || event.leader >= run::kMaximumEvents) return false;
    const EventPage& leader = process.events[event.leader];
    EventIndex index = event.leader;
    const std::uint32_t size = leader.group_size;
    if (size > subsystem::kMostMembers) return false;
    for (std::uint32_t i = 0; i < size; ++i) {
        if (index == 0 || !process.events.contains(index) || !counts_this_thread_only(process.events[index]))
            return false;
        index = process.events[index].next_in_group;
    }
    return true;
}

PageLockGuard::PageLockGuard(const Thread& thread, subsystem::PageLock& lock) : lock_(lock), me_(thread.tid) {
    // The holder is the broker or a thread. The broker has ended if its socket has hung up, a thread if the kernel does
    // not know its id.
    run::LockPatience patience;
    held_ = subsystem::lock_page_or_give_up(lock_, me_, [&](std::int32_t holder) {
        if (holder == run::kBrokerHolder && broker_is_gone(*thread.engine)) return subsystem::HolderState::gone;
        return patience.check(holder);
    });
}

PageLockGuard::~PageLockGuard() {
    if (held_) subsystem::unlock_page(lock_, me_);
}

}  // namespace anyperf::agent
