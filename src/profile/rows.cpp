#include "profile/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace anyperf::profile {

namespace {

/// The values of a row's keys, in their order; unused ones are 0.
using Values = std::array<std::uint64_t, 6>;

struct Hash {
    std::size_t operator()(const Values& values) const {
        std::uint64_t bits = 0;
        for (const std::uint64_t value : values) bits = (bits ^ value) * 0x9e37'79b9'7f4a'7c15u ^ bits >> 29;
        return bits ^ bits >> 32;
    }
};

/// Adds up samples. A row is found by the values of its keys, each as a number: a location by its function, so that
/// different addresses of one function are one row.
class Summer {
  public:
    Summer(const Profile& profile, const RowOptions& options) : profile_(profile), options_(options) {
        places_.reserve(profile.locations.size());
        for (const Location& location : profile.locations) places_.push_back(place_value(location));
    }

    void add(std::uint32_t index, const Sample& sample) {
        ++stamp_;
        const std::uint32_t leaf = row_at(sample.context, profile_.stacks[sample.stack].location);
        Row& row = result_.rows[leaf];
        row.samples += sample.count;
        row.self += sample.weight;
        if (options_.keep_samples) row.of.push_back(index);
        result_.samples += sample.count;
        result_.weight += sample.weight;
        if (!options_.children) return;
        for (StackId at = sample.stack; at != kNone<StackId>; at = profile_.stacks[at].caller) {
            const std::uint32_t caller = row_at(sample.context, profile_.stacks[at].location);
            // Recursion counts once.
            if (std::exchange(seen_[caller], stamp_) != stamp_) result_.rows[caller].total += sample.weight;
        }
    }

    Rows finish() {
        const auto weight = [this](const Row& row) { return options_.children ? row.total : row.self; };
        std::ranges::stable_sort(result_.rows, [&](const Row& a, const Row& b) {
            return weight(a) != weight(b) ? weight(a) > weight(b) : a.self > b.self;
        });
        return std::move(result_);
    }

  private:
    /// A number for the function of a location, or for the address itself if it has none.
    std::uint64_t place_value(const Location& location) const {
        const FunctionId function = function_of(profile_, location);
        const std::uint64_t mode = std::uint64_t{location.kernel} << 63;
        if (function != kNone<FunctionId>) return mode | function.value;
        return mode | std::uint64_t{1} << 62 | static_cast<std::uint64_t>(&location - &*profile_.locations.begin());
    }

    std::uint64_t value_of(Key key, const Context& context, LocationId place) const {
        switch (key) {
            case Key::comm: return context.comm.value;
            case Key::pid: return context.pid;
            case Key::tid: return context.tid;
            case Key::cpu: return context.cpu;
            case Key::dso: return profile_.locations[place].dso.value;
            case Key::symbol: return places_[place.value];
        }
        return 0;
    }

    std::uint32_t row_at(ContextId id, LocationId place) {
        const Context& context = profile_.contexts[id];
        Values values{};
        for (std::size_t i = 0; i < options_.keys.size(); ++i) values[i] = value_of(options_.keys[i], context, place);
        const auto [at, fresh] = by_values_.try_emplace(values, static_cast<std::uint32_t>(result_.rows.size()));
        if (fresh) {
            result_.rows.push_back({.context = context, .place = place});
            seen_.push_back(0);
        }
        return at->second;
    }

    const Profile& profile_;
    const RowOptions& options_;
    std::vector<std::uint64_t> places_;  // of each location: place_value()
    std::unordered_map<Values, std::uint32_t, Hash> by_values_;
    std::vector<std::uint32_t> seen_;  // of each row: the stamp of the last sample that has it in its stack
    std::uint32_t stamp_ = 0;
    Rows result_;
};

}  // namespace

FunctionId function_of(const Profile& profile, const Location& location) {
    const auto frames = profile.frames(location);
    return frames.empty() ? kNone<FunctionId> : frames.back().function;
}

std::string symbol_text(const Profile& profile, const Location& location) {
    const FunctionId function = function_of(profile, location);
    if (function != kNone<FunctionId>) return std::string{profile.text(profile.functions[function].name)};
    return fmt::format("0x{:016x}", location.file_offset);
}

Rows sum_up(const Profile& profile, EventId event, const RowOptions& options) {
    Summer summer{profile, options};
    for (std::uint32_t i = 0; i < profile.samples.size(); ++i)
        if (profile.contexts[profile.samples[i].context].event == event) summer.add(i, profile.samples[i]);
    return summer.finish();
}

}  // namespace anyperf::profile
