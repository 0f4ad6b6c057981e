// access_routines.cpp: the sequences of access_routines.h. Each function that writes one has its listing.
#include "engine/modelling/access_routines.h"

#include <cstddef>

#include "engine/freestanding/pages.h"
#include "engine/modelling/replay_emitter.h"
#include "models/caches/core.h"

namespace anyperf::engine {

namespace {

using Level = models::ShortPath::Level;
using models::LineState;
using models::StridePrefetcher;
using namespace x86_64;  // the names of registers

constexpr std::uint32_t kStateOfModified = static_cast<std::uint32_t>(LineState::modified);

class Routine {
  public:
    Routine(ReplayEmitter& out, const models::ShortPath& path, const Level& level, bool loads, bool stores)
        : out_(out),
          path_(path),
          level_(level),
          fetches_code_(!loads && !stores),
          follows_(loads && path.prefetches),
          modifies_(stores) {}

    const std::uint8_t* write() {
        const std::uint8_t* const start = out_.at();
        write_line();
        if (level_.ways.hinted) {
            std::uint8_t* const recent = write_recent();
            write_search();
            write_page();
            write_use();
            std::uint8_t* const used = out_.jmp_forward();
            out_.bind_far(recent);
            write_page();
            out_.bind(used);
        } else {
            std::uint8_t* const recent = write_recent();
            misses_[miss_count_++] = out_.jmp_far();
            out_.bind_far(recent);
            write_page();
        }
        if (follows_) write_stride();
        out_.clc();
        out_.ret();
        write_misses();
        return start;
    }

  private:
    void miss_if(Condition condition) { misses_[miss_count_++] = out_.jcc_far(condition); }

    //   mov rax, rcx ; shr LINE, rcx          the line
    //   shr LINE, rdx ; cmp rcx, rdx ; jne    it is the only one
    //   mov ecx, edi ; and SETS-1, edi        its set
    void write_line() {
        out_.mov(rcx, rax);
        out_.shr(rcx, path_.line_shift);
        if (!fetches_code_) {
            out_.shr(rdx, path_.line_shift);
            out_.cmp(rdx, rcx);
            miss_if(Condition::not_equal);
        }
        out_.mov32(rdi, rcx);
        out_.and32(rdi, static_cast<std::uint32_t>(level_.lines.mask));
    }

    //   mov ecx, edx ; and HINTS-1, edx ; movzx HINTS(rbx,rdx), edx      the way
    //   mov edi, r8d ; shl WAYS, r8d ; add edx, r8d                      its word
    //   mov WAYS(rbx,r8,8), r9 ; lea (,rcx,4), r10 ; sub r10, r9         the state, if it has the line
    //   load: lea -1(r9), r10 ; cmp $2, r10 ; ja        store: lea -2(r9), r10 ; cmp $1, r10 ; ja
    void write_search() {
        out_.mov32(rdx, rcx);
        out_.and32(rdx, static_cast<std::uint32_t>(level_.ways.hint_mask));
        out_.load8_indexed(rdx, rbx, rdx, level_.ways.hints);
        out_.mov32(r8, rdi);
        out_.shl(r8, level_.ways.shift);
        out_.add(r8, rdx);
        out_.load_indexed(r9, rbx, r8, level_.ways.words);
        out_.lea_four_times(r10, rcx);
        out_.sub(r9, r10);
        const std::uint32_t least = static_cast<std::uint32_t>(modifies_ ? LineState::exclusive : LineState::shared);
        out_.lea(r10, r9, -static_cast<std::int32_t>(least));
        out_.cmp(r10, kStateOfModified - least);
        miss_if(Condition::above);
    }

    //   mov ENTRIES(rbx,rdi,8), r8 ; load: lea 2(rcx,rcx), r9 ; sub r9, r8 ; cmp $2, r8 ; jb
    //                                store: lea 3(rcx,rcx), r9 ; cmp r9, r8 ; je
    /// Jumps if the line is the most recent one of its set, and modified if it has to be.
    std::uint8_t* write_recent() {
        out_.load_indexed(r8, rbx, rdi, level_.lines.entries);
        out_.lea_twice(r9, rcx, modifies_ ? 3 : 2);
        if (modifies_) {
            out_.cmp(r8, r9);
            return out_.jcc_far(Condition::equal);
        }
        out_.sub(r8, r9);
        out_.cmp(r8, 2);
        return out_.jcc_far(Condition::below);
    }

    //   mov rax, r10 ; shr $12, r10 ; mov r10d, r11d ; and SETS-1, r11d ; lea 2(r10,r10), r10
    //   cmp PAGES(rbx,r11,8), r10 ; jne
    void write_page() {
        out_.mov(r10, rax);
        out_.shr(r10, models::Core::kPageShift);
        out_.mov32(r11, r10);
        out_.and32(r11, static_cast<std::uint32_t>(level_.pages.mask));
        out_.lea_twice(r10, r10, 2);
        out_.load_indexed(r11, rbx, r11, level_.pages.entries);
        out_.cmp(r11, r10);
        miss_if(Condition::not_equal);
    }

