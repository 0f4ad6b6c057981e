// descriptors.cpp: keeps Process::event_of up to date. An event's descriptor is one end of a socket pair. The broker
// has the other end. It knows the inode of the program's end, which identifies the event wherever a descriptor of it
// comes from: dup, fork, SCM_RIGHTS, pidfd_getfd.
//
// To identify a descriptor costs an fstat(2) and a request. So it happens only where a descriptor arrives from outside
// (recvmsg, recvmmsg, pidfd_getfd, exec), or once the table may be wrong (descriptors.h). All else follows from the
// call's arguments.
#include "agent/syscalls/descriptors.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>

#include "agent/broker_request.h"
#include "agent/syscalls/epoll_entries.h"
#include "engine/own_descriptors.h"
#include "engine/syscalls/descriptor_arguments.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::agent {

using engine::address_of;
using engine::is_error;
using engine::kernel_call;

namespace {

/// Whether the descriptor is a socket, as each event's is. If so, sets `inode` to its inode.
bool is_socket(int fd, std::uint64_t& inode) {
    struct stat about{};
    if (is_error(kernel_call(__NR_fstat, static_cast<unsigned>(fd), address_of(&about)))) return false;
    inode = about.st_ino;
    return S_ISSOCK(about.st_mode);
}

/// Asks the broker which event the descriptor refers to; 0: to none.
EventIndex ask_broker(Thread& thread, int fd) {
    std::uint64_t inode = 0;
    if (engine::is_engine_descriptor(*thread.engine, static_cast<unsigned>(fd)) || !is_socket(fd, inode)) return 0;
    const long event = BrokerRequest{thread, run::RequestKind::identify}.argument(0, inode).send();
    return event > 0 ? static_cast<EventIndex>(event) : 0;
}

/// Notes the descriptor in the table if it is an event. Makes the table if the process has none yet.
void identify(Thread& thread, int fd) {
    const EventIndex event = ask_broker(thread, fd);
    if (event != 0 && ensure_process(*thread.engine) != nullptr)
        note_descriptor(thread, static_cast<unsigned>(fd), event);
}

/// Drops the descriptors from epoll sets, except in the child of a vfork: its descriptors are its own, but the memory
/// is its parent's.
void forget_in_epoll_sets(const Thread& thread, std::uint64_t first, std::uint64_t last) {
    Process* const process = existing_process(*thread.engine);
    if (process != nullptr && !thread.owned_by_parent) forget_epoll_entries(*process, first, last);
}

void forget_range(const Thread& thread, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t fd = first; fd <= last && fd < kMaximumDescriptors; ++fd) note_descriptor(thread, fd, 0);
}

// track_received() reads the application's memory after the call, while other threads may change it. So it copies each
// header once and checks bounds on the copy. The worst outcome is that a descriptor is not noticed as an event.

/// Identifies the descriptors that arrived in the control data of the msghdr at `message` (SCM_RIGHTS).
void track_received(Thread& thread, std::uint64_t message) {
    msghdr header{};
    if (!engine::x86_64::guarded_copy(&header, engine::at_address<const void>(message), sizeof header)) return;
    const std::uint64_t end = address_of(header.msg_control) + header.msg_controllen;
    for (std::uint64_t at = address_of(header.msg_control); at + sizeof(cmsghdr) <= end;) {
        cmsghdr part{};
        if (!engine::x86_64::guarded_copy(&part, engine::at_address<const void>(at), sizeof part)) return;
        if (part.cmsg_len < sizeof part || part.cmsg_len > end - at) return;
        for (std::uint64_t place = at + sizeof part;
             part.cmsg_level == SOL_SOCKET && part.cmsg_type == SCM_RIGHTS && place + sizeof(int) <= at + part.cmsg_len;
             place += sizeof(int)) {
            int fd = -1;
            if (!engine::x86_64::guarded_copy(&fd, engine::at_address<const void>(place), sizeof fd)) return;
            if (fd >= 0) identify(thread, fd);
        }
        at += (part.cmsg_len + 7) & ~std::uint64_t{7};
    }
}

}  // namespace

EventIndex event_of(const engine::Engine& engine, std::uint64_t fd) {
    const Process* const process = existing_process(engine);
    const auto number = static_cast<std::uint32_t>(fd);
    if (process == nullptr || number >= kMaximumDescriptors) return 0;
    return __atomic_load_n(&process->event_of[number], __ATOMIC_ACQUIRE);
}

void note_descriptor(const Thread& thread, std::uint64_t fd, EventIndex event) {
    Process* const process = existing_process(*thread.engine);
    // The table is the parent's if this is the child of a vfork, whose descriptors are its own.
    if (process == nullptr || thread.owned_by_parent || fd >= kMaximumDescriptors) return;
    const EventIndex was = process->event_of[fd];
    if (was == event) return;
    __atomic_store_n(&process->event_of[fd], event, __ATOMIC_RELEASE);
    // As long as closes_seen_by_broker is less than close_count, the broker may not have noticed a close
    // (BrokerRequest::send()).
    if (was != 0) __atomic_add_fetch(&process->close_count, 1, __ATOMIC_RELEASE);
}

namespace {

/// When the last descriptor of an event is closed, the broker notices an end of file on its end of the socket pair. It
/// does so before it serves any later request. So one is sent, and the close has had its effects when close(2) returns.
void handle_close(Thread& thread, std::uint32_t fd) {
    const bool event = event_of(*thread.engine, fd) != 0;
    note_descriptor(thread, fd, 0);
    forget_in_epoll_sets(thread, fd, fd);
    if (event) BrokerRequest{thread, run::RequestKind::identify}.send();
}

}  // namespace

