// note_calls.cpp: calls and returns in code that notes the open calls of its thread (instrumentation/open_calls.h). No
// flag is touched. A fault on the list, which is full or not accessible yet, comes before the application's stack has
// changed, so the instruction can be repeated.
//
// PROBLEM. Each call and each return reads the list's end, which the one before it has written, and borrows a register,
// whose value goes through its spill slot. So calls and returns wait for each other, some five cycles each.
//
// MECHANISM. Calls borrow registers in turn (next_scratch()). In a trace the list's end stays that of the trace's
// start: how many calls are open at each instruction is known (open_calls_). A call only writes its entry, and its
// return needs no code unless it must be compared. In front of the trace's last instruction, and in its exits, the end
// is brought up to date. If a thread is stopped in the middle of a trace, recover.cpp does that. An entry beyond the
// list's end is on the guard page: a trace has fewer calls than that has room for.
#include "engine/x86_64/translate/indirect_entry.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {

namespace {

constexpr std::size_t kTop = offsetof(Thread, open_calls) + offsetof(OpenCallsState, top);
constexpr std::size_t kUnmatched = offsetof(Thread, open_calls) + offsetof(OpenCallsState, unmatched);
constexpr std::size_t kReturnAddress = kOpenCallsOffset + offsetof(OpenCall, return_address);
constexpr std::size_t kCallerRsp = kOpenCallsOffset + offsetof(OpenCall, caller_rsp);
constexpr std::int32_t kSize = sizeof(OpenCall);

}  // namespace

/// Writes the entry of a call after those that are open. To be emitted before the return address is pushed.
///
///   mov  %gs:TOP, R     movl $RETURN, %gs:(R) (two halves)     mov  rsp, %gs:CALLER_RSP(R)
///
/// Precondition: `reg` is spilled. It has the list's end then, without the open calls of the trace.
void Translation::write_open_call(std::uint64_t return_address, Register reg) {
    const std::size_t open = sizeof(OpenCall) * static_cast<std::size_t>(open_calls_);
    hot_.load_gs32(reg, kTop);
    hot_.mov_gs32_at(reg, kReturnAddress + open, static_cast<std::uint32_t>(return_address));
    hot_.mov_gs32_at(reg, kReturnAddress + open + 4, static_cast<std::uint32_t>(return_address >> 32));
    hot_.store_gs_at(rsp, reg, kCallerRsp + open);
}

/// Appends the call at a block's end to the list.
void Translation::append_open_call(std::uint64_t return_address, Register reg) {
    write_open_call(return_address, reg);
    hot_.lea32(reg, reg, kSize);
    hot_.store_gs32(reg, kTop);
}

/// A direct call. `in_trace`: the trace goes on after it.
void Translation::note_direct_call(std::uint64_t return_address, std::uint64_t to, bool in_trace) {
    // A call of the next instruction reads the instruction pointer (call; pop). It has no return.
    if (!records(branch::kOpenCalls) || to == return_address) return;
    // Not always the same register: it would wait for its spill slot from call to call.
    const Register reg = next_scratch();
    spill(reg);
    spilled_ = reg | rsp << 4;  // rsp: no second register
    in_trace ? write_open_call(return_address, reg) : append_open_call(return_address, reg);
    unspill(reg);
}

/// Compares the place of the return address on top of the stack with that of the newest call: caller_rsp - 8 is rsp.
/// If they differ it jumps; the result is the operand of that jump. Both registers of an indirect branch are spilled,
/// and r11 has the list's end then, without the open calls of the trace. In AT&T syntax:
///
///   mov  %gs:TOP, r11d           mov  %gs:CALLER_RSP-SIZE(r11), rcx      not  rcx
///   lea  9(rsp,rcx), rcx         jrcxz MATCHES      jmp  UNMATCHED      MATCHES:
std::uint8_t* Translation::compare_newest_call() {
    const std::size_t newest = kCallerRsp + sizeof(OpenCall) * static_cast<std::size_t>(open_calls_) - sizeof(OpenCall);
    hot_.load_gs32(kScratchRegister, kTop);
    hot_.load_gs_at(kTargetRegister, kScratchRegister, newest);
    hot_.not_(kTargetRegister);
    // -caller_rsp - 1 + rsp + 9 is 0 if caller_rsp is rsp + 8.
    hot_.lea_sum(kTargetRegister, rsp, kTargetRegister, 9);
    std::uint8_t* const matches = hot_.jrcxz_forward();
    std::uint8_t* const other = hot_.jmp_far_forward();
    hot_.bind(matches);
    return other;
}

/// Removes the newest call at a block's end. If the return is not of that call it jumps to the code that
/// emit_unmatched_return() emits; the result is the operand of that jump.
std::uint8_t* Translation::remove_open_call() {
    std::uint8_t* const other = compare_newest_call();
    hot_.lea32(kScratchRegister, kScratchRegister, -kSize);
    hot_.store_gs32(kScratchRegister, kTop);
    return other;
}

/// `calls` of the trace have not returned where control leaves its path.
void Translation::settle_open_calls(std::int32_t calls) {
    if (!records(branch::kOpenCalls) || calls == 0) return;
    const Register reg = next_scratch();
    spill(reg);
    hot_.load_gs32(reg, kTop);
    hot_.lea32(reg, reg, calls * kSize);
    hot_.store_gs32(reg, kTop);
    unspill(reg);
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
