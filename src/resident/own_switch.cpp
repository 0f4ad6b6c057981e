// own_switch.cpp: see own_switch.h.
#include "resident/own_switch.h"

#include <linux/perf_event.h>

#include "resident/armed.h"
#include "resident/own_values.h"
#include "resident/request.h"
#include "resident/rings.h"
#include "subsystem/shared/own_switch.h"

namespace anyperf::resident {

namespace {

using subsystem::EventState;
using subsystem::PageLock;
using subsystem::Source;

/// The calling thread, for the functions that it shares with the tests.
struct Self {
    struct Held : OwnLock {
        Held(Self& self, PageLock& lock) : OwnLock(self.thread, lock) {}
    };

    EventPage* page(EventIndex index) const { return index < kMaximumEvents ? &process.events[index] : nullptr; }
    bool counts_me(const EventPage& page) const { return page.thread_page == thread.page_number; }
    std::uint64_t value(const Source& source) const { return own_value(thread, source); }
    std::uint64_t clock() const { return task_clock(); }
    void publish(EventPage& page) const {
        if (page.ring != 0) resident::publish(thread, page);
    }

    Thread& thread;
    Process& process;
};

/// Whether a switch can change when the thread has to stop: its events that sample are the first of its list.
bool samples(const Thread& thread, const Process& process) {
    const EventIndex first = __atomic_load_n(&thread.page.first_armed, __ATOMIC_ACQUIRE);
    return first != 0 && first < kMaximumEvents && process.events[first].sampling != 0;
}

}  // namespace

bool control_own(Thread& thread, EventIndex event, std::uint32_t request, std::uint64_t argument) {
    Process& process = *known_process(*thread.engine);
    if (!closes_are_known(process)) return false;
    Self self{thread, process};
    const bool group = (argument & PERF_IOC_FLAG_GROUP) != 0;
    switch (request) {
        case PERF_EVENT_IOC_RESET: return subsystem::reset_own(self, event, group);
        case PERF_EVENT_IOC_ENABLE:
        case PERF_EVENT_IOC_DISABLE: {
            const EventState wish = request == PERF_EVENT_IOC_ENABLE ? EventState::inactive : EventState::off;
            if (!subsystem::switch_own(self, event, wish, group)) return false;
            if (samples(thread, process)) settle(thread);
            return true;
        }
        default: return false;
    }
}

}  // namespace anyperf::resident
