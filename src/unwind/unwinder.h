// unwinder.h: callers from the registers and the copied stack of a sample, by the rows of cfi.h. It agrees with perf,
// which has libunwind do it: where there is no row it follows the frame pointer.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "symbols/dso.h"
#include "symbols/stack_unwinder.h"
#include "unwind/cfi.h"
#include "unwind/expression.h"

namespace anyperf::unwind {

class Unwinder final : public symbols::StackUnwinder {
  public:
    /// The files are looked for by `paths`.
    explicit Unwinder(symbols::SymbolPaths paths);

    /// Appends nothing but the instruction pointer for 32-bit registers, and nothing without the registers that
    /// unwinding starts from.
    void unwind(const symbols::AddressSpace& space, const symbols::UserState& state,
                std::vector<std::uint64_t>& addresses) override;

  private:
    /// What was found at an address of a process, in a direct-mapped cache.
    struct Place {
        std::uint64_t address = ~std::uint64_t{0};
        const symbols::AddressSpace* space = nullptr;
        std::size_t maps = 0;  // of the space then: later ones may cover the address
        UnwindRow row;         // cfa none: there is no row
        const UnwindTable* table = nullptr;
    };

    const Place& place_of(const symbols::AddressSpace& space, std::uint64_t address);
    const UnwindTable* table_of(symbols::Dso& dso);
    bool step(const Place& place, const StackCopy& stack, Registers& registers, bool innermost);

    symbols::SymbolPaths paths_;
    symbols::KernelSymbols kernel_;
    std::unordered_map<const symbols::Dso*, UnwindTable> tables_;
    std::vector<Place> places_;
};

}  // namespace anyperf::unwind
