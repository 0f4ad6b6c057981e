// epoll_entries.cpp: an unordered list that is searched from its start: programs have few events in epoll sets. Removal
// puts the last entry into the gap, so a loop that removes an entry looks at the same index again.
#include "agent/syscalls/epoll_entries.h"

#include <algorithm>

namespace anyperf::agent {

using engine::LockGuard;

namespace {

/// Precondition: the process's lock is held.
void drop(Process& process, EpollEntry* one) {
    *one = process.epoll_entries[--process.epoll_entry_count];
}

}  // namespace

EpollEntry* find_epoll_entry(Process& process, std::uint32_t epoll, std::uint32_t fd) {
    EpollEntry* const end = process.epoll_entries + process.epoll_entry_count;
    EpollEntry* const found = std::find_if(process.epoll_entries, end,
                                           [&](const EpollEntry& one) { return one.epoll == epoll && one.fd == fd; });
    return found == end ? nullptr : found;
}

void note_epoll_entry(Process& process, const EpollEntry& entry) {
    const LockGuard held{process.lock};
    EpollEntry* const known = find_epoll_entry(process, entry.epoll, entry.fd);
    if (known != nullptr)
        *known = entry;
    else if (process.epoll_entry_count < kMaximumEpollEntries)
        process.epoll_entries[process.epoll_entry_count++] = entry;
}

void list_epoll_entries(Process& process, std::uint32_t epoll, EpollSetEvents& events) {
    const LockGuard held{process.lock};
    for (std::uint32_t i = 0; i < process.epoll_entry_count; ++i)
        if (process.epoll_entries[i].epoll == epoll) events.one[events.count++] = process.epoll_entries[i];
}

void forget_epoll_entry(Process& process, std::uint32_t epoll, std::uint32_t fd) {
    const LockGuard held{process.lock};
    EpollEntry* const known = find_epoll_entry(process, epoll, fd);
    if (known != nullptr) drop(process, known);
}

void forget_epoll_entries(Process& process, std::uint64_t first, std::uint64_t last) {
    if (__atomic_load_n(&process.epoll_entry_count, __ATOMIC_RELAXED) == 0) return;
    const auto within = [&](std::uint64_t fd) { return fd >= first && fd <= last; };
    const LockGuard held{process.lock};
    for (std::uint32_t i = 0; i < process.epoll_entry_count;)
        if (within(process.epoll_entries[i].epoll) || within(process.epoll_entries[i].fd))
            drop(process, &process.epoll_entries[i]);
        else
            ++i;
}

}  // namespace anyperf::agent
