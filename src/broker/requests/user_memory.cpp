// user_memory.cpp: moves a process that has become another user's to that user's run memory.
//
// A process that starts as root and becomes another user shares its run memory with root's programs, and could write
// what their engines rely on. So the engine asks for another memory after each call that changes ids
// (engine/syscalls/process.cpp), before the program runs on. The kernel says which ids the process has.
//
// A process keeps its memory as long as it may become that memory's user again: one of its real, effective and saved
// ids is that user's, or a capability lets it choose any. So a program that changes its effective id for a moment
// (seteuid(2)) does not move.
//
// The process has one thread, which waits for the answer. The broker copies the thread's page, its counts and the pages
// of the events that count it. Rings stay where they are: the moved process keeps its mappings of them, so their memory
// is not used again (RunHost::retire_ring), and its samples go there by on_write_record().
#include "broker/requests/user_memory.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "broker/host/proc_task.h"
#include "broker/transport/program_socket.h"

namespace anyperf::broker {

namespace {

using run::UserAnswer;

constexpr unsigned kCapSetgid = 6;
constexpr unsigned kCapSetuid = 7;

/// Ids of one kind of a thread: real, effective and saved. Nothing if the thread is gone.
std::optional<std::array<std::uint32_t, 3>> ids_of(std::int32_t tid, const char* kind) {
    const auto numbers = numbers_of(status_field(tid, kind));
    if (numbers.size() < 3) return std::nullopt;
    return std::array{static_cast<std::uint32_t>(numbers[0]), static_cast<std::uint32_t>(numbers[1]),
                      static_cast<std::uint32_t>(numbers[2])};
}

/// What is to become of a thread that has the memory of `owner`.
struct Decision {
    UserAnswer answer = UserAnswer::stays;
    UserIds user;  ///< whose memory the thread must have now, if the answer is `moved`
};

Decision decide(std::int32_t tid, const UserIds& owner) {
    const auto users = ids_of(tid, "Uid");
    const auto groups = ids_of(tid, "Gid");
    if (!users || !groups) return {};  // it has ended
    const std::uint64_t permitted = capability_set(tid, "CapPrm");
    const bool has_user = std::ranges::find(*users, owner.uid) != users->end();
    const bool has_group = std::ranges::find(*groups, owner.gid) != groups->end();
    if (has_user && has_group) return {};
    const bool can_be =
        (has_user || (permitted >> kCapSetuid & 1) != 0) && (has_group || (permitted >> kCapSetgid & 1) != 0);
    return {can_be ? UserAnswer::stays_by_capability : UserAnswer::moved, {(*users)[1], (*groups)[1]}};
}

/// Moves the thread's page, and the pages of its events, to this user's memory. False if that is not possible.
bool move_thread(RequestContext& request, UserNumber user) {
    BrokerState& state = request.state;
    if (!state.memory.move_page(request.caller.thread_page, user)) return false;
    if (state.machine) {
        for (const EventIndex event : request.subsystem().events_of(request.caller))
            state.memory.move_event(event, user);
        request.subsystem().pages_moved(request.caller);
    }
    state.mappings.for_each(request.kernel.pid, [&](const subsystem::Mapping& mapping) {
        if (state.machine) state.machine->host.retire_ring(mapping.ring);
    });
    // The number of the page is given back when the process has ended, which its pidfd says.
    state.moved_pages.emplace(request.kernel.pid, request.caller.thread_page);
    state.processes.track(request.kernel.pid);
    return true;
}

}  // namespace

RequestAnswer on_change_user(RequestContext& request) {
    if (!is_program_socket(request.descriptor.get(), request.kernel.pid)) return {.is_sent = false};
    RunMemory& memory = request.state.memory;
    const UserNumber now = memory.user_of_page(request.caller.thread_page);
    Decision decision = decide(request.kernel.tid, memory.ids_of(now));
    int descriptor = -1;
    if (decision.answer == UserAnswer::moved) {
        const auto user = memory.user_with(decision.user);
        if (user && move_thread(request, *user))
            descriptor = memory.fd(*user);
        else
            decision.answer = UserAnswer::refused;
    }
    send_with_descriptor(request.descriptor.get(), std::as_bytes(std::span{&decision.answer, 1}), descriptor);
    return {.is_sent = false};
}

RequestAnswer on_write_record(RequestContext& request) {
    return {.value =
                request.subsystem().write_foreign_record(request.caller, request.event(), request.payload) ? 1 : 0};
}

}  // namespace anyperf::broker
