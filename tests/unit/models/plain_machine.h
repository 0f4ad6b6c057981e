// plain_machine.h: a modelled machine, written again from the rules of caches/core.h and without regard to speed. The
// tests feed it and models::Core the same accesses and compare all counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "models/caches/core.h"
#include "unit/models/plain_cache.h"

namespace anyperf::models::testing {

/// A TLB array as lists of pages, the most recent first.
class PlainTlb {
  public:
    explicit PlainTlb(const TlbGeometry& geometry) : ways_(geometry.ways), sets_(geometry.sets()) {}

    bool touch(std::uint64_t page, PageSize size) {
        auto& set = sets_[page % sets_.size()];
        const std::pair key{page, size};
        const bool found = std::ranges::find(set, key) != set.end();
        set.remove(key);
        set.push_front(key);
        if (set.size() > ways_) set.pop_back();
        return found;
    }

  private:
    std::size_t ways_;
    std::vector<std::list<std::pair<std::uint64_t, PageSize>>> sets_;
};

class PlainMachine {
  public:
    PlainMachine(const Machine& machine, unsigned cores) : machine_(machine), l3_(machine.l3) {
        for (unsigned i = 0; i < cores; ++i) cores_.emplace_back(machine);
    }

    void fetch(unsigned core, std::uint64_t address, unsigned size, PageSize page) {
        OneCore& own = cores_[core];
        translate(own, own.code_tlb, own.code_tlb_large, true, address, size, page, Quantity::code_tlb_misses,
                  Quantity::code_walks);
        const Source source = touch_all(own, own.l1_code, address, size, Reader::code);
        own.counts.add(Quantity::code_references);
        if (source != Source::l1) own.counts.add(Quantity::code_misses);
    }

    /// Returns what is known of this access alone.
    AccessFacts access(unsigned core, std::uint64_t instruction, std::uint64_t address, unsigned size, Access kind,
                       PageSize page) {
        OneCore& own = cores_[core];
        const bool only_written = kind == Access::store;
        const Counts before = own.counts;
        translate(own, own.data_tlb, own.data_tlb_large, false, address, size, page,
                  only_written ? Quantity::store_tlb_misses : Quantity::load_tlb_misses,
                  only_written ? Quantity::store_walks : Quantity::load_walks);
        own.prefetch_used = false;
        const Source source =
            touch_all(own, own.l1_data, address, size, kind == Access::load ? Reader::load : Reader::store);
        own.counts.add(only_written ? Quantity::store_references : Quantity::load_references);
        if (address / machine_.line_bytes() != (address + size - 1) / machine_.line_bytes())
            own.counts.add(only_written ? Quantity::split_stores : Quantity::split_loads);
        if (source != Source::l1) own.counts.add(only_written ? Quantity::store_misses : Quantity::load_misses);
        const auto grown = [&](Quantity loads, Quantity stores) {
            const Quantity quantity = only_written ? stores : loads;
            return static_cast<std::uint8_t>(own.counts[quantity] - before[quantity]);
        };
        const AccessFacts facts{.source = source,
                                .tlb_misses = grown(Quantity::load_tlb_misses, Quantity::store_tlb_misses),
                                .page_walks = grown(Quantity::load_walks, Quantity::store_walks)};
        if (only_written) return facts;
        own.counts.add(
            static_cast<Quantity>(static_cast<unsigned>(Quantity::loads_from_l1) + static_cast<unsigned>(source)));
        const bool trains = source != Source::l1 || own.prefetch_used;
        if (machine_.prefetch.stride && trains) follow_stride(own, instruction, address);
        return facts;
    }

    const Counts& counts(unsigned core) const { return cores_[core].counts; }

  private:
    struct Load {
        std::uint64_t instruction = 0, address = 0;
        std::int64_t distance = 0;
    };
    struct OneCore {
        explicit OneCore(const Machine& machine)
            : l1_code(machine.l1_code),
              l1_data(machine.l1_data),
              l2(machine.l2),
              code_tlb(machine.code_tlb),
              code_tlb_large(machine.code_tlb_large),
              data_tlb(machine.data_tlb),
              data_tlb_large(machine.data_tlb_large),
              second_tlb(machine.second_tlb),
              second_code_tlb(machine.second_code_tlb) {}

        LineState state_of(std::uint64_t line) {
            return std::max({l1_code.find(line), l1_data.find(line), l2.find(line)});
        }
        void set_state(std::uint64_t line, LineState state) {
            for (PlainCache* cache : {&l1_code, &l1_data, &l2}) cache->set_state(line, state);
        }

