#include "exports/frame_names.h"

#include <algorithm>

#include "profile/rows.h"

namespace anyperf::exports {

using profile::LocationId;
using profile::Profile;

// Locations without a symbol become functions after all others, one each: their only name is their address.
FrameNames::FrameNames(const Profile& profile) {
    functions_.reserve(profile.functions.size());
    for (const profile::Function& function : profile.functions)
        functions_.push_back({.name = std::string{profile.text(function.name)},
                              .dso = function.dso,
                              .file = function.file,
                              .line = function.line,
                              .address = function.address});
    starts_.reserve(profile.locations.size() + 1);
    for (const profile::Location& location : profile.locations) {
        starts_.push_back(frames_.size());
        const auto frames = profile.frames(location);
        for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
            functions_[frame->function.value].kernel = location.kernel;
            frames_.push_back({frame->function.value, frame->file, frame->line, frame->inlined});
        }
        if (!frames.empty()) continue;
        frames_.push_back({.function = static_cast<std::uint32_t>(functions_.size())});
        functions_.push_back({.name = symbol_text(profile, location),
                              .dso = location.dso,
                              .address = location.address,
                              .kernel = location.kernel});
    }
    starts_.push_back(frames_.size());
}

std::vector<LocationId> outermost_first(const Profile& profile, profile::StackId stack) {
    std::vector<LocationId> path;
    for (; stack != profile::kNone<profile::StackId>; stack = profile.stacks[stack].caller)
        path.push_back(profile.stacks[stack].location);
    std::ranges::reverse(path);
    return path;
}

std::string_view unit_of(const profile::Event& event) {
    // The period of these two is the time of a timer in ns (perf_swevent_start_hrtimer()). The unit that perf records
    // ("msec" here) is that of scaled counts, and periods are not scaled.
    const bool time = event.name.starts_with("cpu-clock") || event.name.starts_with("task-clock");
    return time ? "nanoseconds" : "count";
}

std::uint64_t wall_clock_of_start(const profile::Recording& recording) {
    if (recording.wall_clock_ns == 0 || recording.first_ns == 0) return 0;
    return recording.wall_clock_ns + recording.first_ns - recording.clock_ns;
}

}  // namespace anyperf::exports
