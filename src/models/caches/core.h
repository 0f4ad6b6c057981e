// core.h: the hierarchy of caches and TLBs of a modelled machine: its cores, and the level that they share.
//
// What an access does (docs/models.md has the same rules for users):
//
// - An access touches the lines from its first to its last byte, in that order. It is one reference and at most one
//   miss of L1, however many lines it touches. An operand that is read and written is one reference, a load, and
//   makes its lines modified.
// - L1 requests a line that it lacks from L2, and L2 from the shared level. The access is served by the level that has
//   the line. All levels before it are filled, except a shared level that holds victims only.
// - L1 and L2 are not inclusive: a line may leave L2 and stay in L1. A modified line that leaves L1 goes to L2, and one
//   that leaves the core goes to the shared level. These moves are no requests.
// - Lines have the states of MESI. A load shares a line that other cores hold. A store removes it from them. A store to
//   a line that its core holds as shared is an upgrade: it requests no data.
// - A machine without L2 requests lines from the shared level at once. A machine without L3 requests them from memory.
// - A load trains the stride prefetcher (stride.h) if L1D lacks a line of it, or if it is the first access to a line
//   that a prefetch has brought.
//
// Two paths. Nearly all accesses hit a line of L1 and a page of the first TLB: hits_code() and hits_data() do them
// (first_level.h). The rest take fetch_anew() and access_anew(); there, a line that L1 lacks and L2 has takes a path
// of its own, too (fill_from_second()). All paths must have the same result: tests/unit/models/core_test.cpp compares
// them with tests/unit/models/plain_machine.h, which has the full path only.
//
// Order. A core changes other cores (SharedLevel::read()) without a lock. So the caller serializes all calls on cores
// that share a SharedLevel; the engine holds the process's Modelling::lock (engine/modelling/state.h). Counts then
// depend on the order of the accesses only.
//
// A store does not remove a line from the L1I of its own core: programs that change their code are rare.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/caches/cache.h"
#include "models/caches/first_level.h"
#include "models/caches/recent.h"
#include "models/caches/stride.h"
#include "models/caches/tlb.h"
#include "models/load_latencies.h"
#include "models/machine.h"
#include "models/quantities.h"

namespace anyperf::models {

enum class Access : std::uint8_t { load, store, modify };

/// What requests a line. The rows of quantities.h are in this order.
enum class Reader : std::uint8_t { code, load, store, prefetch };

struct Found {
    Source source = Source::memory;
    LineState state = LineState::exclusive;
};

class SharedLevel;

/// Where what hits_code() and hits_data() read and write lies, in bytes from the start of the core, for generated code
/// that does the same. Equal for all cores of a machine whose memory follows their object at the same distance.
struct ShortPath {
    struct Table {
        std::int64_t entries;  ///< words as in recent.h; from the start of RecentMemory::owner, if there is one
        std::uint64_t mask;    ///< of the number: its entry
        bool apart;            ///< there is an owner
    };
    struct Level {
        Table lines;     ///< the most recent lines
        Table modified;  ///< of these, those that are modified; only of data
        Table pages;
        FirstLevel::Places cache;
        FirstLevel::Places tlb;  ///< for pages of 4 KiB
    };
    Level code, data;
    std::int64_t clock;
    unsigned line_shift;
};

/// Where the most recent lines and pages of a core are kept: apart from its other memory, so that translated code finds
/// them. recent_places() says in which order.
struct RecentMemory {
    std::uint64_t* words = nullptr;  ///< null: with the other memory
    const void* owner = nullptr;
};

/// The places of the tables of recent.h in RecentMemory, by the number of their first word.
struct RecentPlaces {
    struct Table {
        std::size_t first;
        std::uint64_t mask;
    };
    Table code, data, modified, code_pages, data_pages;
    std::size_t words;
};
constexpr RecentPlaces recent_places(const Machine& machine) {
    RecentPlaces places{};
    const auto take = [&places](std::uint32_t sets) {
        const std::size_t first = places.words;
        places.words += Recent::words(sets);
        return RecentPlaces::Table{first, sets == 0 ? 0U : sets - 1U};
    };
    places.code = take(machine.l1_code.sets);
    places.data = take(machine.l1_data.sets);
    places.modified = take(machine.l1_data.sets);
    places.code_pages = take(machine.code_tlb.sets());
    places.data_pages = take(machine.data_tlb.sets());
    return places;
}

/// One core. It uses memory of the caller: words(machine) words, all 0, which outlive it.
class Core {
  public:
    Core(const Machine& machine, SharedLevel& shared, Counts& counts, std::uint64_t* memory, RecentMemory recent = {});
    Core(const Core&) = delete;
    Core& operator=(const Core&) = delete;

