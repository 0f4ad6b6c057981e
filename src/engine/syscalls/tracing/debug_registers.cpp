// debug_registers.cpp: PTRACE_PEEKUSER and PTRACE_POKEUSER of debug registers. The checks are those of
// arch/x86/kernel/ptrace.c (ptrace_set_debugreg()) and hw_breakpoint.c (arch_parse_hw_breakpoint()).
#include "engine/instrumentation/debug_registers.h"

#include <errno.h>

#include "engine/syscalls/tracing/tracee.h"
#include "engine/threads/run_records.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kReservedControl = 0xffffffff0000fc00;  // DR_CONTROL_RESERVED
constexpr std::uint64_t kReservedStatus = 0xffff0ff0;           // DR6_RESERVED: shown as ones
constexpr std::uint64_t kEndOfUserSpace = 0x7ffffffff000;       // TASK_SIZE_MAX
constexpr unsigned kRegisters = 8;

/// Finds the address of the tracee's debug registers; 0 if its engine has only begun. Returns 0 or a negated errno.
long find_place(std::int32_t task, std::uint64_t& place) {
    TracedRegisters of_engine{};
    const long got = trace_call(kGetRegisters, task, 0, address_of(&of_engine));
    place = of_engine.gs_base != 0 ? of_engine.gs_base + offsetof(Thread, debug) : 0;
    return got;
}

bool is_valid(const DebugSlot& slot) {
    if (slot.address >= kEndOfUserSpace) return false;
    if (slot.kind == DebugSlot::Kind::ports) return false;
    if (slot.kind == DebugSlot::Kind::execution) return slot.bytes == 1;
    return slot.address % slot.bytes == 0;
}

/// Changes a register. Returns 0 or a negated errno.
long set(DebugRegisters& registers, unsigned number, std::uint64_t value) {
    if (number == kDebugStatus) {
        registers.status = value ^ kReservedStatus;
        return 0;
    }
    if (number < kDebugSlots)
        registers.address[number] = value;
    else if (number == kDebugControl)
        registers.control = value & ~kReservedControl;
    else
        return -EIO;
    if (number < kDebugSlots && value >= kEndOfUserSpace) return -EINVAL;
    for (unsigned i = 0; i < kDebugSlots; ++i) {
        const DebugSlot slot = registers.slot(i);
        if (slot.enabled && !is_valid(slot)) return -EINVAL;
    }
    return 0;
}

std::uint64_t shown(const DebugRegisters& registers, unsigned number) {
    if (number < kDebugSlots) return registers.address[number];
    if (number == kDebugStatus) return registers.status ^ kReservedStatus;
    return number == kDebugControl ? registers.control : 0;
}

}  // namespace

long debug_register(const Engine& engine, std::int32_t task, std::uint64_t offset, bool writes, std::uint64_t data) {
    const auto number = static_cast<unsigned>((offset - kDebugRegisters) / 8);
    std::uint64_t place = 0;
    if (const long error = find_place(task, place); error != 0) return error;
    DebugRegisters registers{};
    if (place != 0 && !read_tracee(task, place, &registers, sizeof registers)) return -EIO;
    if (!writes) {
        const std::uint64_t value = number < kRegisters ? shown(registers, number) : 0;
        return x86_64::guarded_write(data, value) ? 0 : -EFAULT;
    }
    if (const long error = set(registers, number, data); error != 0) return error;
    if (place == 0) return data == 0 ? 0 : -EIO;
    registers.changed = 1;
    if (!write_tracee(task, place, &registers, sizeof registers)) return -EIO;
    std::uint32_t* const state = trace_state_of(engine, page_of_thread(engine, task));
    if (state != nullptr) __atomic_fetch_or(state, run::trace::kDebugChanged, __ATOMIC_RELAXED);
    return 0;
}

}  // namespace anyperf::engine
