// id_calls.cpp: the ids of processes and threads in the arguments and answers of system calls (engine/shown_ids.h).
// Everybody else who answers the call sees the kernel's ids.
#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <array>

#include "engine/freestanding/text.h"
#include "engine/log.h"
#include "engine/shown_ids.h"
#include "engine/syscalls/proc_path.h"
#include "engine/syscalls/turn_calls.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine::turn_calls {

namespace {

using turns::real_of;
using turns::shown_of;

/// Arguments that are ids, a bit each.
constexpr std::uint8_t kFirst = 1;
constexpr std::uint8_t kSecond = 2;
constexpr std::uint32_t kAlways = ~0u;

struct IdRow {
    std::uint16_t number;
    std::uint8_t arguments = 0;
    bool answer = false;             ///< the answer is an id
    std::uint32_t unless = kAlways;  ///< the first argument with which the second one is something else
    int path = -1;                   ///< the argument that is a path; -1: none
};

constexpr std::uint32_t kPriorityOfUser = 3;  // IOPRIO_WHO_USER (ioprio_set(2))

constexpr std::array kRows{
    IdRow{.number = __NR_open, .path = 0},
    IdRow{.number = __NR_stat, .path = 0},
    IdRow{.number = __NR_lstat, .path = 0},
    IdRow{.number = __NR_access, .path = 0},
    IdRow{.number = __NR_getpid, .answer = true},
    IdRow{.number = __NR_clone, .answer = true},
    IdRow{.number = __NR_fork, .answer = true},
    IdRow{.number = __NR_vfork, .answer = true},
    IdRow{.number = __NR_execve, .path = 0},
    IdRow{.number = __NR_wait4, .arguments = kFirst, .answer = true},
    IdRow{.number = __NR_kill, .arguments = kFirst},
    IdRow{.number = __NR_chdir, .path = 0},
    IdRow{.number = __NR_readlink, .path = 0},
    IdRow{.number = __NR_ptrace, .arguments = kSecond, .unless = 0},
    IdRow{.number = __NR_setpgid, .arguments = kFirst | kSecond},
    IdRow{.number = __NR_getppid, .answer = true},
    IdRow{.number = __NR_getpgrp, .answer = true},
    IdRow{.number = __NR_setsid, .answer = true},
    IdRow{.number = __NR_getpgid, .arguments = kFirst, .answer = true},
    IdRow{.number = __NR_getsid, .arguments = kFirst, .answer = true},
    IdRow{.number = __NR_rt_sigqueueinfo, .arguments = kFirst},
    IdRow{.number = __NR_getpriority, .arguments = kSecond, .unless = PRIO_USER},
    IdRow{.number = __NR_setpriority, .arguments = kSecond, .unless = PRIO_USER},
    IdRow{.number = __NR_sched_setparam, .arguments = kFirst},
    IdRow{.number = __NR_sched_getparam, .arguments = kFirst},
    IdRow{.number = __NR_sched_setscheduler, .arguments = kFirst},
    IdRow{.number = __NR_sched_getscheduler, .arguments = kFirst},
    IdRow{.number = __NR_sched_rr_get_interval, .arguments = kFirst},
    IdRow{.number = __NR_gettid, .answer = true},
    IdRow{.number = __NR_tkill, .arguments = kFirst},
    IdRow{.number = __NR_sched_setaffinity, .arguments = kFirst},
    IdRow{.number = __NR_sched_getaffinity, .arguments = kFirst},
    IdRow{.number = __NR_set_tid_address, .answer = true},
    IdRow{.number = __NR_tgkill, .arguments = kFirst | kSecond},
    IdRow{.number = __NR_waitid, .arguments = kSecond, .unless = P_PIDFD},
    IdRow{.number = __NR_ioprio_set, .arguments = kSecond, .unless = kPriorityOfUser},
    IdRow{.number = __NR_ioprio_get, .arguments = kSecond, .unless = kPriorityOfUser},
    IdRow{.number = __NR_migrate_pages, .arguments = kFirst},
    IdRow{.number = __NR_openat, .path = 1},
    IdRow{.number = __NR_newfstatat, .path = 1},
    IdRow{.number = __NR_readlinkat, .path = 1},
    IdRow{.number = __NR_faccessat, .path = 1},
    IdRow{.number = __NR_get_robust_list, .arguments = kFirst},
    IdRow{.number = __NR_move_pages, .arguments = kFirst},
    IdRow{.number = __NR_rt_tgsigqueueinfo, .arguments = kFirst | kSecond},
    IdRow{.number = __NR_perf_event_open, .arguments = kSecond},
    IdRow{.number = __NR_prlimit64, .arguments = kFirst},
    IdRow{.number = __NR_process_vm_readv, .arguments = kFirst},
    IdRow{.number = __NR_process_vm_writev, .arguments = kFirst},
    IdRow{.number = __NR_kcmp, .arguments = kFirst | kSecond},
    IdRow{.number = __NR_sched_setattr, .arguments = kFirst},
    IdRow{.number = __NR_sched_getattr, .arguments = kFirst},
    IdRow{.number = __NR_statx, .path = 1},
    IdRow{.number = __NR_pidfd_open, .arguments = kFirst},
    IdRow{.number = __NR_clone3, .answer = true},
    IdRow{.number = __NR_openat2, .path = 1},
    IdRow{.number = __NR_faccessat2, .path = 1},
};
static_assert(std::ranges::is_sorted(kRows, {}, &IdRow::number));

const IdRow* row_of(std::uint64_t number) {
    const auto* const row = std::ranges::lower_bound(kRows, number, {}, &IdRow::number);
    return row != kRows.end() && row->number == number ? row : nullptr;
}

/// Calls without a row that have ids in memory, in a clock or for some values of their arguments.
constexpr std::array kOtherCalls{
    __NR_getcwd,       __NR_ioctl,         __NR_sendmsg,      __NR_recvmsg,         __NR_getsockopt,
    __NR_fcntl,        __NR_capget,        __NR_capset,       __NR_rt_sigtimedwait, __NR_prctl,
    __NR_timer_create, __NR_clock_gettime, __NR_clock_getres, __NR_clock_nanosleep,
};

/// By number: whether the call may have an id of a process or thread. Most calls have none, and pay only for this.
constexpr auto kMayHaveIds = [] {
    std::array<bool, 512> table{};
    for (const IdRow& row : kRows) table[row.number] = true;
    for (const int number : kOtherCalls) table[static_cast<std::size_t>(number)] = true;
    return table;
}();

bool may_have_ids(std::uint64_t number) {
    return number < kMayHaveIds.size() && kMayHaveIds[number];
}

/// An id in the application's memory.
struct IdPlace {
    std::uint64_t structure;  ///< 0: none
    std::uint32_t bytes;
    std::uint32_t offset;
};

constexpr IdPlace kNowhere{0, 0, 0};
constexpr std::uint32_t kNotify = 12;  // offsets in struct sigevent
constexpr std::uint32_t kNotifyThread = 16;
constexpr std::uint32_t kThreadId = 4;          // SIGEV_THREAD_ID
constexpr std::uint32_t kSiPid = 16;            // offset in siginfo_t
constexpr std::uint64_t kPtracer = 0x59616d61;  // PR_SET_PTRACER

/// The id that the call takes from memory.
IdPlace id_given(const Call& call) {
    const std::uint64_t* const argument = call.argument;
    switch (call.number) {
        case __NR_fcntl: return argument[1] == F_SETOWN_EX ? IdPlace{argument[2], 8, 4} : kNowhere;
        case __NR_ioctl:
            switch (argument[1]) {
                case TIOCSPGRP:
                case FIOSETOWN:
                case SIOCSPGRP: return {argument[2], 4, 0};
                default: return kNowhere;
            }
        case __NR_capget:
        case __NR_capset: return {argument[0], 8, 4};
        case __NR_timer_create: {
            std::int32_t notify = 0;
            const bool to_thread =
                argument[1] != 0 &&
                x86_64::guarded_copy(&notify, at_address<const void>(argument[1] + kNotify), sizeof notify) &&
                notify == kThreadId;
            return to_thread ? IdPlace{argument[1], 64, kNotifyThread} : kNowhere;
        }
        default: return kNowhere;
    }
}

/// The id that the call has written.
IdPlace id_written(const Call& call) {
    const std::uint64_t* const argument = call.argument;
    switch (call.number) {
        case __NR_fcntl:
            if (argument[1] == F_GETOWN_EX) return {argument[2], 8, 4};
            return argument[1] == F_GETLK || argument[1] == F_OFD_GETLK ? IdPlace{argument[2], 32, 24} : kNowhere;
        case __NR_ioctl:
            switch (argument[1]) {
                case TIOCGPGRP:
                case TIOCGSID:
                case FIOGETOWN:
                case SIOCGPGRP: return {argument[2], 4, 0};
                default: return kNowhere;
            }
        case __NR_getsockopt:
            return argument[1] == SOL_SOCKET && argument[2] == SO_PEERCRED ? IdPlace{argument[3], 4, 0} : kNowhere;
        case __NR_waitid: return {argument[2], 20, kSiPid};
        default: return kNowhere;
    }
}

/// Translates the id that is shown at the place. Places that cannot be read or written are the call's own error.
void show_id_at(turns::Turns& turns, const IdPlace& place) {
    std::int32_t id = 0;
    const std::uint64_t at = place.structure + place.offset;
    if (place.structure == 0 || !x86_64::guarded_copy(&id, at_address<const void>(at), sizeof id)) return;
    const std::int32_t shown = shown_of(turns, id);
    if (shown != id) x86_64::guarded_copy(at_address<void>(at), &shown, sizeof shown);
}

/// Ids of processes in clocks of CPU time (clock_getcpuclockid(3)): ~id above three bits.
bool takes_clock(std::uint64_t number) {
    return number == __NR_clock_gettime || number == __NR_clock_getres || number == __NR_clock_nanosleep ||
           number == __NR_timer_create;
}

std::int32_t real_clock(const turns::Turns& turns, std::int32_t clock) {
    constexpr std::int32_t kKind = 7;
    constexpr std::int32_t kOfDescriptor = 3;
    if (clock >= 0 || (clock & kOfDescriptor) == kOfDescriptor) return clock;
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(~real_of(turns, ~(clock >> 3))) << 3 |
                                     static_cast<std::uint32_t>(clock & kKind));
}