    static std::size_t words(const Machine& machine);

    /// From now on it counts in `counts`: threads that share a core have separate counts.
    void count_into(Counts& counts) { counts_ = &counts; }

    /// The fetch of an instruction of `size` bytes, at least 1.
    Source fetch(std::uint64_t address, unsigned size, PageSize page = PageSize::small) {
        const bool short_path = page == PageSize::small && hits_code(address, size);
        if (!short_path) return fetch_anew(address, size, page);
        count_repeated({.fetches = 1});
        return Source::l1;
    }
    /// An operand of `size` bytes, at least 1, accessed by the instruction at `instruction`.
    AccessFacts access(std::uint64_t instruction, std::uint64_t address, unsigned size, Access kind,
                       PageSize page = PageSize::small) {
        const bool short_path = page == PageSize::small && hits_data(instruction, address, size, kind);
        if (!short_path) return access_anew(instruction, address, size, kind, page);
        const bool loads = kind != Access::store;
        count_repeated({.loads = loads ? 1U : 0U, .stores = loads ? 0U : 1U});
        return {};
    }

    // For a caller that has many accesses: those that hit change only when their line and page were used, so it counts
    // them together.

    /// Whether a fetch from a page of 4 KiB lies in a line of L1I, and in a page of the first TLB. These are then used,
    /// and the caller counts the fetch. Otherwise nothing changes.
    bool hits_code(std::uint64_t address, unsigned size) {
        const std::uint64_t line = address >> line_shift_;
        if ((address + size - 1) >> line_shift_ != line) return false;
        const FirstLevel::Place place = place_of(l1_code_, line, false);
        if (place == FirstLevel::kAbsent) return false;
        const bool plain = l1_code_.is_plain(place, line, false);
        if (!hits_page(code_tlb_, recent_code_pages_, address, plain)) return false;
        if (!plain) arrive(l1_code_, place, line);
        l1_code_.use(place, line);
        recent_code_.set(line);
        return true;
    }
    /// The same for an access to L1D. If it stores, its line becomes modified, and must not be shared. If it loads, it
    /// may train the prefetcher, which may fetch.
    bool hits_data(std::uint64_t instruction, std::uint64_t address, unsigned size, Access kind) {
        const std::uint64_t line = address >> line_shift_;
        if ((address + size - 1) >> line_shift_ != line) [[unlikely]]
            return hits_two_lines(address, size, kind);
        if (!l1_data_.hinted()) return hits_data_otherwise(instruction, address, kind);
        const FirstLevel::Place place = l1_data_.hinted_place(line);
        if (!l1_data_.is_plain(place, line, kind != Access::load)) [[unlikely]]
            return hits_data_otherwise(instruction, address, kind);
        if (!hits_page(data_tlb_, recent_data_pages_, address, true)) [[unlikely]]
            return false;
        l1_data_.use(place, line);
        recent_data_.set(line, l1_data_.is_plain(place, line, true));
        return true;
    }
    /// Whether it is sure at a glance that the access misses L1D. If so, what it needs is on its way.
    bool surely_misses(std::uint64_t address, unsigned size) const {
        const std::uint64_t line = address >> line_shift_;
        if ((address + size - 1) >> line_shift_ != line || !l1_data_.surely_lacks(line)) return false;
        expect_in_second(line);
        return true;
    }
    /// Whether accesses to this line and page would change nothing but when they were used.
    bool just_hits_data(std::uint64_t address, Access kind) const {
        const std::uint64_t line = address >> line_shift_;
        return l1_data_.hinted() && l1_data_.is_plain(l1_data_.hinted_place(line), line, kind != Access::load) &&
               (looks_up_no_pages() || data_tlb_.first().has(address >> kPageShift));
    }
    unsigned line_bytes() const { return 1U << line_shift_; }
    /// How many bytes of the address's line follow it, itself included.
    unsigned bytes_to_end_of_line(std::uint64_t address) const {
        return line_bytes() - static_cast<unsigned>(address & (line_bytes() - 1));
    }
    /// Whether what translated code compares (recent.h) is apart from the core.
    bool has_recent_apart() const { return recent_owner_ != nullptr; }
    // Whether an access, or a fetch, touches the line that was used last in its set. For statistics.

