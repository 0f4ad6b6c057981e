// note_calls.cpp: calls and returns in code that notes the open calls of its thread (instrumentation/open_calls.h). No
// flag is touched. A fault on the list, which is full or not accessible yet, comes before the application's stack has
// changed, so the instruction can be repeated.
#include "engine/x86_64/translate/indirect_entry.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {

namespace {

constexpr std::size_t kTop = offsetof(Thread, open_calls) + offsetof(OpenCallsState, top);
constexpr std::size_t kUnmatched = offsetof(Thread, open_calls) + offsetof(OpenCallsState, unmatched);
constexpr std::size_t kReturnAddress = kOpenCallsOffset + offsetof(OpenCall, return_address);
constexpr std::size_t kCallerRsp = kOpenCallsOffset + offsetof(OpenCall, caller_rsp);

}  // namespace

/// Appends a call to the list. Changes `reg`, which is spilled. To be emitted before the return address is pushed.
void Translation::append_open_call(std::uint64_t return_address, Register reg) {
    hot_.load_gs32(reg, kTop);
    hot_.mov_gs32_at(reg, kReturnAddress, static_cast<std::uint32_t>(return_address));
    hot_.mov_gs32_at(reg, kReturnAddress + 4, static_cast<std::uint32_t>(return_address >> 32));
    hot_.store_gs_at(rsp, reg, kCallerRsp);
    hot_.lea32(reg, reg, sizeof(OpenCall));
    hot_.store_gs32(reg, kTop);
}

/// A direct call.
void Translation::note_direct_call(std::uint64_t return_address, std::uint64_t to) {
    // A call of the next instruction reads the instruction pointer (call; pop). It has no return.
    if (!records(branch::kOpenCalls) || to == return_address) return;
    spill(rcx);
    spilled_ = rcx | rsp << 4;  // rsp: no second register
    append_open_call(return_address, rcx);
    unspill(rcx);
}

/// Removes the newest call if the return address on top of the stack is at the place where that call has pushed it:
/// caller_rsp - 8 is rsp. Otherwise jumps to the code that emit_unmatched_return() emits; the result is the operand of
/// that jump. Both registers of an indirect branch are spilled. In AT&T syntax:
///
///   mov  %gs:TOP, r11d           mov  %gs:CALLER_RSP-SIZE(r11), rcx      not  rcx
///   lea  9(rsp,rcx), rcx         jrcxz MATCHES      jmp  UNMATCHED
///   MATCHES:                     lea  -SIZE(r11), r11d                   mov  r11d, %gs:TOP
std::uint8_t* Translation::remove_open_call() {
    hot_.load_gs32(kScratchRegister, kTop);
    hot_.load_gs_at(kTargetRegister, kScratchRegister, kCallerRsp - sizeof(OpenCall));
    hot_.not_(kTargetRegister);
    // -caller_rsp - 1 + rsp + 9 is 0 if caller_rsp is rsp + 8.
    hot_.lea_sum(kTargetRegister, rsp, kTargetRegister, 9);
    std::uint8_t* const matches = hot_.jrcxz_forward();
    std::uint8_t* const other = hot_.jmp_far_forward();
    hot_.bind(matches);
    hot_.lea32(kScratchRegister, kScratchRegister, -static_cast<std::int32_t>(sizeof(OpenCall)));
    hot_.store_gs32(kScratchRegister, kTop);
    return other;
}

/// A return whose call is in the same trace, with nothing between that can have changed rsp: that call is the newest.
void Translation::note_safe_return() {
    if (!records(branch::kOpenCalls)) return;
    spill(rcx);
    spilled_ = rcx | rsp << 4;  // rsp: no second register
    hot_.load_gs32(rcx, kTop);
    hot_.lea32(rcx, rcx, -static_cast<std::int32_t>(sizeof(OpenCall)));
    hot_.store_gs32(rcx, kTop);
    unspill(rcx);
}

/// A return that is not of the newest call returns, too, and then always leaves translated code.
void Translation::emit_unmatched_return(const Instruction& instruction, std::uint64_t address, std::uint8_t* from) {
    hot_.bind_far(from);
    pop_return_address(instruction);
    record_indirect(branch::kReturn, address);
    hot_.mov_gs32(kUnmatched, 1);
    hot_.jmp_gs(offsetof(Thread, exit_routine) + 8 * static_cast<std::size_t>(ExitReason::lookup_miss));
}

}  // namespace anyperf::engine::x86_64