        PlainCache l1_code, l1_data, l2;
        PlainTlb code_tlb, code_tlb_large, data_tlb, data_tlb_large, second_tlb, second_code_tlb;
        std::map<std::uint64_t, Load> loads;  ///< by the place in the stride table
        std::set<std::uint64_t> unused;       ///< lines that were brought into L1D by prefetch and not accessed since
        bool prefetch_used = false;           ///< the current access has touched such a line
        Counts counts;
    };

    static bool absent(LineState state) { return state == LineState::invalid; }
    static Quantity nth(Quantity first, Reader reader) {
        return static_cast<Quantity>(static_cast<unsigned>(first) + 2 * static_cast<unsigned>(reader));
    }

    void translate(OneCore& own, PlainTlb& small, PlainTlb& large, bool code, std::uint64_t address, unsigned size,
                   PageSize page, Quantity misses, Quantity walks) {
        std::vector<std::uint64_t> bytes{address};
        if (address / 4096 != (address + size - 1) / 4096) bytes.push_back(address + size - 1);
        for (const std::uint64_t byte : bytes) {
            const std::uint64_t number = byte / (page == PageSize::small ? 4096 : 2 << 20);
            if ((page == PageSize::small ? small : large).touch(number, page)) continue;
            own.counts.add(misses);
            const bool own_second = code && machine_.second_code_tlb.exists();
            if (!(own_second ? own.second_code_tlb : own.second_tlb).touch(number, page)) own.counts.add(walks);
        }
    }

    /// An access to the line has found it in L1D, or not.
    static void use(OneCore& own, std::uint64_t line, bool found) {
        const bool was_unused = own.unused.erase(line) != 0;
        if (found && was_unused) own.prefetch_used = true;
    }

    Source touch_all(OneCore& own, PlainCache& first, std::uint64_t address, unsigned size, Reader reader) {
        std::vector<std::uint64_t> lines;
        for (std::uint64_t line = address / machine_.line_bytes(); line <= (address + size - 1) / machine_.line_bytes();
             ++line)
            lines.push_back(line);
        if (machine_.request == Request::access) return touch_whole(own, first, lines, reader);
        Source worst = Source::l1;
        for (const std::uint64_t line : lines) worst = std::max(worst, touch_line(own, first, line, reader));
        return worst;
    }

    Source touch_whole(OneCore& own, PlainCache& first, const std::vector<std::uint64_t>& lines, Reader reader) {
        bool missed = false;
        for (const std::uint64_t line : lines) {
            const bool found = !absent(first.touch(line));
            if (&first == &own.l1_data) use(own, line, found);
            if (found) continue;
            missed = true;
            first.insert(line, LineState::exclusive);
            own.counts.add(&first == &own.l1_code ? Quantity::code_lines_filled : Quantity::data_lines_filled);
        }
        if (!missed) return Source::l1;
        bool missed_again = false;
        for (const std::uint64_t line : lines) {
            if (!absent(l3_.touch(line))) continue;
            missed_again = true;
            l3_.insert(line, LineState::exclusive);
        }
        own.counts.add(nth(Quantity::l3_code_reads, reader));
        if (missed_again) own.counts.add(nth(Quantity::l3_code_misses, reader));
        return missed_again ? Source::memory : Source::l3;
    }

    Source touch_line(OneCore& own, PlainCache& first, std::uint64_t line, Reader reader) {
        const LineState here = first.touch(line);
        if (&first == &own.l1_data) use(own, line, !absent(here));
        if (!absent(here)) {
            if (reader == Reader::store) {
                if (here == LineState::shared) upgrade(own, line);
                own.l1_data.set_state(line, LineState::modified);
            }
            return Source::l1;
        }
        const Found found = get(own, line, reader);
        put_in_first(own, first, line, found.state);
        if (machine_.prefetch.next_line && reader != Reader::code) {
            const std::uint64_t lines_of_page = 4096 / machine_.line_bytes();
            if (line / lines_of_page == (line + 1) / lines_of_page) fetch_early(own, line + 1);
        }
        return found.source;
    }

    Found get(OneCore& own, std::uint64_t line, Reader reader) {
        const bool writes = reader == Reader::store;
        if (machine_.l2.exists()) {
            own.counts.add(nth(Quantity::l2_code_reads, reader));
            const LineState here = own.l2.touch(line);
            if (!absent(here)) {
                if (writes && here == LineState::shared) upgrade(own, line);
                return {Source::l2, writes ? LineState::modified : here};
            }
            own.counts.add(nth(Quantity::l2_code_misses, reader));
        }
        const Found found = get_from_outside(own, line, writes);
        own.counts.add(nth(Quantity::l3_code_reads, reader));
        if (found.source == Source::memory) own.counts.add(nth(Quantity::l3_code_misses, reader));
        if (machine_.l2.exists()) put_in_second(own, line, found.state);
        return {found.source, writes ? LineState::modified : found.state};
    }

