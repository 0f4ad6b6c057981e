// place_texts.h: places of data, branches and cgroups as text, as perf's reports have them. `kernel` is the mode of the
// sample.
#pragma once

#include <cstdint>
#include <string>

#include "profile/profile.h"

namespace anyperf::profile {

/// What is at PERF_SAMPLE_ADDR: "[.] table+0x8", "[.] function", or the address.
std::string data_symbol_text(const Profile& profile, const Detail& detail, bool kernel);

/// The line of 64 bytes. perf marks those of shared memory, and those that nothing maps. Where a variable begins within
/// the line, its offset is negative; perf 6.1 has another number there, which mixes addresses with offsets.
std::string cache_line_text(const Profile& profile, const Detail& detail, bool kernel);

/// "[.] f+0x3" of a branch; without a symbol the offset in the file; "N/A" of kNone.
std::string branch_address_text(const Profile& profile, LocationId place);

/// A cgroup that no record names is unknown, and 0 is none.
std::string cgroup_text(const Profile& profile, std::uint64_t cgroup);

}  // namespace anyperf::profile
