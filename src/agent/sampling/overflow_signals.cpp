// overflow_signals.cpp: O_ASYNC of an event is kept in its page and not passed to the kernel, which would send a signal
// for each byte that the broker writes to the event's socket, not for each overflow.
//
// A signal to this process itself may carry any si_code, so it looks as if the kernel had sent it. The kernel refuses
// its own codes in a signal to another process (rt_sigqueueinfo(2)). So the code is passed in si_errno, with
// kOtherProcessCode as the si_code, and the engine of the other process restores it.
//
// The owner is a number in the event's page. The page may outlive the process that the number names. The start time of
// that process (owner_start) shows whether the number belongs to another process by now.
#include "agent/sampling/overflow_signals.h"

#include <errno.h>
#include <fcntl.h>

#include <algorithm>
#include <string_view>

#include "abi/attr_flags.h"
#include "agent/probes/breakpoints.h"
#include "agent/sampling/local_read.h"
#include "agent/syscalls/descriptors.h"
#include "engine/freestanding/text.h"
#include "engine/own_descriptors.h"
#include "engine/signals/signal_state.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::agent {

using engine::address_of;
using engine::at_address;
using engine::is_error;
using engine::kernel_call;

namespace {

// Signals and si_codes, as in <signal.h>, which the engine does not use.
constexpr std::int32_t kSigIo = 29;
constexpr std::int32_t kSigTrap = 5;
constexpr std::int32_t kPollIn = 1;
constexpr std::int32_t kPollHup = 6;
constexpr std::int32_t kByKernel = 0x80;  // SI_KERNEL
constexpr std::int64_t kBandIn = 0x41;    // POLLIN | POLLRDNORM
constexpr std::int64_t kBandHup = 0x18;   // POLLHUP | POLLERR

/// siginfo_t of SIGPOLL.
struct PollInfo {
    std::int32_t signo;
    std::int32_t error;
    std::int32_t code;
    std::int32_t padding;
    std::int64_t band;
    std::int32_t fd;
    std::uint8_t rest[100];
};
static_assert(sizeof(PollInfo) == 128);

/// What follows si_addr: si_perf_data, si_perf_type, si_perf_flags.
struct PerfInfo {
    std::uint64_t data;
    std::uint32_t type;
    std::uint32_t flags;
};

/// Moves the code to si_errno. The engine of the other process puts it back.
PollInfo for_other_process(PollInfo info) {
    info.error = info.code;
    info.code = run::kOtherProcessCode;
    return info;
}

/// When the process or thread began, in clock ticks since boot: field 22 of /proc/PID/stat (proc(5)). 0: it has ended,
/// or there is no /proc.
std::uint64_t start_of(std::int32_t id) {
    engine::Line path;
    path.text("/proc/").decimal(id).text("/stat").text(std::string_view{"\0", 1});
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): it ends with a NUL
    const long fd = kernel_call(__NR_open, address_of(path.view().data()), O_RDONLY | O_CLOEXEC);
    if (is_error(fd)) return 0;
    char room[512];
    const long got = kernel_call(__NR_read, static_cast<std::uint64_t>(fd), address_of(room), sizeof room);
    kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
    std::string_view text{room, got > 0 ? static_cast<std::size_t>(got) : 0};
    constexpr int kAfterName = 20;  // the name, which may have blanks, is field 2
    text.remove_prefix(std::min(text.rfind(')') + 1, text.size()));
    for (int i = 0; i < kAfterName; ++i) text.remove_prefix(std::min(text.find(' ') + 1, text.size()));
    std::uint64_t start = 0;
    for (std::size_t i = 0; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
        start = start * 10 + static_cast<std::uint64_t>(text[i] - '0');
    return start;
}

/// Whether the owner has ended or its id belongs to another process or thread by now. The kernel has no such check: it
/// keeps a reference to the owner itself, not a number (f_setown()).
bool is_another(const subsystem::Notify& to) {
    return to.owner_start != 0 && start_of(to.owner) != to.owner_start;
}

/// Sends the signal to another process, if that is still the owner. Uses a pidfd, so that no later process with the
/// same id can get the signal. If no pidfd can be made, uses the id.
void send_to_process(engine::Engine& engine, const subsystem::Notify& to, std::int32_t signal, const PollInfo& info) {
    // A pidfd needs a descriptor for a moment, even if the application's table is full.
    const engine::DescriptorRoom room{engine};
    const auto id = static_cast<std::uint64_t>(to.owner);
    const auto number = static_cast<std::uint64_t>(signal);
    const long process = kernel_call(__NR_pidfd_open, id, 0);
    // Checked after the pidfd is open: a later owner of the number cannot get the signal.
    if (!is_another(to)) {
        if (is_error(process))
            kernel_call(__NR_rt_sigqueueinfo, id, number, address_of(&info));
        else
            kernel_call(__NR_pidfd_send_signal, static_cast<std::uint64_t>(process), number, address_of(&info), 0);
    }
    if (!is_error(process)) kernel_call(__NR_close, static_cast<std::uint64_t>(process));
}

/// Sends the signal to a process group, a thread or a process (F_OWNER_PGRP, _TID, _PID). A group gets a plain signal.
/// For a thread three ways are tried: as a thread of this process, as the first thread of another process, and with a
/// plain signal.
void send_to(engine::Engine& engine, const subsystem::Notify& to, std::int32_t signal, const PollInfo& info) {
    const std::int32_t owner = to.owner;
    const auto id = static_cast<std::uint64_t>(static_cast<std::int64_t>(owner));
    const auto number = static_cast<std::uint64_t>(signal);
    const PollInfo other = for_other_process(info);
    if (to.owner_type == F_OWNER_PGRP) {
        kernel_call(__NR_kill, id, number);  // the owner is the group's number below 0, as kill(2) takes it
    } else if (to.owner_type == F_OWNER_TID) {
        const auto own = static_cast<std::uint64_t>(kernel_call(__NR_getpid));
        if (is_error(kernel_call(__NR_rt_tgsigqueueinfo, own, id, number, address_of(&info))) && !is_another(to) &&
            is_error(kernel_call(__NR_rt_tgsigqueueinfo, id, id, number, address_of(&other))))
            kernel_call(__NR_tkill, id, number);
    } else if (owner == static_cast<std::int32_t>(kernel_call(__NR_getpid))) {
        kernel_call(__NR_rt_sigqueueinfo, id, number, address_of(&info));
    } else {
        send_to_process(engine, to, signal, other);
    }
}

/// Sets or clears O_ASYNC. si_fd is the descriptor by which it last went from clear to set (fasync_helper()).
void set_async(EventPage& event, std::uint64_t fd, bool on) {
    if (on && event.notify.on == 0) event.notify.fd = static_cast<std::int32_t>(fd);
    event.notify.on = on ? 1 : 0;
}

void set_owner(EventPage& event, std::int32_t owner, std::int32_t type) {
    event.notify.owner = owner;
    event.notify.owner_type = type;
    event.notify.owner_start = type == F_OWNER_PGRP ? 0 : start_of(owner);
}

}  // namespace

