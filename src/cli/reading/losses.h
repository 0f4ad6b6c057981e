// losses.h: what is said of records that were lost.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace anyperf::cli {

/// Of `lost` records `locked_out` met the locked ring of a run, and the others a full ring. Empty if none was lost.
inline std::string losses_text(std::uint64_t lost, std::uint64_t locked_out) {
    constexpr const char* kFull = "because a ring was full; try a larger -m, or a lower -F";
    constexpr const char* kLocked =
        "because a stopped or killed program held the lock of their ring, or did not run for too long";
    if (lost == 0) return {};
    if (locked_out == 0) return fmt::format("{} records were lost {}", lost, kFull);
    if (locked_out >= lost) return fmt::format("{} records were lost {}", lost, kLocked);
    return fmt::format("{} records were lost: {} {}; {} {}", lost, locked_out, kLocked, lost - locked_out, kFull);
}

/// The same of a recording that is read: `no_room` met a full ring, and how the others were lost is not recorded.
inline std::string losses_of_recording(std::uint64_t lost, std::uint64_t no_room) {
    if (lost == 0) return {};
    if (no_room >= lost) return fmt::format("{} records were lost while recording, because the rings were full", lost);
    if (no_room == 0) return fmt::format("{} records were lost while recording, though the rings were not full", lost);
    return fmt::format("{} records were lost while recording, {} of them because the rings were full", lost, no_room);
}

}  // namespace anyperf::cli