    bool repeats_line_of_code(std::uint64_t address) const { return is_most_recent(l1_code_, address >> line_shift_); }
    bool repeats_line_of_data(std::uint64_t address) const { return is_most_recent(l1_data_, address >> line_shift_); }
    /// Whether accesses that just hit look up no page (page_times.h), now and from now on. Either way has the same
    /// results.
    bool looks_up_no_pages() const { return by_lines_; }
    void look_up_no_pages(bool none) {
        by_lines_ = none;
        code_tlb_.first().set_by_lines(none);
        data_tlb_.first().set_by_lines(none);
    }
    /// Nothing is recent (recent.h) in the memory that translated code compares.
    void forget_recent();
    /// fetch() and access() by the full path alone, for a caller that has asked for the others.
    Source fetch_anew(std::uint64_t address, unsigned size, PageSize page = PageSize::small);
    AccessFacts access_anew(std::uint64_t instruction, std::uint64_t address, unsigned size, Access kind,
                            PageSize page = PageSize::small);
    /// Brings what a miss of this line needs into the CPU's own caches.
    void expect_miss(std::uint64_t line) const;
    /// How many accesses have repeated; a load that also stores is a load.
    struct Repeated {
        std::uint64_t fetches = 0;
        std::uint64_t loads = 0;
        std::uint64_t stores = 0;
    };
    void count_repeated(const Repeated& repeated) {
        counts_->add(Quantity::code_references, repeated.fetches);
        counts_->add(Quantity::load_references, repeated.loads);
        counts_->add(Quantity::loads_from_l1, repeated.loads);
        counts_->add(Quantity::store_references, repeated.stores);
    }
    /// Changes whenever L1I loses a line by other means than a fetch.
    std::uint32_t code_losses() const { return code_losses_; }

    ShortPath short_path() const;
    static constexpr unsigned kPageShift = 12;

    // The functions below are for the shared level.

    /// The highest state that a line has in one of the core's caches.
    LineState state_of(std::uint64_t line) const;
    /// Makes the line `shared` in all caches of the core that hold it.
    void share(std::uint64_t line);
    /// Removes the line from all caches of the core.
    void lose(std::uint64_t line);

  private:
    static bool is_most_recent(const FirstLevel& first, std::uint64_t line) {
        const FirstLevel::Place place = first.place_of(line);
        return place != FirstLevel::kAbsent && first.is_most_recent(place);
    }
    /// The place of a line, which a plain hit finds at once; else kAbsent.
    static FirstLevel::Place place_of(const FirstLevel& first, std::uint64_t line, bool stores) {
        if (first.hinted()) {
            const FirstLevel::Place place = first.hinted_place(line);
            if (first.is_plain(place, line, stores)) return place;
        }
        return first.place_of(line);
    }
    bool hits_two_lines(std::uint64_t address, unsigned size, Access kind);
    bool hits_data_otherwise(std::uint64_t instruction, std::uint64_t address, Access kind);
    /// Whether the first TLB has the page, which is then used. `plain`: of a line that just hits it is known
    /// (page_times.h).
    bool hits_page(Tlb& tlb, Recent& pages, std::uint64_t address, bool plain) {
        const std::uint64_t page = address >> kPageShift;
        if (!(plain && by_lines_) && !tlb.hits(page)) return false;
        pages.set(page);
        return true;
    }
    FirstTlb& pages_of(const FirstLevel& first) { return (&first == &l1_code_ ? code_tlb_ : data_tlb_).first(); }
    /// The line is accessed by a page that was translated. An access over the end of a page may have lost the first of
    /// the two by then.
    void arrive(FirstLevel& first, FirstLevel::Place place, std::uint64_t line) {
        if (by_lines_ && pages_of(first).note_line(line)) first.wake_at(place);
    }
    void touch_at(FirstLevel& first, FirstLevel::Place place, std::uint64_t line, bool marked);
    Victim add(FirstLevel& first, std::uint64_t line, LineState state, bool marked);
    void remove(FirstLevel& first, FirstLevel::Place place, std::uint64_t line);
    /// As expect_miss(), of lines that L2 has. What a miss does before it looks there takes as long.
    void expect_in_second(std::uint64_t line) const {
        if (!l2_.has_paths()) return;
        l2_.expect_by_hint(line);
        l1_data_.expect(line);
        if (!machine_.prefetch.next_line) return;
        l2_.expect_by_hint(line + 1);
        l1_data_.expect(line + 1);
    }
    void follow_stride(std::uint64_t instruction, std::uint64_t address) {
        if (!machine_.prefetch.stride) return;
        const std::uint64_t wanted = stride_.next(instruction, address);
        if (wanted != StridePrefetcher::kNothing) prefetch(wanted >> line_shift_);
    }
    /// The line was touched by an access, and is its set's most recent.
    void note_recent(const FirstLevel& first, std::uint64_t line, bool modified) {
        if (&first == &l1_data_)
            recent_data_.set(line, modified);
        else
            recent_code_.set(line);
    }
    bool first_level_holds(std::uint64_t line) const;
    /// Where an access found its farthest line.
    struct Touched {
        Source source = Source::l1;
        bool first_after_prefetch = false;  ///< it is the first one to a line that a prefetch has brought
    };
    Touched line(FirstLevel& first, std::uint64_t line, Reader reader);
    Touched lines(FirstLevel& first, std::uint64_t from, std::uint64_t to, Reader reader);
    Touched whole_access(FirstLevel& first, std::uint64_t from, std::uint64_t to, Reader reader);
    void become_modified(std::uint64_t line, LineState state);
    bool fill_from_second(FirstLevel& first, std::uint64_t line, Reader reader);
    void dispose(Victim victim);
    Found bring(std::uint64_t line, Reader reader);
    void fill(FirstLevel& first, std::uint64_t line, LineState state, Reader reader);
    void fill_second(std::uint64_t line, LineState state);
    void after_miss(std::uint64_t line);
    void prefetch(std::uint64_t line);
    Translation translate(Tlb& tlb, Recent& pages, std::uint64_t address, PageSize size, Quantity misses,
                          Quantity walks);

