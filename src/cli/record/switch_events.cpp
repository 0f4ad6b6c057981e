#include "cli/record/switch_events.h"

#include <fmt/format.h>

#include <utility>

#include "abi/attr_flags.h"
#include "perfdata/types.h"
#include "try.h"

namespace anyperf::cli::record {

namespace {

constexpr std::size_t kRing = std::size_t{2} * 4096;  // bytes: no record is kept

/// The attrs: each time a sample, and each sample wakes the recorder. Names and maps are recorded elsewhere.
Result<std::vector<recording::SampledEvent>> sampled(const std::vector<events::EventGroup>& groups, bool on_exec) {
    recording::SamplingOptions options;
    options.enable_on_exec = on_exec;
    options.separate_tracking = true;
    options.watermark_bytes = 1;
    std::vector<recording::SampledEvent> events = recording::sampled_events(groups, options);
    events.pop_back();  // what tracks
    for (const recording::SampledEvent& each : events)
        if ((each.event.attr.flags & abi::flag("freq")) != 0)
            return std::unexpected(Error{fmt::format("cannot switch the output by {}", each.event.name),
                                         "it happens all the time, and nothing says how often to switch",
                                         fmt::format("give it a period: {}/period=1000000/", each.event.name)});
    return events;
}

}  // namespace

Result<SwitchEvents> SwitchEvents::open(recording::RingSource& rings, recording::OpenRequest like,
                                        const std::vector<events::EventGroup>& groups, bool on_exec) {
    like.events = TRY(sampled(groups, on_exec));
    like.ring_bytes = kRing;
    like.ring_bytes_are_wanted = true;
    like.watermark_share = 0;
    auto events = TRY(recording::OpenSet::open(rings, std::move(like)));
    SwitchEvents opened{std::move(events)};
    if (!on_exec) opened.events_.enable();
    return opened;
}

bool SwitchEvents::take_happened() {
    bool happened = false;
    const auto look = [&](perfdata::Bytes record) {
        happened |= perfdata::load<perfdata::RecordHeader>(record.data()).type == perfdata::RecordType::sample;
    };
    for (recording::Ring& ring : events_.rings()) {
        const auto records = ring.next(kRing, look);
        ring.release(records.end);
    }
    return happened;
}

}  // namespace anyperf::cli::record
