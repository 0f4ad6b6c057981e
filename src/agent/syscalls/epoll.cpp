// epoll.cpp: epoll(7) of events. A wake-up of an event is reported once, even without EPOLLET, because polling the
// event consumes the wake-up, as in the kernel (perf_poll()). Each wait reports a hang-up; with EPOLLET only the first
// does.
#include "agent/syscalls/epoll.h"

#include <errno.h>
#include <sys/epoll.h>
#include <time.h>

#include <algorithm>

#include "agent/syscalls/descriptors.h"
#include "agent/syscalls/epoll_entries.h"
#include "agent/syscalls/poll_set.h"
#include "engine/syscalls/table.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::agent {

using engine::address_of;
using engine::at_address;
using engine::Call;
using engine::is_error;
using engine::LockGuard;
using engine::x86_64::guarded_copy;

namespace {

constexpr std::uint32_t kReadable = EPOLLIN | EPOLLRDNORM;
/// The flags that say how to wait, which are passed to the kernel. The states to wait for are not passed, because the
/// socket's states are not those of the event.
constexpr std::uint32_t kWaitFlags = EPOLLONESHOT | EPOLLEXCLUSIVE | EPOLLWAKEUP;

/// The states of the event that are to be reported now. Consumes a wake-up.
std::uint32_t ready_states(Thread& thread, const EpollEntry& entry) {
    if (entry.spent) return 0;
    drain_socket(static_cast<int>(entry.fd));
    const short state = poll_state_of(thread, entry.event);
    if ((state & POLLHUP) != 0) return entry.hang_up_reported ? 0 : std::uint32_t{EPOLLHUP};
    return static_cast<std::uint32_t>(state) & entry.wanted & kReadable;
}

/// The states `what` of the event are reported to the application. With EPOLLONESHOT or EPOLLET, notes that they must
/// not be reported again.
void note_reported(Process& process, const EpollEntry& entry, std::uint32_t what) {
    const LockGuard held{process.lock};
    EpollEntry* const known = find_epoll_entry(process, entry.epoll, entry.fd);
    if (known == nullptr) return;
    known->spent = (entry.wanted & EPOLLONESHOT) != 0;
    // The kernel disables an EPOLLONESHOT entry only when the kernel itself has reported it.
    epoll_event nothing{};
    if (known->spent) engine::kernel_call(__NR_epoll_ctl, entry.epoll, EPOLL_CTL_MOD, entry.fd, address_of(&nothing));
    known->hang_up_reported = (what & EPOLLHUP) != 0 && (entry.wanted & EPOLLET) != 0;
}

/// Writes entry `index` of the application's list. Returns whether it could be written.
bool put(std::uint64_t list, std::size_t index, const epoll_event& event) {
    return guarded_copy(at_address<void>(list + index * sizeof event), &event, sizeof event);
}

/// Writes the events that are ready now to the application's list. Returns how many, or -EFAULT if not even the first
/// can be written (ep_send_events() of Linux 6.18).
long put_ready(Call& call, Process& process, const EpollSetEvents& events, std::size_t room) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < events.count && count < room; ++i) {
        const std::uint32_t what = ready_states(call.thread, events.one[i]);
        if (what == 0) continue;
        epoll_event event{};
        event.events = what;
        event.data.u64 = events.one[i].data;
        if (!put(call.argument[1], count, event)) return count != 0 ? static_cast<long>(count) : -EFAULT;
        note_reported(process, events.one[i], what);
        ++count;
    }
    return static_cast<long>(count);
}

/// Among the `count` entries that the kernel has returned, replaces the states of sockets by those of their events. An
/// entry is taken for an event's if its data are those that the application gave for the event.
void replace_socket_states(Call& call, Process& process, const EpollSetEvents& events, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        epoll_event event{};
        const std::uint64_t at = call.argument[1] + i * sizeof event;
        if (!guarded_copy(&event, at_address<const void>(at), sizeof event)) return;
        const auto* const end = events.one.begin() + events.count;
        const auto* const one =
            std::find_if(events.one.begin(), end, [&](const EpollEntry& each) { return each.data == event.data.u64; });
        if (one == end) continue;
        const std::uint32_t what = ready_states(call.thread, *one);
        if (what == 0) continue;
        event.events = what;
        if (!put(call.argument[1], i, event)) return;
        note_reported(process, *one, what);
    }
}

/// Adds the other descriptors that are ready to the application's list, after `count` entries. Returns how many, or a
/// negated errno.
long add_other_ready(const Call& call, std::size_t count, std::size_t room) {
    const std::uint64_t rest = call.argument[1] + count * sizeof(epoll_event);
    return engine::kernel_call(__NR_epoll_wait, call.argument[0], rest, room, 0);
}

}  // namespace

bool epoll_control(Call& call, long& answer) {
    const EventIndex event = event_of(call.engine, call.argument[2]);
    if (event == 0) return false;
    Process& process = *existing_process(call.engine);
    EpollEntry entry{};
    entry.epoll = static_cast<std::uint32_t>(call.argument[0]);
    entry.fd = static_cast<std::uint32_t>(call.argument[2]);
    entry.event = event;
    if (call.argument[1] == EPOLL_CTL_DEL) {
        answer = call.pass_to_kernel();
        if (!is_error(answer)) forget_epoll_entry(process, entry.epoll, entry.fd);
        return true;
    }
    epoll_event wanted{};
    if (!guarded_copy(&wanted, at_address<const void>(call.argument[3]), sizeof wanted)) return false;
    entry.wanted = wanted.events;
    entry.data = wanted.data.u64;
    wanted.events = (wanted.events & kWaitFlags) | EPOLLIN | EPOLLET;  // reports the socket once for each byte
    Call changed = call;
    changed.argument[3] = address_of(&wanted);
    answer = changed.pass_to_kernel();
    if (!is_error(answer)) note_epoll_entry(process, entry);
    return true;
}

bool epoll_wait_events(Call& call, long& answer) {
    Process* const process = existing_process(call.engine);
    if (process == nullptr || __atomic_load_n(&process->epoll_entry_count, __ATOMIC_RELAXED) == 0) return false;
    const auto most = static_cast<std::int32_t>(call.argument[2]);
    EpollSetEvents events;
    list_epoll_entries(*process, static_cast<std::uint32_t>(call.argument[0]), events);
    if (events.count == 0 || most <= 0) return false;
    const auto room = static_cast<std::size_t>(most);
    answer = put_ready(call, *process, events, room);
    if (answer < 0) return true;
    if (answer > 0) {
        const auto count = static_cast<std::size_t>(answer);
        const long others = count < room ? add_other_ready(call, count, room - count) : 0;
        if (others > 0) answer += others;
        return true;
    }
    answer = engine::run_engine_row(call);
    if (answer > 0) replace_socket_states(call, *process, events, static_cast<std::size_t>(answer));
    return true;
}

}  // namespace anyperf::agent
