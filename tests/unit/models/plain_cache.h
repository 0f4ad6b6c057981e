// plain_cache.h: a cache as a textbook describes it, slow and without tricks. The tests compare models::Cache with it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/caches/cache.h"
#include "models/machine.h"

namespace anyperf::models::testing {

class PlainCache {
  public:
    explicit PlainCache(const CacheGeometry& geometry)
        : geometry_(geometry), sets_(geometry.sets, Set(geometry.ways)) {}

    LineState touch(std::uint64_t line) {
        Way* way = find_way(line);
        if (way == nullptr) return LineState::invalid;
        use(set_of(line), *way);
        return way->state;
    }

    LineState find(std::uint64_t line) {
        const Way* way = find_way(line);
        return way == nullptr ? LineState::invalid : way->state;
    }

    Victim insert(std::uint64_t line, LineState state) {
        if (sets_.empty()) return {};
        Set& set = set_of(line);
        Way& way = room(set);
        const Victim victim{way.state == LineState::invalid ? 0 : way.line, way.state};
        way.line = line;
        way.state = state;
        use(set, way);
        return victim;
    }

    void set_state(std::uint64_t line, LineState state) {
        if (Way* way = find_way(line)) way->state = state;
    }

    void remove(std::uint64_t line) { set_state(line, LineState::invalid); }

  private:
    struct Way {
        std::uint64_t line = 0;
        LineState state = LineState::invalid;
        std::uint64_t last_use = 0;
        bool used = false;  ///< of not-recently-used
    };
    struct Set {
        explicit Set(std::size_t way_count) : ways(way_count), upper_is_older(2 * std::bit_ceil(way_count)) {}

        std::vector<Way> ways;
        std::vector<bool>
            upper_is_older;  ///< of tree-PLRU, by node: the root is 1, the children of n are 2n and 2n + 1
    };

    Set& set_of(std::uint64_t line) { return sets_[line % sets_.size()]; }

    Way* find_way(std::uint64_t line) {
        if (sets_.empty()) return nullptr;
        for (Way& way : set_of(line).ways)
            if (way.state != LineState::invalid && way.line == line) return &way;
        return nullptr;
    }

    void use(Set& set, Way& way) {
        way.last_use = ++now_;
        const auto index = static_cast<std::size_t>(&way - set.ways.data());
        point_away(set, 1, 0, set.ways.size(), index);
        way.used = true;
        bool all = true;
        for (const Way& other : set.ways) all = all && other.used;
        if (!all) return;
        for (Way& other : set.ways) other.used = &other == &way;
    }

    /// Makes each node of the tree over ways [from, to) that is above `way` point to its other half.
    void point_away(Set& set, std::size_t node, std::size_t from, std::size_t to, std::size_t way) {
        if (to - from < 2) return;
        const std::size_t middle = (from + to) / 2;
        const bool in_upper = way >= middle;
        set.upper_is_older[node] = !in_upper;
        in_upper ? point_away(set, node * 2 + 1, middle, to, way) : point_away(set, node * 2, from, middle, way);
    }

    Way& room(Set& set) {
        for (Way& way : set.ways)
            if (way.state == LineState::invalid) return way;
        switch (geometry_.replacement) {
            case Replacement::lru: {
                Way* oldest = &set.ways[0];
                for (Way& way : set.ways)
                    if (way.last_use < oldest->last_use) oldest = &way;
                return *oldest;
            }
            case Replacement::tree_plru: {
                std::size_t node = 1, from = 0, to = set.ways.size();
                while (to - from > 1) {
                    const std::size_t middle = (from + to) / 2;
                    const bool upper = set.upper_is_older[node];
                    (upper ? from : to) = middle;
                    node = node * 2 + (upper ? 1 : 0);
                }
                return set.ways[from];
            }
            case Replacement::not_recently_used:
                for (Way& way : set.ways)
                    if (!way.used) return way;
        }
        return set.ways[0];
    }

    CacheGeometry geometry_;
    std::vector<Set> sets_;
    std::uint64_t now_ = 0;
};

}  // namespace anyperf::models::testing
