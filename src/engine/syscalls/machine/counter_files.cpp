#include "engine/syscalls/machine/counter_files.h"

#include <algorithm>
#include <array>

#include "engine/freestanding/copied_text.h"
#include "engine/freestanding/idle_text.h"
#include "engine/freestanding/memory_file.h"
#include "engine/shown_ids.h"
#include "engine/syscalls/machine/socket_lists.h"
#include "engine/syscalls/proc_path.h"
#include "engine/turns/slots.h"

namespace anyperf::engine {

namespace {

/// What programs see of a file.
enum class Shown : std::uint8_t {
    nothing,     ///< an empty file
    first_line,  ///< the names of columns
    zeros,       ///< the kernel's text with 0 for each number
    processes,   ///< ids of the run's processes
    threads,     ///< ids of the run's threads
    sockets,     ///< the run's sockets, in the form of socket_lists.h
};

/// Paths that begin with `start` and contain `part` after it. One whose `part` is empty is the whole path.
struct CounterRow {
    std::string_view start;
    std::string_view part;
    Shown shown;
};
constexpr std::string_view kGroups = "/sys/fs/cgroup/";
constexpr std::array kRows{
    CounterRow{"/proc/schedstat", "", Shown::zeros},
    CounterRow{"/proc/zoneinfo", "", Shown::zeros},
    CounterRow{"/proc/slabinfo", "", Shown::zeros},
    CounterRow{"/proc/pagetypeinfo", "", Shown::nothing},
    CounterRow{"/proc/vmallocinfo", "", Shown::nothing},
    CounterRow{"/proc/timer_list", "", Shown::nothing},
    CounterRow{"/proc/net/dev", "", Shown::zeros},
    CounterRow{"/proc/net/netstat", "", Shown::zeros},
    CounterRow{"/proc/net/snmp", "", Shown::zeros},
    CounterRow{"/proc/net/snmp6", "", Shown::zeros},
    CounterRow{"/proc/net/sockstat6", "", Shown::zeros},
    CounterRow{"/proc/net/protocols", "", Shown::zeros},
    CounterRow{"/proc/net/softnet_stat", "", Shown::nothing},
    CounterRow{"/proc/net/stat/", "c", Shown::first_line},
    CounterRow{"/proc/net/netlink", "", Shown::first_line},
    CounterRow{"/proc/net/packet", "", Shown::first_line},
    CounterRow{"/proc/net/tcp", "", Shown::sockets},
    CounterRow{"/proc/net/tcp6", "", Shown::sockets},
    CounterRow{"/proc/net/udp", "", Shown::sockets},
    CounterRow{"/proc/net/udp6", "", Shown::sockets},
    CounterRow{"/proc/net/udplite", "", Shown::sockets},
    CounterRow{"/proc/net/udplite6", "", Shown::sockets},
    CounterRow{"/proc/net/raw", "", Shown::sockets},
    CounterRow{"/proc/net/raw6", "", Shown::sockets},
    CounterRow{"/proc/net/icmp", "", Shown::sockets},
    CounterRow{"/proc/net/icmp6", "", Shown::sockets},
    CounterRow{"/proc/net/unix", "", Shown::sockets},
    CounterRow{"/sys/class/net/", "/statistics/", Shown::zeros},
    CounterRow{"/sys/devices/system/cpu/", "/cpufreq/scaling_cur_freq", Shown::zeros},
    CounterRow{"/sys/devices/system/cpu/", "/cpufreq/cpuinfo_cur_freq", Shown::zeros},
    CounterRow{"/sys/devices/system/cpu/", "/usage", Shown::zeros},  // of cpuidle
    CounterRow{"/sys/devices/system/cpu/", "/time", Shown::zeros},
    CounterRow{"/sys/kernel/mm/transparent_hugepage/", "/stats/", Shown::zeros},
    CounterRow{kGroups, "cgroup.procs", Shown::processes},
    CounterRow{kGroups, "cgroup.threads", Shown::threads},
    CounterRow{kGroups, "/tasks", Shown::threads},
    CounterRow{kGroups, "/cpuacct.", Shown::zeros},
    CounterRow{kGroups, "usage_in_bytes", Shown::zeros},
    CounterRow{kGroups, "numa_stat", Shown::zeros},
    CounterRow{kGroups, ".failcnt", Shown::zeros},
    CounterRow{kGroups, "/pids.current", Shown::zeros},
    CounterRow{kGroups, "/pids.peak", Shown::zeros},
    CounterRow{kGroups, "/io.stat", Shown::nothing},
};

bool matches(const CounterRow& row, std::string_view path) {
    if (row.part.empty()) return path == row.start;
    return path.starts_with(row.start) && path.find(row.part, row.start.size() - 1) != std::string_view::npos;
}

/// `path` may name /proc/net, a link, by the directory that it leads to: /proc/PID/net.
const CounterRow* row_of(std::string_view path) {
    constexpr std::string_view kProc = "/proc/";
    char room[kLongestProcPath];
    const ProcPath at = parse_proc_path(path);
    if (at.pid != 0 && at.rest.starts_with("net/") && kProc.size() + at.rest.size() <= sizeof room) {
        std::size_t length = kProc.copy(room, sizeof room);
        length += at.rest.copy(room + length, sizeof room - length);
        path = {room, length};
    }
    const auto* const row = std::ranges::find_if(kRows, [&](const CounterRow& one) { return matches(one, path); });
    return row != kRows.end() ? row : nullptr;
}

/// Adds the ids of the run's threads, or of its processes, that the kernel's list has, in the order of their numbers.
void put_ids(const Engine& engine, bool processes, CopiedText& out) {
    const turns::Turns& all = *engine.turns;
    const auto listed = [&](const turns::TurnSlot& slot) {
        std::string_view rest = out.original();
        while (!rest.empty())
            if (decimal_number(take(rest, '\n')) == slot.tid) return true;
        return false;
    };
    std::int32_t last = 0;
    for (bool found = true; found;) {
        const turns::TurnSlot* next = nullptr;
        turns::for_each_slot(all, [&](std::uint32_t number) {
            const turns::TurnSlot& slot = all.slot[number];
            if (turns::load_state(slot) == turns::TurnState::free || slot.shown_tid <= last) return;
            if ((!processes || slot.tid == slot.pid) && (next == nullptr || slot.shown_tid < next->shown_tid))
                next = &slot;
        });
        found = next != nullptr;
        if (!found) break;
        last = next->shown_tid;
        if (listed(*next)) {
            out.put(static_cast<std::uint64_t>(last));
            out.put("\n");
        }
    }
}

}  // namespace

bool is_counter_file(std::string_view path) {
    return row_of(path) != nullptr;
}

long copy_counter_file(const Engine& engine, std::string_view path, std::uint64_t fd, std::uint64_t flags) {
    const CounterRow* const row = row_of(path);
    CopiedText copy;
    if (const long error = copy.read(fd); is_error(error)) return error;
    std::string_view text = copy.original();
    switch (row->shown) {
        case Shown::nothing: break;
        case Shown::first_line: copy.text(take(text, '\n')).text("\n"); break;
        case Shown::zeros: put_idle(text, copy); break;
        case Shown::sockets: put_own_sockets(engine, path.ends_with("unix"), copy); break;
        case Shown::processes:
        case Shown::threads:
            if (turns::shows_ids(engine))
                put_ids(engine, row->shown == Shown::processes, copy);
            else
                copy.put(text);
    }
    return make_memory_file("machine", copy.made(), flags);
}

}  // namespace anyperf::engine
