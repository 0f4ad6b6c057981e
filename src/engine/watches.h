// watches.h: addresses at which a thread's code is to stop, and memory whose accesses stop it. Structures alone: what
// is done with them is in watch.h, what translated code does for them in x86_64/watch.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::engine {

/// Memory that a thread watches.
struct WatchedMemory {
    std::uint64_t start = 0;
    std::uint64_t bytes = 0;
    bool loads = false;
    bool stores = false;

    bool operator==(const WatchedMemory&) const = default;
};

/// Kinds of branches that can be recorded, a bit each. All have gone elsewhere; far ones and system calls are none.
namespace branch {
inline constexpr std::uint8_t kConditional = 1;
inline constexpr std::uint8_t kJump = 2;
inline constexpr std::uint8_t kIndirectJump = 4;
inline constexpr std::uint8_t kCall = 8;
inline constexpr std::uint8_t kIndirectCall = 16;
inline constexpr std::uint8_t kReturn = 32;
inline constexpr std::uint8_t kEvery = 63;
inline constexpr std::uint8_t kCallStack = 64;  ///< calls that have not returned, apart from the others
inline constexpr unsigned kKinds = 7;
}  // namespace branch

/// The newest entries of translated code, which writes at `top` and goes round. A `from` of 0: there is none.
struct RecordedBranches {
    static constexpr std::uint32_t kEntries = 256;
    std::uint32_t top;  ///< below kEntries: where the next one goes
    std::uint64_t from[kEntries];
    std::uint64_t to[kEntries];
};

/// What one thread watches.
struct Watches {
    static constexpr std::uint32_t kCode = 16;
    static constexpr std::uint32_t kMemory = 8;

    std::uint64_t code[kCode] = {};
    std::uint32_t code_count = 0;
    std::uint32_t memory_count = 0;
    WatchedMemory memory[kMemory];
    std::uint8_t branches = 0;  ///< kinds to record

    bool operator==(const Watches&) const = default;
};

/// What the threads of a process watch together: its translated code is made for that. Changed under the cache's lock.
struct Watched {
    struct Address {
        std::uint64_t pc = 0;
        std::uint32_t users = 0;  ///< threads; 0: a free row
    };
    static constexpr std::uint32_t kAddresses = 1024;

    bool loads = false;  ///< translated code asks before it loads
    bool stores = false;
    std::uint32_t loading = 0;  ///< threads that watch loads
    std::uint32_t storing = 0;
    std::uint8_t branches = 0;                     ///< kinds that translated code records
    std::uint32_t recording[branch::kKinds] = {};  ///< threads that want each
    std::uint32_t switched_off = 0;                ///< how often code without questions was wanted back
    std::uint32_t rows = 0;                        ///< of `at`, up to the last that was ever used
    Address at[kAddresses];

    bool holds(std::uint64_t pc) const {
        for (std::uint32_t i = 0; i < rows; ++i)
            if (at[i].users != 0 && at[i].pc == pc) return true;
        return false;
    }
};

/// Entries of the filter that translated code asks: by the low 16 bits of the address at which an access begins,
/// nonzero where an access of kWidestAsked bytes may touch what is watched.
inline constexpr std::size_t kWatchFilterEntries = 65536;
inline constexpr std::uint32_t kWidestAsked = 64;  ///< wider accesses always stop

/// A thread runs one instruction by itself, because code or memory of it is watched.
enum class Alone : std::uint8_t {
    no,
    running,
    resumed,  ///< and what watches its address has been told: not again, should it be begun anew
    done,     ///< it has run; nobody has been told yet
};

}  // namespace anyperf::engine
