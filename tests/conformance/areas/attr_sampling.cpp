// attr_sampling.cpp: which values perf_event_open accepts in the fields of the attr that define what a sample contains:
// branch stack, registers, stack and callchain; and which clocks it accepts.
#include <array>

#include "areas/areas.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/open_rows.h"

namespace conformance {

namespace {

void branches(Call& call, std::uint64_t filter) {
    call.attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
    call.attr.branch_sample_type = filter;
}

void user_registers(Call& call, std::uint64_t mask) {
    call.attr.sample_type = PERF_SAMPLE_REGS_USER;
    call.attr.sample_regs_user = mask;
}

void intr_registers(Call& call, std::uint64_t mask) {
    call.attr.sample_type = PERF_SAMPLE_REGS_INTR;
    call.attr.sample_regs_intr = mask;
}

void stack(Call& call, std::uint32_t bytes) {
    call.attr.sample_type = PERF_SAMPLE_STACK_USER;
    call.attr.sample_stack_user = bytes;
}

void callchain(Call& call, int above_the_limit) {
    call.attr.sample_type = PERF_SAMPLE_CALLCHAIN;
    call.attr.sample_max_stack =
        static_cast<std::uint16_t>(sysctl("perf_event_max_stack").value_or(127) + above_the_limit);
}

constexpr std::array kRows{
    OpenRow{"branch.no_type", "a branch stack without a branch type is refused", EINVAL,
            [](Call& c) { branches(c, 0); }},
    OpenRow{"branch.privilege_only", "a branch stack with privilege bits only is refused", EINVAL,
            [](Call& c) { branches(c, PERF_SAMPLE_BRANCH_USER); }},
    OpenRow{"branch.bit_20", "branch_sample_type: bits 20 and up are unknown", EINVAL,
            [](Call& c) { branches(c, 1ULL << 20 | PERF_SAMPLE_BRANCH_ANY); }},
    OpenRow{"branch.software", "a software event has no branch stack", EOPNOTSUPP,
            [](Call& c) { branches(c, PERF_SAMPLE_BRANCH_ANY); }},
    OpenRow{"branch.user_any_call", "a software event has no branch stack of a filter other than ANY, either",
            EOPNOTSUPP, [](Call& c) { branches(c, PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY_CALL); }},
    OpenRow{"branch.type_alone", "branch_sample_type is ignored without BRANCH_STACK", 0,
            [](Call& c) { c.attr.branch_sample_type = ~0ULL; }},
    OpenRow{"regs_user.none", "REGS_USER needs a register", EINVAL, [](Call& c) { user_registers(c, 0); }},
    OpenRow{"regs_user.ax", "REGS_USER of one register is accepted", 0, [](Call& c) { user_registers(c, 1); }},
    OpenRow{"regs_user.all", "REGS_USER of all general registers is accepted", 0,
            [](Call& c) { user_registers(c, 0xff0fff); }},
    OpenRow{"regs_user.ds", "REGS_USER of ds is refused on x86-64", EINVAL,
            [](Call& c) { user_registers(c, 1U << 12); }},
    OpenRow{"regs_user.es", "REGS_USER of es is refused on x86-64", EINVAL,
            [](Call& c) { user_registers(c, 1U << 13); }},
    OpenRow{"regs_user.fs", "REGS_USER of fs is refused on x86-64", EINVAL,
            [](Call& c) { user_registers(c, 1U << 14); }},
    OpenRow{"regs_user.gs", "REGS_USER of gs is refused on x86-64", EINVAL,
            [](Call& c) { user_registers(c, 1U << 15); }},
    OpenRow{"regs_user.bit_24", "REGS_USER: bit 24 is not a register", EINVAL,
            [](Call& c) { user_registers(c, 1U << 24); }},
    OpenRow{"regs_user.bit_31", "REGS_USER: bit 31 is not a register", EINVAL,
            [](Call& c) { user_registers(c, 1U << 31); }},
    OpenRow{"regs_user.vector", "REGS_USER of bits 32 to 63, vector registers, is refused", EOPNOTSUPP,
            [](Call& c) { user_registers(c, 1ULL << 32); }},
    OpenRow{"regs_user.vector_unasked",
            "a vector register in sample_regs_user is refused even if sample_type does not request registers",
            EOPNOTSUPP, [](Call& c) { c.attr.sample_regs_user = 1ULL << 32; }},
    OpenRow{"regs_user.mask_alone", "sample_regs_user is ignored without REGS_USER", 0,
            [](Call& c) { c.attr.sample_regs_user = 1U << 12; }},
    OpenRow{"regs_intr.none", "REGS_INTR needs a register", EINVAL, [](Call& c) { intr_registers(c, 0); }},
    OpenRow{"regs_intr.all", "REGS_INTR of all general registers is accepted", 0,
            [](Call& c) { intr_registers(c, 0xff0fff); }},
    OpenRow{"regs_intr.ds", "REGS_INTR of ds is refused on x86-64", EINVAL,
            [](Call& c) { intr_registers(c, 1U << 12); }},
    OpenRow{"regs_intr.bit_31", "REGS_INTR: bit 31 is not a register", EINVAL,
            [](Call& c) { intr_registers(c, 1U << 31); }},
    OpenRow{"regs_intr.vector", "REGS_INTR of bits 32 to 63, vector registers, is refused", EOPNOTSUPP,
            [](Call& c) { intr_registers(c, 1ULL << 63); }},
    OpenRow{"regs_intr.vector_unasked",
            "a vector register in sample_regs_intr is refused even if sample_type does not request registers",
            EOPNOTSUPP, [](Call& c) { c.attr.sample_regs_intr = 1ULL << 63; }},
    OpenRow{"stack.0", "STACK_USER of 0 bytes is accepted", 0, [](Call& c) { stack(c, 0); }},
    OpenRow{"stack.8", "STACK_USER of 8 bytes is accepted", 0, [](Call& c) { stack(c, 8); }},
    OpenRow{"stack.12", "STACK_USER of a size that is not a multiple of 8 is refused", EINVAL,
            [](Call& c) { stack(c, 12); }},
    OpenRow{"stack.65528", "STACK_USER of 65528 bytes is accepted", 0, [](Call& c) { stack(c, 65528); }},
    OpenRow{"stack.65535", "STACK_USER of 65535 bytes is refused", EINVAL, [](Call& c) { stack(c, 65535); }},
    OpenRow{"stack.65536", "STACK_USER of 65536 bytes is refused", EINVAL, [](Call& c) { stack(c, 65536); }},
    OpenRow{"stack.size_alone", "sample_stack_user is ignored without STACK_USER", 0,
            [](Call& c) { c.attr.sample_stack_user = 12; }},
    OpenRow{"chain.at_the_limit", "sample_max_stack may be kernel.perf_event_max_stack", 0,
            [](Call& c) { callchain(c, 0); }},
    OpenRow{"chain.above_the_limit", "sample_max_stack above kernel.perf_event_max_stack is EOVERFLOW", EOVERFLOW,
            [](Call& c) { callchain(c, 1); }},
    OpenRow{"chain.0", "sample_max_stack 0 means the maximum", 0,
            [](Call& c) { c.attr.sample_type = PERF_SAMPLE_CALLCHAIN; }},
    OpenRow{"chain.depth_alone", "sample_max_stack is ignored without CALLCHAIN", 0,
            [](Call& c) { c.attr.sample_max_stack = 0xffff; }},
    OpenRow{"clock.unused", "clockid is ignored without use_clockid", 0, [](Call& c) { c.attr.clockid = 99; }},
};

struct Clock {
    int id;
    const char* name;
    int software;    ///< errno or 0 for a software event
    int breakpoint;  ///< errno or 0 for a breakpoint, which may overflow in NMI context
};

constexpr std::array kClocks{
    Clock{0, "realtime", 0, EINVAL},
    Clock{1, "monotonic", 0, 0},
    Clock{2, "process_cputime", EINVAL, EINVAL},
    Clock{3, "thread_cputime", EINVAL, EINVAL},
    Clock{4, "monotonic_raw", 0, 0},
    Clock{5, "realtime_coarse", EINVAL, EINVAL},
    Clock{6, "monotonic_coarse", EINVAL, EINVAL},
    Clock{7, "boottime", 0, EINVAL},
    Clock{8, "realtime_alarm", EINVAL, EINVAL},
    Clock{9, "boottime_alarm", EINVAL, EINVAL},
    Clock{11, "tai", 0, EINVAL},
    Clock{12, "12", EINVAL, EINVAL},
    Clock{-1, "minus_1", EINVAL, EINVAL},
};

Case clock_case(const Clock& clock, const char* kind, int expected, unsigned needs, Attr (*base)()) {
    return {std::string{"clock."} + kind + "." + clock.name,
            std::string{"use_clockid on a "} + kind + " event with clock " + in_words(clock.name) +
                (expected == 0 ? " is accepted" : " is EINVAL"),
            needs, [=] {
                Attr attr = base();
                attr.use_clockid = 1;
                attr.clockid = clock.id;
                want_result("perf_event_open", result_of(attr), expected);
            }};
}

std::uint64_t watched = 0;

}  // namespace

std::vector<Case> attr_sampling_cases() {
    std::vector<Case> cases = open_cases(kRows, page_faults(1));
    for (const Clock& clock : kClocks) {
        cases.push_back(clock_case(clock, "software", clock.software, kNothing, dummy));
        cases.push_back(
            clock_case(clock, "breakpoint", clock.breakpoint, kBreakpoint, [] { return watchpoint(&watched); }));
    }
    return cases;
}

}  // namespace conformance
