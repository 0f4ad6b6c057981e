// state.h: the state of breakpoints, watchpoints and branch recording: what each thread wants, and for what the code of
// the process is translated. The functions of instrumentation.h change it; x86_64/instrumented/breakpoints.cpp and
// record_branches.cpp emit code for it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::engine {

/// A range of memory, accesses to which are reported to the agent.
struct Watchpoint {
    std::uint64_t start = 0;
    std::uint64_t bytes = 0;
    bool loads = false;
    bool stores = false;

    bool operator==(const Watchpoint&) const = default;
};

/// The kinds of taken branches that can be recorded. Each has a bit. Far branches and system calls are not recorded.
namespace branch {
inline constexpr std::uint8_t kConditional = 1;
inline constexpr std::uint8_t kJump = 2;
inline constexpr std::uint8_t kIndirectJump = 4;
inline constexpr std::uint8_t kCall = 8;
inline constexpr std::uint8_t kIndirectCall = 16;
inline constexpr std::uint8_t kReturn = 32;
inline constexpr std::uint8_t kEvery = 63;
inline constexpr std::uint8_t kCallStack =
    64;  ///< the stack of calls that have not returned, in a ring of its own (Thread::call_stack)
inline constexpr std::uint8_t kOpenCalls = 128;  ///< the same, complete and checked (open_calls.h)
inline constexpr unsigned kKinds = 8;
}  // namespace branch

/// The newest branches of a thread, a ring that translated code writes. An entry with `from` 0 is empty. No address of
/// a program needs the highest byte of its word, so that is where branch predictors say what they found out, as a
/// number that is added to the byte: in `from`, kMispredicted if the branch was mispredicted; in `to`, how many
/// branches were mispredicted after it that were not taken (modulo 256).
struct RecordedBranches {
    static constexpr std::uint32_t kEntries = 256;
    static constexpr std::uint8_t kMispredicted = 0x80;
    static constexpr unsigned kMarkByte = 7;

    /// The address in a word: bits 0 to 55, and above them copies of bit 55, as of an address of the vsyscall page.
    static constexpr std::uint64_t address(std::uint64_t word) {
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(word << 8) >> 8);
    }
    static constexpr std::uint8_t mark(std::uint64_t word) {
        return static_cast<std::uint8_t>((word - address(word)) >> (8 * kMarkByte));
    }

    std::uint32_t top;  ///< below kEntries: the next entry to write
    std::uint64_t from[kEntries];
    std::uint64_t to[kEntries];
};

/// An entry of a thread's list of open calls (open_calls.h), as translated code writes it.
struct OpenCall {
    std::uint64_t return_address;  ///< with kSignalFrame: of a signal's frame
    std::uint64_t caller_rsp;      ///< rsp before the call: the return address is at caller_rsp - 8

    std::uint64_t slot() const { return caller_rsp - sizeof(std::uint64_t); }
};

inline constexpr std::uint64_t kSignalFrame = std::uint64_t{1} << 63;

inline constexpr std::size_t kOpenCallsOffset = std::size_t{1} << 20;  ///< from the Thread
inline constexpr std::size_t kOpenCallsBytes = std::size_t{1} << 20;
/// OpenCallsState::top of an empty list. The entry before it is never written: no return matches it.
inline constexpr std::uint32_t kFirstOpenCall = sizeof(OpenCall);

struct SuspendedStacks;

/// A thread's list of open calls (open_calls.h), but for the calls themselves.
struct OpenCallsState {
    std::uint32_t top;        ///< where the next call is written, in bytes from the start of the list
    std::uint32_t unmatched;  ///< 1: the thread has left translated code after a return that is not of the newest call
    bool ready;               ///< the list's memory is accessible and `top` is valid
    bool kept;                ///< the list goes on when the thread next wants open calls: in a new thread it is empty
                              ///< and complete, in the child of a fork it is the parent's
    bool full;                ///< a call or a return has faulted on the list, and will be repeated
    SuspendedStacks* suspended;  ///< null: the thread has not changed its stack yet
};

