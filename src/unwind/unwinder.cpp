// unwinder.cpp: one step from a frame to its caller, and the cache of rows. Most samples of a program share most of
// their callers, so the row of an address is nearly always in the cache, and a step then costs two reads of the
// copied stack.
//
// All values come from a stranger's file. A wrong rule may lead anywhere, and two checks bound the damage: memory is
// read only from the copied stack (StackCopy::word()), and each caller's CFA must be above its callee's rsp. So a stack
// cannot become a loop, and it ends after kMostFrames frames in any case.
#include "unwind/unwinder.h"

#include <bit>
#include <optional>
#include <utility>

namespace anyperf::unwind {

namespace {

// perf's numbers of registers (arch/x86/include/uapi/asm/perf_regs.h).
enum PerfRegister : unsigned { kBp = 6, kSp = 7, kIp = 8 };

constexpr std::uint64_t kAbi64 = 2;       // PERF_SAMPLE_REGS_ABI_64
constexpr std::size_t kMostFrames = 127;  // of perf: PERF_MAX_STACK_DEPTH
constexpr std::size_t kPlaces = 1 << 14;  // a power of two

// struct rt_sigframe of the kernel: at rsp is a ucontext, whose gregs begin after flags, link and stack_t.
constexpr std::uint64_t kGeneralRegisters = 40;
enum UcontextRegister : std::uint64_t { kUcontextRbp = 10, kUcontextRsp = 15, kUcontextRip = 16 };

/// A register of the sample; nothing if it was not recorded. The registers are packed: one for each bit of the mask.
/// perf's numbers are not those of DWARF: there rbp is 6 and rsp 7 as well, but rip is 16.
std::optional<std::uint64_t> register_of(const symbols::UserState& state, PerfRegister number) {
    const std::uint64_t bit = std::uint64_t{1} << number;
    const auto index = static_cast<std::size_t>(std::popcount(state.register_mask & (bit - 1)));
    if ((state.register_mask & bit) == 0 || index >= state.registers.size()) return {};
    return state.registers[index];
}

/// To the caller by the frame pointer: at rbp are the caller's rbp and the return address. False: rbp leads out of the
/// copied stack, or below rsp, where no frame can be. In the prologue before `push rbp` and in a function without frame
/// pointer this skips the caller: rbp is still the caller's own.
bool step_by_frame_pointer(const StackCopy& stack, Registers& registers) {
    const auto rbp = stack.word(registers.rbp), rip = stack.word(registers.rbp + 8);
    if (!rbp || !rip || registers.rbp < registers.rsp) return false;
    registers = {.rip = *rip, .rsp = registers.rbp + 16, .rbp = *rbp};
    return true;
}

/// To the interrupted instruction, by the registers that the kernel has saved for rt_sigreturn(2).
bool step_over_signal(const StackCopy& stack, Registers& registers) {
    const auto saved = [&](UcontextRegister which) {
        return stack.word(registers.rsp + kGeneralRegisters + 8 * std::uint64_t{which});
    };
    const auto rbp = saved(kUcontextRbp), rsp = saved(kUcontextRsp), rip = saved(kUcontextRip);
    if (!rbp || !rsp || !rip) return false;
    registers = {.rip = *rip, .rsp = *rsp, .rbp = *rbp};
    return true;
}

}  // namespace

Unwinder::Unwinder(symbols::SymbolPaths paths) : paths_(std::move(paths)) {}

// Compiling a table takes time in proportion to the file's code, so it is done once for each file and only for files
// that a stack leads into.
const UnwindTable* Unwinder::table_of(symbols::Dso& dso) {
    dso.open(paths_);
    if (!dso.image()) return nullptr;
    const auto [at, fresh] = tables_.try_emplace(&dso);
    if (fresh) at->second = UnwindTable{*dso.image()};
    return &at->second;
}

// A direct-mapped cache: the hash of address and space names one place, and what was there is replaced. A place is
// valid only for the number of maps that the space had, since a later map may cover the address. Addresses without a
// row are cached, too.
const Unwinder::Place& Unwinder::place_of(const symbols::AddressSpace& space, std::uint64_t address) {
    const std::uint64_t mixed =
        (address ^ std::bit_cast<std::uintptr_t>(&space) << 7) * 0x9e37'79b9'7f4a'7c15u;  // by the golden ratio
    if (places_.empty()) places_.resize(kPlaces);
    Place& place = places_[mixed >> 50 & (kPlaces - 1)];
    const std::size_t maps = space.maps().size() + (generation_ << 32);
    if (place.address == address && place.space == &space && place.maps == maps) return place;
    place = {.address = address, .space = &space, .maps = maps, .row = {}, .table = nullptr};
    // From the address in the process to that in the file's tables: dso.h explains the three numbers.
    const symbols::Map* map = space.find(address);
    if (!map) return place;
    place.table = table_of(*map->dso);
    if (!place.table) return place;
    const std::uint64_t offset = address - map->start + map->file_offset;
    if (const UnwindRow* row = place.table->find(map->dso->image()->address_of(offset))) place.row = *row;
    return place;
}

/// From a frame to its caller. False: the stack ends here, or its copy does.
bool Unwinder::step(const Place& place, const StackCopy& stack, Registers& registers, bool innermost) {
    const UnwindRow& row = place.row;
    std::optional<std::uint64_t> cfa;
    const auto offset = static_cast<std::uint64_t>(std::int64_t{row.cfa_offset});
    switch (row.cfa) {
        case UnwindRow::Cfa::none: return step_by_frame_pointer(stack, registers);
        case UnwindRow::Cfa::rsp: cfa = registers.rsp + offset; break;
        case UnwindRow::Cfa::rbp: cfa = registers.rbp + offset; break;
        case UnwindRow::Cfa::expression:
            if (!row.signal) cfa = evaluate(place.table->expression(row.cfa_offset), registers, stack);
            break;
        case UnwindRow::Cfa::outermost:
        case UnwindRow::Cfa::unknown: return false;
    }
    // The registers in the signal frame replace the rule of the row: glibc's table describes the same place by an
    // expression for each register, and reading it directly needs only the three that are followed.
    if (row.signal) return step_over_signal(stack, registers);
    // A caller's frame is above. Only a function that has not moved rsp yet may have the same CFA as its callee.
    if (!cfa || (*cfa <= registers.rsp && !innermost)) return false;
    const auto rip = stack.word(*cfa - 8);
    // The return address is beyond the copied stack: the sample has no more.
    if (!rip) return false;
    std::optional<std::uint64_t> rbp = registers.rbp;
    const std::uint64_t slot = *cfa + static_cast<std::uint64_t>(std::int64_t{row.rbp_offset});
    // GCC keeps the rule after the epilogue's pop. The slot is then below rsp, and rbp has its value.
    if (row.rbp == UnwindRow::Rbp::saved && slot >= registers.rsp) rbp = stack.word(slot);
    if (row.rbp == UnwindRow::Rbp::expression)
        if (const auto place_of_rbp = evaluate(place.table->expression(row.rbp_offset), registers, stack, cfa))
            rbp = stack.word(*place_of_rbp);
    if (!rbp) return false;
    registers = {.rip = *rip, .rsp = *cfa, .rbp = *rbp};
    return true;
}

void Unwinder::unwind(const symbols::AddressSpace& space, const symbols::UserState& state,
                      std::vector<std::uint64_t>& addresses) {
    const auto rip = register_of(state, kIp), rsp = register_of(state, kSp), rbp = register_of(state, kBp);
    if (!rip) return;
    if (state.abi != kAbi64 || !rsp || !rbp) {
        addresses.push_back(*rip);
        return;
    }
    const StackCopy stack{*rsp, state.stack};
    Registers registers{.rip = *rip, .rsp = *rsp, .rbp = *rbp};
    bool called = false;  // rip is a return address: the call is before it
    for (std::size_t depth = 0; depth < kMostFrames && registers.rip != 0; ++depth) {
        const std::uint64_t address = called ? registers.rip - 1 : registers.rip;
        addresses.push_back(address);
        const Place& place = place_of(space, address);
        const bool signal = place.row.signal;
        if (!step(place, stack, registers, depth == 0)) return;
        called = !signal;
    }
}

}  // namespace anyperf::unwind
