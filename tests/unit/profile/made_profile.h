// made_profile.h: profiles with chosen samples.
#pragma once

#include <cstdint>
#include <string_view>

#include "profile/profile.h"

namespace anyperf::profile {

/// A profile with one event, whose functions are in one dso.
struct MadeProfile {
    Profile profile;
    DsoId dso;
    ContextId context;

    MadeProfile() {
        const StringId name = profile.strings.intern("program");
        dso = profile.dsos.add({.path = name, .name = name, .kind = Dso::Kind::file});
        Event event;
        event.name = "cpu-clock:u";
        profile.events.add(event);
        context = profile.contexts.add({.comm = name});
    }

    FunctionId function(std::string_view name) {
        return profile.functions.add({.name = profile.strings.intern(name), .dso = dso});
    }

    /// A location with these functions, the innermost inlined one first, at lines from `line` on.
    LocationId location(std::initializer_list<FunctionId> functions, std::uint32_t line = 0) {
        const Location added{.dso = dso,
                             .address = profile.locations.size(),
                             .first_frame = static_cast<std::uint32_t>(profile.all_frames.size()),
                             .frame_count = static_cast<std::uint16_t>(functions.size())};
        for (const FunctionId each : functions)
            profile.all_frames.push_back(
                {.function = each,
                 .file = profile.strings.intern(line == 0 ? "" : "/src/a.c"),
                 .line = line == 0 ? 0 : line++,
                 .inlined = profile.all_frames.size() + 1 < added.first_frame + functions.size()});
        return profile.locations.add(added);
    }

    /// Samples of a stack, the outermost location first.
    void sample(std::initializer_list<LocationId> outermost_first, std::uint64_t count, std::uint64_t weight) {
        StackId stack = kNone<StackId>;
        for (const LocationId each : outermost_first) stack = profile.stacks.add({stack, each});
        profile.samples.push_back({stack, context, count, weight, 0});
    }
};

}  // namespace anyperf::profile
