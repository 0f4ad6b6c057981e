// check_accesses.cpp: code that finds out whether what a segment accesses just repeats, so that nothing is recorded.
//
// PROBLEM. In most programs nearly all accesses touch the line that was touched last in its set
// (models/caches/recent.h). They change nothing in the models, but their record has to be written, and replayed.
//
// MECHANISM. While nothing is recorded the models know all that the thread has accessed, so Thread::recent is up to
// date. Then the prologue compares the segment's accesses with it: those of one group together (access_groups.h), at
// the group's first and last byte, and each line of code. If all repeat, it only adds up how many there are
// (run::LiveCounters::repeated). If one does not, the segment is recorded, and so are all that follow until the records
// are replayed: they can't be compared before.
//
// Only registers that are known at that point can be compared. So a segment that uses one which it has set itself
// consists of *parts*: each begins at an instruction that needs such a register, and has a prologue and a
// RecordedSegment of its own. An instruction whose accesses can't be compared is a part that is always recorded:
// strings, segment bases. So what is recorded comes before all that is compared later.
//
//   mov  A, %gs:SPILL+A     mov B, %gs:SPILL+B        A and B are not needed for addresses
//   cmpl $EMPTY, %gs:TOP    jne RECORD
//   the comparisons, each with jne FAILED
//   mov  $WORD, A           add A, %gs:REPEATED       js  OVER
//   mov  %gs:SPILL+B, B     mov %gs:SPILL+A, A
//
// If a flag may be read later, lahf and sahf are around all this. FAILED and RECORD are in the cold part.
#include <array>

#include "engine/x86_64/accesses/access_groups.h"
#include "engine/x86_64/translate/translate.h"
#include "models/caches/core.h"

namespace anyperf::engine::x86_64 {

namespace {

using Kind = RecordedAccess::Kind;
using run::Repeated;

/// Registers that the comparisons may use, those that programs use least first.
constexpr Register kScratch[] = {r11, r10, r9, r8, rcx, rdx, rsi, rdi, r15, r14, r13, r12, rbx, rbp, rax};
constexpr unsigned kPageShift = models::Core::kPageShift;

constexpr std::size_t slot_of(Register reg) {
    return offsetof(Thread, spill) + std::size_t{8} * reg;
}
constexpr std::size_t repeated_offset(std::size_t lane) {
    return offsetof(Thread, page) + offsetof(run::ThreadPage, counters) + offsetof(run::LiveCounters, repeated) +
           sizeof(std::uint64_t) * lane;
}
constexpr std::size_t entries_of(const models::RecentPlaces::Table& table) {
    return offsetof(Thread, recent) + sizeof(std::uint64_t) * table.first;
}

bool fits(std::int64_t displacement) {
    constexpr std::int64_t kFar = std::int64_t{1} << 30;
    return displacement > -kFar && displacement < kFar;
}

}  // namespace

/// Writes the comparisons of one part.
class Checks {
  public:
    /// It may change `a` and `b`.
    Checks(Emitter& out, const models::Machine& machine, unsigned line_shift, Register a, Register b)
        : places_(models::recent_places(machine)), out_(out), line_shift_(line_shift), a_(a), b_(b) {}

    /// The register has the value of this word of the record.
    void holds(Register reg, std::uint8_t word) { holder_[word] = reg; }

    /// Compares a line of code, and its page unless that was compared last.
    void code(std::uint64_t address) {
        known(places_.code, address >> line_shift_);
        if (address >> kPageShift != code_page_) known(places_.code_pages, address >> kPageShift);
        code_page_ = address >> kPageShift;
    }
    /// The instruction before has run, and its last byte lies there.
    void follows(std::uint64_t last_byte) { code_page_ = last_byte >> kPageShift; }

    void data(const RecordedAccess& access, const AccessGroup& group) {
        // So far apart that the bytes lie in two lines too often.
        constexpr unsigned kFew = 16;
        const models::RecentPlaces::Table& table = group.modifies ? places_.modified : places_.data;
        if (is_constant(access)) {
            known(table, static_cast<std::uint64_t>(group.lowest) >> line_shift_);
            return known(places_.data_pages, static_cast<std::uint64_t>(group.lowest) >> kPageShift);
        }
        address(access, group.lowest);
        if (group.count == 1 || group.bytes() <= kFew || group.alignment == 0)
            return line_and_page(table, group.bytes());
        out_.test_bits32(a_, group.alignment - 1);
        fail_unless_equal();
        line_and_page(table, 1);
        address(access, group.end - 1);
        line_and_page(table, 1);
    }

    /// The jumps of comparisons that have failed lead to `target`.
    void bind(const std::uint8_t* target) {
        for (std::size_t i = 0; i < count_; ++i) out_.bind_far(failed_[i], target);
    }

