// segment_code.cpp: the sequences of segment_code.h. Each function that writes one has its listing.
#include "engine/modelling/segment_code.h"

#include <cstddef>

#include "engine/freestanding/pages.h"
#include "engine/modelling/replay_calls.h"

namespace anyperf::engine {

using Kind = RecordedAccess::Kind;
using Frame = ReplayFrame;
using namespace x86_64;  // the names of registers

SegmentCode::SegmentCode(ReplayEmitter& out, Replay& replay, const RecordedSegment& segment, const ReplayMemory& memory)
    : out_(out),
      replay_(replay),
      segment_(segment),
      first_(replay.first_access(segment)),
      path_(replay.core().short_path()),
      routines_(memory.routines),
      groups_(first_, segment.accesses, 1U << path_.line_shift),
      branch_(out, replay, segment),
      failed_{},
      after_{},
      ones_{} {}

//   the look-ups
//   add SUM, r13                     or mov SUM, rax ; add rax, r13
//   skip_rest: the end, and out of line the rest
//   finish: call finish ; jmp skip_rest
void SegmentCode::write() {
    write_body();
    const RecordedAccess* const end = first_ + segment_.accesses;
    const std::uint64_t sum = counted(first_, end) + (segment_.accesses != 0 ? segment_.instructions : 0U);
    if (sum != 0 && sum <= 0x7fffffff) {
        out_.add(r13, static_cast<std::int32_t>(sum));
    } else if (sum != 0) {
        out_.mov(rax, sum);
        out_.add(r13, rax);
    }
    skip_rest_ = out_.at();
    write_next();
    branch_.write_rare();
    write_parts();
    write_failed_fetches();
    if (finishing_count_ == 0) return;
    for (unsigned i = 0; i < finishing_count_; ++i) out_.bind_far(finishing_[i]);
    out_.call_near(routines_.finish);
    out_.jmp(skip_rest_);
}

void SegmentCode::write_body() {
    for (unsigned i = 0; i < segment_.accesses; ++i) {
        if (is_fetch(i))
            write_fetch(i);
        else if (!has_known_address(first_[i]))
            write_other(i);
        else if (const AccessGroup* const group = groups_.beginning_at(i))
            write_look_up(i, *group);
        after_[i] = out_.at();
    }
}

/// A string, an access with a segment base, and what sets the base of fs.
//   mov ACCESS, rsi ; call other ; jne finish
void SegmentCode::write_other(unsigned index) {
    if (is_second_of_pair(first_, first_ + index)) return;
    out_.mov(rsi, address_of(first_ + index));
    out_.call_near(routines_.other);
    finishing_[finishing_count_++] = out_.jcc_far(Condition::not_equal);
}

/// The address of the access into rax, as if it had this displacement.
void SegmentCode::write_address(const RecordedAccess& access, std::int64_t displacement) {
    if (access.base != 0) {
        out_.load(rax, r12, access.base * std::int64_t{8});
    } else {
        out_.mov(rax, static_cast<std::uint64_t>(displacement));
        displacement = 0;
    }
    if (access.index != 0) {
        out_.load(rcx, r12, access.index * std::int64_t{8});
        if (access.byte_index != 0)
            out_.movzx8(rcx, rcx);
        else if (access.scale != 0)
            out_.shl(rcx, access.scale);
        out_.add(rax, rcx);
    }
    if (displacement == static_cast<std::int32_t>(displacement)) {
        if (displacement != 0) out_.lea(rax, rax, static_cast<std::int32_t>(displacement));
    } else {
        out_.mov(rcx, static_cast<std::uint64_t>(displacement));
        out_.add(rax, rcx);
    }
    if (access.address32 != 0) out_.zero_extend32(rax);
}

/// With one set, look-ups of two lines find the same entry, so these accesses are left to the routines.
void SegmentCode::write_look_up(unsigned index, const AccessGroup& group) {
    // So far apart that the two look-ups are more often needed than not worth their price.
    constexpr unsigned kFew = 16;
    const RecordedAccess& access = first_[index];
    Jumps& failed = failed_[index];
    if (!group.one_line || (path_.data.lines.mask == 0 && group.bytes() > 1)) {
        if (group.count == 1) write_address(access, access.displacement);
        failed.from[failed.count++] = out_.jmp_far();
        return;
    }
    if (access.base == 0 && access.index == 0 && access.address32 == 0) return write_look_up_known(group, failed);
    write_address(access, group.lowest);
    if (group.count > 1 && group.bytes() > kFew && group.alignment != 0)
        write_look_up_lines(group, failed);
    else
        write_look_up_line(group, failed);
}

//   mov LINE, rax ; cmp LINES+8*SET(rbx), rax ; jne failed
//   mov PAGE, rax ; cmp PAGES+8*SET(rbx), rax ; jne failed
void SegmentCode::write_look_up_known(const AccessGroup& group, Jumps& failed) {
    const auto address = static_cast<std::uint64_t>(group.lowest);
    const auto look_up = [&](const models::ShortPath::Table& table, std::uint64_t number) {
        out_.mov(rax, number);
        out_.cmp_entry(rax, table, number);
        jump_to(failed, Condition::not_equal);
    };
    look_up(group.modifies ? path_.data.modified : path_.data.lines, address >> path_.line_shift);
    look_up(path_.data.pages, address >> models::Core::kPageShift);
}

// The entry of the last byte's line is compared with the first byte's line. If these are two, they differ by one, and a
// line is never in the entry of its neighbour.
//   lea BYTES-1(rax), rcx ; mov rax, rdx
//   shr LINE, ecx ; and SETS-1, ecx ; shr LINE, rdx ; cmp LINES(rbx,rcx,8), rdx ; jne failed
void SegmentCode::write_look_up_line(const AccessGroup& group, Jumps& failed) {
    const models::ShortPath::Table& table = group.modifies ? path_.data.modified : path_.data.lines;
    if (group.bytes() > 1)
        out_.lea(rcx, rax, static_cast<std::int32_t>(group.bytes()) - 1);
    else
        out_.mov(rcx, rax);
    out_.mov(rdx, rax);
    out_.shr32(rcx, path_.line_shift);
    out_.shr(rdx, path_.line_shift);
    out_.and32(rcx, static_cast<std::uint32_t>(table.mask));
    out_.cmp_entry_at(rdx, table, rcx);
    jump_to(failed, Condition::not_equal);
    write_page(failed);
}

// The lines of the first and the last byte, which may be two, in one page:
//   test ALIGNMENT-1, eax ; jne failed
//   lea BYTES-1(rax), rdx ; mov rax, rcx ; xor rdx, rcx ; shr $12, rcx ; jne failed
//   shr LINE, rdx ; mov edx, ecx ; and SETS-1, ecx ; cmp LINES(rbx,rcx,8), rdx ; jne failed
//   mov rax, rdx ; shr LINE, rdx ; mov edx, ecx ; and SETS-1, ecx ; cmp LINES(rbx,rcx,8), rdx ; jne failed
void SegmentCode::write_look_up_lines(const AccessGroup& group, Jumps& failed) {
    const models::ShortPath::Table& table = group.modifies ? path_.data.modified : path_.data.lines;
    const auto look_up = [&] {
        out_.shr(rdx, path_.line_shift);
        out_.mov32(rcx, rdx);
        out_.and32(rcx, static_cast<std::uint32_t>(table.mask));
        out_.cmp_entry_at(rdx, table, rcx);
        jump_to(failed, Condition::not_equal);
    };
    out_.test32_immediate(rax, group.alignment - 1);
    jump_to(failed, Condition::not_equal);
    out_.lea(rdx, rax, static_cast<std::int32_t>(group.bytes()) - 1);
    out_.mov(rcx, rax);
    out_.xor_(rcx, rdx);
    out_.shr(rcx, models::Core::kPageShift);
    jump_to(failed, Condition::not_equal);
    look_up();
    out_.mov(rdx, rax);
    look_up();
    write_page(failed);
}

/// The page of the line in rdx.
//   shr $12-LINE, rdx ; mov edx, ecx ; and SETS-1, ecx ; cmp PAGES(rbx,rcx,8), rdx ; jne failed
void SegmentCode::write_page(Jumps& failed) {
    const models::ShortPath::Table& table = path_.data.pages;
    if (path_.line_shift < models::Core::kPageShift) out_.shr(rdx, models::Core::kPageShift - path_.line_shift);
    if (table.mask == 0) {
        out_.cmp_entry(rdx, table, 0);
    } else {
        out_.mov32(rcx, rdx);
        out_.and32(rcx, static_cast<std::uint32_t>(table.mask));
        out_.cmp_entry_at(rdx, table, rcx);
    }
    jump_to(failed, Condition::not_equal);
}

/// An address in each line of a fetch that may not be L1I's most recent. The line in which the fetch before it ended
/// is.
unsigned SegmentCode::lines_of(unsigned index, std::uint64_t (&addresses)[2]) const {
    const auto line_of = [this](std::uint64_t address) { return address >> path_.line_shift; };
    const auto last_byte_of = [](const RecordedAccess& access) {
        return static_cast<std::uint64_t>(access.displacement) + access.bytes - 1;
    };
    unsigned before = index;
    while (before > 0 && !is_fetch(before - 1)) --before;
    const auto start = static_cast<std::uint64_t>(first_[index].displacement);
    const std::uint64_t last = last_byte_of(first_[index]);
    unsigned count = 0;
    if (before == 0 || line_of(last_byte_of(first_[before - 1])) != line_of(start)) addresses[count++] = start;
    if (line_of(last) != line_of(start)) addresses[count++] = line_of(last) << path_.line_shift;
    return count;
}

//   mov LINE, rax ; cmp LINES+8*SET(rbx), rax ; jne failed           for each line of the instruction
//   mov PAGE, rax ; cmp PAGES+8*SET(rbx), rax ; jne failed           unless the line before lies in this page
void SegmentCode::write_fetch(unsigned index) {
    std::uint64_t addresses[2] = {};
    const unsigned count = lines_of(index, addresses);
    for (unsigned i = 0; i < count; ++i) {
        Fetch& fetch = fetches_[fetch_count_++];
        fetch = {.jumps = {}, .index = index, .address = addresses[i], .back = nullptr};
        const auto look_up = [&](const models::ShortPath::Table& table, std::uint64_t number) {
            out_.mov(rax, number);
            out_.cmp_entry(rax, table, number);
            jump_to(fetch.jumps, Condition::not_equal);
        };
        look_up(path_.code.lines, addresses[i] >> path_.line_shift);
        const std::uint64_t page = addresses[i] >> models::Core::kPageShift;
        if (page != code_page_) look_up(path_.code.pages, page);
        code_page_ = page;
        fetch.back = out_.at();
    }
}

//   add  WORDS*8, r12
//   mov  (r12), r15d ; add r14, r15       the next segment
//   the branch, which went there
//   jmp  *REPLAY(r15)
void SegmentCode::write_next() {
    out_.add(r12, static_cast<std::int32_t>(segment_.words * sizeof(std::uint64_t)));
    out_.load32(r15, r12, 0);
    out_.add(r15, r14);
    branch_.write();
    out_.jmp_memory(r15, offsetof(RecordedSegment, replay));
}

void SegmentCode::write_parts() {
    for (unsigned i = 0; i < segment_.accesses; ++i) {
        const unsigned end = groups_.end_of_part(i);
        if (is_fetch(i) || !has_known_address(first_[i])) continue;
        for (; i <= end; ++i) write_one(i);
        i = end;
        out_.jmp(after_[end]);
    }
}

/// Where a group begins, its failed look-up leads here. The address of a single access is in rax then.
//   mov ACCESS, rsi ; lea BYTES-1(rax), rdx ; call ROUTINE ; jne finish
void SegmentCode::write_one(unsigned index) {
    const RecordedAccess& access = first_[index];
    const AccessGroup* const group = groups_.beginning_at(index);
    ones_[index] = out_.at();
    if (is_fetch(index)) return write_one_fetch(index);
    const bool known = group != nullptr && access.base == 0 && access.index == 0 && access.address32 == 0;
    const bool in_rax = group != nullptr && group->count == 1 && !known;
    if (group != nullptr && !in_rax) bind(failed_[index]);
    write_address(access, access.displacement);
    if (in_rax) bind(failed_[index]);
    if (group != nullptr) out_.inc_memory(rbp, offsetof(Frame, failed));
    out_.mov(rsi, address_of(&access));
    out_.lea(rdx, rax, access.bytes - 1);
    out_.call_near(access.kind == Kind::load    ? routines_.load
                   : access.kind == Kind::store ? routines_.store
                                                : routines_.modify);
    finishing_[finishing_count_++] = out_.jcc_far(Condition::not_equal);
}

//   mov START, rax ; mov ACCESS, rsi ; call fetch ; jne finish       for each line; if one misses, the call does all:
//   jb done
void SegmentCode::write_one_fetch(unsigned index) {
    std::uint64_t addresses[2] = {};
    const unsigned count = lines_of(index, addresses);
    std::uint8_t* done = nullptr;
    for (unsigned i = 0; i < count; ++i) {
        out_.mov(rax, addresses[i]);
        out_.mov(rsi, address_of(first_ + index));
        out_.call_near(routines_.fetch);
        finishing_[finishing_count_++] = out_.jcc_far(Condition::not_equal);
        if (i + 1 < count) done = out_.jcc_far(Condition::below);
    }
    if (done != nullptr) out_.bind_far(done);
}

/// After a miss, what the part has looked up is not valid any more: it goes on access by access.
//   mov START, rax ; mov ACCESS, rsi ; call fetch ; jne finish ; jae back ; jmp after
void SegmentCode::write_failed_fetches() {
    for (unsigned i = 0; i < fetch_count_; ++i) {
        const Fetch& fetch = fetches_[i];
        bind(fetch.jumps);
        out_.inc_memory(rbp, offsetof(Frame, failed));
        out_.mov(rax, fetch.address);
        out_.mov(rsi, address_of(first_ + fetch.index));
        out_.call_near(routines_.fetch);
        finishing_[finishing_count_++] = out_.jcc_far(Condition::not_equal);
        const bool in_part = groups_.end_of_part(fetch.index) != fetch.index;
        const std::uint8_t* const after = in_part ? ones_[fetch.index + 1] : after_[fetch.index];
        if (after == fetch.back) {
            out_.jmp(fetch.back);
            continue;
        }
        out_.jcc(Condition::above_or_equal, fetch.back);
        out_.jmp(after);
    }
}

}  // namespace anyperf::engine