void note_clone(const Thread& thread, std::uint64_t clone_flags) {
    const bool shares_memory = (clone_flags & CLONE_VM) != 0;
    // The table is in memory. If the tasks share exactly one of memory and descriptors, it can't be right for both.
    // The child of a vfork is left out, because it does not use the table.
    const bool is_vfork = (clone_flags & CLONE_VFORK) != 0 && shares_memory;
    if (is_vfork || shares_memory == ((clone_flags & CLONE_FILES) != 0) || !has_broker(*thread.engine)) return;
    if (Process* const process = ensure_process(*thread.engine); process != nullptr) process->shares_descriptors = true;
}

void refresh_descriptor(Thread& thread, std::uint64_t fd) {
    const Process* const process = existing_process(*thread.engine);
    if (process == nullptr || !process->shares_descriptors || fd >= kMaximumDescriptors) return;
    note_descriptor(thread, fd, are_events_used(*thread.engine) ? ask_broker(thread, static_cast<int>(fd)) : 0);
}

void refresh_descriptors(const Call& call) {
    const Process* const process = existing_process(call.engine);
    if (process == nullptr || !process->shares_descriptors) [[likely]]
        return;
    constexpr unsigned kGroup = 8;        // the bit of argument 3: perf_event_open's group_fd
    constexpr unsigned kIoctlOutput = 4;  // that of argument 2: a descriptor of PERF_EVENT_IOC_SET_OUTPUT
    unsigned which = engine::descriptor_arguments(call.number);
    if (call.number == __NR_perf_event_open) which = kGroup;
    if (call.number == __NR_ioctl) which |= kIoctlOutput;
    for (unsigned i = 0; which >> i != 0; ++i)
        if ((which >> i & 1) != 0) refresh_descriptor(call.thread, static_cast<std::uint32_t>(call.argument[i]));
}

void track_descriptors(const Call& call, long answer) {
    Thread& thread = call.thread;
    if (is_error(answer)) return;
    const auto& argument = call.argument;
    // A call that brings a descriptor from another process may bring the process's first event. Other calls matter only
    // to a process that has had an event.
    const bool brings = call.number == __NR_recvmsg || call.number == __NR_recvmmsg || call.number == __NR_pidfd_getfd;
    if (existing_process(call.engine) == nullptr && (!brings || !are_events_used(call.engine))) return;
    switch (call.number) {
        case __NR_close: return handle_close(thread, static_cast<std::uint32_t>(argument[0]));
        case __NR_dup2:
        case __NR_dup3:
            if (argument[0] != argument[1]) forget_in_epoll_sets(thread, argument[1], argument[1]);
            [[fallthrough]];
        case __NR_dup:
            return note_descriptor(thread, static_cast<std::uint64_t>(answer), event_of(call.engine, argument[0]));
        case __NR_fcntl:
            if (argument[1] == F_DUPFD || argument[1] == F_DUPFD_CLOEXEC)
                note_descriptor(thread, static_cast<std::uint64_t>(answer), event_of(call.engine, argument[0]));
            return;
        case __NR_close_range: {
            constexpr std::uint64_t kOnlyMark = 4;  // CLOSE_RANGE_CLOEXEC
            const auto first = static_cast<std::uint32_t>(argument[0]);
            const auto last = static_cast<std::uint32_t>(argument[1]);
            constexpr std::uint64_t kUnshare = 2;  // CLOSE_RANGE_UNSHARE
            if ((argument[2] & kUnshare) != 0) existing_process(call.engine)->shares_descriptors = true;
            if ((argument[2] & kOnlyMark) != 0) return;
            forget_range(thread, first, last);
            forget_in_epoll_sets(thread, first, last);
            return;
        }
        case __NR_unshare:
            if ((argument[0] & CLONE_FILES) != 0) existing_process(call.engine)->shares_descriptors = true;
            return;
        case __NR_recvmsg: return track_received(thread, argument[1]);
        case __NR_recvmmsg:
            for (long i = 0; i < answer; ++i)
                track_received(thread, argument[1] + static_cast<std::uint64_t>(i) * sizeof(mmsghdr));
            return;
        case __NR_pidfd_getfd: return identify(thread, static_cast<int>(answer));
        default: return;
    }
}

namespace {

/// Identifies every descriptor number below RLIMIT_NOFILE.
void find_by_number(Thread& thread) {
    rlimit64 limit{kMaximumDescriptors, kMaximumDescriptors};
    kernel_call(__NR_prlimit64, 0, RLIMIT_NOFILE, 0, address_of(&limit));
    const auto end = static_cast<int>(std::min<std::uint64_t>(limit.rlim_cur, kMaximumDescriptors));
    for (int fd = 0; fd < end; ++fd) identify(thread, fd);
}

}  // namespace

void find_descriptors(Thread& thread) {
    struct Entry {  // linux_dirent64
        std::uint64_t inode;
        std::int64_t next;
        std::uint16_t bytes;
        std::uint8_t type;
        char name[1];
    };
    const long directory = kernel_call(__NR_open, address_of("/proc/self/fd"), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (is_error(directory)) return find_by_number(thread);  // no /proc, or no free descriptor
    alignas(8) char room[4096] = {};
    for (;;) {
        const long got = kernel_call(__NR_getdents64, static_cast<unsigned>(directory), address_of(room), sizeof room);
        if (got <= 0) break;
        for (long at = 0; at < got;) {
            const auto* entry = reinterpret_cast<const Entry*>(room + at);
            int fd = 0;
            const char* digit = entry->name;
            for (; *digit >= '0' && *digit <= '9'; ++digit) fd = fd * 10 + (*digit - '0');
            if (digit != entry->name && fd != directory) identify(thread, fd);
            at += entry->bytes;
        }
    }
    kernel_call(__NR_close, static_cast<unsigned>(directory));
}

}  // namespace anyperf::agent
