// attr_rules.cpp: combinations of perf_event_attr fields that are never valid, on any machine: the kernel refuses them
// with EINVAL before it looks at the PMU. From perf_copy_attr(), perf_event_open() and perf_event_alloc()
// (kernel/events/core.c, Linux 6.18); each rule was tried on that kernel.
#include <array>
#include <bit>

#include "host/causes/attr_bits.h"
#include "host/causes/checks.h"

namespace anyperf::host::causes {

namespace {

using abi::Attr;

/// One rule: whether an attr breaks it, and what to say then.
struct Rule {
    bool (*broken)(const Attr&);
    std::string_view cause;
    std::string_view fix;
};

/// Whether any of these sample_type bits is set.
bool samples(const Attr& attr, std::uint64_t bits) {
    return (attr.sample_type & bits) != 0;
}

/// Whether all of these one-bit fields are set.
bool set(const Attr& attr, std::uint64_t flags) {
    return (attr.flags & flags) == flags;
}

bool period_negative(const Attr& attr) {
    return !set(attr, kFreq) && (attr.sample_period >> 63) != 0;
}

bool has_both_weights(const Attr& attr) {
    return samples(attr, kSampleWeight) && samples(attr, kSampleWeightStruct);
}

bool branch_stack_without_kinds(const Attr& attr) {
    return samples(attr, kSampleBranchStack) && (attr.branch_sample_type & ~abi::kBranchPrivileges) == 0;
}

bool no_registers_selected(const Attr& attr) {
    return (samples(attr, kSampleRegsUser) && attr.sample_regs_user == 0) ||
           (samples(attr, kSampleRegsIntr) && attr.sample_regs_intr == 0);
}

bool stack_size_invalid(const Attr& attr) {
    return samples(attr, kSampleStackUser) && (attr.sample_stack_user % 8 != 0 || attr.sample_stack_user >= 0xffff);
}

bool inherits_reads_without_tid(const Attr& attr) {
    return set(attr, kInherit) && samples(attr, kSampleRead) && !samples(attr, kSampleTid);
}

constexpr std::array kRules{
    Rule{period_negative, "sample_period has bit 63 set; a period is a positive signed 64-bit number",
         "use a period of at most 9223372036854775807"},
    Rule{has_both_weights,
         "sample_type has both PERF_SAMPLE_WEIGHT and PERF_SAMPLE_WEIGHT_STRUCT, which are two layouts of "
         "the same field",
         "set only one of the two"},
    Rule{branch_stack_without_kinds,
         "sample_type has PERF_SAMPLE_BRANCH_STACK, but branch_sample_type selects no kind of branch",
         "set PERF_SAMPLE_BRANCH_ANY, or the kinds that you want"},
    Rule{no_registers_selected, "sample_type requests registers, but sample_regs_user or sample_regs_intr selects none",
         "set the bits of the registers that you want"},
    Rule{stack_size_invalid, "sample_stack_user must be a multiple of 8 and below 65535", "for example 8192"},
    Rule{[](const Attr& attr) { return set(attr, kSigtrap) && !set(attr, kRemoveOnExec); },
         "attr.sigtrap needs attr.remove_on_exec: the new program could not handle the signal",
         "set remove_on_exec too"},
    Rule{[](const Attr& attr) { return set(attr, kEnableOnExec | kRemoveOnExec); },
         "enable_on_exec and remove_on_exec can't be combined: both act at the same exec", "set only one of the two"},
    Rule{[](const Attr& attr) { return set(attr, kInheritThread) && !set(attr, kInherit); },
         "inherit_thread restricts inherit, but inherit is not set", "set inherit too"},
    Rule{inherits_reads_without_tid,
         "inherit with PERF_SAMPLE_READ needs PERF_SAMPLE_TID, which identifies the thread that the values belong to",
         "add PERF_SAMPLE_TID (on kernels before 6.12, leave inherit or PERF_SAMPLE_READ out)"},
};

}  // namespace

// Each rule alone makes the kernel refuse the call, so the first broken rule of the table is a cause.
Found attr_contradicts_itself(const Failure& failure) {
    for (const Rule& rule : kRules)
        if (rule.broken(failure.call.attr)) return Cause{std::string{rule.cause}, std::string{rule.fix}};
    return {};
}

// arch_build_bp_info(), hw_breakpoint_arch_parse() (arch/x86/kernel/hw_breakpoint.c). x86 only. An execution breakpoint
// must have the length of a long, although it is on one byte. A watchpoint has the length of the watched datum.
Found bad_breakpoint(const Failure& failure) {
    const auto& attr = failure.call.attr;
    if (attr.type != abi::kTypeBreakpoint) return {};
    const std::uint64_t length = attr.config2;
    if (attr.bp_type == kBreakpointExecute)
        return length == sizeof(long) ? Found{}
                                      : Cause{
                                            "an execution breakpoint (bp_type HW_BREAKPOINT_X) must have bp_len "
                                            "sizeof(long), but bp_len is " +
                                                std::to_string(length),
                                            "set bp_len to 8 (mem:ADDRESS:x sets it)"};
    if (attr.bp_type == kBreakpointRead)
        return Cause{"x86 has no breakpoint for reads alone (bp_type HW_BREAKPOINT_R)", "use rw or w: mem:ADDRESS:rw"};
    if (attr.bp_type != kBreakpointWrite && attr.bp_type != (kBreakpointRead | kBreakpointWrite))
        return Cause{"bp_type " + std::to_string(attr.bp_type) + " is not w (2), rw (3) or x (4)",
                     "use one of them: mem:ADDRESS:w"};
    if (length > 8 || !std::has_single_bit(length))
        return Cause{"a watchpoint watches 1, 2, 4 or 8 bytes, but bp_len is " + std::to_string(length),
                     "use one of these lengths: mem:ADDRESS/8:w"};
    if (attr.config1 % length != 0)
        return Cause{"the watchpoint's address is not a multiple of its length (" + std::to_string(length) + ")",
                     "use an aligned address, or a shorter length: mem:ADDRESS/1:w"};
    return {};
}

}  // namespace anyperf::host::causes
