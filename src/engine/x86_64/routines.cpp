// routines.cpp: see routines.h.
#include "engine/x86_64/routines.h"

#include "engine/freestanding/kernel.h"
#include "engine/x86_64/landing.h"

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

constexpr Register kAllButRaxRsp[] = {rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15};

void emit_restore(Emitter& code) {
    for (const Register reg : kAllButRaxRsp) code.load_gs(reg, saved(reg));
    code.load_gs(rax, saved(rax));
}

/// Behind every leave: rax is in its spill slot, all other registers are the application's.
void emit_common_leave(Emitter& code) {
    for (const Register reg : kAllButRaxRsp) code.store_gs(reg, saved(reg));
    code.load_gs(rax, spill_of(rax));
    code.store_gs(rax, saved(rax));
    code.store_gs(rsp, saved(rsp));
    code.load_gs(rsp, offsetof(Thread, engine_stack));
    code.pushfq();
    code.pop(rax);
    code.store_gs(rax, kFlags);
    // Alignment checks that the application has switched on are not for the engine.
    code.test_eax(kAlignmentCheck);
    std::uint8_t* const unchecked = code.jcc_forward(kZero);
    code.push_immediate(kPlainFlags);
    code.popfq();
    code.land(unchecked);
    code.cld();
    code.load_gs(rdi, offsetof(Thread, self));
    code.call_gs(offsetof(Thread, dispatch));
}

/// A signal that came while the engine ran is delivered before the application goes on. The handler sends whoever it
/// finds between here and the end of the routine back to the delivery, so that none is missed.
void emit_pending_check(Emitter& code) {
    code.load_gs32(rcx, offsetof(Thread, pending));
    std::uint8_t* const none = code.jrcxz_forward();
    code.load_gs(rsp, offsetof(Thread, engine_stack));
    code.load_gs(rdi, offsetof(Thread, self));
    code.call_gs(offsetof(Thread, deliver));
    code.land(none);
}

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

/// iretq sets the flags with the jump, so that the trap flag traps behind the one instruction at the target.
void emit_probe(Emitter& code) {
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

void emit_leave(Emitter& code, Leave reason, const std::uint8_t* common) {
    code.store_gs(rax, spill_of(rax));
    if (reason == Leave::table_empty) {
        code.store_gs(kTarget, offsetof(Thread, miss));
        code.load_gs(kTarget, spill_of(kTarget));
        code.load_gs(kOther, spill_of(kOther));
    }
    code.mov_gs32(offsetof(Thread, reason), static_cast<std::uint32_t>(reason));
    code.jmp(common);
}

}  // namespace

bool emit_routines(Arena& arena, Routines& out) {
    Emitter code = arena.cold();
    const std::uint8_t* const common = code.at();
    out.start = address_of(common);
    emit_common_leave(code);
    out.enter = address_of(code.at());
    emit_enter(code);
    out.enter_end = out.probe = address_of(code.at());
    emit_probe(code);
    out.probe_end = address_of(code.at());
    for (std::size_t i = 0; i < kLeaves; ++i) {
        out.leave[i] = address_of(code.at());
        emit_leave(code, static_cast<Leave>(i), common);
    }
    out.end = address_of(code.at());
    if (code.overflowed()) return false;
    arena.commit(arena.hot(), code, 0);
    arena.keep();
    return true;
}

namespace {
constexpr std::size_t kWayOutBytes = 8;
}

void emit_ways_out(Arena& arena) {
    Emitter code = arena.cold();
    for (std::size_t i = 0; i < kLeaves; ++i) code.jmp_gs(offsetof(Thread, leave_routine) + 8 * i);
    arena.commit(arena.hot(), code, 0);
    arena.keep();
}

const std::uint8_t* way_out_of(const Arena& arena, Leave reason) {
    return arena.cold_start() + kWayOutBytes * static_cast<std::size_t>(reason);
}

void connect(Thread& thread, const Routines& routines, void (*dispatch)(Thread&), void (*deliver)(Thread&)) {
    for (std::size_t i = 0; i < kLeaves; ++i) thread.leave_routine[i] = routines.leave[i];
    thread.dispatch = reinterpret_cast<std::uint64_t>(dispatch);
    thread.deliver = reinterpret_cast<std::uint64_t>(deliver);
    thread.self = address_of(&thread);
}

}  // namespace anyperf::engine::x86_64
