#include "agent/sampling/call_chain.h"

#include <algorithm>
#include <array>
#include <span>

#include "abi/attr_flags.h"
#include "abi/sample_bits.h"
#include "agent/probes/breakpoints.h"
#include "agent/python/python_frames.h"
#include "engine/instrumentation/open_calls.h"
#include "engine/x86_64/cpu/guarded_copy.h"
#include "engine/x86_64/decode/decode.h"

namespace anyperf::agent {

using engine::at_address;
using engine::OpenCall;
using engine::Thread;
using engine::x86_64::guarded_copy;

namespace {

constexpr std::uint64_t kContextUser = -512;  ///< PERF_CONTEXT_USER

/// Whether the instruction at `address` is one with which functions begin: `push %rbp`, or `endbr64` and `endbr32`.
/// These are the instructions by which the kernel recognises a uprobe at a function's entry, since Linux 6.12
/// (is_uprobe_at_func_entry() in arch/x86/events/core.c).
bool begins_function(std::uint64_t address) {
    constexpr std::uint8_t kPushRbp = 0x55;
    constexpr std::uint32_t kEndbr64 = 0xfa1e0ff3;
    constexpr std::uint32_t kEndbr32 = 0xfb1e0ff3;
    std::uint8_t first = 0;
    std::uint32_t four = 0;
    if (!guarded_copy(&first, at_address<const void>(address), sizeof first)) return false;
    if (first == kPushRbp) return true;
    return guarded_copy(&four, at_address<const void>(address), sizeof four) && (four == kEndbr64 || four == kEndbr32);
}

/// The return address on top of the stack, for a uprobe at the entry of a function; else 0. The function has not pushed
/// rbp yet, so the frame pointer is its caller's and leads to the caller's caller.
std::uint64_t caller_at_entry(const Thread& thread, const EventPage& event) {
    const bool at_probe =
        is_uprobe(event.source) && event.source.occurrence_kind == subsystem::Source::OccurrenceKind::probe_reached;
    if (!at_probe || !begins_function(thread.registers.rip)) return 0;
    std::uint64_t caller = 0;
    const auto* const top = at_address<const void>(thread.registers.r[engine::x86_64::rsp]);
    return guarded_copy(&caller, top, sizeof caller) ? caller : 0;
}

/// The return addresses by frame pointers, as perf_callchain_user() finds them. rbp may hold anything, so each frame
/// must be aligned and above the last one, which the kernel does not demand: a cycle must not keep the thread here.
std::size_t callers_by_frame_pointers(const Thread& thread, const EventPage& event, std::span<std::uint64_t> out) {
    std::size_t count = 0;
    if (const std::uint64_t caller = caller_at_entry(thread, event); caller != 0 && !out.empty()) out[count++] = caller;
    std::uint64_t frame = thread.registers.r[engine::x86_64::rbp];
    while (count < out.size() && frame % 8 == 0) {
        std::uint64_t words[2] = {};
        if (frame == 0 || !guarded_copy(words, at_address<const void>(frame), sizeof words)) break;
        if (words[1] == 0) break;
        out[count++] = words[1];
        if (words[0] <= frame) break;
        frame = words[0];
    }
    return count;
}

/// The control of the instruction at `address`.
engine::x86_64::Instruction instruction_at(std::uint64_t address) {
    std::uint8_t code[engine::x86_64::kLongestInstruction] = {};
    engine::x86_64::Instruction instruction;
    const std::size_t size = engine::x86_64::guarded_prefix(code, at_address<const void>(address), sizeof code);
    if (size == 0 || decode(code, size, instruction) != engine::x86_64::DecodeStatus::ok) return {};
    return instruction;
}

/// The sample's own address and the open calls. A precise sample is at an instruction that has just run. If that was a
/// call, the newest open call is its own; if it was a return, the frame that it has returned to is a caller of it.
std::size_t exact_chain(Thread& thread, std::uint64_t ip, std::span<OpenCall> out) {
    using engine::x86_64::Control;
    const engine::x86_64::Instruction at =
        ip != thread.registers.rip ? instruction_at(ip) : engine::x86_64::Instruction{};
    const std::uint64_t rsp = thread.registers.r[engine::x86_64::rsp];
    out[0] = {ip, rsp};
    if (at.control == Control::ret && out.size() > 1) {
        out[1] = {thread.registers.rip, rsp};
        return 2 + engine::open_callers(thread, out.subspan(2));
    }
    const std::size_t count = engine::open_callers(thread, out.subspan(1));
    const bool called = at.control == Control::call || at.control == Control::call_indirect;
    if (!called || count == 0 || out[1].return_address != ip + at.length) return 1 + count;
    std::ranges::copy(out.subspan(2, count - 1), out.begin() + 1);
    return count;
}

/// The exact chain with the frames of a Python program, if there are some.
std::size_t gather_exact(Thread& thread, std::uint64_t ip, PythonFrames* python, std::span<std::uint64_t> out) {
    std::array<OpenCall, kDeepestStack> calls;  // not cleared
    const std::size_t count = exact_chain(thread, ip, std::span{calls}.first(out.size()));
    const std::span chain = std::span{calls}.first(count);
    if (python != nullptr) return merge_python_frames(chain, count < out.size(), *python, out);
    std::ranges::transform(chain, out.begin(), &OpenCall::return_address);
    return count;
}

bool has_exact_callers(const Thread& thread) {
    return thread.engine->run != nullptr && thread.engine->run->exact_callers != 0;
}

}  // namespace

bool wants_open_calls(const Thread& thread, const EventPage& event) {
    return has_exact_callers(thread) && (event.shape.sample_type & abi::sample("PERF_SAMPLE_CALLCHAIN")) != 0 &&
           (event.shape.flags & abi::flag("exclude_callchain_user")) == 0;
}

std::size_t gather_callchain(Thread& thread, const EventPage& event, std::uint64_t ip, PythonFrames* python,
                             CallChain& out) {
    if ((event.shape.flags & abi::flag("exclude_callchain_user")) != 0) return 0;
    const std::size_t deepest = event.shape.sample_max_stack == 0
                                    ? kDeepestStack
                                    : std::min<std::size_t>(event.shape.sample_max_stack, kDeepestStack);
    out[0] = kContextUser;
    const std::span<std::uint64_t> chain = std::span{out}.subspan(1, deepest);
    if (has_exact_callers(thread)) return 1 + gather_exact(thread, ip, python, chain);
    chain[0] = ip;
    return 2 + callers_by_frame_pointers(thread, event, chain.subspan(1));
}

}  // namespace anyperf::agent