/// The control message with credentials in a message header of sendmsg(2) or recvmsg(2): where it has the id; 0: none.
std::uint64_t credentials_in(std::uint64_t header) {
    msghdr message{};
    if (!x86_64::guarded_copy(&message, at_address<const void>(header), sizeof message)) return 0;
    const std::uint64_t start = address_of(message.msg_control);
    constexpr std::uint64_t kMost = 4096;
    for (std::uint64_t at = 0; at + sizeof(cmsghdr) <= std::min<std::uint64_t>(message.msg_controllen, kMost);) {
        cmsghdr control{};
        if (!x86_64::guarded_copy(&control, at_address<const void>(start + at), sizeof control)) return 0;
        if (control.cmsg_level == SOL_SOCKET && control.cmsg_type == SCM_CREDENTIALS)
            return start + at + sizeof control;
        if (control.cmsg_len < sizeof control) return 0;
        at += (control.cmsg_len + 7) & ~std::uint64_t{7};
    }
    return 0;
}

void put_id(std::uint64_t place, std::int32_t id) {
    x86_64::guarded_copy(at_address<void>(place), &id, sizeof id);
}

std::int32_t get_id(std::uint64_t place) {
    std::int32_t id = 0;
    x86_64::guarded_copy(&id, at_address<const void>(place), sizeof id);
    return id;
}

