// trap_flag.cpp: pushf and popf run on the CPU, whose flag is not the application's: what they store and load is
// corrected afterwards, in the application's stack.
#include "engine/trap_flag.h"

#include <algorithm>

#include "engine/signals/engine_signals.h"
#include "engine/signals/signal_state.h"
#include "engine/tracee_stops.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

constexpr std::uint8_t kPushFlags = 0x9c;
constexpr std::uint8_t kPopFlags = 0x9d;
constexpr std::uint8_t kOperandPrefix = 0x66;

/// What an instruction is, as far as the trap flag is concerned.
struct Opcode {
    std::uint8_t byte = 0;
    bool repeats = false;
    bool is_16_bits_wide = false;
    bool has_gs = false;
};

bool is_prefix(std::uint8_t byte) {
    constexpr std::uint8_t kPrefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3};
    return (byte & 0xf0) == 0x40 || std::ranges::find(kPrefixes, byte) != std::end(kPrefixes);
}

/// The first byte of the opcode and the prefixes before it.
Opcode opcode_at(std::uint64_t pc) {
    Opcode opcode;
    for (std::uint64_t at = pc; at < pc + x86_64::kLongestInstruction; ++at) {
        if (!x86_64::guarded_copy(&opcode.byte, at_address<const void>(at), 1)) return {};
        if (!is_prefix(opcode.byte)) return opcode;
        opcode.repeats = opcode.repeats || opcode.byte == 0xf2 || opcode.byte == 0xf3;
        opcode.is_16_bits_wide = opcode.is_16_bits_wide || opcode.byte == kOperandPrefix;
        opcode.has_gs = opcode.has_gs || opcode.byte == 0x65;
    }
    return {};
}

/// The trap flag of the image that popf has just loaded from below the stack pointer.
bool popped_trap_flag(const Thread& thread, bool is_16_bits_wide) {
    std::uint16_t image = 0;
    const std::uint64_t place = thread.registers.r[x86_64::rsp] - (is_16_bits_wide ? 2 : 8);
    return x86_64::guarded_copy(&image, at_address<const void>(place), sizeof image) &&
           (image & x86_64::kTrapFlag) != 0;
}

/// Sets the flag in the image that pushf has just stored.
void show_trap_flag(const Thread& thread) {
    std::uint16_t image = 0;
    const std::uint64_t place = thread.registers.r[x86_64::rsp];
    if (!x86_64::guarded_copy(&image, at_address<const void>(place), sizeof image)) return;
    image |= static_cast<std::uint16_t>(x86_64::kTrapFlag);
    x86_64::guarded_copy(at_address<void>(place), &image, sizeof image);
}

}  // namespace

// As the kernel sends it (send_sigtrap() in arch/x86/kernel/ptrace.c, exc_debug_user() in traps.c).
void queue_trap(Thread& thread, std::uint64_t cause) {
    SignalState& signals = *thread.signals;
    thread.pending = 1;
    constexpr std::uint64_t kDebugException = 1;
    const auto is_same = [](const QueuedSignal& signal) {
        return signal.synchronous && signal.info.signo == kTrap && signal.trapno == kDebugException;
    };
    const std::uint64_t before = signals.queue.has(is_same) ? thread.debug.status : 0;
    signals.queue.drop(is_same);
    thread.debug.status = before | cause;
    QueuedSignal trap{};
    trap.info.signo = kTrap;
    trap.info.code = (thread.debug.status & kStepCause) != 0 ? kTrapTrace : kTrapBreakpoint;
    trap.info.address = thread.registers.rip;
    trap.trapno = kDebugException;
    trap.synchronous = true;
    signals.queue.add(trap);
}

bool repeats_at(std::uint64_t pc) {
    const Opcode opcode = opcode_at(pc);
    const bool is_string = (opcode.byte >= 0xa4 && opcode.byte <= 0xa7) || (opcode.byte >= 0xaa && opcode.byte <= 0xaf);
    return is_string && opcode.repeats && !opcode.has_gs;
}

void after_trapped_instruction(Thread& thread, bool is_syscall) {
    if (thread.trapped_pc == 0) return;
    const Opcode opcode = opcode_at(thread.trapped_pc);
    thread.trapped_pc = 0;
    // As in Linux the application sees the flag of a tracer's step, and keeps what it loads (is_setting_trap_flag() in
    // arch/x86/kernel/step.c). A step ends after a system call, too.
    const bool steps = is_stepping(thread);
    if (opcode.byte == kPushFlags) show_trap_flag(thread);
    if (opcode.byte == kPopFlags) {
        const bool popped = popped_trap_flag(thread, opcode.is_16_bits_wide);
        if (steps)
            keep_trap_flag(thread, popped);
        else
            thread.traps_each = popped;
    }
    if (!is_syscall || steps) queue_trap(thread);
}

}  // namespace anyperf::engine
