// branch_code.cpp: the sequences of branch_code.h. Each function that writes one has its listing.
#include "engine/modelling/branch_code.h"

#include <cstddef>

#include "engine/freestanding/pages.h"
#include "engine/modelling/replay_calls.h"

namespace anyperf::engine {

using Frame = ReplayFrame;
using x86_64::Control;
using namespace x86_64;  // the names of registers

BranchCode::BranchCode(ReplayEmitter& out, Replay& replay, const RecordedSegment& segment)
    : out_(out),
      replay_(replay),
      segment_(segment),
      notes_branches_(replay.notes_branches()),
      gshare_(notes_branches_ ? nullptr : replay.branches().gshare()),
      sites_(replay.branches().sites()) {}

void BranchCode::write() {
    if (!replay_.predicts()) return;
    switch (segment_.control()) {
        case Control::conditional:
        case Control::rcx_branch:
            if (gshare_ != nullptr) return write_conditional();
            break;
        case Control::jump_indirect:
        case Control::call:
        case Control::call_indirect:
        case Control::ret: break;
        default:
            if (!notes_branches_) return;
    }
    out_.mov(rdi, rbp);
    out_.mov(rsi, address_of(&segment_));
    out_.load(rdx, r15, offsetof(RecordedSegment, pc));
    out_.call(address_of(reinterpret_cast<const void*>(replay_branch)));
}

// Branches::conditional() without a branch on what the program's branch does:
//   rsi where it went    ecx 1 if taken    edi what its site has seen    r10d the path    r9 where that is
void BranchCode::write_conditional() {
    const std::uint64_t end = segment_.pc + segment_.bytes;
    const std::uint64_t pc = end - segment_.last_bytes;
    const std::uint64_t place = replay_.place_of(pc);
    out_.load(rsi, r15, offsetof(RecordedSegment, pc));
    out_.load(r8, rbp, offsetof(Frame, directions));
    out_.mov(rdx, end);
    out_.xor32(rcx, rcx);
    out_.cmp(rsi, rdx);
    out_.set(Condition::not_equal, rcx);
    site_ = static_cast<std::int64_t>(sites_.index_of(place));
    out_.load8(rdi, r8, site_);
    out_.cmp(rdi, models::Sites::kBoth);
    one_way_ = out_.jcc_far(Condition::not_equal);
    out_.load(r9, rbp, offsetof(Frame, history));
    out_.load32(r10, r9, 0);
    write_counter(place);
    write_path(place, place - pc);
    after_branch_ = out_.at();
}

//   mov COUNTERS(rbp), r11 ; add r10, r11 ; lea SITE(r11), r11
//   movsx (r11), edi                                    the counter, -2 to 1: not negative predicts "taken"
//   mov edi, eax ; shr $31, eax ; xor ecx, eax ; xor $1, eax ; add rax, (r8)       wrong
//   xor edx, edx ; sub eax, edx ; and RESOLVING, edx ; add rdx, RESOLVED(rbp)
//   lea -1(rdi,rcx,2), edi, between -2 and 1            train
void BranchCode::write_counter(std::uint64_t place) {
    out_.load(r11, rbp, offsetof(Frame, counters));
    out_.add(r11, r10);
    out_.lea(r11, r11, static_cast<std::int32_t>(models::Gshare::site(gshare_->bits(), place)));
    out_.load8_signed(rdi, r11);
    out_.mov32(rax, rdi);
    out_.shr32(rax, 31);
    out_.xor32(rax, rcx);
    out_.xor32_immediate(rax, 1);
    out_.load(r8, rbp, offsetof(Frame, mispredictions));
    out_.add_to_memory(rax, r8, 0);
    if (segment_.resolving != 0) {
        out_.xor32(rdx, rdx);
        out_.sub32(rdx, rax);
        out_.and32(rdx, segment_.resolving);
        out_.add_to_memory(rdx, rbp, offsetof(Frame, resolved));
    }
    out_.lea_step(rdi, rdi, rcx);
    out_.mov(rax, 1);
    out_.cmp32(rdi, rax);
    out_.cmov32(Condition::greater, rdi, rax);
    out_.mov(rax, 0xfffffffeU);
    out_.cmp32(rdi, rax);
    out_.cmov32(Condition::less, rdi, rax);
    out_.store8(rdi, r11);
}

//   add MOVED, rsi ; lea (rsi,rsi), rdx ; xor PLACE, rdx ; imul MIXING, rdx ; shr $56, rdx
//   lea (,r10,4), rax ; add rdx, rax ; and MASK, eax ; test ecx, ecx ; cmovz r10, rax ; mov eax, (r9)
void BranchCode::write_path(std::uint64_t place, std::uint64_t moved) {
    if (moved != 0) {
        out_.mov(rax, moved);
        out_.add(rsi, rax);
    }
    out_.lea_twice(rdx, rsi, 0);
    out_.mov(rax, place);
    out_.xor_(rdx, rax);
    out_.mov(rax, models::kMixing);
    out_.imul(rdx, rax);
    out_.shr(rdx, 64 - models::Gshare::kBitsOfABranch);
    out_.mov(rax, r10);
    out_.shl(rax, models::Gshare::kShift);
    out_.add(rax, rdx);
    out_.and32(rax, (1U << (gshare_->bits() - 1)) - 1);
    out_.test32(rcx, rcx);
    out_.cmov(Condition::equal, rax, r10);
    out_.store32(rax, r9, 0);
}

//   mov $2, eax ; sub ecx, eax ; cmp eax, edi ; je back               Sites::note()
//   test edi, edi ; jne changes ; mov al, SITE(r8) ; jmp back
//   changes: mov $BOTH, eax ; mov al, SITE(r8)                        the other way for the first time
//   mov MISPREDICTIONS(rbp), r11 ; mov $1, eax ; add rax, (r11)
//   mov $RESOLVING, eax ; add rax, RESOLVED(rbp) ; jmp back
void BranchCode::write_rare() {
    if (one_way_ == nullptr) return;
    out_.bind_far(one_way_);
    out_.mov(rax, models::Sites::kNotTaken);
    out_.sub32(rax, rcx);
    out_.cmp32(rdi, rax);
    out_.jcc(Condition::equal, after_branch_);
    out_.test32(rdi, rdi);
    std::uint8_t* const changes = out_.jcc_short(Condition::not_equal);
    out_.store8_at(rax, r8, site_);
    out_.jmp(after_branch_);
    out_.bind(changes);
    out_.mov(rax, models::Sites::kBoth);
    out_.store8_at(rax, r8, site_);
    out_.load(r11, rbp, offsetof(Frame, mispredictions));
    out_.mov(rax, 1);
    out_.add_to_memory(rax, r11, 0);
    out_.mov(rax, segment_.resolving);
    out_.add_to_memory(rax, rbp, offsetof(Frame, resolved));
    out_.jmp(after_branch_);
}

}  // namespace anyperf::engine