/// readlink(2) of /proc/self and /proc/thread-self: the links name the caller's ids.
void show_own_link(const Call& call, std::string_view path, long& answer) {
    const bool of_thread = path == "/proc/thread-self";
    if (path != "/proc/self" && !of_thread) return;
    const turns::TurnSlot& slot = turns::slot_of(call.thread);
    Line text;
    text.decimal(slot.shown_pid);
    if (of_thread) text.text("/task/").decimal(slot.shown_tid);
    const unsigned buffer = call.number == __NR_readlink ? 1 : 2;
    const std::size_t length = std::min<std::uint64_t>(text.view().size(), call.argument[buffer + 1]);
    if (x86_64::guarded_copy(at_address<void>(call.argument[buffer]), text.view().data(), length))
        answer = static_cast<long>(length);
}

/// A path that the call has written to the buffer of argument `buffer`, of `answer` bytes. If it is below the directory
/// of a process, as readlink(2) of a directory's descriptor gives it, the kernel names that by its own id.
void show_process_in_path(const Call& call, unsigned buffer, long& answer) {
    constexpr std::string_view kProcesses = "/proc/";
    char link[kLongestProcPath];
    if (answer > static_cast<long>(sizeof link)) return;
    const auto length = static_cast<std::size_t>(answer);
    if (!x86_64::guarded_copy(link, at_address<const void>(call.argument[buffer]), length)) return;
    std::string_view rest{link, length};
    if (!rest.starts_with(kProcesses)) return;
    rest.remove_prefix(kProcesses.size());
    // getcwd(2) counts a NUL at the end.
    const std::string_view id = rest.substr(0, std::min(rest.find_first_of(std::string_view{"/\0", 2}), rest.size()));
    const std::int32_t real = decimal_number(id);
    if (real == 0) return;
    rest.remove_prefix(id.size());
    Line text;
    text.text(kProcesses).decimal(shown_of(*call.engine.turns, real)).text(rest);
    const std::size_t copied = std::min<std::uint64_t>(text.view().size(), call.argument[buffer + 1]);
    if (x86_64::guarded_copy(at_address<void>(call.argument[buffer]), text.view().data(), copied))
        answer = static_cast<long>(copied);
}

}  // namespace

