// call_info.cpp: the requests of ptrace(2) that show and change the registers, the system call or the signal of a
// tracee that has stopped.
#include <asm/unistd.h>
#include <errno.h>

#include <algorithm>

#include "engine/signals/engine_signals.h"
#include "engine/signals/signal_state.h"
#include "engine/syscalls/tracing/tracee.h"
#include "engine/threads/run_records.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

using x86_64::guarded_copy;

constexpr std::uint64_t kGeneralRegisters = 1;  // NT_PRSTATUS
// struct user (asm/user_64.h), which begins with the general registers.
constexpr std::uint64_t kBytesOfUser = 928;

/// struct ptrace_syscall_info (linux/ptrace.h).
struct CallInfo {
    std::uint8_t where = 0;
    std::uint8_t padding[3] = {};
    std::uint32_t architecture = 0xc000003e;  // AUDIT_ARCH_X86_64
    std::uint64_t rip = 0, rsp = 0;
    union {
        struct {
            std::uint64_t number;
            std::uint64_t argument[6];
        } entry = {};
        struct {
            std::uint64_t result;
            std::uint8_t is_error;
        } exit;
    };
};

/// A stop at a call, where it is, and the request's arguments.
struct StoppedTracee {
    std::int32_t task;
    std::uint64_t place;
    TraceeStop stop;
    std::uint64_t address, data;

    /// Notes that the tracer looks at the registers.
    void note_debugger() const {
        constexpr std::uint32_t kLooked[2] = {1, 0};
        if (stop.debugged == 0) write_tracee(task, place + offsetof(TraceeStop, debugged), kLooked, sizeof kLooked);
    }

    /// Replaces the registers in the tracee.
    long store() const {
        const std::uint64_t to = place + offsetof(TraceeStop, registers);
        return write_tracee(task, to, &stop.registers, sizeof stop.registers) ? 0 : -EIO;
    }
};

long copied(bool done) {
    return done ? 0 : -EFAULT;
}

/// Whether the request is about a debug register.
bool is_debug_register(std::uint64_t request, std::uint64_t address) {
    return (request == kPeekUser || request == kPokeUser) && address % 8 == 0 && address >= kDebugRegisters &&
           address < kBytesOfUser;
}

/// PTRACE_PEEKUSER and PTRACE_POKEUSER of a general register. False: it is another one.
bool user_word(StoppedTracee& at, bool writes, long& answer) {
    if (at.address % 8 != 0 || at.address >= kBytesOfUser) {
        answer = -EIO;
        return true;
    }
    if (at.address >= sizeof at.stop.registers) return false;
    std::uint64_t* const word = &at.stop.registers.r15 + at.address / 8;
    if (writes) {
        *word = at.data;
        answer = at.store();
    } else {
        answer = copied(guarded_copy(at_address<void>(at.data), word, sizeof *word));
    }
    return true;
}

/// PTRACE_GETREGSET and PTRACE_SETREGSET of the general registers. False: it is another set.
bool register_set(StoppedTracee& at, bool writes, long& answer) {
    if (at.address != kGeneralRegisters) return false;
    struct {
        std::uint64_t base, bytes;
    } place{};
    answer = -EFAULT;
    if (!guarded_copy(&place, at_address<void>(at.data), sizeof place)) return true;
    // The kernel refuses parts of a register (ptrace_regset()).
    answer = -EINVAL;
    if (place.bytes % 8 != 0) return true;
    place.bytes = std::min<std::uint64_t>(place.bytes, sizeof at.stop.registers);
    void* const ours = &at.stop.registers;
    auto* const theirs = at_address<void>(place.base);
    answer = copied(writes ? guarded_copy(ours, theirs, place.bytes) : guarded_copy(theirs, ours, place.bytes));
    if (answer == 0 && writes) answer = at.store();
    if (answer == 0) answer = copied(guarded_copy(at_address<void>(at.data + 8), &place.bytes, sizeof place.bytes));
    return true;
}

/// PTRACE_GET_SYSCALL_INFO: as much as fits into `address` bytes. Returns how much there is.
long call_info(const StoppedTracee& at) {
    const TracedRegisters& r = at.stop.registers;
    CallInfo info;
    info.where = static_cast<std::uint8_t>(at.stop.where);
    info.rip = r.rip, info.rsp = r.rsp;
    std::size_t bytes = offsetof(CallInfo, exit.is_error) + 1;
    if (at.stop.where == TraceeStop::elsewhere) {
        bytes = offsetof(CallInfo, entry);
    } else if (at.stop.where == TraceeStop::before_call) {
        info.entry = {r.call, {r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9}};
        bytes = sizeof info;
    } else {
        constexpr std::uint64_t kLargestError = 4095;
        info.exit = {r.rax, static_cast<std::uint8_t>(r.rax >= ~kLargestError + 1)};
    }
    if (!guarded_copy(at_address<void>(at.data), &info, std::min<std::uint64_t>(bytes, at.address))) return -EFAULT;
    return static_cast<long>(bytes);
}

