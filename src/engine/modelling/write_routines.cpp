// write_routines.cpp: the sequences of access_routines.h. Each function that writes one has its listing.
#include "engine/modelling/write_routines.h"

#include <algorithm>
#include <cstddef>

#include "engine/freestanding/pages.h"
#include "engine/modelling/replay_calls.h"

namespace anyperf::engine {

namespace {

using Level = models::ShortPath::Level;
using models::LineState;
using namespace x86_64;  // the names of registers

constexpr std::uint32_t kStateOfModified = static_cast<std::uint32_t>(LineState::modified);

/// In a set of more ways than this one, older pages are left to hits_code() and hits_data().
constexpr unsigned kMostSearchedPages = 32;
/// A cache of LRU with more ways is left to them, too.
constexpr unsigned kMostOrderedWays = 16;

/// Writes what makes an older page of a set of the first TLB its most recent one, as Core::hits_data() does. r10 is the
/// page and stays it; changes r11. Carry: the TLB lacks the page, or it is too old.
//   push rdx ; lea 2(,r10,8), r10                                    the page's word in the TLB
//   mov r10, r11 ; shr $3, r11 ; and SETS-1, r11d ; imul SIZE, r11 ; add rbx, r11       its set, ordered by use
//   cmp WAY1(r11), r10 ; je found1 ; cmp WAY2(r11), r10 ; je found2 ; ...               way 0 has been compared
//   pop rdx ; stc ; ret
//   found2: mov WAY1(r11), rdx ; mov rdx, WAY2(r11)                  those before it move back
//   found1: mov WAY0(r11), rdx ; mov rdx, WAY1(r11)
//   mov r10, WAY0(r11)
//   shr $3, r10 ; mov r10d, r11d ; and SETS-1, r11d ; mov r10, PAGES(rbx,r11,8)
//   pop rdx ; clc ; ret
const std::uint8_t* write_pages(ReplayEmitter& out, const Level& level) {
    constexpr auto kPageState = static_cast<std::int32_t>(models::TlbArray::kState);
    const std::uint8_t* const start = out.at();
    const models::Cache::Sets& tlb = level.tlb;
    const unsigned ways = std::min(tlb.ways, kMostSearchedPages);
    const auto way = [&tlb](unsigned number) { return tlb.words + std::int64_t{number} * 8; };
    const auto set_mask = static_cast<std::uint32_t>(tlb.mask);
    std::uint8_t* found[kMostSearchedPages] = {};
    out.push(rdx);
    out.lea_word(r10, r10, kPageState);
    out.mov(r11, r10);
    out.shr(r11, models::Cache::kLineShift);
    out.and32(r11, set_mask);
    out.imul(r11, tlb.ways * 8);
    out.add(r11, rbx);
    for (unsigned i = 1; i < ways; ++i) {
        out.cmp_memory(r10, r11, way(i));
        found[i] = out.jcc_far(Condition::equal);
    }
    out.pop(rdx);
    out.stc();
    out.ret();
    if (ways < 2) return start;
    for (unsigned i = ways - 1; i > 0; --i) {
        out.bind_far(found[i]);
        out.load(rdx, r11, way(i - 1));
        out.store(rdx, r11, way(i));
    }
    out.store(r10, r11, way(0));
    out.shr(r10, models::Cache::kLineShift);
    out.mov32(r11, r10);
    out.and32(r11, set_mask);
    out.store_entry_at(r10, level.pages, r11);
    out.pop(rdx);
    out.clc();
    out.ret();
    return start;
}

/// Writes what makes an older line of a set of a cache of tree-PLRU its most recent one, as Core::hits_code() and
/// hits_data() do. rdx is the line, rdi the set; both stay it. Carry: it may not do that.
//   mov edx, esi ; and HINTS-1, esi ; movzx HINTS(rbx,rsi), esi                  the way
//   mov edi, r8d ; shl WAYS, r8d ; add rsi, r8 ; mov WAYS(rbx,r8,8), r9          its word
//   lea LEAST(,rdx,8), r10 ; sub r10, r9 ; cmp $3-LEAST, r9 ; ja failed          the state, if it has the line
//   stores: lea 3(,rdx,8), r10 ; mov r10, WAYS(rbx,r8,8)
//   shl $4, esi ; mov POLICY(rbx,rdi,8), r11 ; and OTHERS(rbx,rsi), r11 ; or AWAY(rbx,rsi), r11
//   mov r11, POLICY(rbx,rdi,8) ; mov rdx, LINES(rdi)
//   stores: mov rdx, MODIFIED(rdi)
//   loads: mov $-1, r10 ; cmp $3-LEAST, r9 ; cmove rdx, r10 ; mov r10, MODIFIED(rdi)
//   clc ; ret ; failed: stc ; ret
const std::uint8_t* write_older(ReplayEmitter& out, const Level& level, bool code, bool stores) {
    const models::Cache::Places& ways = level.ways;
    if (!ways.hinted) return nullptr;
    const std::uint8_t* const start = out.at();
    const auto least = static_cast<std::uint32_t>(stores ? LineState::exclusive : LineState::shared);
    out.mov32(rsi, rdx);
    out.and32(rsi, static_cast<std::uint32_t>(ways.hint_mask));
    out.load8_indexed(rsi, rbx, rsi, ways.hints);
    out.mov32(r8, rdi);
    out.shl32(r8, ways.shift);
    out.add(r8, rsi);
    out.load_indexed(r9, rbx, r8, ways.words);
    out.lea_word(r10, rdx, static_cast<std::int32_t>(least));
    out.sub(r9, r10);
    out.cmp(r9, kStateOfModified - least);
    std::uint8_t* const failed = out.jcc_far(Condition::above);
    if (stores) {
        out.lea_word(r10, rdx, static_cast<std::int32_t>(kStateOfModified));
        out.store_indexed(r10, rbx, r8, ways.words);
    }
    out.shl32(rsi, 4);
    static_assert(sizeof(models::TreePlru::Path) == 16);
    out.load_indexed(r11, rbx, rdi, ways.policy);
    out.and_indexed(r11, rbx, rsi, ways.paths + static_cast<std::int64_t>(offsetof(models::TreePlru::Path, others)));
    out.or_indexed(r11, rbx, rsi, ways.paths + static_cast<std::int64_t>(offsetof(models::TreePlru::Path, away)));
    out.store_indexed(r11, rbx, rdi, ways.policy);
    out.store_entry_at(rdx, level.lines, rdi);
    if (stores) {
        out.store_entry_at(rdx, level.modified, rdi);
    } else if (!code) {
        out.mov(r10, ~std::uint64_t{0});
        out.cmp(r9, kStateOfModified - least);
        out.cmov(Condition::equal, r10, rdx);
        out.store_entry_at(r10, level.modified, rdi);
    }
    out.clc();
    out.ret();
    out.bind_far(failed);
    out.stc();
    out.ret();
    return start;
}

/// Writes a call of a function of replay_calls.h, and the return from the routine.
//   push rsi ; mov rbp, rdi ; mov r12, rdx ; mov rax, rcx ; mov FUNCTION, rax ; call *rax ; pop rsi
//   test al, al ; stc ; ret
void write_call(ReplayEmitter& out, ReplayCall function) {
    out.push(rsi);
    out.mov(rdi, rbp);
    out.mov(rdx, r12);
    out.mov(rcx, rax);
    out.call(address_of(reinterpret_cast<const void*>(function)));
    out.pop(rsi);
    out.test8(rax);
    out.stc();
    out.ret();
}

const std::uint8_t* write_finish(ReplayEmitter& out) {
    const std::uint8_t* const start = out.at();
    out.push(rsi);
    out.mov(rdi, rbp);
    out.mov(rdx, r12);
    out.call(address_of(reinterpret_cast<const void*>(finish_segment)));
    out.pop(rsi);
    out.ret();
    return start;
}

const std::uint8_t* write_other(ReplayEmitter& out) {
    const std::uint8_t* const start = out.at();
    write_call(out, access_uncounted);
    return start;
}

class Routine {
  public:
    /// @param pages what write_pages() has written for the level
    Routine(ReplayEmitter& out, const models::ShortPath& path, const Level& level, const std::uint8_t* pages,
            bool loads, bool stores)
        : out_(out), path_(path), level_(level), pages_(pages), fetches_code_(!loads && !stores), modifies_(stores) {}

