#include "models/caches/core.h"

#include <algorithm>
#include <bit>

namespace anyperf::models {

namespace {

constexpr std::uint64_t kPageBytes = 4096;

/// The quantities of one reader's requests.
struct RequestRow {
    Quantity l2_reads, l2_misses, l3_reads, l3_misses;
};
constexpr std::array<RequestRow, 4> kRequests{{
    {Quantity::l2_code_reads, Quantity::l2_code_misses, Quantity::l3_code_reads, Quantity::l3_code_misses},
    {Quantity::l2_data_reads, Quantity::l2_data_misses, Quantity::l3_data_reads, Quantity::l3_data_misses},
    {Quantity::l2_ownership_reads, Quantity::l2_ownership_misses, Quantity::l3_ownership_reads,
     Quantity::l3_ownership_misses},
    {Quantity::l2_prefetches, Quantity::l2_prefetch_misses, Quantity::l3_prefetches, Quantity::l3_prefetch_misses},
}};
constexpr const RequestRow& requests_of(Reader reader) {
    return kRequests[static_cast<std::size_t>(reader)];
}

constexpr std::array<Quantity, 6> kLoadsFrom{Quantity::loads_from_l1,
                                             Quantity::loads_from_l2,
                                             Quantity::loads_from_l3,
                                             Quantity::loads_from_clean_peer,
                                             Quantity::loads_from_modified_peer,
                                             Quantity::loads_from_memory};

/// Hands out parts of a core's memory.
class Parts {
  public:
    explicit Parts(std::uint64_t* memory) : next_(memory) {}
    std::uint64_t* take(std::size_t words) {
        std::uint64_t* part = next_;
        next_ += words;
        return part;
    }

