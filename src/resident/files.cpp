// files.cpp: see files.h. The broker keeps them below a directory; a path that begins with one of these is led there.
#include "resident/files.h"

#include <asm/unistd.h>
#include <fcntl.h>

#include <array>
#include <string_view>

#include "engine/x86_64/guarded_copy.h"
#include "resident/probe_list.h"
#include "resident/request.h"

namespace anyperf::resident {

namespace {

constexpr std::size_t kLongestPath = 512;  ///< a longer one names nothing of ours

/// Parts of the tree, each made when something of it is first asked for (RunHeader::files_made).
constexpr std::uint32_t kMachine = 0;
constexpr std::uint32_t kTracing = 1;

/// The beginning of a path; one that ends in '_' stands for all that goes on from there, another for a whole name.
struct PlaceRow {
    std::string_view path;
    std::uint32_t part;
    std::uint32_t filesystem = 0;  ///< statfs(2)'s f_type; 0: the path is not asked for it
};
constexpr std::uint32_t kTracefs = 0x74726163;
constexpr std::array kPlaces{
    PlaceRow{"/sys/bus/event_source", kMachine},
    PlaceRow{"/sys/devices/cpu", kMachine},
    PlaceRow{"/sys/devices/software", kMachine},
    PlaceRow{"/sys/devices/tracepoint", kMachine},
    PlaceRow{"/sys/devices/breakpoint", kMachine},
    PlaceRow{"/sys/devices/uprobe", kMachine},
    PlaceRow{"/proc/sys/kernel/perf_event_", kMachine},
    PlaceRow{"/proc/sys/kernel/perf_cpu_", kMachine},
    PlaceRow{"/proc/cpuinfo", kMachine},
    PlaceRow{"/sys/kernel/tracing", kTracing, kTracefs},
    PlaceRow{"/sys/kernel/debug/tracing", kTracing, kTracefs},
};

bool begins_with(std::string_view path, std::string_view place) {
    if (!path.starts_with(place)) return false;
    return place.ends_with('_') || path.size() == place.size() || path[place.size()] == '/';
}

const PlaceRow* place_of(const engine::RunHeader& run, std::string_view path) {
    for (const PlaceRow& place : kPlaces)
        if (begins_with(path, place.path))
            return place.path != "/proc/cpuinfo" || run.identity_rows != 0 ? &place : nullptr;
    return nullptr;
}

/// The part's files are there, made now where they were not.
bool is_made(engine::Call& call, std::uint32_t part) {
    const std::uint32_t& made = call.engine.run->files_made[part];
    if (__atomic_load_n(&made, __ATOMIC_ACQUIRE) == 0) Ask{call.thread, RequestKind::files}.with(0, part).send();
    return __atomic_load_n(&made, __ATOMIC_ACQUIRE) == 1;
}

/// The application's string, as far as it matters; empty where it can't be read or is longer.
std::string_view path_at(std::uint64_t from, std::array<char, kLongestPath>& room) {
    for (std::size_t i = 0; i < room.size(); ++i) {
        if (!engine::x86_64::guarded_copy(&room[i], engine::at_address<const char>(from + i), 1)) return {};
        if (room[i] == 0) return {room.data(), i};
        if (i == 0 && room[i] != '/') return {};
        if (i == 5 && std::string_view{room.data(), 5} != "/sys/" && std::string_view{room.data(), 6} != "/proc/")
            return {};
    }
    return {};
}

/// A setting takes each write as a whole (proc_dointvec(), fs/proc): what stood in its file before goes.
bool replaces_setting(const engine::Call& call, std::string_view path, std::uint64_t flags) {
    const bool opens = call.number == __NR_open || call.number == __NR_openat;
    return opens && path.starts_with("/proc/sys/") && (flags & O_ACCMODE) == O_WRONLY;
}

}  // namespace

template <unsigned kIndex>
bool on_path(engine::Call& call, long& answer) {
    if (!hosted(call.engine)) return false;
    std::array<char, kLongestPath> room;
    const std::string_view path = path_at(call.argument[kIndex], room);
    const engine::RunHeader& run = *call.engine.run;
    const PlaceRow* const place = path.empty() ? nullptr : place_of(run, path);
    if (place == nullptr || !is_made(call, place->part)) return false;
    std::array<char, sizeof run.files_root + kLongestPath> led;
    std::size_t length = 0;
    while (length < sizeof run.files_root - 1 && run.files_root[length] != 0) {
        led[length] = run.files_root[length];
        ++length;
    }
    for (const char c : path) led[length++] = c;
    led[length] = 0;
    const std::uint64_t theirs = call.argument[kIndex];
    const std::uint64_t flags = call.argument[kIndex + 1];
    call.argument[kIndex] = engine::address_of(led.data());
    if (replaces_setting(call, path, flags)) call.argument[kIndex + 1] |= O_TRUNC;
    const bool opens = call.number == __NR_open || call.number == __NR_openat;
    if (!opens || may_open_probe_list(call, path, flags, answer)) answer = call.pass();
    if (opens) opened_probe_list(call, path, flags, answer);
    call.argument[kIndex] = theirs;
    call.argument[kIndex + 1] = flags;
    if (call.number == __NR_statfs && answer == 0 && place->filesystem != 0) {
        const std::uint64_t type = place->filesystem;
        engine::x86_64::guarded_copy(engine::at_address<void>(call.argument[1]), &type, sizeof type);
    }
    return true;
}

template bool on_path<0>(engine::Call&, long&);
template bool on_path<1>(engine::Call&, long&);

}  // namespace anyperf::resident
