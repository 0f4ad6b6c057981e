// epoll.cpp: see epoll.h. A wake-up is told once, whatever the application asked for: the event gives it to whoever
// looks first, as the kernel's does. That it has hung up is told at each look, or once with EPOLLET.
#include "resident/epoll.h"

#include <errno.h>
#include <sys/epoll.h>
#include <time.h>

#include <algorithm>
#include <array>

#include "engine/syscalls/handlers.h"
#include "engine/x86_64/guarded_copy.h"
#include "resident/descriptors.h"
#include "resident/polled.h"

namespace anyperf::resident {

using engine::address_of;
using engine::at_address;
using engine::Call;
using engine::Held;
using engine::is_error;
using engine::x86_64::guarded_copy;

namespace {

constexpr std::uint32_t kReadable = EPOLLIN | EPOLLRDNORM;
/// What of the application's wishes the kernel is told: how to wait. A socket's own states are none of an event's.
constexpr std::uint32_t kHow = EPOLLONESHOT | EPOLLEXCLUSIVE | EPOLLWAKEUP;

/// Precondition: the process's lock is held.
Epolled* find(Process& process, std::uint32_t epoll, std::uint32_t fd) {
    Epolled* const end = process.epolled + process.epolled_count;
    Epolled* const found =
        std::find_if(process.epolled, end, [&](const Epolled& one) { return one.epoll == epoll && one.fd == fd; });
    return found == end ? nullptr : found;
}

void forget(Process& process, Epolled* one) {
    *one = process.epolled[--process.epolled_count];
}

void note(Process& process, const Epolled& watched) {
    const Held held{process.lock};
    Epolled* const known = find(process, watched.epoll, watched.fd);
    if (known != nullptr)
        *known = watched;
    else if (process.epolled_count < kEpolled)
        process.epolled[process.epolled_count++] = watched;
}

/// Events that one epoll descriptor watches, as they were when it was asked.
struct Watched {
    std::array<Epolled, kEpolled> one;
    std::size_t count = 0;
};

void list(Process& process, std::uint32_t epoll, Watched& watched) {
    const Held held{process.lock};
    for (std::uint32_t i = 0; i < process.epolled_count; ++i)
        if (process.epolled[i].epoll == epoll) watched.one[watched.count++] = process.epolled[i];
}

/// What the event has to say of what was asked for. A wake-up is taken by it.
std::uint32_t says(Thread& thread, const Epolled& watched) {
    if (watched.spent) return 0;
    drain(static_cast<int>(watched.fd));
    const short state = state_of(thread, watched.event);
    if ((state & POLLHUP) != 0) return watched.hang_up_told ? 0 : std::uint32_t{EPOLLHUP};
    return static_cast<std::uint32_t>(state) & watched.wanted & kReadable;
}

/// It has been told what the event says: not again, where that is the way it was asked for.
void told(Process& process, const Epolled& watched, std::uint32_t what) {
    const Held held{process.lock};
    Epolled* const known = find(process, watched.epoll, watched.fd);
    if (known == nullptr) return;
    known->spent = (watched.wanted & EPOLLONESHOT) != 0;
    // The kernel may not know that it has been told.
    epoll_event nothing{};
    if (known->spent)
        engine::kernel_call(__NR_epoll_ctl, watched.epoll, EPOLL_CTL_MOD, watched.fd, address_of(&nothing));
    known->hang_up_told = (what & EPOLLHUP) != 0 && (watched.wanted & EPOLLET) != 0;
}

bool put(std::uint64_t list, std::size_t index, const epoll_event& event) {
    return guarded_copy(at_address<void>(list + index * sizeof event), &event, sizeof event);
}

/// The events that have something to say now, into the application's list. How many, or -EFAULT.
long tell_ready(Call& call, Process& process, const Watched& watched, std::size_t room) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < watched.count && count < room; ++i) {
        const std::uint32_t what = says(call.thread, watched.one[i]);
        if (what == 0) continue;
        epoll_event event{};
        event.events = what;
        event.data.u64 = watched.one[i].data;
        if (!put(call.argument[1], count, event)) return -EFAULT;
        told(process, watched.one[i], what);
        ++count;
    }
    return static_cast<long>(count);
}

