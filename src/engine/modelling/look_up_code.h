// look_up_code.h: the sequences by which generated code looks a line or page up in the first level, and uses it
// (models/caches/first_level.h). The registers are those of replay_code.h.
#pragma once

#include <cstdint>

#include "engine/modelling/replay_emitter.h"
#include "models/caches/core.h"

namespace anyperf::engine {

class LookUpCode {
  public:
    using Places = models::FirstLevel::Places;
    using Level = models::ShortPath::Level;
    using Register = x86_64::Register;

    /// @param keeps_recent whether what translated code compares is kept up to date (models/caches/recent.h)
    /// @param pages whether pages are looked up (models/caches/page_times.h)
    LookUpCode(ReplayEmitter& out, bool keeps_recent, bool pages)
        : out_(out), keeps_recent_(keeps_recent), pages_(pages) {}

    bool keeps_recent() const { return keeps_recent_; }
    bool looks_up_pages() const { return pages_; }

    /// Whether a load, or a store, of the line or page in `number` just hits: then the flags say that it is equal.
    /// `at` has the number whose hint is asked, which is usually the same; it becomes the place.
    //   and HINTS-1, AT ; movzx HINTS(rbx,AT,2), AT ; cmp LOADS(rbx,AT,8), NUMBER
    void look_up(const Places& places, bool stores, Register number, Register at) {
        out_.and32(at, static_cast<std::uint32_t>(places.hint_mask));
        out_.load16_indexed(at, x86_64::rbx, at, places.hints);
        compare(places, stores, number, at);
    }
    /// The same of a constant, which `number` has then.
    //   mov NUMBER, number ; movzx HINTS+2*HINT(rbx), AT ; cmp LOADS(rbx,AT,8), number
    void look_up_known(const Places& places, bool stores, std::uint64_t value, Register number, Register at) {
        out_.mov(number, value);
        out_.load16(at, x86_64::rbx, places.hints + static_cast<std::int64_t>(2 * (value & places.hint_mask)));
        compare(places, stores, number, at);
    }
    /// What has been found is used now.
    //   mov r14, TIMES(rbx,AT,8)
    void use(const Places& places, Register at) { out_.store_indexed(x86_64::r14, x86_64::rbx, at, places.times); }
    /// Time goes on: two lines of a set must not have the same time.
    void tick() { out_.add(x86_64::r14, 1); }

    // Where recent lines are kept, an access to the most recent line of its set, and of the most recent page, changes
    // nothing. Where translated code compares accesses, nearly all that is recorded is of that kind, too. So the next
    // ones jump then; done() is where to.

    /// Of the line in rdx; rdi has the number of that of the last byte, and rax the address. They keep these; change
    /// rcx and r8.
    //   mov edi, ecx ; and SETS-1, ecx ; cmp LINES(rcx), rdx ; jne full
    //   mov rax, r8 ; shr $12, r8 ; mov r8d, ecx ; and SETS-1, ecx ; cmp PAGES(rcx), r8 ; je done
    //   full:
    void skip_recent(const Level& data, bool stores) {
        using namespace x86_64;
        if (!keeps_recent_) return;
        out_.mov32(rcx, rdi);
        out_.and32(rcx, static_cast<std::uint32_t>(data.lines.mask));
        out_.cmp_entry_at(rdx, stores ? data.modified : data.lines, rcx);
        std::uint8_t* const full = out_.jcc_short(Condition::not_equal);
        out_.mov(r8, rax);
        out_.shr(r8, models::Core::kPageShift);
        out_.mov32(rcx, r8);
        out_.and32(rcx, static_cast<std::uint32_t>(data.pages.mask));
        out_.cmp_entry_at(r8, data.pages, rcx);
        skipped_ = out_.jcc_far(Condition::equal);
        out_.bind(full);
    }
    /// Of a known line and page; changes rdx and rax.
    //   mov LINE, rdx ; cmp LINES+8*SET, rdx ; jne full ; mov PAGE, rax ; cmp PAGES+8*SET, rax ; je done ; full:
    void skip_recent_known(const models::ShortPath::Table& lines, std::uint64_t line,
                           const models::ShortPath::Table& pages, std::uint64_t page) {
        using namespace x86_64;
        if (!keeps_recent_) return;
        out_.mov(rdx, line);
        out_.cmp_entry(rdx, lines, line);
        std::uint8_t* const full = out_.jcc_short(Condition::not_equal);
        out_.mov(rax, page);
        out_.cmp_entry(rax, pages, page);
        skipped_ = out_.jcc_far(Condition::equal);
        out_.bind(full);
    }
    void done() {
        if (skipped_ != nullptr) out_.bind_far(skipped_);
        skipped_ = nullptr;
    }

    /// After use() of the line in rdx at the place rdi; changes rcx and r10.
    //   mov edx, ecx ; and SETS-1, ecx ; mov rdx, LINES(rcx)
    //   of stores: mov rdx, MODIFIED(rcx)
    //   of loads: take_if_modified() ; mov r10, MODIFIED(rcx)
    void note_line(const Level& data, bool stores) {
        using namespace x86_64;
        if (!keeps_recent_) return;
        out_.mov32(rcx, rdx);
        out_.and32(rcx, static_cast<std::uint32_t>(data.lines.mask));
        out_.store_entry_at(rdx, data.lines, rcx);
        if (stores) return out_.store_entry_at(rdx, data.modified, rcx);
        take_if_modified(data);
        out_.store_entry_at(r10, data.modified, rcx);
    }
    /// After use() of the page in rax; changes rcx.
    //   mov eax, ecx ; and SETS-1, ecx ; mov rax, PAGES(rcx)
    void note_page(const Level& data) {
        using namespace x86_64;
        if (!keeps_recent_) return;
        out_.mov32(rcx, rax);
        out_.and32(rcx, static_cast<std::uint32_t>(data.pages.mask));
        out_.store_entry_at(rax, data.pages, rcx);
    }
    /// After use() of a known line or page, which `number` has.
    void note_known(const models::ShortPath::Table& table, std::uint64_t value, Register number) {
        if (keeps_recent_) out_.store_entry(number, table, value);
    }
    /// After use() of the known line of data in rdx at the place rdi; changes r10.
    void note_known_line(const Level& data, bool stores, std::uint64_t value) {
        using namespace x86_64;
        if (!keeps_recent_) return;
        out_.store_entry(rdx, data.lines, value);
        if (stores) return out_.store_entry(rdx, data.modified, value);
        take_if_modified(data);
        out_.store_entry(r10, data.modified, value);
    }

  private:
    using Condition = x86_64::Condition;

    void compare(const Places& places, bool stores, Register number, Register at) {
        out_.cmp_indexed(number, x86_64::rbx, at, stores ? places.stores : places.loads);
    }

    /// r10 becomes the line in rdx if that is modified, at the place rdi; else no line.
    //   mov $-1, r10 ; cmp STORES(rbx,rdi,8), rdx ; cmove rdx, r10
    void take_if_modified(const Level& data) {
        using namespace x86_64;
        out_.mov(r10, ~std::uint64_t{0});
        out_.cmp_indexed(rdx, rbx, rdi, data.cache.stores);
        out_.cmov(Condition::equal, r10, rdx);
    }

    ReplayEmitter& out_;
    bool keeps_recent_;
    bool pages_;
    std::uint8_t* skipped_ = nullptr;  ///< operand of the jump to done()
};

}  // namespace anyperf::engine
