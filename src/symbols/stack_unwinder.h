// stack_unwinder.h: what turns the registers and the copied stack of a sample into callers. The reader of a profile is
// given one; src/unwind implements it. As an interface it keeps src/analysis free of DWARF: a report without unwinding,
// and each test of the reader, needs no unwinder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "symbols/address_space.h"

namespace anyperf::symbols {

/// REGS_USER and STACK_USER of a sample (perf_event_open(2), "PERF_RECORD_SAMPLE").
struct UserState {
    std::uint64_t abi = 0;                     ///< 1: 32-bit registers, 2: 64-bit
    std::uint64_t register_mask = 0;           ///< attr.sample_regs_user
    std::span<const std::uint64_t> registers;  ///< one for each bit of the mask, in ascending order
    std::span<const std::byte> stack;          ///< the valid bytes from the stack pointer upwards
};

class StackUnwinder {
  public:
    virtual ~StackUnwinder() = default;

    /// Appends the addresses from the innermost frame, which is the instruction pointer itself, outwards. Callers are
    /// return addresses minus 1, as perf looks them up. Of a frame that a signal interrupted it is the instruction
    /// pointer itself.
    virtual void unwind(const AddressSpace& space, const UserState& state, std::vector<std::uint64_t>& addresses) = 0;
    /// Spaces that it was given are not valid any more: another one may be at the same place in memory.
    virtual void forget_spaces() = 0;
};

}  // namespace anyperf::symbols