    const std::uint8_t* write() {
        const std::uint8_t* const start = out_.at();
        write_line();
        std::uint8_t* const recent = write_recent();
        if (level_.ways.hinted) {
            write_search();
            write_page();
            write_use();
            write_hit();
        } else if (is_ordered()) {
            write_page();
            write_ordered();
            write_hit();
        } else {
            misses_[miss_count_++] = out_.jmp_far();
        }
        out_.bind_far(recent);
        write_page();
        write_hit();
        write_other_pages();
        write_misses();
        return start;
    }

  private:
    bool is_ordered() const { return level_.ordered.ways != 0 && level_.ordered.ways <= kMostOrderedWays; }
    std::int64_t ordered_way(unsigned way) const { return level_.ordered.words + std::int64_t{way} * 8; }
    LineState least_state() const { return modifies_ ? LineState::exclusive : LineState::shared; }
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
    //   mov WAYS(rbx,r8,8), r9 ; lea (,rcx,8), r10 ; sub r10, r9         the state, if it has the line
    //   load: lea -1(r9), r10 ; cmp $2, r10 ; ja        store: lea -2(r9), r10 ; cmp $1, r10 ; ja
    void write_search() {
        out_.mov32(rdx, rcx);
        out_.and32(rdx, static_cast<std::uint32_t>(level_.ways.hint_mask));
        out_.load8_indexed(rdx, rbx, rdx, level_.ways.hints);
        out_.mov32(r8, rdi);
        out_.shl(r8, level_.ways.shift);
        out_.add(r8, rdx);
        out_.load_indexed(r9, rbx, r8, level_.ways.words);
        out_.lea_word(r10, rcx, 0);
        out_.sub(r9, r10);
        const auto least = static_cast<std::uint32_t>(least_state());
        out_.lea(r10, r9, -static_cast<std::int32_t>(least));
        out_.cmp(r10, kStateOfModified - least);
        miss_if(Condition::above);
    }

