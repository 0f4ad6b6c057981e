// segment_code.cpp: the sequences of segment_code.h. Each function that writes one has its listing.
#include "engine/modelling/segment_code.h"

#include <cstddef>

#include "engine/freestanding/pages.h"
#include "engine/modelling/replay_calls.h"

namespace anyperf::engine {

using Kind = RecordedAccess::Kind;
using Frame = ReplayFrame;
using namespace x86_64;  // the names of registers

SegmentCode::SegmentCode(ReplayEmitter& out, Replay& replay, const RecordedSegment& segment,
                         const AccessRoutines& routines, bool keeps_recent)
    : out_(out),
      replay_(replay),
      segment_(segment),
      first_(replay.first_access(segment)),
      path_(replay.core().short_path()),
      routines_(routines),
      groups_(first_, segment.accesses, 1U << path_.line_shift, AccessGroups::Of::neighbours),
      code_(out, keeps_recent && path_.data.lines.apart, !replay.core().looks_up_no_pages()),
      branch_(out, replay, segment),
      failed_{} {}

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
    write_failed();
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
    if (access.in_fs != 0) out_.add_memory(rax, rbp, offsetof(Frame, fs_base));
}

/// With one set, look-ups of two lines find the same entry, so these accesses are left to the routines.
void SegmentCode::write_look_up(unsigned index, const AccessGroup& group) {
    // So far apart that the two look-ups are more often needed than not worth their price.
    constexpr unsigned kFew = 16;
    const RecordedAccess& access = first_[index];
    Failed& failed = failed_[index];
    const bool can_look_up = path_.data.cache.hinted && (path_.data.tlb.hinted || !code_.looks_up_pages());
    if (!can_look_up || !group.one_line || (path_.data.lines.mask == 0 && group.bytes() > 1)) {
        failed.jumps.from[failed.jumps.count++] = out_.jmp_far();
    } else if (is_constant(access)) {
        write_known(group, failed.jumps);
    } else {
        write_address(access, group.lowest);
        if (group.count > 1 && group.bytes() > kFew && group.alignment != 0)
            write_lines(group, failed.jumps);
        else
            write_line(group, failed.jumps);
    }
    failed.back = out_.at();
}

//   look up LINE in rdx at rdi ; jne failed ; add $1, r14 ; use rdi
//   the page
void SegmentCode::write_known(const AccessGroup& group, Jumps& failed) {
    const Level& data = path_.data;
    const auto address = static_cast<std::uint64_t>(group.lowest);
    const std::uint64_t line = address >> path_.line_shift;
    const std::uint64_t page = address >> models::Core::kPageShift;
    code_.skip_recent_known(group.modifies ? data.modified : data.lines, line, data.pages, page);
    code_.look_up_known(data.cache, group.modifies, line, rdx, rdi);
    jump_to(failed, Condition::not_equal);
    code_.tick();
    code_.use(data.cache, rdi);
    code_.note_known_line(data, group.modifies, line);
    write_known_page(data, page, failed);
    code_.done();
}

// The hint of the last byte's line is compared with the first byte's line. If these are two, they differ by one, and a
// hint never leads to the set of a line's neighbour.
//   lea BYTES-1(rax), rdi ; mov rax, rdx ; shr LINE, edi ; shr LINE, rdx
//   look up rdx at rdi ; jne failed ; add $1, r14 ; use rdi
void SegmentCode::write_line(const AccessGroup& group, Jumps& failed) {
    const Level& data = path_.data;
    if (group.bytes() > 1)
        out_.lea(rdi, rax, static_cast<std::int32_t>(group.bytes()) - 1);
    else
        out_.mov(rdi, rax);
    out_.mov(rdx, rax);
    out_.shr32(rdi, path_.line_shift);
    out_.shr(rdx, path_.line_shift);
    code_.skip_recent(data, group.modifies);
    code_.look_up(data.cache, group.modifies, rdx, rdi);
    jump_to(failed, Condition::not_equal);
    code_.tick();
    code_.use(data.cache, rdi);
    code_.note_line(data, group.modifies);
    write_page(failed);
    code_.done();
}

// The lines of the first and the last byte, which may be two, in one page:
//   test ALIGNMENT-1, eax ; jne failed
//   lea BYTES-1(rax), rdx ; mov rax, rcx ; xor rdx, rcx ; shr $12, rcx ; jne failed ; add $1, r14
//   shr LINE, rdx ; mov edx, edi ; look up rdx at rdi ; jne failed ; use rdi
//   mov rax, rdx ; shr LINE, rdx ; mov edx, edi ; look up rdx at rdi ; jne failed ; use rdi
void SegmentCode::write_lines(const AccessGroup& group, Jumps& failed) {
    const Level& data = path_.data;
    const auto look_up = [&] {
        out_.shr(rdx, path_.line_shift);
        out_.mov32(rdi, rdx);
        code_.look_up(data.cache, group.modifies, rdx, rdi);
        jump_to(failed, Condition::not_equal);
        code_.use(data.cache, rdi);
        code_.note_line(data, group.modifies);
    };
    out_.test32_immediate(rax, group.alignment - 1);
    jump_to(failed, Condition::not_equal);
    out_.lea(rdx, rax, static_cast<std::int32_t>(group.bytes()) - 1);
    out_.mov(rcx, rax);
    out_.xor_(rcx, rdx);
    out_.shr(rcx, models::Core::kPageShift);
    jump_to(failed, Condition::not_equal);
    code_.tick();
    look_up();
    out_.mov(rdx, rax);
    look_up();
    write_page(failed);
}

