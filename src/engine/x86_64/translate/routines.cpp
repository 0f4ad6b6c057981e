#include "engine/x86_64/translate/routines.h"

#include "engine/freestanding/kernel.h"
#include "engine/x86_64/translate/indirect_entry.h"

namespace anyperf::engine::x86_64 {

namespace {

constexpr std::size_t spill_of(Register reg) {
    return offsetof(Thread, spill) + std::size_t{8} * reg;
}
constexpr std::size_t saved(Register reg) {
    return offsetof(Thread, registers) + offsetof(Registers, r) + std::size_t{8} * reg;
}
constexpr std::size_t kFlags = offsetof(Thread, registers) + offsetof(Registers, flags);
constexpr std::size_t kRip = offsetof(Thread, registers) + offsetof(Registers, rip);

constexpr std::uint32_t kAlignmentCheck = 1u << 18;
constexpr std::int32_t kPlainFlags = 2;
constexpr std::uint8_t kZero = 4;  // condition code of jz

constexpr std::size_t kUnpairedReturn = kExitJumpBytes * kExitReasons;  // from the start of the cold part
constexpr std::size_t kUnpairedBytes = 7;                               // of mov [rsp + disp8], reg; jmp rel8

constexpr Register kAllButRaxRsp[] = {rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15};

/// Loads the application's registers from the Thread, but for rsp and the flags. rax comes last: the code before may
/// use it.
void emit_restore(Emitter& code) {
    for (const Register reg : kAllButRaxRsp) code.load_gs(reg, saved(reg));
    code.load_gs(rax, saved(rax));
}

/// The common end of all exit routines. On entry rax is in its spill slot and all other registers are the
/// application's. Stores them and the flags, switches to the engine's stack and calls Thread::dispatch. Falls through
/// to `enter`. rsp is switched before pushfq: nothing is written below the application's stack pointer
/// (AT&T syntax).
///
///   mov  r, %gs:REGISTERS+r      for each register but rax and rsp; then rax from its spill slot, and rsp
///   mov  %gs:ENGINE_STACK, rsp   pushfq      pop rax      mov rax, %gs:FLAGS
///   test $AC, eax                jz 1f       push $2      popfq      1: cld
///   mov  %gs:SELF, rdi           call *%gs:DISPATCH
void emit_common_exit(Emitter& code) {
    for (const Register reg : kAllButRaxRsp) code.store_gs(reg, saved(reg));
    code.load_gs(rax, spill_of(rax));
    code.store_gs(rax, saved(rax));
    code.store_gs(rsp, saved(rsp));
    code.load_gs(rsp, offsetof(Thread, engine_stack));
    code.pushfq();
    code.pop(rax);
    code.store_gs(rax, kFlags);
    // The engine's C++ makes unaligned accesses: clear the application's AC flag, if set.
    code.test_eax(kAlignmentCheck);
    std::uint8_t* const unchecked = code.jcc_forward(kZero);
    code.push_immediate(kPlainFlags);
    code.popfq();
    code.bind(unchecked);
    code.cld();
    code.load_gs(rdi, offsetof(Thread, self));
    code.call_gs(offsetof(Thread, dispatch));
}

/// Delivers what arrived while the engine ran. See the head of routines.h for a signal that arrives after the test.
void emit_pending_check(Emitter& code) {
    code.load_gs32(rcx, offsetof(Thread, pending));
    std::uint8_t* const none = code.jrcxz_forward();
    code.load_gs(rsp, offsetof(Thread, engine_stack));
    code.load_gs(rdi, offsetof(Thread, self));
    code.call_gs(offsetof(Thread, deliver));
    code.bind(none);
}

/// Enters translated code at Thread::next_host. Nothing between the flags and the jump may change a flag.
///
///   mov  %gs:PENDING, ecx        jrcxz 1f    the call of `deliver`, which does not return    1:
///   mov  %gs:ENGINE_STACK, rsp   mov %gs:FLAGS, rax      push rax      popfq
///   mov  %gs:REGISTERS+r, r      for each register, rax and rsp last
///   jmp  *%gs:NEXT_HOST
void emit_enter(Emitter& code) {
    emit_pending_check(code);
    code.load_gs(rsp, offsetof(Thread, engine_stack));
    code.load_gs(rax, kFlags);
    code.push(rax);
    code.popfq();
    emit_restore(code);
    code.load_gs(rsp, saved(rsp));
    code.jmp_gs(offsetof(Thread, next_host));
}

/// iretq loads the flags together with rip, so that the trap flag takes effect after one instruction at the target.
void emit_run_in_place(Emitter& code) {
    constexpr std::int32_t kTrapFlag = 0x100;
    emit_pending_check(code);
    code.load_gs(rsp, offsetof(Thread, engine_stack));
    code.mov_from_ss(rax);
    code.push(rax);
    code.push_gs(saved(rsp));
    code.push_gs(kFlags);
    code.or_stack(kTrapFlag);
    code.mov_from_cs(rax);
    code.push(rax);
    code.push_gs(kRip);
    emit_restore(code);
    code.iretq();
}

/// A lookup miss arrives with both registers of the indirect branch spilled; the target is saved for the engine.
void emit_exit_routine(Emitter& code, ExitReason reason, const std::uint8_t* common) {
    code.store_gs(rax, spill_of(rax));
    if (reason == ExitReason::lookup_miss) {
        code.store_gs(kTargetRegister, offsetof(Thread, missed_target));
        code.load_gs(kTargetRegister, spill_of(kTargetRegister));
        code.load_gs(kScratchRegister, spill_of(kScratchRegister));
    }
    code.mov_gs32(offsetof(Thread, exit_reason), static_cast<std::uint32_t>(reason));
    code.jmp(common);
}

}  // namespace

bool emit_routines(Arena& arena, Routines& out) {
    Emitter code{arena.cold(), arena.to_writable()};
    const std::uint8_t* const common = code.at();
    out.start = address_of(common);
    out.unpaired_return = address_of(arena.cold_start() + kUnpairedReturn);
    emit_common_exit(code);
    out.enter = address_of(code.at());
    emit_enter(code);
    out.enter_end = out.run_in_place = address_of(code.at());
    emit_run_in_place(code);
    out.run_in_place_end = address_of(code.at());
    for (std::size_t i = 0; i < kExitReasons; ++i) {
        out.exit[i] = address_of(code.at());
        emit_exit_routine(code, static_cast<ExitReason>(i), common);
    }
    out.end = address_of(code.at());
    if (code.overflowed()) return false;
    arena.commit_cold(code.at());
    arena.retain_cold();
    return true;
}

namespace {

/// The jumps, and the returns that no pad serves. A return arrives with its target in kTargetRegister where it has no
/// pad. From the pad of another call it arrives with the target plus kScratchRegister there. Both registers are
/// spilled. Only the first instruction accesses memory of the application (finish_unpaired_return() in
/// signals/handler.cpp).
///
///   unpaired:    mov  rcx, -8(rsp)      jmp 1f                     the return address stays where it was (returns.cpp)
///   mismatched:  not  r11               lea  1(rcx,r11), rcx
///   1:           movzx cx, r11d         jmp  *TABLE(,r11,8)
void emit_exit_jumps(Arena& arena, std::uint64_t indirect_table) {
    Emitter code{arena.cold(), arena.to_writable()};
    for (std::size_t i = 0; i < kExitReasons; ++i) code.jmp_gs(offsetof(Thread, exit_routine) + 8 * i);
    code.store_stack(kTargetRegister, -8);
    std::uint8_t* const unpaired = code.jmp_forward();
    code.not_(kScratchRegister);
    code.lea_sum(kTargetRegister, kTargetRegister, kScratchRegister, 1);
    code.bind(unpaired);
    code.movzx16(kScratchRegister, kTargetRegister);
    code.jmp_table(static_cast<std::uint32_t>(indirect_table), kScratchRegister);
    arena.commit_cold(code.at());
    arena.retain_cold();
}

}  // namespace

Arena* prepared_arena(Cache& cache, std::uint64_t pc) {
    Arena* const arena = cache.arena_for(pc);
    if (arena != nullptr && !arena->has_retained()) emit_exit_jumps(*arena, address_of(cache.indirect_table()));
    return arena;
}

const std::uint8_t* mismatched_return_of(const Arena& arena) {
    return arena.cold_start() + kUnpairedReturn + kUnpairedBytes;
}

void forget_return_pads(Thread& thread, const Routines& routines) {
    for (std::uint64_t& pad : thread.return_pads) pad = routines.unpaired_return;
}

void set_routines(Thread& thread, const Routines& routines) {
    for (std::size_t i = 0; i < kExitReasons; ++i) thread.exit_routine[i] = routines.exit[i];
    thread.dispatch = reinterpret_cast<std::uint64_t>(routines.dispatch);
    thread.deliver = reinterpret_cast<std::uint64_t>(routines.deliver);
    thread.self = address_of(&thread);
    thread.return_pad_mask = (kReturnPads - 1) << 3;
}

}  // namespace anyperf::engine::x86_64