    const Machine& machine_;
    SharedLevel& shared_;
    Counts* counts_;
    std::uint64_t clock_ = 0;  ///< of the first level (first_level.h)
    FirstLevel l1_code_;
    FirstLevel l1_data_;
    Cache l2_;
    TlbArray second_tlb_;
    TlbArray second_code_tlb_;
    Tlb code_tlb_;
    Tlb data_tlb_;
    StridePrefetcher stride_;
    Recent recent_code_;
    RecentLines recent_data_;
    Recent recent_code_pages_;  ///< of 4 KiB
    Recent recent_data_pages_;
    const void* recent_owner_;  ///< null: the object itself
    unsigned line_shift_;
    bool by_lines_ = false;    ///< no pages are looked up (page_times.h)
    bool large_page_ = false;  ///< of the access, or fetch, that takes the full path
    std::uint32_t code_losses_ = 0;
};

/// The last level, and the cores that share it. It uses memory of the caller, as a core does.
///
/// A request looks for the line in all other cores, as a snoop does. There is no directory of lines.
class SharedLevel {
  public:
    static constexpr std::size_t kMostCores = 64;

    SharedLevel(const Machine& machine, std::uint64_t* memory);
    SharedLevel(const SharedLevel&) = delete;
    SharedLevel& operator=(const SharedLevel&) = delete;

    static std::size_t words(const Machine& machine) { return Cache::words(machine.l3); }

    /// Adds a core. Returns false if there are kMostCores; the core then shares no lines with others.
    bool join(Core& core);
    void part(Core& core);

    /// A core's request for a line that it lacks; `writes`: the line will be changed.
    Found read(const Core& core, std::uint64_t line, bool writes);
    /// A request for the line may follow: brings its set into the CPU's own caches.
    void expect(std::uint64_t line) const { l3_.expect(line); }
    /// Removes a line from all cores but this one.
    void take_from_others(const Core& core, std::uint64_t line);
    /// A line has left a core.
    void accept(Victim victim);
    /// A request by the rule Request::access: looks the line up and inserts it if absent. True: it was present.
    bool touch(std::uint64_t line);

  private:
    LineState look_up(std::uint64_t line);
    void insert(std::uint64_t line, LineState state);

    const Machine& machine_;
    Cache l3_;
    std::array<Core*, kMostCores> cores_{};
    std::size_t used_ = 0;  ///< cores_ has no core from here on
};

}  // namespace anyperf::models
