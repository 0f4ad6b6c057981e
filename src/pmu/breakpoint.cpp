// breakpoint.cpp: see breakpoint.h.
#include "pmu/breakpoint.h"

#include <algorithm>
#include <map>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "abi/sample_bits.h"

namespace anyperf::pmu {
namespace {

using subsystem::Answer;
using subsystem::refuse;
using subsystem::Source;

// HW_BREAKPOINT_* of uapi/linux/hw_breakpoint.h.
constexpr std::uint32_t kEmpty = 0;
constexpr std::uint32_t kWrite = 2;
constexpr std::uint32_t kReadWrite = 3;
constexpr std::uint32_t kExecute = 4;
constexpr std::uint32_t kInvalid = 7;

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

Answer<> check_place(const abi::Attr& attr) {
    const bool executes = attr.bp_type == kExecute;
    if (attr.bp_type != kWrite && attr.bp_type != kReadWrite && !executes)
        return refuse(EINVAL, "bp_type is none that x86 has: W, RW or X");
    if (executes && length_of(attr) != sizeof(long)) return refuse(EINVAL, "bp_len of an X breakpoint is sizeof(long)");
    if (!is_power_of_two_up_to_8(length_of(attr))) return refuse(EINVAL, "bp_len is not 1, 2, 4 or 8");
    if (!executes && address_of(attr) % length_of(attr) != 0) return refuse(EINVAL, "bp_addr is no multiple of bp_len");
    return {};
}

/// Beyond the end of user memory only the kernel's rights help, and nothing is ever seen there.
Answer<> check_mode(const abi::Attr& attr) {
    const std::uint64_t last = address_of(attr) + (attr.bp_type == kExecute ? 1 : length_of(attr)) - 1;
    const bool of_kernel = address_of(attr) >= kUserEnd || last >= kUserEnd;
    if (of_kernel && (attr.flags & abi::flag("exclude_kernel")) != 0)
        return refuse(EINVAL, "an address of the kernel, with exclude_kernel");
    return {};
}

}  // namespace

std::uint32_t BreakpointPmu::type() const {
    return abi::kTypeBreakpoint;
}

bool BreakpointPmu::has_room(const Slot& wanted) const {
    if (wanted.cpu != -1) return has_room_on(wanted.cpu, wanted.tid);
    // One that is bound to no CPU takes a slot of each.
    return has_room_on(-1, wanted.tid) &&
           std::ranges::all_of(slots_, [&](const Slot& slot) { return has_room_on(slot.cpu, wanted.tid); });
}

bool BreakpointPmu::has_room_on(std::int32_t cpu, std::int32_t tid) const {
    // A task has its own on that CPU and all that are the CPU's; the fullest task decides for one of a CPU.
    std::map<std::int32_t, unsigned> tasks;
    for (const Slot& slot : slots_)
        if (slot.cpu == -1 || slot.cpu == cpu) ++tasks[slot.tid];
    const unsigned of_cpu = tasks[-1];
    unsigned most = 0;
    for (const auto& [task, count] : tasks)
        if (task != -1 && (tid == -1 || task == tid)) most = std::max(most, count);
    return of_cpu + most < kBreakpointSlots;
}

Answer<subsystem::Wiring> BreakpointPmu::init(const subsystem::EventRequest& request) {
    const abi::Attr& attr = request.attr;
    if (attr.type != abi::kTypeBreakpoint) return refuse(ENOENT, "another PMU's type");
    if ((attr.sample_type & abi::sample("PERF_SAMPLE_BRANCH_STACK")) != 0)
        return refuse(EOPNOTSUPP, "breakpoints have no branch stack");
    if (attr.bp_type == kEmpty || attr.bp_type == kInvalid) return refuse(EINVAL, "bp_type names no access");
    const Slot slot{request.event, request.task != nullptr ? request.task->tid : -1, request.cpu};
    if (!request.inherited && !has_room(slot)) return refuse(ENOSPC, "all four breakpoints of the task are taken");
    TRY(check_place(attr));
    TRY(check_mode(attr));
    if (!request.of_cpu) slots_.push_back(slot);
    const bool sees_nothing = (attr.flags & abi::flag("exclude_user")) != 0;
    return subsystem::Wiring{
        .source = {.kind = sees_nothing ? Source::Kind::nothing : Source::Kind::happenings},
        .software = true,
        .monotonic_only = true,
    };
}

void BreakpointPmu::destroy(subsystem::EventIndex event) {
    std::erase_if(slots_, [event](const Slot& slot) { return slot.event == event; });
}

Answer<> BreakpointPmu::modify(subsystem::EventIndex, abi::Attr& attr, const abi::Attr& wanted) {
    constexpr std::uint64_t kDisabled = abi::flag("disabled");
    TRY(check_place(wanted));
    TRY(check_mode(wanted));
    abi::Attr changed = attr;
    changed.bp_type = wanted.bp_type;
    changed.config1 = wanted.config1;
    changed.config2 = wanted.config2;
    changed.flags = (attr.flags & ~kDisabled) | (wanted.flags & kDisabled);
    if (changed != wanted) return refuse(EINVAL, "something else than address, type, length and disabled differs");
    attr = changed;
    return {};
}

}  // namespace anyperf::pmu
