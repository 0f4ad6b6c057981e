// area.h: the area of a thread: its cells, and the indirect calls that are not counted yet. It is at a constant
// distance after the Thread, so translated code addresses it by %gs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/x86_64/cpu/thread.h"
#include "run/exact_counts.h"

namespace anyperf::engine {

inline constexpr std::uint64_t kAreaOffset = std::uint64_t{1} << 22;

/// The cell of an indirect call that the thread has made lately. A table of them is before the area, in private memory.
/// Most calls are found there, without a lock.
struct KnownCall {
    std::uint64_t target;
    std::uint32_t site;  ///< 0: empty
    std::uint32_t cell;
};
inline constexpr std::size_t kKnownCalls = 4096;
inline constexpr std::uint64_t kKnownCallsOffset = kAreaOffset - kKnownCalls * sizeof(KnownCall);

/// The entry of the table that a call may have.
inline KnownCall& known_call(x86_64::Thread& thread, std::uint32_t site, std::uint64_t target) {
    constexpr unsigned kShift = 64 - 12;
    static_assert(kKnownCalls == std::size_t{1} << (64 - kShift));
    auto* const calls = reinterpret_cast<KnownCall*>(reinterpret_cast<char*>(&thread) + kKnownCallsOffset);
    return calls[((target ^ std::uint64_t{site} << 40) * 0x9e3779b97f4a7c15u) >> kShift];
}

/// The distance of a cell from the Thread.
constexpr std::size_t offset_of_cell(std::uint32_t cell) {
    return kAreaOffset + run::exact::kCellsOffset + sizeof(std::uint64_t) * cell;
}

/// Precondition: the process counts exactly, and the thread has begun (begin_exact_thread).
inline run::exact::AreaHeader& area_of(x86_64::Thread& thread) {
    return *reinterpret_cast<run::exact::AreaHeader*>(reinterpret_cast<char*>(&thread) + kAreaOffset);
}

/// Adds 1 to a cell of the calling thread, unless `cell` is 0. It is one instruction, so a signal handler that adds to
/// the same cell loses nothing.
inline void add_to_cell(x86_64::Thread& thread, std::uint32_t cell) {
    if (cell == 0) return;
    auto* const place = reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(&thread) + offset_of_cell(cell));
    asm volatile("incq %0" : "+m"(*place));
}

}  // namespace anyperf::engine