/// The page of the address in rax.
//   shr $12, rax ; mov eax, ecx ; look up rax at rcx ; jne failed ; use rcx
void SegmentCode::write_page(Jumps& failed) {
    const Level& data = path_.data;
    if (!code_.looks_up_pages() && !code_.keeps_recent()) return;
    out_.shr(rax, models::Core::kPageShift);
    if (code_.looks_up_pages()) {
        out_.mov32(rcx, rax);
        code_.look_up(data.tlb, false, rax, rcx);
        jump_to(failed, Condition::not_equal);
        code_.use(data.tlb, rcx);
    }
    code_.note_page(data);
}

/// A known page.
//   look up PAGE in rax at rcx ; jne failed ; use rcx
void SegmentCode::write_known_page(const Level& level, std::uint64_t page, Jumps& failed) {
    if (code_.looks_up_pages()) {
        code_.look_up_known(level.tlb, false, page, rax, rcx);
        jump_to(failed, Condition::not_equal);
        code_.use(level.tlb, rcx);
    } else if (code_.keeps_recent()) {
        out_.mov(rax, page);
    }
    code_.note_known(level.pages, page, rax);
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

//   for each line: add $1, r14 ; look up LINE in rdx at rdi ; jne failed ; use rdi
//   the page                                       unless the line before lies in it
void SegmentCode::write_fetch(unsigned index) {
    std::uint64_t addresses[2] = {};
    const unsigned count = lines_of(index, addresses);
    const Level& level = path_.code;
    if (count == 0) return;
    Fetch& fetch = fetches_[fetch_count_++];
    fetch = {.jumps = {}, .index = index, .back = nullptr};
    for (unsigned i = 0; i < count; ++i) {
        if (!level.cache.hinted || (!level.tlb.hinted && code_.looks_up_pages())) {
            fetch.jumps.from[fetch.jumps.count++] = out_.jmp_far();
            break;
        }
        const std::uint64_t line = addresses[i] >> path_.line_shift;
        const std::uint64_t page = addresses[i] >> models::Core::kPageShift;
        code_.skip_recent_known(level.lines, line, level.pages, page);
        code_.tick();
        code_.look_up_known(level.cache, false, line, rdx, rdi);
        jump_to(fetch.jumps, Condition::not_equal);
        code_.use(level.cache, rdi);
        code_.note_known(level.lines, line, rdx);
        if (page != code_page_) write_known_page(level, page, fetch.jumps);
        code_.done();
        code_page_ = page;
    }
    fetch.back = out_.at();
}

//   add  WORDS*8, r12
//   mov  (r12), r15d ; add SEGMENTS(rbp), r15       the next segment
//   the branch, which went there
//   jmp  *REPLAY(r15)
void SegmentCode::write_next() {
    out_.add(r12, static_cast<std::int32_t>(segment_.words * sizeof(std::uint64_t)));
    out_.load32(r15, r12, 0);
    out_.add_memory(r15, rbp, offsetof(Frame, segments));
    branch_.write();
    out_.jmp_memory(r15, offsetof(RecordedSegment, replay));
}

/// The accesses of groups whose look-ups have failed, one by one.
void SegmentCode::write_failed() {
    for (unsigned i = 0; i < segment_.accesses; ++i) {
        const AccessGroup* const group = is_fetch(i) ? nullptr : groups_.beginning_at(i);
        if (group == nullptr) continue;
        bind(failed_[i].jumps);
        for (unsigned j = i; j <= group->last; ++j) write_one(j, group->count == 1);
        out_.jmp(failed_[i].back);
    }
}

/// `alone`: what has been looked up is this access.
//   the address ; mov ACCESS, rsi ; lea BYTES-1(rax), rdx ; call ROUTINE ; jne finish
void SegmentCode::write_one(unsigned index, bool alone) {
    const RecordedAccess& access = first_[index];
    write_address(access, access.displacement);
    out_.mov(rsi, address_of(&access));
    if (!alone) out_.lea(rdx, rax, access.bytes - 1);
    out_.call_near(alone                        ? routines_.model
                   : access.kind == Kind::load  ? routines_.load
                   : access.kind == Kind::store ? routines_.store
                                                : routines_.modify);
    finishing_[finishing_count_++] = out_.jcc_far(Condition::not_equal);
}

//   mov ACCESS, rsi ; call fetch ; jne finish ; jmp back
void SegmentCode::write_failed_fetches() {
    for (unsigned i = 0; i < fetch_count_; ++i) {
        const Fetch& fetch = fetches_[i];
        bind(fetch.jumps);
        out_.mov(rsi, address_of(first_ + fetch.index));
        out_.call_near(routines_.fetch);
        finishing_[finishing_count_++] = out_.jcc_far(Condition::not_equal);
        out_.jmp(fetch.back);
    }
}

}  // namespace anyperf::engine