void send_io_signal(Thread& thread, const EventPage& event, bool hang_up) {
    const subsystem::Notify& to = event.notify;
    if (to.on == 0 || to.owner == 0) return;
    const std::int32_t signal = to.signal != 0 ? to.signal : kSigIo;
    PollInfo info{};
    info.signo = signal;
    info.code = to.signal == 0 ? kByKernel : hang_up ? kPollHup : kPollIn;
    if (to.signal != 0) {
        info.band = hang_up ? kBandHup : kBandIn;
        info.fd = to.fd;
    }
    send_to(*thread.engine, to, signal, info);
}

namespace {

/// si_addr: what the sample has as its address (perf_sigtrap() and pending_addr in kernel/events/core.c).
std::uint64_t trap_address(const Thread& thread, const EventPage& event) {
    if (is_breakpoint(event)) return event.shape.bp_addr;
    return counts_faults(event.source) && thread.page_faulted ? thread.faulted_address : 0;
}

}  // namespace

void send_sigtrap(Thread& thread, const EventPage& event) {
    const engine::SignalState& signals = *thread.signals;
    const bool blocked = (signals.mask & engine::signal_bit(kSigTrap)) != 0;
    // Only one is pending at a time, as of any standard signal; also if one event overflows twice at one instruction.
    if (signals.queue.has([](const engine::QueuedSignal& signal) { return signal.info.signo == kSigTrap; })) return;
    engine::x86_64::SignalInfo info{};
    info.signo = kSigTrap;
    info.code = run::kTrapPerf;
    info.address = trap_address(thread, event);
    const PerfInfo about{event.shape.sig_data, event.shape.type, blocked ? 1u : 0u};
    __builtin_memcpy(info.rest, &about, sizeof about);
    // Sent through the kernel, like any signal: the engine's handler queues it, and delivers it at the next safepoint.
    kernel_call(__NR_rt_tgsigqueueinfo, static_cast<std::uint64_t>(thread.page.pid),
                static_cast<std::uint64_t>(thread.tid), kSigTrap, address_of(&info));
}

long ioctl_async(engine::Call& call, EventIndex index) {
    std::int32_t on = 0;
    if (!engine::x86_64::guarded_copy(&on, at_address<const void>(call.argument[2]), sizeof on)) return -EFAULT;
    set_async(existing_process(call.engine)->events[index], call.argument[0], on != 0);
    return 0;
}

bool fcntl_event(engine::Call& call, long& answer) {
    const EventIndex index = event_of(call.engine, call.argument[0]);
    if (index == 0) return false;
    EventPage& event = existing_process(call.engine)->events[index];
    const auto value = static_cast<std::int32_t>(call.argument[2]);
    switch (call.argument[1]) {
        case F_SETFL:
            set_async(event, call.argument[0], (value & O_ASYNC) != 0);
            call.argument[2] &= ~std::uint64_t{O_ASYNC};
            answer = call.pass_to_kernel();
            return true;
        case F_GETFL:
            answer = call.pass_to_kernel();
            if (!is_error(answer) && event.notify.on != 0) answer |= O_ASYNC;
            return true;
        case F_SETOWN:
            answer = call.pass_to_kernel();
            if (!is_error(answer)) set_owner(event, value, value < 0 ? F_OWNER_PGRP : F_OWNER_PID);
            return true;
        case F_SETOWN_EX: {
            struct f_owner_ex owner{};
            answer = call.pass_to_kernel();
            if (!is_error(answer) &&
                engine::x86_64::guarded_copy(&owner, at_address<const void>(call.argument[2]), sizeof owner))
                set_owner(event, owner.type == F_OWNER_PGRP ? -owner.pid : owner.pid, owner.type);
            return true;
        }
        case F_SETSIG:
            answer = call.pass_to_kernel();
            if (!is_error(answer)) event.notify.signal = value;
            return true;
        default: return false;
    }
}

}  // namespace anyperf::agent