/// What one thread wants instrumented.
struct ThreadInstrumentation {
    static constexpr std::uint32_t kCode = 16;
    static constexpr std::uint32_t kMemory = 8;

    std::uint64_t code[kCode] = {};  ///< breakpoints
    std::uint32_t code_count = 0;
    std::uint32_t memory_count = 0;
    Watchpoint memory[kMemory];
    std::uint8_t branches = 0;  ///< kinds of branches to record

    bool operator==(const ThreadInstrumentation&) const = default;
};

/// A set of addresses with the number of users of each: a hash table with linear probing. Under the cache's lock.
template <std::uint32_t kRoom>
class AddressCounts {
  public:
    /// The number of users of an address; null if it has none.
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

    /// Adds a user. False if there is no room for another address.
    bool add(std::uint64_t pc) {
        if (const std::uint32_t* const known = find(pc)) return ++*const_cast<std::uint32_t*>(known), true;
        if (full()) return false;
        std::uint32_t i = slot_of(pc);
        while (at_[i].users != 0) i = (i + 1) % kRoom;
        at_[i] = {pc, 1, true};
        ++live_;
        return true;
    }
    /// Removes a user. True: it was the last one.
    bool remove(std::uint64_t pc) {
        auto* const known = const_cast<std::uint32_t*>(find(pc));
        if (known == nullptr || --*known != 0) return false;
        if (--live_ == 0) clear();
        return true;
    }
    void clear() {
        for (Entry& entry : at_)
            if (entry.taken) entry = {};  // pages that were never used must stay unallocated
        live_ = 0;
    }

  private:
    struct Entry {
        std::uint64_t pc;
        std::uint32_t users;
        bool taken;  ///< an address is or was here: a search for another one continues after it
    };
    static_assert((kRoom & (kRoom - 1)) == 0);
    static std::uint32_t slot_of(std::uint64_t pc) {
        return static_cast<std::uint32_t>(pc * 0x9e3779b97f4a7c15u >> 40) % kRoom;
    }

    std::uint32_t live_ = 0;
    Entry at_[kRoom];  // in pages of Engine that are allocated when first used
};

using ReturnTargets = AddressCounts<16384>;

/// The sum of what the threads of a process want: its code is translated for that. Changed under the cache's lock.
struct ProcessInstrumentation {
    bool loads = false;  ///< translated code tests the watchpoint filter before it loads
    bool stores = false;
    std::uint32_t load_watchers = 0;  ///< threads that watch loads
    std::uint32_t store_watchers = 0;
    std::uint8_t branches = 0;                            ///< kinds of branches that translated code records
    std::uint32_t branch_recorders[branch::kKinds] = {};  ///< threads that want each kind
    std::uint32_t times_removed = 0;  ///< how often code without any instrumentation was translated again
    AddressCounts<16384> code;        ///< breakpoints: all places of uprobes (probes.h), and as many others
    ReturnTargets targets;            ///< addresses without an indirect entry: an indirect branch to one exits

    bool holds(std::uint64_t pc) const { return code.holds(pc); }
};

/// The number of entries of the filter that translated code tests before an access (Thread::watchpoint_filter). The low
/// 16 bits of the access's first address are the index. An entry is nonzero if an access of up to kWidestFiltered bytes
/// from such an address may touch watched memory.
inline constexpr std::size_t kWatchpointFilterEntries = 65536;
inline constexpr std::uint32_t kWidestFiltered = 64;  ///< bytes; wider accesses always exit

/// The state of an instruction that runs in a block of its own, because of a breakpoint or a watchpoint.
enum class SingleStep : std::uint8_t {
    no,       ///< no such instruction runs
    running,  ///< it is about to run
    resumed,  ///< likewise, after its breakpoint was reported, which must not happen again if a signal comes first
    done,     ///< it has run; hooks::after_single_step has not been called yet
};

}  // namespace anyperf::engine