    //   load: cmp LINES(rbx,rdi,8), rcx ; je       store: cmp MODIFIED(rbx,rdi,8), rcx ; je
    /// Jumps if the line is the most recent one of its set, and modified if it has to be.
    std::uint8_t* write_recent() {
        out_.cmp_entry_at(rcx, modifies_ ? level_.modified : level_.lines, rdi);
        return out_.jcc_far(Condition::equal);
    }

    //   mov rax, r10 ; shr $12, r10 ; mov r10d, r11d ; and SETS-1, r11d
    //   cmp PAGES(rbx,r11,8), r10 ; jne other
    //   back:
    void write_page() {
        out_.mov(r10, rax);
        out_.shr(r10, models::Core::kPageShift);
        out_.mov32(r11, r10);
        out_.and32(r11, static_cast<std::uint32_t>(level_.pages.mask));
        out_.cmp_entry_at(r10, level_.pages, r11);
        OtherPage& other = other_pages_[other_page_count_++];
        other.from = out_.jcc_far(Condition::not_equal);
        other.back = out_.at();
    }

    //   other: call pages ; jc misses ; jmp back
    void write_other_pages() {
        for (unsigned i = 0; i < other_page_count_; ++i) {
            out_.bind_far(other_pages_[i].from);
            out_.call_near(pages_);
            miss_if(Condition::below);
            out_.jmp(other_pages_[i].back);
        }
    }

