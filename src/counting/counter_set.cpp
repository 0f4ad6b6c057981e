#include "anyperf/counter_set.h"

#include "counting/set_opener.h"
#include "try.h"

namespace anyperf::counting {

Result<CounterSet> CounterSet::open(std::span<const events::EventGroup> groups, const Target& target,
                                    const SetOptions& options, Kernel& kernel) {
    return SetOpener{groups, target, options, kernel}.open();
}

// The counts are a matrix of places and events. Where an event is not open, such as on a CPU that its PMU does not
// count, its count stays the zero that it was at first.
Result<void> CounterSet::read() {
    for (auto& [group, place, members] : groups_) {
        if (auto done = group.read(std::span{reading_}.first(group.size())); !done) return done;
        for (std::size_t i = 0; i < members.size(); ++i) counts_[place * events() + members[i]] = reading_[i];
    }
    return {};
}

Result<void> CounterSet::enable() {
    for (auto& opened : groups_)
        if (auto done = opened.group.enable(); !done) return done;
    return {};
}

Result<void> CounterSet::disable() {
    for (auto& opened : groups_)
        if (auto done = opened.group.disable(); !done) return done;
    return {};
}

Result<void> CounterSet::enable(std::size_t event) {
    for (auto& opened : groups_)
        for (std::size_t i = 0; i < opened.members.size(); ++i)
            if (opened.members[i] == event) TRY(opened.group.enable(i));
    return {};
}

Result<void> CounterSet::disable(std::size_t event) {
    for (auto& opened : groups_)
        for (std::size_t i = 0; i < opened.members.size(); ++i)
            if (opened.members[i] == event) TRY(opened.group.disable(i));
    return {};
}

Result<void> CounterSet::set_filter(std::size_t event, const std::string& filter) {
    for (auto& opened : groups_)
        for (std::size_t i = 0; i < opened.members.size(); ++i)
            if (opened.members[i] == event) TRY(opened.group.set_filter(i, filter));
    return {};
}

Result<void> CounterSet::reset() {
    for (auto& opened : groups_)
        if (auto done = opened.group.reset(); !done) return done;
    return {};
}

Count CounterSet::total(std::size_t event) const {
    Count sum;
    for (std::size_t place = 0; place < places_.size(); ++place) sum = sum + count(event, place);
    return sum;
}

}  // namespace anyperf::counting