/// PTRACE_GETSIGINFO: that of a stop without a signal (ptrace_do_notify()).
long shown_signal_info(const Engine& engine, std::int32_t task, std::uint64_t place, TraceeStop::Where where) {
    x86_64::SignalInfo info{};
    info.signo = kTrap;
    info.code = where == TraceeStop::interrupted ? kTrap | kInterruptMark
                : stops_are_marked(engine, task) ? kTrap | kCallMark
                                                 : kTrap;
    info.address = static_cast<std::uint32_t>(task) | kernel_call(__NR_getuid) << 32;  // si_pid and si_uid
    return copied(guarded_copy(at_address<void>(place), &info, sizeof info));
}

/// PTRACE_GETSIGINFO or PTRACE_SETSIGINFO at a signal's stop.
long signal_info(StoppedTracee& at, bool writes) {
    x86_64::SignalInfo& info = at.stop.info;
    if (!writes) return copied(guarded_copy(at_address<void>(at.data), &info, sizeof info));
    if (!guarded_copy(&info, at_address<void>(at.data), sizeof info)) return -EFAULT;
    return write_tracee(at.task, at.place + offsetof(TraceeStop, info), &info, sizeof info) ? 0 : -EIO;
}

/// A request about a tracee at a stop of the kernel's. False: the request is another one, or the registers are not
/// known.
bool answer_elsewhere(std::uint64_t request, StoppedTracee& at, long& answer) {
    const bool known = request == kGetCallInfo || request == kGetRegisters || request == kPeekUser ||
                       (request == kGetRegisterSet && at.address == kGeneralRegisters);
    if (!known || !registers_in_engine(at.task, at.stop.registers)) return false;
    switch (request) {
        case kGetCallInfo: answer = call_info(at); return true;
        case kPeekUser: return user_word(at, false, answer);
        case kGetRegisterSet: return register_set(at, false, answer);
        default:
            answer = copied(guarded_copy(at_address<void>(at.data), &at.stop.registers, sizeof at.stop.registers));
            return true;
    }
}

/// The signals that the tracee has a handler for; none if its engine has only begun.
std::uint64_t caught_signals(std::int32_t task) {
    TracedRegisters of_engine{};
    std::uint64_t signals = 0;  // the addresses of Thread::signals and SignalState::actions
    std::uint64_t actions = 0;
    std::uint64_t caught = 0;
    if (is_error(trace_call(kGetRegisters, task, 0, address_of(&of_engine))) || of_engine.gs_base == 0 ||
        !read_tracee(task, of_engine.gs_base + offsetof(Thread, signals), &signals, sizeof signals) ||
        !read_tracee(task, signals + offsetof(SignalState, actions), &actions, sizeof actions) ||
        !read_tracee(task, actions + SignalActions::offset_of_caught(), &caught, sizeof caught))
        return 0;
    return caught;
}

}  // namespace

bool stops_are_marked(const Engine& engine, std::int32_t task) {
    const std::uint32_t* const state = trace_state_of(engine, page_of_thread(engine, task));
    return state != nullptr && (__atomic_load_n(state, __ATOMIC_RELAXED) & run::trace::kMarked) != 0;
}

long trace_call(TraceRequest request, std::int32_t task, std::uint64_t address, std::uint64_t data) {
    return kernel_call(__NR_ptrace, request, static_cast<std::uint64_t>(task), address, data);
}

bool signal_of(std::int32_t task, x86_64::SignalInfo& info) {
    return !is_error(trace_call(kGetSignalInfo, task, 0, address_of(&info)));
}

std::uint64_t place_of_stop(const x86_64::SignalInfo& info) {
    std::uint64_t place = 0;
    __builtin_memcpy(&place, info.rest, sizeof place);
    return place;
}

bool registers_in_engine(std::int32_t task, TracedRegisters& registers) {
    TracedRegisters of_engine{};
    if (is_error(trace_call(kGetRegisters, task, 0, address_of(&of_engine))) || of_engine.gs_base == 0) return false;
    const auto read = [&](std::size_t offset, auto& out) {
        return read_tracee(task, of_engine.gs_base + offset, &out, sizeof out);
    };
    std::uint64_t in_cache = 0;  // the first byte of the word
    x86_64::Registers known;
    if (!read(offsetof(Thread, in_cache), in_cache) || (in_cache & 0xff) != 0 ||
        !read(offsetof(Thread, registers), known) || !read(offsetof(Thread, gs_base), registers.gs_base))
        return false;
    put_registers(known, registers);
    registers.fs_base = of_engine.fs_base;
    return true;
}

