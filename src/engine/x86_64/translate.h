// translate.h: application code to a block of host code. The application's registers stay in the host's own, rsp
// included; what a translation borrows it keeps in the thread's spill slots. Instructions are copied but for those that
// depend on where they stand (relocate.cpp), that change control (branches.cpp) or that the engine does itself.
// With counting, a prologue takes the block's instructions from the thread's budget (count.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cache/cache.h"
#include "engine/x86_64/classes.h"
#include "engine/x86_64/decode.h"
#include "engine/x86_64/emitter.h"
#include "engine/x86_64/lane_words.h"
#include "engine/x86_64/thread.h"

namespace anyperf::engine::x86_64 {

inline constexpr std::size_t kLongestBlock = 64;       ///< instructions
inline constexpr std::size_t kPassedConditionals = 3;  ///< forward branches that a block goes on behind

// A block counts its exits in a byte: one an instruction that is watched, two where control may go elsewhere.
static_assert(kLongestBlock + 2 * (kPassedConditionals + 1) <= 0xff);

/// What blocks are to count.
struct Counting {
    ClassSet open = 0;  ///< 0: nothing, and no budget either

    bool on() const { return open != 0; }
};

/// Instructions in a row. The last may change control; others do so only as conditional branches that are not taken.
/// A segment is what runs whole or not at all: up to such a branch.
struct DecodedBlock {
    std::uint64_t pc = 0;
    std::uint64_t end = 0;  ///< behind the last instruction
    std::size_t count = 0;
    Instruction instructions[kLongestBlock];

    bool ends_in_control() const { return count > 0 && instructions[count - 1].control != Control::none; }
    /// Behind the last instruction of the segment that `first` begins.
    std::size_t segment_end(std::size_t first) const {
        while (first < count && instructions[first].control == Control::none) ++first;
        return first < count ? first + 1 : count;
    }
};

/// Application code to translate: in place, or a copy of what others may change meanwhile.
struct CodeBytes {
    std::uint64_t pc = 0;              ///< where it stands
    const std::uint8_t* at = nullptr;  ///< its first byte
    std::size_t size = 0;              ///< bytes that may be executed
};

/// Decodes `code` up to a change of control - but behind some conditional branches it goes on, if those lead forward
/// - to `limit` instructions, or to code that can't be read or decoded.
/// A count of 0 says that there is no instruction at its start.
void decode_block(const CodeBytes& code, std::size_t limit, DecodedBlock& out);

/// Instructions from a place on that have been decoded already.
struct Known {
    const DecodedBlock* block = nullptr;
    std::size_t next = 0;
};

/// Whether nobody from `pc` on reads a status flag before it is overwritten, as far as `depth` direct branches show.
bool flags_are_dead(const ExecutableMap& memory, std::uint64_t pc, unsigned depth, Known known = {});

/// The classes of an instruction that its block can count when it begins: not the way a conditional branch goes, and
/// nothing of what may fault in place.
ClassSet counted_at_start(const Instruction& instruction);

/// Writes one block. Lives on the stack of who translates; holds nothing afterwards.
class Translation {
  public:
    Translation(Cache& cache, Arena& arena, Counting counting, const Watched& watched)
        : cache_(cache),
          arena_(arena),
          counting_(counting),
          watched_(watched),
          hot_(arena.hot()),
          cold_(arena.cold()) {}

    /// The translated block, in the cache and linked to nothing; null where memory or records ran out. With a `limit`
    /// other than 0 it ends after so many instructions, with kAlone after one, whatever watches it; then it adds to the
    /// first lane alone. `landing`: an indirect branch leads there, so that it begins with a landing.
    /// Preconditions: the cache's lock is held; nobody changes the bytes of `code` while this runs.
    Block* run(const CodeBytes& code, std::uint16_t limit, bool landing);

  private:
    bool begin(std::uint16_t limit);
    const std::uint8_t* bytes_at(std::uint64_t address) const { return code_.at + (address - code_.pc); }
    void stop_before_translated();
    void emit_instructions();

