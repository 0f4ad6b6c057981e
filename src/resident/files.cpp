// files.cpp: see files.h. The broker keeps them below a directory; a path that begins with one of these is led there.
#include "resident/files.h"

#include <array>
#include <string_view>

#include "engine/x86_64/guarded_copy.h"
#include "resident/request.h"

namespace anyperf::resident {

namespace {

constexpr std::size_t kLongestPath = 512;  ///< a longer one names nothing of ours

/// Beginnings of paths; one that ends in '/' or '_' stands for all that goes on from there, another for a whole name.
constexpr std::array<std::string_view, 9> kPlaces{
    "/sys/bus/event_source",        "/sys/devices/cpu",           "/sys/devices/software",
    "/sys/devices/tracepoint",      "/sys/devices/breakpoint",    "/sys/devices/uprobe",
    "/proc/sys/kernel/perf_event_", "/proc/sys/kernel/perf_cpu_", "/proc/cpuinfo"};

bool begins_with(std::string_view path, std::string_view place) {
    if (!path.starts_with(place)) return false;
    return place.ends_with('_') || path.size() == place.size() || path[place.size()] == '/';
}

bool is_virtual(const engine::RunHeader& run, std::string_view path) {
    for (const std::string_view place : kPlaces)
        if (begins_with(path, place)) return place != "/proc/cpuinfo" || run.identity_rows != 0;
    return false;
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

}  // namespace

template <unsigned kIndex>
bool on_path(engine::Call& call, long& answer) {
    if (!hosted(call.engine)) return false;
    std::array<char, kLongestPath> room;
    const std::string_view path = path_at(call.argument[kIndex], room);
    engine::RunHeader& run = *call.engine.run;
    if (path.empty() || !is_virtual(run, path)) return false;
    if (__atomic_load_n(&run.files_made, __ATOMIC_ACQUIRE) == 0) Ask{call.thread, RequestKind::files}.send();
    if (__atomic_load_n(&run.files_made, __ATOMIC_ACQUIRE) != 1) return false;
    std::array<char, sizeof run.files_root + kLongestPath> led;
    std::size_t length = 0;
    while (length < sizeof run.files_root - 1 && run.files_root[length] != 0) {
        led[length] = run.files_root[length];
        ++length;
    }
    for (const char c : path) led[length++] = c;
    led[length] = 0;
    const std::uint64_t theirs = call.argument[kIndex];
    call.argument[kIndex] = engine::address_of(led.data());
    answer = call.pass();
    call.argument[kIndex] = theirs;
    return true;
}

template bool on_path<0>(engine::Call&, long&);
template bool on_path<1>(engine::Call&, long&);

}  // namespace anyperf::resident
