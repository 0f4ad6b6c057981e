// rows.cpp: a table is made in one pass over the samples. A hash table maps the values of the keys to a row, each value
// as one number of 64 bits: no text is compared or copied until a row is printed (key_text()).
//
// Two details decide whether the numbers are right:
//
// - Recursion. A function that occurs several times in one stack gets the sample's weight once. Otherwise its total
//   could exceed the weight of the whole profile.
//
// - Inlining. A location has several active functions. With `children` each is a row of its own; "self" belongs to the
//   function that has the symbol, as in perf report.
#include "profile/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace anyperf::profile {

namespace {

/// The values of a row's keys, in their order.
using Values = std::span<const std::uint64_t>;

// Mixes by multiplication with a constant of the golden ratio; most keys are small numbers, which would collide
// otherwise.
std::size_t hash_of(Values values) {
    std::uint64_t bits = 0;
    for (const std::uint64_t value : values) bits = (bits ^ value) * 0x9e37'79b9'7f4a'7c15u ^ bits >> 29;
    return bits ^ bits >> 32;
}

/// Adds up samples. A row is found by the values of its keys, each as a number: a location by its function, so that
/// different addresses of one function are one row. `seen_` has for each row the number of the last sample that was
/// added to its total, which makes recursion count once without a set for each sample.
class Summer {
  public:
    Summer(const Profile& profile, const RowOptions& options) : profile_(profile), options_(options) {
        result_.keys = options.keys.size();
        if (options.parent) find_parents();
    }

    // Adds one sample: its self weight to the row of its leaf, and with `children` its weight to the total of each row
    // in its stack. The leaf is added first, by itself: with the key source_line its row has the line of the innermost
    // inlined function, while the walk over the frames gives the symbol's row the line of the call.
    void add(std::uint32_t index, const Sample& sample) {
        result_.samples += sample.count;
        result_.weight += sample.weight;
        if (options_.admitted && !(*options_.admitted)[index]) return;
        ++stamp_;
        if (options_.parent) parent_ = parents_[sample.stack.value];
        const std::uint32_t leaf = row_at(sample.context, profile_.stacks[sample.stack].location, kSymbolFrame, 0);
        Row& row = result_.rows[leaf];
        row.samples += sample.count;
        row.self += sample.weight;
        if (profile_.locations[profile_.stacks[sample.stack].location].kernel) row.kernel_self += sample.weight;
        if (options_.keep_samples) row.sample_indices.push_back(index);
        if (!options_.children) return;
        add_total(leaf, sample.weight);
        for (StackId at = sample.stack; at != kNone<StackId>; at = profile_.stacks[at].caller) {
            const LocationId place = profile_.stacks[at].location;
            const auto frames = std::max<FrameIndex>(profile_.locations[place].frame_count, 1);
            for (FrameIndex i = 0; i < frames; ++i) {
                const std::uint32_t caller = row_at(sample.context, place, i + 1 == frames ? kSymbolFrame : i, i);
                const bool first = add_total(caller, sample.weight);
                if (options_.keep_samples && caller != leaf) add_passage(caller, {index, at, i}, first);
            }
        }
    }

    // Rows of equal weight stay in the order of their first samples, so output is reproducible. A row is large: only
    // its place is moved while sorting.
    Rows finish() {
        struct Place {
            std::uint64_t weight, self;
            std::uint32_t row;
        };
        std::vector<Place> order;
        order.reserve(result_.rows.size());
        for (const Row& row : result_.rows)
            order.push_back({options_.children ? row.total : row.self, row.self,
                             static_cast<std::uint32_t>(&row - result_.rows.data())});
        std::ranges::sort(order, [](const Place& a, const Place& b) {
            return std::tie(b.weight, b.self, a.row) < std::tie(a.weight, a.self, b.row);
        });
        // Along each cycle of the permutation; a place that is done names its own row.
        for (std::uint32_t i = 0; i < order.size(); ++i) {
            for (std::uint32_t at = i, next = order[i].row; std::exchange(order[at].row, at) != at && next != i;) {
                std::swap(result_.rows[at], result_.rows[next]);
                at = next;
                next = order[at].row;
            }
        }
        return std::move(result_);
    }

