// frame.cpp: programs read and change these frames (debuggers, garbage collectors, userland threads) and return through
// them, so each field is at the kernel's place. The kernel's own frame had the registers of the translation; this one
// has the application's.
//
// The application's stack may be full or unmapped, so every write is guarded. The engine uses no vector registers, so
// they still have the application's values and are saved directly to the application's stack.
#include "engine/signals/frame.h"

#include "engine/freestanding/kernel.h"
#include "engine/x86_64/cpu/guarded_copy.h"
#include "engine/x86_64/cpu/vector_state.h"
#include "engine/x86_64/x87_pointer.h"

namespace anyperf::engine {

using x86_64::Registers;
using x86_64::SignalContext;
using x86_64::SignalFrame;

namespace {

constexpr std::uint64_t kOnStack = 0x08000000;  // SA_ONSTACK
constexpr std::uint64_t kRedZone = 128;         // System V ABI for x86-64, 3.2.2
constexpr std::uint64_t kDisable = 2;           // SS_DISABLE
constexpr std::uint64_t kAutoDisarm = std::uint64_t{1} << 31;
constexpr std::uint64_t kDirection = 0x400;

/// The registers as struct sigcontext of the kernel has them (arch/x86/include/uapi/asm/sigcontext.h).
SignalContext context_of(const Registers& registers, const QueuedSignal& signal, std::uint64_t mask) {
    const auto& r = registers.r;
    SignalContext context{};
    context.r8 = r[x86_64::r8], context.r9 = r[x86_64::r9], context.r10 = r[x86_64::r10], context.r11 = r[x86_64::r11];
    context.r12 = r[x86_64::r12], context.r13 = r[x86_64::r13], context.r14 = r[x86_64::r14],
    context.r15 = r[x86_64::r15];
    context.rdi = r[x86_64::rdi], context.rsi = r[x86_64::rsi], context.rbp = r[x86_64::rbp],
    context.rbx = r[x86_64::rbx];
    context.rdx = r[x86_64::rdx], context.rax = r[x86_64::rax], context.rcx = r[x86_64::rcx],
    context.rsp = r[x86_64::rsp];
    context.rip = registers.rip;
    context.flags = registers.flags;
    context.cs = x86_64::kUserCs;
    context.ss = x86_64::kUserSs;
    context.err = signal.err;
    context.trapno = signal.trapno;
    context.oldmask = mask;
    context.cr2 = signal.cr2;
    return context;
}

/// Where the vector registers are saved: below `top`, aligned to 64 bytes (fpu__alloc_mathframe()).
std::uint64_t vector_state_below(const Thread& thread, std::uint64_t top) {
    constexpr std::uint64_t kAlignment = 64;
    const std::uint64_t bytes =
        thread.engine->vector_state.has_xsave ? thread.signals->xstate.extended_size : x86_64::kLegacyXstateBytes;
    return (top - bytes) & ~(kAlignment - 1);
}

/// Writes the vector registers as copy_fpstate_to_sigframe() does. With XSAVE, a note in the legacy area says what was
/// saved, and a second magic number follows the area. False if the memory can't be written.
bool write_vector_state(const Thread& thread, std::uint64_t area) {
    if (!thread.engine->vector_state.has_xsave) return x86_64::guarded_fxsave(at_address<void>(area));
    const x86_64::XstateNote& note = thread.signals->xstate;
    constexpr std::uint8_t kEmptyHeader[x86_64::kXstateHeaderBytes] = {};
    return x86_64::guarded_copy(at_address<void>(area + x86_64::kLegacyXstateBytes), kEmptyHeader,
                                sizeof kEmptyHeader) &&
           x86_64::guarded_xsave(at_address<void>(area), note.features) &&
           x86_64::guarded_copy(at_address<void>(area + x86_64::kXstateNoteOffset), &note, sizeof note) &&
           x86_64::guarded_copy(at_address<void>(area + note.size), &x86_64::kXstateMagic2,
                                sizeof x86_64::kXstateMagic2);
}

struct HandlerStack {
    std::uint64_t top;       ///< the frame is pushed below this address
    bool alternate = false;  ///< the frame must be on the alternate stack
};

/// The end of the alternate stack if the action wants it and the thread is not on it yet, else below the red zone
/// (get_sigframe() in arch/x86/kernel/signal.c).
HandlerStack stack_for_handler(const SignalState& signals, std::uint64_t sp, const SignalAction& action) {
    const std::uint64_t below = sp - kRedZone;
    const bool enabled = signals.stack.size != 0 && (static_cast<std::uint64_t>(signals.stack.flags) & kDisable) == 0;
    if ((action.flags & kOnStack) != 0 && enabled && !signals.on_alternate_stack(below))
        return {signals.stack.sp + signals.stack.size, true};
    return {below, signals.on_alternate_stack(sp)};
}

}  // namespace

// As x64_setup_rt_frame(): the vector state, then the frame, aligned so that rsp + 8 is a multiple of 16 as at a
// function's entry. The thread's registers change only after everything has been written.
bool push_signal_frame(Thread& thread, const QueuedSignal& signal, const SignalAction& action,
                       std::uint64_t saved_mask) {
    SignalState& signals = *thread.signals;
    const HandlerStack stack = stack_for_handler(signals, thread.registers.r[x86_64::rsp], action);
    const std::uint64_t vector_state = vector_state_below(thread, stack.top);
    const std::uint64_t place = ((vector_state - sizeof(SignalFrame)) & ~std::uint64_t{15}) - 8;
    if (stack.alternate && !signals.stack_holds(place)) return false;  // no room: get_sigframe() refuses it, too
    if (!write_vector_state(thread, vector_state)) return false;
    fix_frame_x87_pointer(thread, vector_state);
    SignalFrame frame{};
    frame.restorer = action.restorer;
    frame.user.flags = x86_64::kContextHasSs | x86_64::kContextStrictSs;
    if (thread.engine->vector_state.has_xsave) frame.user.flags |= x86_64::kContextHasXstate;
    frame.user.stack = signals.stack;
    frame.user.context = context_of(thread.registers, signal, saved_mask);
    if (thread.traps_each) frame.user.context.flags |= x86_64::kTrapFlag;
    frame.user.context.fpstate = vector_state;
    frame.user.mask = saved_mask;
    frame.info = signal.info;
    if (!x86_64::guarded_copy(at_address<void>(place), &frame, sizeof frame)) return false;
    if ((static_cast<std::uint32_t>(signals.stack.flags) & kAutoDisarm) != 0)
        signals.stack = {0, static_cast<std::int32_t>(kDisable), 0, 0};
    auto& r = thread.registers.r;
    r[x86_64::rdi] = static_cast<std::uint64_t>(signal.info.signo);
    r[x86_64::rsi] = place + offsetof(SignalFrame, info);
    r[x86_64::rdx] = place + offsetof(SignalFrame, user);
    r[x86_64::rax] = 0;
    r[x86_64::rsp] = place;
    thread.registers.rip = action.handler;
    thread.registers.flags &= ~(kDirection | x86_64::kResumeFlag);
    thread.traps_each = false;  // the kernel clears it for the handler
    return true;
}

void reset_vector_state(const Thread& thread) {
    const Engine& engine = *thread.engine;
    x86_64::load_initial_vector_state(engine.initial_vector_state, engine.vector_state,
                                      thread.signals->xstate.features);
    if (engine.vector_state.has_pkru) x86_64::write_pkru(thread.signals->handler_pkru);
}

}  // namespace anyperf::engine