    // count.cpp
    void emit_prologue(std::size_t first, std::uint64_t pc);
    Additions additions_of(std::size_t first) const;
    void emit_addition(std::size_t word, std::int32_t added, bool flags_dead);
    void emit_flagless_budget(std::int32_t charged, std::uint32_t over);
    void emit_taken(std::uint64_t target);

    // record_branches.cpp
    bool records(std::uint8_t kinds) const { return (watched_.branches & kinds) != 0; }
    void record_direct(std::uint8_t kind, std::uint64_t from, std::uint64_t to);
    void record_indirect(std::uint8_t kind, std::uint64_t from);
    void put_entry(std::size_t ring, std::uint64_t from, std::uint64_t to);
    void put_indirect_entry(std::size_t ring, std::uint64_t from);
    void drop_call();

    // watch.cpp
    void stop_before_watched();
    void emit_watched_start();
    void emit_question(const Instruction& instruction, std::uint64_t address);
    void emit_filter(ExitId to);
    void emit_stop(ExitId to);
    bool can_filter_operand(const Instruction& instruction, const std::uint8_t* code) const;

    // relocate.cpp
    void emit_plain(const Instruction& instruction, std::uint64_t address);
    void emit_rip_relative(const Instruction& instruction, std::uint64_t address);
    void emit_near(const Instruction& instruction, const std::uint8_t* code, std::uint64_t operand);
    void load_effective_address(const Instruction& instruction, std::uint64_t address, Register to);
    void emit_operand_load(const Instruction& instruction, std::uint64_t address, Register to);
    void emit_gs_implied(const Instruction& instruction, const std::uint8_t* code);
    void emit_gs_absolute(const Instruction& instruction, const std::uint8_t* code);
    void emit_gs_operand(const Instruction& instruction, std::uint64_t address);
    void emit_with_operand_in(const Instruction& instruction, const std::uint8_t* code, Register base);
    void load_operand(const Instruction& instruction, std::uint64_t address, Register to);

    // branches.cpp
    void emit_end(const Instruction& instruction, std::uint64_t address);
    void emit_way_out(const Instruction& instruction, std::uint64_t address);
    void emit_conditional(const Instruction& instruction, std::uint64_t address);
    void emit_counted(const Instruction& instruction, std::uint64_t address);
    void emit_jump(const Instruction& instruction, std::uint64_t address);
    void emit_call(const Instruction& instruction, std::uint64_t address);
    void emit_indirect(const Instruction& instruction, std::uint64_t address);
    void emit_ret(const Instruction& instruction, std::uint64_t address);
    void emit_table_jump();
    void push_constant(std::uint64_t value);
    void emit_jump_to(std::uint64_t target);
    void emit_step(const Instruction& instruction, std::uint64_t next);
    void emit_x87_state(const Instruction& instruction, std::uint64_t address);
    ExitId new_exit(std::uint64_t target);
    void leave(Emitter& code, Leave reason, std::uint32_t payload);
    std::uint8_t* leave_stub(Leave reason, std::uint32_t payload);
    const std::uint8_t* link_stub(ExitId id, const std::uint8_t* operand);
    void align_operand(std::size_t opcode_bytes);

    void spill(Register reg) { hot_.store_gs(reg, offsetof(Thread, spill) + std::size_t{8} * reg); }
    void unspill(Register reg) { hot_.load_gs(reg, offsetof(Thread, spill) + std::size_t{8} * reg); }
    void mark(std::size_t index, std::uint8_t spilled);

    Cache& cache_;
    Arena& arena_;
    Counting counting_;
    const Watched& watched_;
    bool alone_ = false;
    Emitter hot_;
    Emitter cold_;
    CodeBytes code_;
    DecodedBlock decoded_;
    Block* block_ = nullptr;
    BlockId id_ = 0;
    bool out_of_records_ = false;
    std::size_t lane_ = 0;                ///< of the thread's counters, that what is emitted adds to
    std::uint8_t spilled_ = Mark::kNone;  ///< what the instruction being emitted has spilled
};

}  // namespace anyperf::engine::x86_64