    //   store: lea 3(,rcx,8), r10 ; mov r10, WAYS(rbx,r8,8)              it is modified
    //   shl $4, edx ; mov PATHS, r10 ; add rdx, r10                      the way's path in the tree
    //   mov POLICY(rbx,rdi,8), r11 ; and (r10), r11 ; or 8(r10), r11 ; mov r11, POLICY(rbx,rdi,8)
    //   mov rcx, LINES(rbx,rdi,8)                                        the most recent line
    //   data: mov $-1, rdx ; cmp $3, r9 ; cmove rcx, rdx ; mov rdx, MODIFIED(rbx,rdi,8)      of a store: mov rcx
    void write_use() {
        if (modifies_) {
            out_.lea_word(r10, rcx, static_cast<std::int32_t>(kStateOfModified));
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
        write_recent_line(kStateOfModified);
    }

    /// The line is its set's most recent. r9 is `modified` if it is modified.
    void write_recent_line(std::uint32_t modified) {
        out_.store_entry_at(rcx, level_.lines, rdi);
        if (fetches_code_) return;
        if (modifies_) return out_.store_entry_at(rcx, level_.modified, rdi);
        out_.mov(rdx, ~std::uint64_t{0});
        out_.cmp(r9, modified);
        out_.cmov(Condition::equal, rdx, rcx);
        out_.store_entry_at(rdx, level_.modified, rdi);
    }

    // What Core::hits_data() does if the cache is of LRU. The page is the most recent one already: a miss, too, makes
    // it so before anything else.
    //   mov edi, r8d ; imul SIZE, r8 ; add rbx, r8 ; lea LEAST(,rcx,8), r10
    //   mov WAY0(r8), r9 ; sub r10, r9 ; cmp $3-LEAST, r9 ; jbe found0 ; ... ; jmp misses     the state less LEAST
    //   found2: mov WAY1(r8), rdx ; mov rdx, WAY2(r8)                    those before it move back
    //   found1: mov WAY0(r8), rdx ; mov rdx, WAY1(r8)
    //   found0: add r9, r10 ; mov r10, WAY0(r8)                          of a store: lea 3(,rcx,8), r10
    void write_ordered() {
        const auto least = static_cast<std::int32_t>(least_state());
        const unsigned ways = level_.ordered.ways;
        std::uint8_t* found[kMostOrderedWays] = {};
        out_.mov32(r8, rdi);
        out_.imul(r8, ways * 8);
        out_.add(r8, rbx);
        out_.lea_word(r10, rcx, least);
        for (unsigned i = 0; i < ways; ++i) {
            out_.load(r9, r8, ordered_way(i));
            out_.sub(r9, r10);
            out_.cmp(r9, kStateOfModified - static_cast<std::uint32_t>(least));
            found[i] = out_.jcc_far(Condition::below_or_equal);
        }
        misses_[miss_count_++] = out_.jmp_far();
        for (unsigned i = ways - 1; i > 0; --i) {
            out_.bind_far(found[i]);
            out_.load(rdx, r8, ordered_way(i - 1));
            out_.store(rdx, r8, ordered_way(i));
        }
        out_.bind_far(found[0]);
        if (modifies_)
            out_.lea_word(r10, rcx, static_cast<std::int32_t>(kStateOfModified));
        else
            out_.add(r10, r9);
        out_.store(r10, r8, ordered_way(0));
        write_recent_line(kStateOfModified - static_cast<std::uint32_t>(least));
    }

    void write_hit() {
        out_.cmp32(rcx, rcx);
        out_.ret();
    }

    void write_misses() {
        for (unsigned i = 0; i < miss_count_; ++i) out_.bind_far(misses_[i]);
        write_call(out_, fetches_code_ ? fetch_anew : access_anew);
    }

    /// A page that is not its set's most recent.
    struct OtherPage {
        std::uint8_t* from;
        const std::uint8_t* back;
    };

    ReplayEmitter& out_;
    const models::ShortPath& path_;
    const Level& level_;
    const std::uint8_t* pages_;
    bool fetches_code_;  ///< from one line: the caller splits
    bool modifies_;
    std::uint8_t* misses_[6] = {};
    unsigned miss_count_ = 0;
    OtherPage other_pages_[2] = {};
    unsigned other_page_count_ = 0;
};

}  // namespace

AccessRoutines write_routines(ReplayEmitter& out, const models::ShortPath& path) {
    const std::uint8_t* const code_pages = write_pages(out, path.code);
    const std::uint8_t* const data_pages = write_pages(out, path.data);
    const auto write_data = [&](bool loads, bool stores) {
        return Routine{out, path, path.data, data_pages, loads, stores}.write();
    };
    return {.fetch = Routine{out, path, path.code, code_pages, false, false}.write(),
            .load = write_data(true, false),
            .store = write_data(false, true),
            .modify = write_data(true, true),
            .other = write_other(out),
            .older_load = write_older(out, path.data, false, false),
            .older_store = write_older(out, path.data, false, true),
            .older_code = write_older(out, path.code, true, false),
            .data_pages = data_pages,
            .finish = write_finish(out)};
}

}  // namespace anyperf::engine