IdTranslation::IdTranslation(Call& call)
    : call_(call), on_(may_have_ids(call.number) && turns::shows_ids(call.engine)) {
    if (!on_) return;
    std::ranges::copy(call.argument, given_);
    turns::Turns& turns = *call.engine.turns;
    const auto translate = [&](unsigned index) {
        const auto shown = static_cast<std::int32_t>(call.argument[index]);
        const std::int32_t real = real_of(turns, shown);
        if (real != shown) call.argument[index] = static_cast<std::uint64_t>(std::int64_t{real});
    };
    if (takes_clock(call.number))
        call.argument[0] =
            static_cast<std::uint64_t>(std::int64_t{real_clock(turns, static_cast<std::int32_t>(call.argument[0]))});
    if (call.number == __NR_fcntl && call.argument[1] == F_SETOWN) translate(2);
    if (call.number == __NR_prctl && call.argument[0] == kPtracer) translate(1);
    translate_memory();
    const IdRow* const row = row_of(call.number);
    if (row == nullptr) return;
    if (row->path >= 0) translate_path(static_cast<unsigned>(row->path));
    const bool other = row->unless == static_cast<std::uint32_t>(call.argument[0]);
    if ((row->arguments & kFirst) != 0) translate(0);
    if ((row->arguments & kSecond) != 0 && !other) translate(1);
}

