// epoll_entries.h: the process's list of events in epoll(7) sets (Process::epoll_entries): what the application asked
// for when it added each of them. What is beyond kMaximumEpollEntries is left out.
#pragma once

#include <array>
#include <cstddef>

#include "agent/process.h"

namespace anyperf::agent {

/// The events in one epoll set: a copy, made when a wait begins.
struct EpollSetEvents {
    std::array<EpollEntry, kMaximumEpollEntries> one;
    std::size_t count = 0;
};

/// The entry of this event in this set; null if it is not in it. Precondition: the process's lock is held. The other
/// functions take that lock.
EpollEntry* find_epoll_entry(Process& process, std::uint32_t epoll, std::uint32_t fd);

/// Adds the entry, or replaces the one of the same set and descriptor.
void note_epoll_entry(Process& process, const EpollEntry& entry);

/// Copies the entries of one set.
void list_epoll_entries(Process& process, std::uint32_t epoll, EpollSetEvents& events);

/// The event was removed from the set.
void forget_epoll_entry(Process& process, std::uint32_t epoll, std::uint32_t fd);

/// Descriptors `first` to `last` are closed: drops the entries of these epoll sets and of these events.
void forget_epoll_entries(Process& process, std::uint64_t first, std::uint64_t last);

}  // namespace anyperf::agent