/// Those of the kernel's `count` that are events say what the event says: it may have hung up.
void correct(Call& call, Process& process, const Watched& watched, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        epoll_event event{};
        const std::uint64_t at = call.argument[1] + i * sizeof event;
        if (!guarded_copy(&event, at_address<const void>(at), sizeof event)) return;
        const auto* const end = watched.one.begin() + watched.count;
        const auto* const one =
            std::find_if(watched.one.begin(), end, [&](const Epolled& each) { return each.data == event.data.u64; });
        if (one == end) continue;
        const std::uint32_t what = says(call.thread, *one);
        if (what == 0) continue;
        event.events = what;
        if (!put(call.argument[1], i, event)) return;
        told(process, *one, what);
    }
}

/// What else is ready, behind `count` events.
long at_once(const Call& call, std::size_t count, std::size_t room) {
    const std::uint64_t behind = call.argument[1] + count * sizeof(epoll_event);
    return engine::kernel_call(__NR_epoll_wait, call.argument[0], behind, room, 0);
}

}  // namespace

bool epoll_control(Call& call, long& answer) {
    const EventIndex event = event_of(call.engine, call.argument[2]);
    if (event == 0) return false;
    Process& process = *known_process(call.engine);
    Epolled watched{};
    watched.epoll = static_cast<std::uint32_t>(call.argument[0]);
    watched.fd = static_cast<std::uint32_t>(call.argument[2]);
    watched.event = event;
    if (call.argument[1] == EPOLL_CTL_DEL) {
        answer = call.pass();
        const Held held{process.lock};
        Epolled* const known = find(process, watched.epoll, watched.fd);
        if (!is_error(answer) && known != nullptr) forget(process, known);
        return true;
    }
    epoll_event wanted{};
    if (!guarded_copy(&wanted, at_address<const void>(call.argument[3]), sizeof wanted)) return false;
    watched.wanted = wanted.events;
    watched.data = wanted.data.u64;
    wanted.events = (wanted.events & kHow) | EPOLLIN | EPOLLET;  // each wake-up is told once
    Call changed = call;
    changed.argument[3] = address_of(&wanted);
    answer = changed.pass();
    if (!is_error(answer)) note(process, watched);
    return true;
}

bool epoll_wait_events(Call& call, long& answer) {
    Process* const process = known_process(call.engine);
    if (process == nullptr || __atomic_load_n(&process->epolled_count, __ATOMIC_RELAXED) == 0) return false;
    const auto most = static_cast<std::int32_t>(call.argument[2]);
    Watched watched;
    list(*process, static_cast<std::uint32_t>(call.argument[0]), watched);
    if (watched.count == 0 || most <= 0) return false;
    const auto room = static_cast<std::size_t>(most);
    answer = tell_ready(call, *process, watched, room);
    if (answer < 0) return true;
    if (answer > 0) {
        const auto count = static_cast<std::size_t>(answer);
        const long others = count < room ? at_once(call, count, room - count) : 0;
        if (others > 0) answer += others;
        return true;
    }
    answer = call.number == __NR_epoll_wait ? call.pass() : engine::handlers::epoll_pwait(call);
    if (answer > 0) correct(call, *process, watched, static_cast<std::size_t>(answer));
    return true;
}

void forget_epolled(Process& process, std::uint64_t first, std::uint64_t last) {
    if (__atomic_load_n(&process.epolled_count, __ATOMIC_RELAXED) == 0) return;
    const auto within = [&](std::uint64_t fd) { return fd >= first && fd <= last; };
    const Held held{process.lock};
    for (std::uint32_t i = 0; i < process.epolled_count;)
        if (within(process.epolled[i].epoll) || within(process.epolled[i].fd))
            forget(process, &process.epolled[i]);
        else
            ++i;
}

}  // namespace anyperf::resident