    //   store: lea 3(,rcx,4), r10 ; mov r10, WAYS(rbx,r8,8)              it is modified
    //   shl $4, edx ; mov PATHS, r10 ; add rdx, r10                      the way's path in the tree
    //   mov POLICY(rbx,rdi,8), r11 ; and (r10), r11 ; or 8(r10), r11 ; mov r11, POLICY(rbx,rdi,8)
    //   load: xor r10d, r10d ; cmp $3, r9 ; sete r10b ; lea 2(r10,rcx,2), rcx     store: lea 3(rcx,rcx), rcx
    //   mov rcx, ENTRIES(rbx,rdi,8)                                      the most recent line
    void write_use() {
        if (modifies_) {
            out_.lea_four_times(r10, rcx);
            out_.lea(r10, r10, static_cast<std::int32_t>(kStateOfModified));
            out_.store_indexed(r10, rbx, r8, level_.ways.words);
        }
        out_.shl(rdx, 4);
        static_assert(sizeof(models::TreePlru::Path) == 16);
        out_.mov(r10, address_of(&models::kTreePaths[std::size_t{1} << level_.ways.shift]));
        out_.add(r10, rdx);
        out_.load_indexed(r11, rbx, rdi, level_.ways.policy);
        out_.and_memory(r11, r10, offsetof(models::TreePlru::Path, others));
        out_.or_memory(r11, r10, offsetof(models::TreePlru::Path, away));
        out_.store_indexed(r11, rbx, rdi, level_.ways.policy);
        if (modifies_) {
            out_.lea_twice(rcx, rcx, 3);
        } else {
            out_.xor32(rdx, rdx);
            out_.cmp(r9, kStateOfModified);
            out_.set(Condition::equal, rdx);
            out_.lea_twice(rcx, rcx, 2);
            out_.add(rcx, rdx);
        }
        out_.store_indexed(rcx, rbx, rdi, level_.lines.entries);
    }

    // StridePrefetcher::next() for a load, as far as nothing is to be fetched:
    //   mov rsi, rcx ; shr $6, rcx ; xor rsi, rcx ; and $63, ecx ; lea (rcx,rcx,2), ecx
    //   lea STRIDES(rbx,rcx,8), rcx                                      its entry
    //   mov rax, rdx ; sub ADDRESS(rcx), rdx                             the distance
    //   cmp rsi, INSTRUCTION(rcx) ; jne taken
    //   mov rax, ADDRESS(rcx)
    //   cmp rdx, DISTANCE(rcx) ; jne moved
    //   test rdx, rdx ; je done
    //   add rax, rdx ; xor rax, rdx ; shr LINE, rdx ; jne fetches        the next address is not in this line
    //   jmp done
    // taken: mov rsi, INSTRUCTION(rcx) ; mov rax, ADDRESS(rcx) ; xor edx, edx     the entry was another load's
    // moved: mov rdx, DISTANCE(rcx)
    void write_stride() {
        using Entry = StridePrefetcher::Entry;
        constexpr auto instruction = static_cast<std::int64_t>(offsetof(Entry, instruction));
        constexpr auto address = static_cast<std::int64_t>(offsetof(Entry, address));
        constexpr auto distance = static_cast<std::int64_t>(offsetof(Entry, distance));
        static_assert(sizeof(Entry) == 24 && StridePrefetcher::index_of(0x1c0) == (7 ^ 0x1c0 % 64));
        out_.mov(rcx, rsi);
        out_.shr(rcx, 6);
        out_.xor_(rcx, rsi);
        out_.and32(rcx, StridePrefetcher::kEntries - 1);
        out_.lea_twice(rdx, rcx, 0);
        out_.add(rcx, rdx);
        out_.shl(rcx, 3);
        out_.lea(rcx, rcx, static_cast<std::int32_t>(path_.strides));
        out_.add(rcx, rbx);
        out_.mov(rdx, rax);
        out_.sub_memory(rdx, rcx, address);
        out_.cmp_memory(rsi, rcx, instruction);
        std::uint8_t* const taken = out_.jcc_short(Condition::not_equal);
        out_.cmp_memory(rdx, rcx, distance);
        std::uint8_t* const moved = out_.jcc_short(Condition::not_equal);
        out_.test(rdx, rdx);
        std::uint8_t* const still = out_.jcc_short(Condition::equal);
        out_.mov(r8, rdx);
        out_.add(r8, rax);
        out_.xor_(r8, rax);
        out_.shr(r8, path_.line_shift);
        fetches_ = out_.jcc_far(Condition::not_equal);
        out_.store(rax, rcx, address);
        std::uint8_t* const near = out_.jmp_forward();
        out_.bind(taken);
        out_.store(rsi, rcx, instruction);
        out_.xor32(rdx, rdx);
        out_.bind(moved);
        out_.store(rax, rcx, address);
        out_.store(rdx, rcx, distance);
        out_.bind(near);
        out_.bind(still);
    }

    //   misses:  or $1, ecx ; stc ; ret         the zero flag is clear
    //   fetches: cmp ecx, ecx ; stc ; ret       it is set
    void write_misses() {
        for (unsigned i = 0; i < miss_count_; ++i) out_.bind_far(misses_[i]);
        out_.or32_immediate(rcx, 1);
        out_.stc();
        out_.ret();
        if (fetches_ == nullptr) return;
        out_.bind_far(fetches_);
        out_.cmp32(rcx, rcx);
        out_.stc();
        out_.ret();
    }

    ReplayEmitter& out_;
    const models::ShortPath& path_;
    const Level& level_;
    bool fetches_code_;  ///< from one line: the caller splits
    bool follows_;
    bool modifies_;
    std::uint8_t* misses_[5] = {};
    unsigned miss_count_ = 0;
    std::uint8_t* fetches_ = nullptr;
};

}  // namespace

AccessRoutines AccessRoutines::write(ReplayEmitter& out, const models::ShortPath& path) {
    const auto write = [&](const Level& level, bool loads, bool stores) {
        return Routine{out, path, level, loads, stores}.write();
    };
    return {.fetch = write(path.code, false, false),
            .load = write(path.data, true, false),
            .store = write(path.data, false, true),
            .modify = write(path.data, true, true)};
}

}  // namespace anyperf::engine
