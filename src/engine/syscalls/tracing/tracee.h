// tracee.h: a thread of the run that has stopped for its tracer (ptrace(2)), as the tracer's engine sees it.
#pragma once

#include <cstdint>

#include "engine/tracee_stops.h"

namespace anyperf::engine {

/// Requests of ptrace(2) by their numbers in the kernel.
enum TraceRequest : std::uint64_t {
    kTraceMe = 0,
    kPeekText = 1,
    kPeekData = 2,
    kPeekUser = 3,
    kPokeText = 4,
    kPokeData = 5,
    kPokeUser = 6,
    kContinue = 7,
    kKill = 8,
    kSingleStep = 9,
    kGetRegisters = 12,
    kSetRegisters = 13,
    kGetFloatRegisters = 14,
    kSetFloatRegisters = 15,
    kAttach = 16,
    kDetach = 17,
    kStopAtCalls = 24,  ///< PTRACE_SYSCALL
    kSetOptions = 0x4200,
    kGetEventMessage = 0x4201,
    kGetSignalInfo = 0x4202,
    kSetSignalInfo = 0x4203,
    kGetRegisterSet = 0x4204,
    kSetRegisterSet = 0x4205,
    kSeize = 0x4206,
    kInterrupt = 0x4207,
    kListen = 0x4208,
    kPeekSignalInfo = 0x4209,
    kGetCallInfo = 0x420e,  ///< PTRACE_GET_SYSCALL_INFO
};

/// Where the debug registers begin in struct user (asm/user_64.h).
inline constexpr std::uint64_t kDebugRegisters = 848;

/// Of the signal of a stop: the stop is one at a system call.
inline constexpr std::int32_t kCallMark = 0x80;
/// The same: it is one of PTRACE_INTERRUPT or of the whole process (PTRACE_EVENT_STOP).
inline constexpr std::int32_t kInterruptMark = 0x80 << 8;

/// Whether the tracer wants kCallMark (PTRACE_O_TRACESYSGOOD).
bool stops_are_marked(const Engine& engine, std::int32_t task);

/// Makes a request of the kernel.
long trace_call(TraceRequest request, std::int32_t task, std::uint64_t address = 0, std::uint64_t data = 0);

/// Reads the signal that the tracee has stopped for. False if it is not a stopped tracee of the calling thread, or has
/// stopped without a signal.
bool signal_of(std::int32_t task, x86_64::SignalInfo& info);

/// The address of the TraceeStop in the tracee's memory.
std::uint64_t place_of_stop(const x86_64::SignalInfo& info);

/// Reads what the application's registers are while its thread is in its engine, at a stop that the engine has not
/// made. False: the thread is in translated code, or the engine has only begun.
bool registers_in_engine(std::int32_t task, TracedRegisters& registers);

/// Whether the stopped thread runs its engine and makes no system call of the program, so that it would come to a
/// safepoint soon.
bool is_near_safepoint(const Engine& engine, std::int32_t task);

/// Lets a tracee go on that PTRACE_INTERRUPT has stopped: it stops again at a safepoint. False: the kernel refuses.
bool go_on_to_safepoint(const Engine& engine, std::int32_t task);

/// Lets a tracee's engine have a signal that the tracee has stopped for: it stops again at a safepoint
/// (engine/tracee_stops.h). False: the kernel refuses.
bool pass_to_engine(std::int32_t task, const x86_64::SignalInfo& info);

/// Copies memory of a stopped tracee, in words of 8 bytes. False if it is not accessible.
bool read_tracee(std::int32_t task, std::uint64_t from, void* to, std::size_t bytes);
bool write_tracee(std::int32_t task, std::uint64_t to, const void* from, std::size_t bytes);

/// PTRACE_PEEKUSER or PTRACE_POKEUSER of the debug register at this offset of struct user.
long debug_register(const Engine& engine, std::int32_t task, std::uint64_t offset, bool writes, std::uint64_t data);

/// Answers a request that needs the registers or the system call of a tracee that its engine has stopped. False: the
/// tracee is at no such stop, or the request is another one.
bool answer_at_stop(const Engine& engine, std::uint64_t request, std::int32_t task, std::uint64_t address,
                    std::uint64_t data, long& answer);

}  // namespace anyperf::engine