  private:
    void fail_unless_equal() {
        failed_[count_++] = out_.jcc_far_forward(static_cast<std::uint8_t>(Condition::not_equal));
    }
    void known(const models::RecentPlaces::Table& table, std::uint64_t number) {
        out_.mov(a_, number);
        out_.cmp_gs(a_, entries_of(table) + sizeof(std::uint64_t) * (number & table.mask));
        fail_unless_equal();
    }
    void address(const RecordedAccess& access, std::int64_t displacement) {
        const auto small = static_cast<std::int32_t>(displacement);
        if (access.in_fs != 0) out_.rdfsbase(b_);
        if (access.base == 0 && access.index == 0) return out_.lea(a_, b_, small);
        if (access.base == 0)
            out_.lea_index(a_, holder_[access.index], access.scale, small);
        else if (access.index == 0)
            out_.lea(a_, holder_[access.base], small);
        else
            out_.lea_address(a_, holder_[access.base], holder_[access.index], access.scale, small);
        if (access.in_fs != 0) out_.lea_sum(a_, a_, b_);
    }
    // The entry of the last byte's line is compared with the first byte's line: see segment_code.cpp.
    void line_and_page(const models::RecentPlaces::Table& table, unsigned bytes) {
        if (bytes > 1)
            out_.lea(b_, a_, static_cast<std::int32_t>(bytes) - 1);
        else
            out_.mov(b_, a_);
        out_.shift_right(b_, line_shift_);
        out_.mask32(b_, static_cast<std::uint32_t>(table.mask));
        out_.shift_right(a_, line_shift_);
        out_.cmp_gs_by_index(a_, b_, entries_of(table));
        fail_unless_equal();
        if (line_shift_ < kPageShift) out_.shift_right(a_, kPageShift - line_shift_);
        const models::RecentPlaces::Table& pages = places_.data_pages;
        if (pages.mask == 0) {
            out_.cmp_gs(a_, entries_of(pages));
        } else {
            out_.copy32(b_, a_);
            out_.mask32(b_, static_cast<std::uint32_t>(pages.mask));
            out_.cmp_gs_by_index(a_, b_, entries_of(pages));
        }
        fail_unless_equal();
    }