  private:
    std::uint64_t* next_;
};

/// The quantities of loads or of stores.
struct DataRow {
    Quantity references, misses, splits, tlb_misses, walks;
};
constexpr DataRow kLoads{Quantity::load_references, Quantity::load_misses, Quantity::split_loads,
                         Quantity::load_tlb_misses, Quantity::load_walks};
constexpr DataRow kStores{Quantity::store_references, Quantity::store_misses, Quantity::split_stores,
                          Quantity::store_tlb_misses, Quantity::store_walks};

constexpr bool same_page(std::uint64_t a, std::uint64_t b) {
    return a / kPageBytes == b / kPageBytes;
}

}  // namespace

// The sum of what the constructor hands out by Parts::take(); the two lists must agree.
std::size_t Core::words(const Machine& machine) {
    return FirstLevel::words(machine.l1_code) + FirstLevel::words(machine.l1_data) + Cache::words(machine.l2) +
           FirstTlb::words(machine.code_tlb, machine.code_tlb_large) +
           FirstTlb::words(machine.data_tlb, machine.data_tlb_large) + TlbArray::words(machine.second_tlb) +
           TlbArray::words(machine.second_code_tlb) + recent_places(machine).words;
}

Core::Core(const Machine& machine, SharedLevel& shared, Counts& counts, std::uint64_t* memory, RecentMemory recent)
    : machine_(machine),
      shared_(shared),
      counts_(&counts),
      stride_(machine.line_bytes()),
      recent_owner_(recent.owner),
      line_shift_(static_cast<unsigned>(std::countr_zero(machine.line_bytes()))) {
    Parts parts(memory);
    l1_code_ = FirstLevel(machine.l1_code, parts.take(FirstLevel::words(machine.l1_code)), clock_);
    // By the rule of cachegrind lines have no states.
    l1_data_ = FirstLevel(machine.l1_data, parts.take(FirstLevel::words(machine.l1_data)), clock_,
                          machine.request == Request::access);
    l2_ = Cache(machine.l2, parts.take(Cache::words(machine.l2)));
    second_tlb_ = TlbArray(machine.second_tlb, parts.take(TlbArray::words(machine.second_tlb)));
    second_code_tlb_ = TlbArray(machine.second_code_tlb, parts.take(TlbArray::words(machine.second_code_tlb)));
    TlbArray* const second_of_code = machine.second_code_tlb.exists() ? &second_code_tlb_ : &second_tlb_;
    const auto first = [&](const TlbGeometry& small, const TlbGeometry& large, FirstLevel& lines) {
        return FirstTlb(small, large, parts.take(FirstTlb::words(small, large)), clock_, {lines, line_shift_});
    };
    code_tlb_ = Tlb(first(machine.code_tlb, machine.code_tlb_large, l1_code_), second_of_code);
    data_tlb_ = Tlb(first(machine.data_tlb, machine.data_tlb_large, l1_data_), &second_tlb_);
    const RecentPlaces places = recent_places(machine);
    std::uint64_t* const words = recent.words != nullptr ? recent.words : parts.take(places.words);
    recent_code_ = Recent(machine.l1_code.sets, words + places.code.first);
    recent_data_ = RecentLines(machine.l1_data.sets, words + places.data.first);
    recent_code_pages_ = Recent(machine.code_tlb.sets(), words + places.code_pages.first);
    recent_data_pages_ = Recent(machine.data_tlb.sets(), words + places.data_pages.first);
}

ShortPath Core::short_path() const {
    const void* const owner = recent_owner_ != nullptr ? recent_owner_ : this;
    const auto table = [&](const Recent& recent) {
        const auto* const entries = reinterpret_cast<const char*>(recent.entries());
        return ShortPath::Table{.entries = entries - static_cast<const char*>(owner),
                                .mask = recent.mask(),
                                .apart = recent_owner_ != nullptr};
    };
    return {.code = {table(recent_code_),
                     {},
                     table(recent_code_pages_),
                     l1_code_.places(this),
                     code_tlb_.small().places(this)},
            .data = {table(recent_data_.lines()), table(recent_data_.modified()), table(recent_data_pages_),
                     l1_data_.places(this), data_tlb_.small().places(this)},
            .clock = reinterpret_cast<const char*>(&clock_) - reinterpret_cast<const char*>(this),
            .line_shift = line_shift_};
}

// Large pages never become recent: is_recent() compares numbers of 4 KiB pages. Every access to a large page therefore
// takes the full path.
Translation Core::translate(Tlb& tlb, Recent& pages, std::uint64_t address, PageSize size, Quantity misses,
                            Quantity walks) {
    const Translation found = tlb.translate(address, size);
    if (size == PageSize::small) pages.set(address >> kPageShift);
    if (found != Translation::first_level) counts_->add(misses);
    if (found == Translation::walk) counts_->add(walks);
    return found;
}

/// hits_data() of an access over the end of a line: only if both lines just hit, in one page.
bool Core::hits_two_lines(std::uint64_t address, unsigned size, Access kind) {
    const std::uint64_t line = address >> line_shift_;
    const std::uint64_t last = address + size - 1;
    if (last >> line_shift_ != line + 1 || !same_page(address, last) || !l1_data_.hinted()) return false;
    const bool stores = kind != Access::load;
    const FirstLevel::Place place = l1_data_.hinted_place(line);
    const FirstLevel::Place next = l1_data_.hinted_place(line + 1);
    if (!l1_data_.is_plain(place, line, stores) || !l1_data_.is_plain(next, line + 1, stores)) return false;
    if (!hits_page(data_tlb_, recent_data_pages_, address, true)) return false;
    l1_data_.use(place, line);
    l1_data_.use(next, line + 1);
    recent_data_.set(line, l1_data_.is_plain(place, line, true));
    recent_data_.set(line + 1, l1_data_.is_plain(next, line + 1, true));
    counts_->add((kind == Access::store ? kStores : kLoads).splits);
    return true;
}

/// hits_data() of an access in one line, if it is not as simple.
bool Core::hits_data_otherwise(std::uint64_t instruction, std::uint64_t address, Access kind) {
    const std::uint64_t line = address >> line_shift_;
    const FirstLevel::Place place = l1_data_.surely_lacks(line) ? FirstLevel::kAbsent : l1_data_.place_of(line);
    if (place == FirstLevel::kAbsent) {
        expect_in_second(line);
        return false;
    }
    // A line that is shared would be lost by other cores. By the rule of cachegrind, lines are never modified.
    const bool modifies = kind != Access::load && machine_.request == Request::line;
    if (modifies && l1_data_.state_at(place) < LineState::exclusive) return false;
    if (!hits_page(data_tlb_, recent_data_pages_, address, false)) return false;
    arrive(l1_data_, place, line);
    if (modifies && l1_data_.state_at(place) == LineState::exclusive) l1_data_.set_state_at(place, LineState::modified);
    const bool first_after_prefetch = l1_data_.take_mark_at(place);
    l1_data_.use(place, line);
    recent_data_.set(line, l1_data_.is_plain(place, line, true));
    if (first_after_prefetch && kind != Access::store) follow_stride(instruction, address);
    return true;
}

// A fetch that crosses a page translates both pages; a fetch of at most 15 bytes cannot reach a third.
Source Core::fetch_anew(std::uint64_t address, unsigned size, PageSize page) {
    const std::uint64_t last = address + size - 1;
    large_page_ = page == PageSize::large;
    const auto translate_code = [&](std::uint64_t at) {
        translate(code_tlb_, recent_code_pages_, at, page, Quantity::code_tlb_misses, Quantity::code_walks);
    };
    translate_code(address);
    if (!same_page(address, last)) translate_code(last);
    const Source source = lines(l1_code_, address >> line_shift_, last >> line_shift_, Reader::code).source;
    counts_->add(Quantity::code_references);
    if (source != Source::l1) counts_->add(Quantity::code_misses);
    return source;
}

// Only the first and the last page are translated: an operand is far shorter than a page. A `modify` access asks L2 as
// a store does (ownership), and counts as a load.
//
// All that it calls is in one piece: a program whose accesses mostly miss took up to a third less time than with calls.
[[gnu::flatten]] AccessFacts Core::access_anew(std::uint64_t instruction, std::uint64_t address, unsigned size,
                                               Access kind, PageSize page) {
    const DataRow& row = kind == Access::store ? kStores : kLoads;
    const std::uint64_t last = address + size - 1;
    large_page_ = page == PageSize::large;
    unsigned tlb_misses = 0;
    unsigned page_walks = 0;
    const auto translate_data = [&](std::uint64_t at) {
        const Translation found = translate(data_tlb_, recent_data_pages_, at, page, row.tlb_misses, row.walks);
        if (found != Translation::first_level) ++tlb_misses;
        if (found == Translation::walk) ++page_walks;
    };
    translate_data(address);
    if (!same_page(address, last)) translate_data(last);

    const std::uint64_t from = address >> line_shift_;
    const std::uint64_t to = last >> line_shift_;
    const Reader reader = kind == Access::load ? Reader::load : Reader::store;
    const auto [source, first_after_prefetch] = from == to && machine_.request == Request::line
                                                    ? line(l1_data_, from, reader)
                                                    : lines(l1_data_, from, to, reader);
    counts_->add(row.references);
    if (from != to) counts_->add(row.splits);
    if (source != Source::l1) counts_->add(row.misses);
    if (kind != Access::store) counts_->add(kLoadsFrom[static_cast<std::size_t>(source)]);

    if (kind != Access::store && (source != Source::l1 || first_after_prefetch)) follow_stride(instruction, address);
    return {source, static_cast<std::uint8_t>(tlb_misses), static_cast<std::uint8_t>(page_walks)};
}

/// Touches lines in their order.
Core::Touched Core::lines(FirstLevel& first, std::uint64_t from, std::uint64_t to, Reader reader) {
    if (machine_.request == Request::access) return whole_access(first, from, to, reader);
    Touched all;
    for (std::uint64_t number = from; number <= to; ++number) {
        const Touched one = line(first, number, reader);
        all.source = std::max(all.source, one.source);
        all.first_after_prefetch = all.first_after_prefetch || one.first_after_prefetch;
    }
    return all;
}

/// By the rule of cachegrind: if L1 lacked any line, the last level is asked for all of them, once.
Core::Touched Core::whole_access(FirstLevel& first, std::uint64_t from, std::uint64_t to, Reader reader) {
    const bool is_code = &first == &l1_code_;
    bool missed = false;
    bool marked = false;
    for (std::uint64_t number = from; number <= to; ++number) {
        // With the modified mark: in this mode lines have no states, so a store that repeats changes nothing.
        note_recent(first, number, true);
        const FirstLevel::Place place = first.place_of(number);
        if (place != FirstLevel::kAbsent) {
            const bool brought = first.take_mark_at(place);
            touch_at(first, place, number, brought);
            marked = marked || brought;
            continue;
        }
        add(first, number, LineState::exclusive, false);
        counts_->add(is_code ? Quantity::code_lines_filled : Quantity::data_lines_filled);
        missed = true;
    }
    if (!missed) return {Source::l1, marked};
    bool found = true;
    // `&& found` comes second: touch() has to fill every line, also after one that was absent.
    for (std::uint64_t number = from; number <= to; ++number) found = shared_.touch(number) && found;
    const RequestRow& row = requests_of(reader);
    counts_->add(row.l3_reads);
    if (!found) counts_->add(row.l3_misses);
    return {found ? Source::l3 : Source::memory, marked};
}

// The prefetch comes last: first the line that missed is filled, then the next one.
Core::Touched Core::line(FirstLevel& first, std::uint64_t number, Reader reader) {
    const FirstLevel::Place place = first.surely_lacks(number) ? FirstLevel::kAbsent : first.place_of(number);
    if (place != FirstLevel::kAbsent) {
        const LineState state = first.state_at(place);
        const bool marked = first.take_mark_at(place);
        touch_at(first, place, number, marked);
        note_recent(first, number, state == LineState::modified);
        if (reader == Reader::store) become_modified(number, state);
        return {Source::l1, marked};
    }
    Found found{Source::l2};
    if (!fill_from_second(first, number, reader)) {
        expect_miss(number);
        found = bring(number, reader);
        fill(first, number, found.state, reader);
    }
    if (reader != Reader::code && machine_.prefetch.next_line) after_miss(number);
    return {found.source, false};
}

/// Uses a line that the first level has. The page was translated before. `marked`: the line had its mark.
void Core::touch_at(FirstLevel& first, FirstLevel::Place place, std::uint64_t line, bool marked) {
    if (large_page_ && by_lines_) [[unlikely]] {
        // What was known of its page of 4 KiB is of the time before. A prefetch has used no page.
        if (!marked) pages_of(first).forget_line(line, first.time_at(place));
        first.rest_at(place);
    } else {
        arrive(first, place, line);
    }
    first.use(place, line);
}

/// Adds a line to the first level. It is dormant if the first TLB lacks its page. A line with the mark takes the full
/// path at its first access, whatever page it has.
[[gnu::always_inline]] inline Victim Core::add(FirstLevel& first, std::uint64_t line, LineState state, bool marked) {
    if (!by_lines_) [[likely]]
        return first.insert(line, state, marked);
    FirstTlb& pages = pages_of(first);
    const bool known = marked || (!large_page_ && pages.note_line(line));
    return first.insert(line, state, marked, !known,
                        [&pages](std::uint64_t victim, std::uint64_t time) { pages.forget_line(victim, time); });
}

/// Removes a line of the first level.
void Core::remove(FirstLevel& first, FirstLevel::Place place, std::uint64_t line) {
    if (by_lines_) pages_of(first).forget_line(line, first.time_at(place));
    first.remove(line);
}

/// The most common miss of L1, in one piece: L2 has the line, and this core may do with it what it wants. Does what
/// bring() and fill() do. False: it is another miss, and nothing has changed but the order of L2's set, as bring() will
/// change it.
[[gnu::always_inline]] inline bool Core::fill_from_second(FirstLevel& first, std::uint64_t line, Reader reader) {
    if (!l2_.has_paths()) return false;
    const bool writes = reader == Reader::store;
    LineState state = l2_.touch_by_hint(line);
    if (state < (writes ? LineState::exclusive : LineState::shared)) return false;
    if (writes) state = LineState::modified;
    counts_->add(requests_of(reader).l2_reads);
    const bool is_code = reader == Reader::code;
    const bool fetched_early = reader == Reader::prefetch;
    counts_->add(is_code ? Quantity::code_lines_filled : Quantity::data_lines_filled);
    const Victim victim = add(first, line, state, fetched_early && machine_.prefetch.stride);
    if (is_code)
        recent_code_.set(line);
    else if (fetched_early)
        recent_data_.clear(line);
    else
        recent_data_.set(line, state == LineState::modified);
    if (!is_code) counts_->add(Quantity::data_write_backs, victim.state == LineState::modified ? 1 : 0);
    if (victim.exists() && !l2_.take_back_by_hint(victim)) [[unlikely]]
        dispose(victim);
    return true;
}

// The line after it is the one that after_miss() fetches.
void Core::expect_miss(std::uint64_t line) const {
    l2_.expect(line);
    shared_.expect(line);
    if (!machine_.prefetch.next_line) return;
    l2_.expect(line + 1);
    shared_.expect(line + 1);
}

/// A store to a line that L1D holds.
void Core::become_modified(std::uint64_t line, LineState state) {
    if (state == LineState::shared) {
        counts_->add(Quantity::upgrades);
        shared_.take_from_others(*this, line);
    }
    l1_data_.set_state(line, LineState::modified);
    recent_data_.set(line, true);
}

/// Requests a line that L1 lacks from L2 and then from the shared level, and fills L2.
Found Core::bring(std::uint64_t line, Reader reader) {
    const RequestRow& row = requests_of(reader);
    const bool writes = reader == Reader::store;
    if (l2_.exists()) {
        counts_->add(row.l2_reads);
        const LineState state = l2_.touch(line);
        if (present(state)) {
            if (writes && state == LineState::shared) {
                counts_->add(Quantity::upgrades);
                shared_.take_from_others(*this, line);
            }
            return {Source::l2, writes ? LineState::modified : state};
        }
        counts_->add(row.l2_misses);
    }
    Found found = shared_.read(*this, line, writes);
    counts_->add(row.l3_reads);
    if (found.source == Source::memory) counts_->add(row.l3_misses);
    if (l2_.exists()) fill_second(line, found.state);
    if (writes) found.state = LineState::modified;
    return found;
}

void Core::fill(FirstLevel& first, std::uint64_t line, LineState state, Reader reader) {
    const bool is_data = &first == &l1_data_;
    counts_->add(is_data ? Quantity::data_lines_filled : Quantity::code_lines_filled);
    const Victim victim = add(first, line, state, reader == Reader::prefetch && machine_.prefetch.stride);
    if (reader == Reader::prefetch)
        recent_data_.clear(line);
    else
        note_recent(first, line, state == LineState::modified);
    if (is_data && victim.state == LineState::modified) counts_->add(Quantity::data_write_backs);
    if (victim.exists()) dispose(victim);
}

/// A line that has left L1.
void Core::dispose(Victim victim) {
    // A modified victim must survive in L2. An unmodified one is dropped if L2 has it too; otherwise it may be the last
    // copy in the core, which a victim-filled shared level takes.
    const unsigned way = l2_.exists() ? l2_.way_of(victim.line) : Cache::kAbsent;
    if (victim.state == LineState::modified && l2_.exists()) {
        if (way != Cache::kAbsent)
            l2_.set_state_in(victim.line, way, LineState::modified);
        else
            fill_second(victim.line, LineState::modified);
    } else if (way == Cache::kAbsent && !first_level_holds(victim.line)) {
        shared_.accept(victim);
    }
}

/// Puts a line that L2 lacks there. Its victim leaves the core unless L1 still holds it.
void Core::fill_second(std::uint64_t line, LineState state) {
    const Victim victim = l2_.insert(line, state);
    if (victim.exists() && !first_level_holds(victim.line)) shared_.accept(victim);
}

// A prefetch stays within the page of the miss, so it needs no translation: prefetches ask no TLB (tlb.h).
void Core::after_miss(std::uint64_t line) {
    const std::uint64_t next = line + 1;
    if (same_page(line << line_shift_, next << line_shift_)) prefetch(next);
}

void Core::prefetch(std::uint64_t line) {
    if (!l1_data_.surely_lacks(line) && present(l1_data_.find(line))) return;
    if (fill_from_second(l1_data_, line, Reader::prefetch)) return;
    const Found found = bring(line, Reader::prefetch);
    fill(l1_data_, line, found.state, Reader::prefetch);
}

// LineState is ordered from invalid to modified.
LineState Core::state_of(std::uint64_t line) const {
    return std::max({l1_data_.find(line), l1_code_.find(line), l2_.find(line)});
}

bool Core::first_level_holds(std::uint64_t line) const {
    return present(l1_data_.find(line)) || present(l1_code_.find(line));
}

// recent_code_ needs no change: fetch() does not ask whether a line is modified.
void Core::share(std::uint64_t line) {
    for (FirstLevel* cache : {&l1_code_, &l1_data_}) cache->set_state(line, LineState::shared);
    l2_.set_state(line, LineState::shared);
    recent_data_.share(line);
}

void Core::forget_recent() {
    for (Recent* recent : {&recent_code_, &recent_code_pages_, &recent_data_pages_}) recent->clear_all();
    recent_data_.clear_all();
}

void Core::lose(std::uint64_t line) {
    for (FirstLevel* const first : {&l1_code_, &l1_data_}) {
        const FirstLevel::Place place = first->place_of(line);
        if (place == FirstLevel::kAbsent) continue;
        remove(*first, place, line);
        if (first == &l1_code_) ++code_losses_;
    }
    l2_.remove(line);
    recent_code_.forget(line);
    recent_data_.forget(line);
}

}  // namespace anyperf::models
