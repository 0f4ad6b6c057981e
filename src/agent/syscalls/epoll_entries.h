// epoll_entries.h: the process's list of events in epoll(7) sets (Process::epoll_entries), each with what the
// application asked for in epoll_ctl(2). If the list has kMaximumEpollEntries entries, further events are not added.
#pragma once

#include <array>
#include <cstddef>

#include "agent/process.h"

namespace anyperf::agent {

/// A copy of the entries of one epoll set, made when a wait begins.
struct EpollSetEvents {
    std::array<EpollEntry, kMaximumEpollEntries> one;
    std::size_t count = 0;
};

/// The entry of descriptor `fd` in the set `epoll`; null if there is none. Precondition: the caller holds the process's
/// lock. The other functions take that lock.
EpollEntry* find_epoll_entry(Process& process, std::uint32_t epoll, std::uint32_t fd);

/// Adds the entry, or replaces the one of the same set and descriptor.
void note_epoll_entry(Process& process, const EpollEntry& entry);

/// Copies the entries of one set.
void list_epoll_entries(Process& process, std::uint32_t epoll, EpollSetEvents& events);

/// Removes the entry of an event that the application has removed from the set.
void forget_epoll_entry(Process& process, std::uint32_t epoll, std::uint32_t fd);

/// Removes the entries whose epoll set or event is one of the closed descriptors `first` to `last`.
void forget_epoll_entries(Process& process, std::uint64_t first, std::uint64_t last);

}  // namespace anyperf::agent