bool is_near_safepoint(const Engine& engine, std::int32_t task) {
    TracedRegisters of_engine{};
    return !is_error(trace_call(kGetRegisters, task, 0, address_of(&of_engine))) && of_engine.gs_base != 0 &&
           !is_in_call(engine, task);
}

bool go_on_to_safepoint(const Engine& engine, std::int32_t task) {
    const run::ProcessRecord* const process = record_of_thread(engine, task);
    const x86_64::SignalInfo info = StoppedSignal::interrupt();
    return process != nullptr &&
           !is_error(kernel_call(__NR_rt_tgsigqueueinfo, static_cast<std::uint64_t>(process->pid),
                                 static_cast<std::uint64_t>(task), static_cast<unsigned>(kTrap), address_of(&info))) &&
           !is_error(trace_call(kContinue, task));
}

bool pass_to_engine(std::int32_t task, const x86_64::SignalInfo& info) {
    const auto number = static_cast<std::uint64_t>(info.signo);
    const bool has_handler = StoppedSignal::is(info) || (kAlwaysCaughtSignals & signal_bit(info.signo)) != 0 ||
                             (caught_signals(task) & signal_bit(info.signo)) != 0;
    if (has_handler) return !is_error(trace_call(kContinue, task, 0, number));
    const x86_64::SignalInfo packed = StoppedSignal::packed(info);
    return !is_error(trace_call(kSetSignalInfo, task, 0, address_of(&packed))) &&
           !is_error(trace_call(kContinue, task, 0, static_cast<std::uint64_t>(kTrap)));
}

bool read_tracee(std::int32_t task, std::uint64_t from, void* to, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += 8)
        if (is_error(trace_call(kPeekData, task, from + at, address_of(to) + at))) return false;
    return true;
}

bool write_tracee(std::int32_t task, std::uint64_t to, const void* from, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += 8) {
        std::uint64_t word = 0;
        __builtin_memcpy(&word, static_cast<const char*>(from) + at, sizeof word);
        if (is_error(trace_call(kPokeData, task, to + at, word))) return false;
    }
    return true;
}

bool answer_at_stop(const Engine& engine, std::uint64_t request, std::int32_t task, std::uint64_t address,
                    std::uint64_t data, long& answer) {
    x86_64::SignalInfo info{};
    const bool changes_trace = request == kInterrupt || request == kListen || request == kSeize || request == kAttach;
    if (is_debug_register(request, address)) {  // also at a stop of the whole process, which has no signal
        answer = debug_register(engine, task, address, request == kPokeUser, data);
        return true;
    }
    if (changes_trace) return false;
    if (!signal_of(task, info) || !is_tracee_stop(info)) {  // no signal: a stop of the whole process
        StoppedTracee elsewhere{.task = task, .place = 0, .stop = {}, .address = address, .data = data};
        return answer_elsewhere(request, elsewhere, answer);
    }
    StoppedTracee at{.task = task, .place = place_of_stop(info), .stop = {}, .address = address, .data = data};
    if (!read_tracee(task, at.place, &at.stop, sizeof at.stop)) return false;
    TracedRegisters& registers = at.stop.registers;
    const bool at_signal = at.stop.where == TraceeStop::at_signal;
    const bool at_call = at.stop.is_at_call();
    if (!at_call && request != kGetSignalInfo) at.note_debugger();
    switch (request) {
        case kPeekUser: return user_word(at, false, answer);
        case kPokeUser: return user_word(at, true, answer);
        case kGetRegisterSet: return register_set(at, false, answer);
        case kSetRegisterSet: return register_set(at, true, answer);
        case kGetRegisters: answer = copied(guarded_copy(at_address<void>(data), &registers, sizeof registers)); break;
        case kSetRegisters:
            answer = copied(guarded_copy(&registers, at_address<void>(data), sizeof registers));
            if (answer == 0) answer = at.store();
            break;
        case kGetCallInfo:
            // The kernel recognises its stops at calls by their mark (ptrace_get_syscall_info()).
            if (!at_call || !stops_are_marked(engine, task)) at.stop.where = TraceeStop::elsewhere;
            answer = call_info(at);
            break;
        case kGetSignalInfo:
            answer = at_signal ? signal_info(at, false) : shown_signal_info(engine, task, data, at.stop.where);
            break;
        // At a call the kernel keeps it for the stop only.
        case kSetSignalInfo: answer = at_signal ? signal_info(at, true) : 0; break;
        case kGetEventMessage: {
            const std::uint64_t where = at_call ? static_cast<std::uint64_t>(at.stop.where) : 0;
            answer = copied(guarded_copy(at_address<void>(data), &where, sizeof where));
            break;
        }
        default: return false;
    }
    return true;
}

}  // namespace anyperf::engine