    models::RecentPlaces places_;
    Emitter& out_;
    unsigned line_shift_;
    Register a_;
    Register b_;
    std::array<Register, 16> holder_{};  ///< by word of the record: the register that has its value
    std::uint64_t code_page_ = ~std::uint64_t{0};
    std::array<std::uint8_t*, 320> failed_{};
    std::size_t count_ = 0;
};

/// Whether the accesses of the planned part from the one with this index on can be compared. If not, the instruction
/// that makes them is a part of its own.
bool Translation::can_check(unsigned first) const {
    constexpr unsigned kMost = AccessGroups::kMostAccesses;
    const RecordedSegment& segment = cache_.recorded_segments[plan_.segment];
    if (segment.accesses > kMost) return false;
    for (unsigned i = first; i < segment.accesses; ++i) {
        const RecordedAccess& access = cache_.recorded_accesses[segment.first_access + i];
        if (access.kind == Kind::fetch) continue;
        const bool is_plain = has_known_address(access) && access.address32 == 0 && access.byte_index == 0;
        if (!is_plain || access.bytes > 1U << counting_.line_shift) return false;
        if (access.in_fs != 0 && !counting_.reads_fs_base) return false;
        const bool known = is_constant(access);
        const auto at = static_cast<std::uint64_t>(access.displacement);
        const bool one_line = at >> counting_.line_shift == (at + access.bytes - 1) >> counting_.line_shift;
        if (known ? !one_line : !fits(access.displacement)) return false;
    }
    return true;
}

/// Writes the prologue of the part that was planned.
void Translation::begin_part(std::size_t first, std::uint64_t pc, bool flags_dead, std::uint32_t budget_payload) {
    if (counting_.checking && !plan_.unchecked && plan_.segment != 0)
        emit_checks(first, pc, flags_dead, budget_payload);
    else
        emit_record(hot_, flags_dead, budget_payload);
}

/// Before an instruction that does not begin a segment: begins a part there, if the part before it has ended.
void Translation::continue_in_part(std::size_t first, std::uint64_t pc) {
    if (!counting_.checking || plan_.segment == 0 || first != plan_.end) return;
    if (runs_in_place(decoded_.instructions[first])) return;
    plan_recording(first, pc, plan_.loaded);
    plan_.begins_segment = false;
    begin_part(first, pc, flags_are_dead(cache_.executable, pc, kFlagDepth, tail_from(first), code_read()), 0);
}

/// Chooses registers that the record does not have. False if there are too few.
bool Translation::borrow_for_checks(bool flags_dead, CheckRegisters& borrowed) const {
    borrowed.moves_rax = !flags_dead && plan_.at_start[rax] != 0;
    const std::size_t wanted = borrowed.moves_rax ? 3 : 2;
    constexpr std::size_t kCount = std::size(kScratch);
    for (std::size_t i = 0; i < kCount && borrowed.count != wanted; ++i) {
        const Register reg = kScratch[(plan_.segment * wanted + i) % kCount];
        if (plan_.at_start[reg] == 0 && (flags_dead || reg != rax)) borrowed.reg[borrowed.count++] = reg;
    }
    return borrowed.count == wanted;
}

/// Saves what the comparisons change, and jumps if something is recorded. Returns the operand of that jump.
std::uint8_t* Translation::enter_checks(bool flags_dead, const CheckRegisters& borrowed) {
    constexpr std::size_t kTop = offsetof(Thread, records) + offsetof(RecordStream, top);
    const auto spill_all = [&] {
        for (std::size_t i = 0; i < borrowed.count; ++i) spill(borrowed.reg[i]);
    };
    if (!flags_dead) {
        spill_all();
        spill(rax);
        if (borrowed.moves_rax) hot_.mov(borrowed.reg[2], rax);
        hot_.save_flags();
    }
    hot_.cmp_gs32(kTop, static_cast<std::int32_t>(RecordStream::kEmpty));
    std::uint8_t* const record = hot_.jcc_far_forward(static_cast<std::uint8_t>(Condition::not_equal));
    if (flags_dead) spill_all();
    return record;
}

void Translation::leave_checks(Emitter& code, bool flags_dead, const CheckRegisters& borrowed) {
    for (std::size_t i = borrowed.count; i-- > 0;) code.load_gs(borrowed.reg[i], slot_of(borrowed.reg[i]));
    if (flags_dead) return;
    code.restore_flags();
    code.load_gs(rax, slot_of(rax));
}

/// Writes the comparisons of the planned part. Returns what is to be added if all succeed.
std::uint64_t Translation::compare_accesses(Checks& checks, std::size_t first, std::uint64_t pc) {
    const RecordedSegment& segment = cache_.recorded_segments[plan_.segment];
    const RecordedAccess* const accesses = &cache_.recorded_accesses[segment.first_access];
    const unsigned shift = counting_.line_shift;
    const AccessGroups groups{accesses, segment.accesses, 1U << shift, AccessGroups::Of::repeated};
    // The block has come here from the instruction before, and nothing was recorded since that was fetched.
    std::uint64_t last_line = first != 0 ? (pc - 1) >> shift : ~std::uint64_t{0};
    if (first != 0) checks.follows(pc - 1);
    unsigned loads = 0;
    unsigned stores = 0;
    for (unsigned i = 0; i < segment.accesses; ++i) {
        const RecordedAccess& access = accesses[i];
        if (access.kind == Kind::fetch) {
            const auto start = static_cast<std::uint64_t>(access.displacement);
            const std::uint64_t end = start + access.bytes - 1;
            if (start >> shift != last_line) checks.code(start);
            if (end >> shift != start >> shift) checks.code(end >> shift << shift);
            last_line = end >> shift;
            continue;
        }
        ++(access.kind == Kind::store ? stores : loads);
        if (const AccessGroup* const group = groups.beginning_at(i)) checks.data(access, *group);
    }
    return Repeated::word(loads, stores, plan_.words);
}

void Translation::emit_checks(std::size_t first, std::uint64_t pc, bool flags_dead, std::uint32_t budget_payload) {
    CheckRegisters borrowed;
    if (!borrow_for_checks(flags_dead, borrowed)) return emit_record(hot_, flags_dead, budget_payload);
    const Register a = borrowed.reg[0];
    Checks checks{hot_, *counting_.machine, counting_.line_shift, a, borrowed.reg[1]};
    for (unsigned reg = 0; reg < kRegisters; ++reg)
        if (plan_.at_start[reg] != 0) checks.holds(static_cast<Register>(reg), plan_.at_start[reg]);
    if (borrowed.moves_rax) checks.holds(borrowed.reg[2], plan_.at_start[rax]);

    std::uint8_t* const record = enter_checks(flags_dead, borrowed);
    const std::size_t repeated = repeated_offset(plan_.segment % run::kLanes);
    hot_.mov(a, compare_accesses(checks, first, pc));
    hot_.add_to_gs(a, repeated);
    std::uint8_t* const over = hot_.jcc_far_forward(static_cast<std::uint8_t>(Condition::sign));
    leave_checks(hot_, flags_dead, borrowed);
    const std::uint8_t* const done = hot_.at();

    // The word has no room until the records are replayed, which empties it.
    hot_.bind_far(over, cold_.at());
    cold_.sub_from_gs(a, repeated);
    checks.bind(cold_.at());
    if (!flags_dead) hot_.bind_far(record, cold_.at());
    leave_checks(cold_, flags_dead, borrowed);
    if (flags_dead) hot_.bind_far(record, cold_.at());
    emit_record(cold_, flags_dead, budget_payload);
    cold_.jmp(done);
}

}  // namespace anyperf::engine::x86_64
