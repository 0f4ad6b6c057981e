// attr_rules.cpp: what an attr must not have, as three tables in the kernel's order: perf_copy_attr(), the start of
// perf_event_open(), and the part of perf_event_alloc() after the PMU has accepted the event. The first broken rule
// gives the answer.
//
// Why tables: the order is part of the interface. perf probes for features by setting one field and looking at the
// errno, and a request with two mistakes gets the errno of the first. A row is one `if` of the kernel. Its lambda has
// no capture, so a table is constant data; AttrContext has what a rule needs besides the attr. Rows about rights are
// where the kernel checks rights, between rows about values.
//
// What is not here: attr.size and the bytes beyond the known fields (attr_copy.h); flags of the call, group, task and
// PMU (open.cpp).
#include "subsystem/events/attr_rules.h"

#include <array>
#include <span>

#include "abi/attr_flags.h"
#include "abi/aux_actions.h"
#include "abi/branch_types.h"
#include "abi/registers.h"
#include "abi/sample_bits.h"
#include "subsystem/permissions.h"

namespace anyperf::subsystem {
namespace {

using abi::Attr;
using abi::flag;
using abi::sample;

/// A mistake, its errno, and the reason for the log.
struct Rule {
    bool (*broken)(const Attr&, const AttrContext&);
    int error;
    std::string_view reason;
};

constexpr bool has(const Attr& attr, std::uint64_t flags) {
    return (attr.flags & flags) != 0;
}
constexpr bool samples(const Attr& attr, std::uint64_t bits) {
    return (attr.sample_type & bits) != 0;
}

// `~(2 * last - 1)`: all bits above the last known one.
constexpr std::uint64_t kReservedFlags = ~(2 * flag("sigtrap") - 1);  // bits 38 and 39 came after Linux 6.18
constexpr std::uint64_t kReservedReadBits = ~(2 * abi::kReadFormatBits.back().mask() - 1);
constexpr std::uint32_t kReservedAux = ~(2 * static_cast<std::uint32_t>(abi::kAuxActions.back().mask()) - 1);
constexpr auto kStartPaused = abi::bit(abi::kAuxActions, "aux_start_paused");
constexpr auto kPauseAndResume = abi::bit(abi::kAuxActions, "aux_pause") | abi::bit(abi::kAuxActions, "aux_resume");
constexpr std::uint64_t kReservedBranchBits = ~(2 * abi::kBranchBits.back().mask() - 1);
constexpr std::uint64_t kBranchKernel = 0x6;  // KERNEL and HV
constexpr std::uint32_t kStackTooLarge = 0xffff;
// perf_reg_validate() of x86 (arch/x86/kernel/perf_regs.c) refuses an empty mask, the registers that 64-bit samples
// lack (ds, es, fs, gs) and the numbers that no register has. Vector registers are well-formed, and the PMU refuses
// them later.
constexpr unsigned kFirstVectorBit = abi::kX86FirstVectorBit;
constexpr std::uint64_t kVectorRegisters = ~((1ull << kFirstVectorBit) - 1);
constexpr std::uint64_t kRefusedRegisters =
    abi::kX86RefusedRegisters | (((1ull << kFirstVectorBit) - 1) & ~((1ull << abi::kX86Registers.size()) - 1));

constexpr bool registers_wrong(std::uint64_t mask) {
    return mask == 0 || (mask & kRefusedRegisters) != 0;
}

// Bits 0 to 2 of branch_sample_type are user, kernel and hypervisor: the values 1, 2 and 4 below.

/// The privilege levels of a branch filter: those that it names; if it names none, those that the event counts.
constexpr std::uint64_t branch_levels(const Attr& attr) {
    if ((attr.branch_sample_type & abi::kBranchPrivileges) != 0)
        return attr.branch_sample_type & abi::kBranchPrivileges;
    std::uint64_t levels = 0;
    if (!has(attr, flag("exclude_user"))) levels |= 1;
    if (!has(attr, flag("exclude_kernel"))) levels |= 2;
    if (!has(attr, flag("exclude_hv"))) levels |= 4;
    return levels;
}

bool kernel_refused(const AttrContext& context) {
    return !context.rights.may_measure_kernel();
}

constexpr auto kBranchStack = sample("PERF_SAMPLE_BRANCH_STACK");

constexpr std::array kContentRules{
    Rule{[](const Attr& a, const AttrContext&) {
             return (a.flags & kReservedFlags) != 0 || a.reserved_2 != 0 || (a.aux_action & kReservedAux) != 0;
         },
         EINVAL, "a reserved field of attr is set"},
    Rule{[](const Attr& a, const AttrContext&) { return (a.sample_type & abi::kReservedSampleBits) != 0; }, EINVAL,
         "sample_type has a bit that Linux does not know"},
    Rule{[](const Attr& a, const AttrContext&) { return (a.read_format & kReservedReadBits) != 0; }, EINVAL,
         "read_format has a bit that Linux does not know"},
    Rule{[](const Attr& a, const AttrContext&) {
             return samples(a, kBranchStack) && (a.branch_sample_type & kReservedBranchBits) != 0;
         },
         EINVAL, "branch_sample_type has a bit that Linux does not know"},
    Rule{[](const Attr& a, const AttrContext&) {
             return samples(a, kBranchStack) && (a.branch_sample_type & ~abi::kBranchPrivileges) == 0;
         },
         EINVAL, "branch_sample_type selects no kind of branch"},
    Rule{[](const Attr& a, const AttrContext& c) {
             return samples(a, kBranchStack) && (branch_levels(a) & kBranchKernel) != 0 && kernel_refused(c);
         },
         EACCES, "branches in kernel mode need CAP_PERFMON or perf_event_paranoid 1"},
    Rule{[](const Attr& a, const AttrContext&) {
             return samples(a, sample("PERF_SAMPLE_REGS_USER")) && registers_wrong(a.sample_regs_user);
         },
         EINVAL, "sample_regs_user is 0, or has a register that 64-bit x86 does not sample"},
    Rule{[](const Attr& a, const AttrContext&) {
             return samples(a, sample("PERF_SAMPLE_STACK_USER")) &&
                    (a.sample_stack_user >= kStackTooLarge || a.sample_stack_user % 8 != 0);
         },
         EINVAL, "sample_stack_user is not a multiple of 8 below 65,535"},
    Rule{[](const Attr& a, const AttrContext&) {
             return samples(a, sample("PERF_SAMPLE_REGS_INTR")) && registers_wrong(a.sample_regs_intr);
         },
         EINVAL, "sample_regs_intr is 0, or has a register that 64-bit x86 does not sample"},
    Rule{[](const Attr& a, const AttrContext&) {
             return samples(a, sample("PERF_SAMPLE_WEIGHT")) && samples(a, sample("PERF_SAMPLE_WEIGHT_STRUCT"));
         },
         EINVAL, "PERF_SAMPLE_WEIGHT and WEIGHT_STRUCT exclude each other"},
    Rule{[](const Attr& a, const AttrContext&) { return has(a, flag("inherit_thread")) && !has(a, flag("inherit")); },
         EINVAL, "inherit_thread needs inherit"},
    Rule{[](const Attr& a, const AttrContext&) {
             return has(a, flag("remove_on_exec")) && has(a, flag("enable_on_exec"));
         },
         EINVAL, "remove_on_exec and enable_on_exec exclude each other"},
    Rule{[](const Attr& a, const AttrContext&) { return has(a, flag("sigtrap")) && !has(a, flag("remove_on_exec")); },
         EINVAL, "sigtrap needs remove_on_exec"},
};

constexpr std::array kOpenRules{
    Rule{[](const Attr& a, const AttrContext& c) { return !has(a, flag("exclude_kernel")) && kernel_refused(c); },
         EACCES, "kernel mode needs CAP_PERFMON or perf_event_paranoid 1: add the modifier u (exclude_kernel)"},
    Rule{[](const Attr& a, const AttrContext& c) { return has(a, flag("namespaces")) && !c.rights.has_perfmon(); },
         EACCES, "namespaces needs CAP_PERFMON"},
    Rule{[](const Attr& a, const AttrContext& c) {
             return has(a, flag("freq")) && a.sample_period > c.limits.max_sample_rate;
         },
         EINVAL, "sample_freq is above kernel.perf_event_max_sample_rate"},
    Rule{[](const Attr& a, const AttrContext&) { return !has(a, flag("freq")) && a.sample_period >> 63 != 0; }, EINVAL,
         "bit 63 of sample_period is set; a period is a positive signed number"},
    Rule{[](const Attr& a, const AttrContext& c) {
             return samples(a, sample("PERF_SAMPLE_PHYS_ADDR")) && kernel_refused(c);
         },
         EACCES, "physical addresses need CAP_PERFMON or perf_event_paranoid 1"},
};

constexpr std::array kWiredRules{
    Rule{[](const Attr& a, const AttrContext&) {
             return ((a.sample_regs_user | a.sample_regs_intr) & kVectorRegisters) != 0;
         },
         EOPNOTSUPP, "the PMU does not sample vector registers"},
    Rule{[](const Attr& a, const AttrContext&) { return has(a, flag("aux_output")); }, EOPNOTSUPP,
         "aux_output: the PMU has no AUX area"},
    Rule{[](const Attr& a, const AttrContext&) { return (a.aux_action & kPauseAndResume) == kPauseAndResume; }, EINVAL,
         "aux_pause and aux_resume exclude each other"},
    Rule{[](const Attr& a, const AttrContext&) { return (a.aux_action & kStartPaused) != 0; }, EOPNOTSUPP,
         "aux_start_paused: the PMU has no AUX area"},
    Rule{[](const Attr& a, const AttrContext& c) {
             return samples(a, sample("PERF_SAMPLE_CALLCHAIN")) && a.sample_max_stack > c.limits.max_stack;
         },
         EOVERFLOW, "sample_max_stack is above kernel.perf_event_max_stack"},
};

Answer<> check(std::span<const Rule> rules, const Attr& attr, const AttrContext& context) {
    for (const Rule& rule : rules)
        if (rule.broken(attr, context)) return refuse(rule.error, rule.reason);
    return {};
}

}  // namespace

Answer<> check_attr_content(const Attr& attr, const AttrContext& context) {
    return check(kContentRules, attr, context);
}

Answer<> check_attr(const Attr& attr, const AttrContext& context) {
    return check(kOpenRules, attr, context);
}

Answer<> check_wired_attr(const Attr& attr, const Limits& limits) {
    return check(kWiredRules, attr, {limits, Rights{Credentials{}, limits}});
}

// The kernel fills in the same: the largest stack depth, and the event's own levels in the branch filter. Without
// branch stacks it clears the filter (perf_event_alloc()).
void complete_attr(Attr& attr, const Limits& limits) {
    if (attr.sample_max_stack == 0) attr.sample_max_stack = limits.max_stack;
    attr.branch_sample_type =
        samples(attr, kBranchStack) ? (attr.branch_sample_type & ~abi::kBranchPrivileges) | branch_levels(attr) : 0;
}

}  // namespace anyperf::subsystem