void IdTranslation::translate_memory() {
    turns::Turns& turns = *call_.engine.turns;
    if (call_.number == __NR_sendmsg) {
        // The kernel reads the id while the call is made; afterwards it is the program's again.
        credentials_ = credentials_in(call_.argument[1]);
        if (credentials_ == 0) return;
        credentials_id_ = get_id(credentials_);
        put_id(credentials_, real_of(turns, credentials_id_));
        return;
    }
    const IdPlace place = id_given(call_);
    if (place.structure == 0 || !x86_64::guarded_copy(structure_, at_address<const void>(place.structure), place.bytes))
        return;
    std::int32_t id = 0;
    __builtin_memcpy(&id, structure_ + place.offset, sizeof id);
    const std::int32_t real = real_of(turns, id);
    // capget(2) writes to the header if its version is not known, so it stays in place where nothing is translated.
    if (real == id) return;
    __builtin_memcpy(structure_ + place.offset, &real, sizeof real);
    const unsigned index = call_.number == __NR_timer_create ? 1 : place.structure == call_.argument[0] ? 0 : 2;
    call_.argument[index] = address_of(structure_);
}

void IdTranslation::translate_path(unsigned index) {
    constexpr std::string_view kProc = "/proc/";
    char start[kProc.size()];
    const std::uint64_t at = call_.argument[index];
    if (!x86_64::guarded_copy(start, at_address<const void>(at), sizeof start) ||
        std::string_view{start, sizeof start} != kProc)
        return;
    char room[kLongestProcPath];
    std::string_view path = copy_short_path(at, room);
    Line real;
    bool changed = false;
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('/'), path.size());
        const std::int32_t number = decimal_number(path.substr(0, end));
        const std::int32_t id = real_of(*call_.engine.turns, number);
        changed = changed || id != number;
        if (id != number)
            real.decimal(id);
        else
            real.text(path.substr(0, end));
        path.remove_prefix(end);
        if (path.empty()) break;
        real.text("/");
        path.remove_prefix(1);
    }
    if (!changed || real.view().size() >= sizeof path_) return;
    __builtin_memcpy(path_, real.view().data(), real.view().size());
    path_[real.view().size()] = 0;
    call_.argument[index] = address_of(path_);
}

long IdTranslation::answer_of(long answer) {
    if (!on_) return answer;
    turns::Turns& turns = *call_.engine.turns;
    std::ranges::copy(given_, call_.argument);
    if (credentials_ != 0) put_id(credentials_, credentials_id_);
    if (is_error(answer) || answer == kRestartSyscall) return answer;
    show_id_at(turns, id_written(call_));
    if (call_.number == __NR_recvmsg)
        if (const std::uint64_t place = credentials_in(call_.argument[1]); place != 0) show_id_at(turns, {place, 4, 0});
    if (call_.number == __NR_rt_sigtimedwait && call_.argument[1] != 0) {
        x86_64::SignalInfo info{};
        if (x86_64::guarded_copy(&info, at_address<const void>(call_.argument[1]), sizeof info)) {
            turns::show_sender(call_.engine, info);
            x86_64::guarded_copy(at_address<void>(call_.argument[1]), &info, sizeof info);
        }
    }
    const IdRow* const row = row_of(call_.number);
    const bool is_owner = call_.number == __NR_fcntl && call_.argument[1] == F_GETOWN;
    if (is_owner || (row != nullptr && row->answer)) return shown_of(turns, static_cast<std::int32_t>(answer));
    if (call_.number == __NR_readlink || call_.number == __NR_readlinkat) {
        char room[kLongestProcPath];
        show_process_in_path(call_, call_.number == __NR_readlink ? 1 : 2, answer);
        show_own_link(call_, copy_short_path(call_.argument[call_.number == __NR_readlink ? 0 : 1], room), answer);
    }
    if (call_.number == __NR_getcwd) show_process_in_path(call_, 0, answer);
    return answer;
}

void log_call(const Call& call, std::string_view name, long answer) {
    const IdRow* const row = row_of(call.number);
    char room[kLongestProcPath];
    const bool has_path = row != nullptr && row->path >= 0;
    log_scheduled_call(call, name, has_path ? copy_short_path(call.argument[row->path], room) : "", answer);
}

}  // namespace anyperf::engine::turn_calls
