// frame_names.h: the frames of a profile as most formats list them: a table of functions, where an address without a
// symbol is a function of its own, and for each location the functions that are active there.
//
// A profile has the innermost inlined function first, as debugging information is read; formats draw stacks from main()
// inwards, so the order here is the other one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace anyperf::exports {

struct NamedFunction {
    std::string name;  ///< or the address as perf prints it
    profile::DsoId dso = profile::kNone<profile::DsoId>;
    profile::StringId file{};   ///< source file, or empty
    std::uint32_t line = 0;     ///< where the source declares it; 0 unknown
    std::uint64_t address = 0;  ///< its first byte, as Location::address
    bool kernel = false;        ///< its code runs in kernel mode
};

struct NamedFrame {
    std::uint32_t function = 0;  ///< FrameNames::functions()
    profile::StringId file{};    ///< source file of `line`, or empty
    std::uint32_t line = 0;      ///< 0 unknown
    bool inlined = false;        ///< into the frame before it
};

/// Made once for a profile, which must not change meanwhile.
class FrameNames {
  public:
    explicit FrameNames(const profile::Profile& profile);

    /// Those of the profile in its order, then one for each location without a symbol.
    const std::vector<NamedFunction>& functions() const { return functions_; }

    /// The frames of a location, the outermost first. At least one.
    std::span<const NamedFrame> frames(profile::LocationId location) const {
        return std::span{frames_}.subspan(starts_[location.value],
                                          starts_[location.value + 1] - starts_[location.value]);
    }

  private:
    std::vector<NamedFunction> functions_;
    std::vector<NamedFrame> frames_;
    std::vector<std::size_t> starts_;  // of each location, and the end
};

/// The locations of a stack, the outermost first.
std::vector<profile::LocationId> outermost_first(const profile::Profile& profile, profile::StackId stack);

/// The unit of the weights of an event's samples: "nanoseconds" or "count".
std::string_view unit_of(const profile::Event& event);

/// Nanoseconds since 1970 of the recording's first sample; 0 if the recording has no wall clock.
std::uint64_t wall_clock_of_start(const profile::Recording& recording);

}  // namespace anyperf::exports