    Found get_from_outside(OneCore& own, std::uint64_t line, bool writes) {
        bool held = false, modified = false;
        for (OneCore& other : cores_) {
            if (&other == &own || absent(other.state_of(line))) continue;
            held = true;
            modified = modified || other.state_of(line) == LineState::modified;
            other.set_state(line, writes ? LineState::invalid : LineState::shared);
        }
        const bool victims_only = machine_.inclusion == Inclusion::victim;
        const LineState below = victims_only ? l3_.find(line) : l3_.touch(line);
        if (victims_only) l3_.remove(line);
        if (absent(below) && !victims_only) put_in_l3(line, LineState::exclusive);
        if (modified && !writes) take_back({line, LineState::modified});
        Found found;
        found.source = modified         ? Source::modified_peer
                       : !absent(below) ? Source::l3
                       : held           ? Source::clean_peer
                                        : Source::memory;
        if (held && !writes)
            found.state = LineState::shared;
        else if (victims_only && below == LineState::modified)
            found.state = LineState::modified;
        return found;
    }

    void put_in_first(OneCore& own, PlainCache& first, std::uint64_t line, LineState state) {
        const bool data = &first == &own.l1_data;
        own.counts.add(data ? Quantity::data_lines_filled : Quantity::code_lines_filled);
        const Victim out = first.insert(line, state);
        if (!out.exists()) return;
        if (data && out.state == LineState::modified) own.counts.add(Quantity::data_write_backs);
        if (out.state == LineState::modified && machine_.l2.exists()) {
            if (absent(own.l2.find(out.line)))
                put_in_second(own, out.line, LineState::modified);
            else
                own.l2.set_state(out.line, LineState::modified);
        } else if (absent(own.state_of(out.line))) {
            take_back(out);
        }
    }

    void put_in_second(OneCore& own, std::uint64_t line, LineState state) {
        const Victim out = own.l2.insert(line, state);
        if (out.exists() && absent(own.state_of(out.line))) take_back(out);
    }

    void take_back(Victim out) {
        if (!absent(l3_.find(out.line))) {
            if (out.state == LineState::modified) l3_.set_state(out.line, out.state);
        } else if (machine_.inclusion == Inclusion::victim || out.state == LineState::modified) {
            put_in_l3(out.line, out.state);
        }
    }

    void put_in_l3(std::uint64_t line, LineState state) {
        const Victim out = l3_.insert(line, state);
        if (out.exists() && machine_.inclusion == Inclusion::inclusive)
            for (OneCore& core : cores_) core.set_state(out.line, LineState::invalid);
    }

    void upgrade(OneCore& own, std::uint64_t line) {
        own.counts.add(Quantity::upgrades);
        for (OneCore& other : cores_)
            if (&other != &own) other.set_state(line, LineState::invalid);
    }

    void fetch_early(OneCore& own, std::uint64_t line) {
        if (!absent(own.l1_data.find(line))) return;
        put_in_first(own, own.l1_data, line, get(own, line, Reader::prefetch).state);
        own.unused.insert(line);
    }

    void follow_stride(OneCore& own, std::uint64_t instruction, std::uint64_t address) {
        Load& load = own.loads[(instruction ^ instruction / 64) % 64];
        if (load.instruction != instruction) {
            load = {instruction, address, 0};
            return;
        }
        const auto distance = static_cast<std::int64_t>(address - load.address);
        const std::int64_t before = load.distance;
        load.address = address;
        load.distance = distance;
        const std::int64_t line = machine_.line_bytes();
        std::int64_t ahead = 0;
        const bool leads = (distance >= line && distance <= 2048) || (distance <= -line && distance >= -2048);
        if (distance == before && leads) {
            ahead = distance;
        } else if (distance > 0 && distance < 2 * line && before > 0 && before < 2 * line) {
            ahead = line;
        } else if (distance < 0 && distance > -2 * line && before < 0 && before > -2 * line) {
            ahead = -line;
        }
        if (ahead != 0) fetch_early(own, (address + static_cast<std::uint64_t>(ahead)) / machine_.line_bytes());
    }

    Machine machine_;
    PlainCache l3_;
    std::vector<OneCore> cores_;
};

}  // namespace anyperf::models::testing
