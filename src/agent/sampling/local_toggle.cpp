// local_toggle.cpp: local toggles of the calling thread, by the rules of subsystem/shared/local_toggle.h. Programs that
// measure a region toggle once before it and once after it. Two requests to the broker would cost more than most
// regions.
#include "agent/sampling/local_toggle.h"

#include "abi/ioctls.h"
#include "agent/clocks.h"
#include "agent/sampling/local_read.h"
#include "agent/sampling/rings.h"
#include "agent/sampling/update_active_events.h"
#include "subsystem/shared/local_toggle.h"

namespace anyperf::agent {

namespace {

using subsystem::EventState;
using subsystem::PageLock;
using subsystem::Source;

constexpr std::uint32_t kEnable = abi::ioctl_request("PERF_EVENT_IOC_ENABLE");
constexpr std::uint32_t kDisable = abi::ioctl_request("PERF_EVENT_IOC_DISABLE");
constexpr std::uint32_t kReset = abi::ioctl_request("PERF_EVENT_IOC_RESET");
constexpr std::uint64_t kWholeGroup = abi::value_of(abi::kIoctlFlags, "PERF_IOC_FLAG_GROUP");

/// The calling thread, as subsystem/shared/local_toggle.h sees it (concept ThreadAccess).
struct Self {
    struct Held : PageLockGuard {
        Held(Self& self, PageLock& lock) : PageLockGuard(self.thread, lock) {}
    };

    EventPage* page(EventIndex index) const {
        return process.events.contains(index) ? &process.events[index] : nullptr;
    }
    bool counts_this_thread(const EventPage& page) const { return is_counted_on(thread, page); }
    std::uint64_t value(const Source& source) { return local_value(thread, source, counts); }
    std::uint64_t clock() const { return task_clock(thread); }
    void publish(EventPage& page) const {
        if (page.ring != 0) agent::publish(thread, page);
    }

    Thread& thread;
    Process& process;
    run::CountsOfMoment counts{counts_of(thread)};
};

/// Whether the thread has events that sample: then a toggle may change where the thread's budget must end. Such events
/// come first in its list of active events.
bool has_sampling_events(const Thread& thread, const Process& process) {
    const EventIndex first = __atomic_load_n(&thread.page.first_active_event, __ATOMIC_ACQUIRE);
    return first != 0 && process.events.contains(first) && process.events[first].sampling != 0;
}

}  // namespace

// After a close that the broker has not seen yet, the pages may still show an event that is gone, so the broker is
// asked.
bool try_local_toggle(Thread& thread, EventIndex event, std::uint32_t request, std::uint64_t argument) {
    Process& process = *existing_process(*thread.engine);
    if (!broker_has_seen_closes(process)) return false;
    Self self{thread, process};
    const bool group = (argument & kWholeGroup) != 0;
    if (request == kReset) return subsystem::reset_locally(self, event, group);
    if (request != kEnable && request != kDisable) return false;
    const EventState wish = request == kEnable ? EventState::inactive : EventState::off;
    if (!subsystem::toggle_locally(self, event, wish, group)) return false;
    if (has_sampling_events(thread, process)) update_active_events(thread);
    return true;
}

}  // namespace anyperf::agent
