// breakpoint_pmu.cpp: the order of the checks is the kernel's: first the slot (register_perf_hw_breakpoint() reserves
// one), then address, length and mode.
//
// An x86 CPU has four debug registers (SDM volume 3, "Debug Registers"). In a run translated code finds the
// breakpoints, so there could be any number of them. The limit of four is kept, since programs test it and have a
// fallback for ENOSPC.
#include "pmu/breakpoint_pmu.h"

#include <algorithm>
#include <map>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "abi/sample_bits.h"
#include "try.h"

namespace anyperf::pmu {
namespace {

using subsystem::Answer;
using subsystem::refuse;
using subsystem::Source;

constexpr std::uint32_t kEmpty = abi::value_of(abi::kBreakpointTypes, "HW_BREAKPOINT_EMPTY");
constexpr std::uint32_t kWrite = abi::value_of(abi::kBreakpointTypes, "HW_BREAKPOINT_W");
constexpr std::uint32_t kReadWrite = abi::value_of(abi::kBreakpointTypes, "HW_BREAKPOINT_RW");
constexpr std::uint32_t kExecute = abi::value_of(abi::kBreakpointTypes, "HW_BREAKPOINT_X");
constexpr std::uint32_t kInvalid = kReadWrite | kExecute;  // HW_BREAKPOINT_INVALID, which no attr may have

constexpr std::uint64_t kUserEnd = 0x7ffffffff000;  ///< TASK_SIZE_MAX with four-level page tables

std::uint64_t address_of(const abi::Attr& attr) {
    return attr.config1;
}
std::uint64_t length_of(const abi::Attr& attr) {
    return attr.config2;
}

bool is_power_of_two_up_to_8(std::uint64_t length) {
    return length == 1 || length == 2 || length == 4 || length == 8;
}

/// hw_breakpoint_arch_parse(): type, length and alignment. An X breakpoint must have the length sizeof(long), although
/// it only concerns the first byte of an instruction.
Answer<> check_address(const abi::Attr& attr) {
    const bool executes = attr.bp_type == kExecute;
    if (attr.bp_type != kWrite && attr.bp_type != kReadWrite && !executes)
        return refuse(EINVAL, "bp_type is not supported on x86, which has W, RW and X");
    if (executes && length_of(attr) != sizeof(long))
        return refuse(EINVAL, "bp_len of an X breakpoint must be sizeof(long)");
    if (!is_power_of_two_up_to_8(length_of(attr))) return refuse(EINVAL, "bp_len is not 1, 2, 4 or 8");
    if (!executes && address_of(attr) % length_of(attr) != 0)
        return refuse(EINVAL, "bp_addr is not a multiple of bp_len");
    return {};
}

/// hw_breakpoint_parse() in kernel/events/hw_breakpoint.c. An accepted address of the kernel never counts: threads of
/// the run execute in user mode only.
Answer<> check_mode(const abi::Attr& attr, bool may_break_kernel) {
    const std::uint64_t last = address_of(attr) + (attr.bp_type == kExecute ? 1 : length_of(attr)) - 1;
    const bool is_kernel_address = address_of(attr) >= kUserEnd || last >= kUserEnd;
    if (is_kernel_address && (attr.flags & abi::flag("exclude_kernel")) != 0)
        return refuse(EINVAL, "bp_addr is in the kernel, but exclude_kernel is set");
    if (is_kernel_address && !may_break_kernel)
        return refuse(EPERM, "bp_addr is in the kernel, which needs CAP_SYS_ADMIN");
    return {};
}

}  // namespace

std::uint32_t BreakpointPmu::type() const {
    return abi::kTypeBreakpoint;
}

// Debug registers belong to a CPU and are loaded for the task that runs there, so a slot is free if no task could need
// more than four on any CPU. The kernel counts in the same way (toggle_bp_slot() and fetch_bp_busy_slots()).
bool BreakpointPmu::has_free_slot(const Slot& wanted) const {
    if (wanted.cpu != -1) return has_free_slot_on(wanted.cpu, wanted.tid);
    // A breakpoint that is not bound to a CPU needs a slot on each. CPUs without an event of their own are alike: -1.
    return has_free_slot_on(-1, wanted.tid) &&
           std::ranges::all_of(slots_, [&](const Slot& slot) { return has_free_slot_on(slot.cpu, wanted.tid); });
}

bool BreakpointPmu::has_free_slot_on(std::int32_t cpu, std::int32_t tid) const {
    // A task uses the slots of its own breakpoints on this CPU and those of all tasks. So a new breakpoint of all tasks
    // fits only if it fits next to those of the task that has the most.
    std::map<std::int32_t, unsigned> tasks;
    for (const Slot& slot : slots_)
        if (slot.cpu == -1 || slot.cpu == cpu) ++tasks[slot.tid];
    const unsigned of_all_tasks = tasks[-1];
    unsigned most = 0;
    for (const auto& [task, count] : tasks)
        if (task != -1 && (tid == -1 || task == tid)) most = std::max(most, count);
    return of_all_tasks + most < kBreakpointSlots;
}

Answer<subsystem::Wiring> BreakpointPmu::init(const subsystem::EventRequest& request) {
    const abi::Attr& attr = request.attr;
    if (attr.type != abi::kTypeBreakpoint) return refuse(ENOENT, "another PMU's type");
    if ((attr.sample_type & abi::sample("PERF_SAMPLE_BRANCH_STACK")) != 0)
        return refuse(EOPNOTSUPP, "breakpoints have no branch stack");
    if (attr.bp_type == kEmpty || attr.bp_type == kInvalid) return refuse(EINVAL, "bp_type has no kind of access");
    const Slot slot{request.event, request.task != nullptr ? request.task->tid : -1, request.cpu,
                    request.rights.has_sys_admin()};
    if (!request.inherited && !has_free_slot(slot))
        return refuse(ENOSPC, "all four breakpoints of the task are in use");
    TRY(check_address(attr));
    TRY(check_mode(attr, slot.may_break_kernel));
    // The part of a cpu-wide event that counts one task takes no slot: the event itself has it already.
    if (!request.cpu_wide_part) slots_.push_back(slot);
    const bool counts_nothing = (attr.flags & abi::flag("exclude_user")) != 0;
    return subsystem::Wiring{
        .source = {.kind = counts_nothing ? Source::Kind::nothing : Source::Kind::occurrences},
        .software = true,
        .monotonic_only = true,
    };
}

void BreakpointPmu::destroy(subsystem::EventIndex event) {
    std::erase_if(slots_, [event](const Slot& slot) { return slot.event == event; });
}

/// modify_user_hw_breakpoint_check(): the new attr is checked first; then nothing else may differ.
Answer<> BreakpointPmu::modify(subsystem::EventIndex event, abi::Attr& attr, const abi::Attr& wanted) {
    constexpr std::uint64_t kDisabled = abi::flag("disabled");
    TRY(check_address(wanted));
    const auto slot = std::ranges::find(slots_, event, &Slot::event);
    TRY(check_mode(wanted, slot != slots_.end() && slot->may_break_kernel));
    abi::Attr changed = attr;
    changed.bp_type = wanted.bp_type;
    changed.config1 = wanted.config1;
    changed.config2 = wanted.config2;
    changed.flags = (attr.flags & ~kDisabled) | (wanted.flags & kDisabled);
    if (changed != wanted) return refuse(EINVAL, "only address, type, length and disabled can be modified");
    attr = changed;
    return {};
}

}  // namespace anyperf::pmu
