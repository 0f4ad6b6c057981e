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

/// Addresses, and how many users each has. Open addressing; changed and asked under the cache's lock.
template <std::uint32_t kRoom>
class AddressCounts {
  public:
    /// The place of an address that has users; null where it has none.
    const std::uint32_t* find(std::uint64_t pc) const {
        if (live_ == 0) return nullptr;
        for (std::uint32_t i = slot_of(pc), steps = 0; steps < kRoom; i = (i + 1) % kRoom, ++steps) {
            if (at_[i].pc == pc && at_[i].users != 0) return &at_[i].users;
            if (!at_[i].taken) return nullptr;
        }
        return nullptr;
    }
    bool holds(std::uint64_t pc) const { return find(pc) != nullptr; }
    bool any() const { return live_ != 0; }
    bool full() const { return live_ >= kRoom / 2; }

    /// One user more. True: the first.
    bool add(std::uint64_t pc) {
        if (const std::uint32_t* const known = find(pc)) return ++*const_cast<std::uint32_t*>(known), false;
        if (full()) return false;
        std::uint32_t i = slot_of(pc);
        while (at_[i].users != 0) i = (i + 1) % kRoom;
        at_[i] = {pc, 1, true};
        ++live_;
        return true;
    }
    /// One user less. True: the last.
    bool drop(std::uint64_t pc) {
        auto* const known = const_cast<std::uint32_t*>(find(pc));
        if (known == nullptr || --*known != 0) return false;
        if (--live_ == 0) clear();
        return true;
    }
    void clear() {
        for (Entry& entry : at_) entry = {};
        live_ = 0;
    }

  private:
    struct Entry {
        std::uint64_t pc;
        std::uint32_t users;
        bool taken;  ///< now or before: who looks for another goes on behind it
    };
    static_assert((kRoom & (kRoom - 1)) == 0);
    static std::uint32_t slot_of(std::uint64_t pc) {
        return static_cast<std::uint32_t>(pc * 0x9e3779b97f4a7c15u >> 40) % kRoom;
    }

    std::uint32_t live_ = 0;
    Entry at_[kRoom];  // of an Engine, whose memory begins as zeros, so that no process pays for the room
};

using ReturnTargets = AddressCounts<16384>;

/// What the threads of a process watch together: its translated code is made for that. Changed under the cache's lock.
struct Watched {
    bool loads = false;  ///< translated code asks before it loads
    bool stores = false;
    std::uint32_t loading = 0;  ///< threads that watch loads
    std::uint32_t storing = 0;
    std::uint8_t branches = 0;                     ///< kinds that translated code records
    std::uint32_t recording[branch::kKinds] = {};  ///< threads that want each
    std::uint32_t switched_off = 0;                ///< how often code without questions was wanted back
    AddressCounts<4096> code;                      ///< instructions before which code stops
    ReturnTargets targets;                         ///< where no indirect branch arrives without the engine

    bool holds(std::uint64_t pc) const { return code.holds(pc); }
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
