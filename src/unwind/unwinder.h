// unwinder.h: callers from the registers and the copied stack of a sample, by the rows of cfi.h. It agrees with perf,
// which has libunwind do it: where there is no row it follows the frame pointer.
//
// One step: the row of rip gives the CFA, the return address is at CFA - 8, the caller's rsp is the CFA, and rbp is
// restored by its rule. Three cases differ:
// - A return address is the instruction after the call, which may be in the next line or, after a call that does not
//   return, in the next function. So a caller is looked up at the address minus 1.
// - The frame of a signal handler was not called: the row is marked (`signal`), the registers are in the ucontext that
//   the kernel has put on the stack, and the interrupted instruction is looked up at its own address.
// - Code without a row (a JIT's, hand-written assembly) is assumed to keep a frame pointer.
//
// Unwinding ends at a row whose return address is undefined (`_start`, `clone`), at the end of the copied stack (at
// most 64 KiB of it are in a sample), at a frame that does not lie above its callee, or after 127 frames.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "symbols/dso.h"
#include "symbols/stack_unwinder.h"
#include "unwind/cfi.h"
#include "unwind/expression.h"

namespace anyperf::unwind {

/// Keeps the tables of the files that it has met. The address spaces and dsos that it is given must outlive it. Not
/// thread-safe.
class Unwinder final : public symbols::StackUnwinder {
  public:
    /// The files are looked for by `paths`.
    explicit Unwinder(symbols::SymbolPaths paths);

    /// Appends nothing but the instruction pointer for 32-bit registers, and nothing without the registers that
    /// unwinding starts from.
    void unwind(const symbols::AddressSpace& space, const symbols::UserState& state,
                std::vector<std::uint64_t>& addresses) override;

    void forget_spaces() override { ++generation_; }

  private:
    /// What was found at an address of a process, in a direct-mapped cache.
    struct Place {
        std::uint64_t address = ~std::uint64_t{0};
        const symbols::AddressSpace* space = nullptr;
        std::size_t maps = 0;  // of the space then, since later ones may cover the address; and the generation
        UnwindRow row;         // cfa none: there is no row
        const UnwindTable* table = nullptr;
    };

    /// The row of an address. Valid until the next call: the cache has one place for several addresses.
    const Place& place_of(const symbols::AddressSpace& space, std::uint64_t address);
    /// The table of the dso's file, compiled at the first call; null if it has no file.
    const UnwindTable* table_of(symbols::Dso& dso);
    bool step(const Place& place, const StackCopy& stack, Registers& registers, bool innermost);

    symbols::SymbolPaths paths_;
    std::unordered_map<const symbols::Dso*, UnwindTable> tables_;
    std::vector<Place> places_;  // empty until the first stack is unwound
    std::size_t generation_ = 0;
};

}  // namespace anyperf::unwind