  private:
    /// The parent of each stack: its own function if that matches, else the parent of its caller's stack, which has a
    /// smaller number. Each function is matched once.
    void find_parents() {
        std::vector<bool> matches(profile_.functions.size());
        for (std::uint32_t i = 0; i < profile_.functions.size(); ++i)
            matches[i] = options_.parent->matches(std::string{profile_.text(profile_.functions[{i}].name)});
        parents_.reserve(profile_.stacks.size());
        for (std::uint32_t i = 0; i < profile_.stacks.size(); ++i) {
            const Stack& stack = profile_.stacks[{i}];
            const FunctionId own = function_of(profile_, profile_.locations[stack.location]);
            const bool is_root = stack.caller == kNone<StackId>;
            if (own != kNone<FunctionId> && matches[own.value])
                parents_.push_back(own);
            else
                parents_.push_back(is_root ? kNone<FunctionId> : parents_[stack.caller.value]);
        }
    }

    /// Adds the weight to the row's total, unless this sample has been added there already (recursion).
    /// Returns whether it has not.
    bool add_total(std::uint32_t row, std::uint64_t weight) {
        if (std::exchange(seen_[row], stamp_) == stamp_) return false;
        result_.rows[row].total += weight;
        return true;
    }

    /// A stack is walked outwards, so a function that recurs passes its row at the innermost place first.
    void add_passage(std::uint32_t row, const Passage& passage, bool first) {
        std::vector<Passage>& passages = result_.rows[row].passages;
        if (first)
            passages.push_back(passage);
        else if (options_.outermost_passage)
            passages.back() = passage;
    }

    // The row with these values, made if it does not exist. A new row remembers the place that made it. All other
    // places of the row have equal keys, so the row's texts are the same for each.
    std::uint32_t row_at(ContextId id, LocationId place, FrameIndex frame, FrameIndex line_frame) {
        const Context& context = profile_.contexts[id];
        std::array<std::uint64_t, kMostKeys> all;
        const Values values{all.data(), options_.keys.size()};
        for (std::size_t i = 0; i < options_.keys.size(); ++i)
            all[i] = options_.keys[i] == Key::parent
                         ? parent_.value
                         : key_value(profile_, options_.keys[i], context, place, frame, line_frame);
        const std::size_t slot = slot_of(values);
        if (slots_[slot] != kFree) return slots_[slot];
        const auto row = static_cast<std::uint32_t>(result_.rows.size());
        slots_[slot] = row;
        result_.values.insert(result_.values.end(), values.begin(), values.end());
        result_.rows.push_back({.context = context,
                                .place = place,
                                .frame = frame,
                                .line_frame = line_frame,
                                .parent = parent_,
                                .number = row});
        seen_.push_back(0);
        if (result_.rows.size() * 2 > slots_.size()) grow();
        return row;
    }

    /// Where the row with these values is in slots_, or would be.
    std::size_t slot_of(Values values) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = hash_of(values) & mask;
        while (slots_[at] != kFree && !has_values(slots_[at], values)) at = (at + 1) & mask;
        return at;
    }
    bool has_values(std::uint32_t row, Values values) const {
        const std::uint64_t* own = result_.values.data() + row * values.size();
        for (std::size_t i = 0; i < values.size(); ++i)
            if (own[i] != values[i]) return false;
        return true;
    }
    void grow() {
        slots_.assign(slots_.size() * 2, kFree);
        for (std::uint32_t row = 0; row < result_.rows.size(); ++row)
            slots_[slot_of(result_.values_of(result_.rows[row]))] = row;
    }

    const Profile& profile_;
    const RowOptions& options_;
    static constexpr std::uint32_t kFree = 0xffff'ffffu;
    std::vector<std::uint32_t> slots_ = std::vector(1 << 8, kFree);  // by the values: indices of rows; a power of two
    std::vector<std::uint32_t> seen_;  // of each row: the stamp of the last sample that has it in its stack
    std::uint32_t stamp_ = 0;
    std::vector<FunctionId> parents_;        // of each stack, with options_.parent
    FunctionId parent_ = kNone<FunctionId>;  // of this sample
    Rows result_;
};

}  // namespace

Rows sum_up(const Profile& profile, EventId event, const RowOptions& options) {
    Summer summer{profile, options};
    for (std::uint32_t i = 0; i < profile.samples.size(); ++i)
        if (profile.contexts[profile.samples[i].context].event == event) summer.add(i, profile.samples[i]);
    return summer.finish();
}

}  // namespace anyperf::profile
