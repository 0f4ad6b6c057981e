// redirected_files.cpp: the broker keeps the files below a directory of the run (RunHeader::files_root). A path that
// begins with one of the names in kPaths is looked up there.
#include "agent/presented/redirected_files.h"

#include <asm/unistd.h>
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "agent/anonymous_inode.h"
#include "agent/broker_request.h"
#include "agent/presented/setting_files.h"
#include "agent/probes/uprobe_events_file.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::agent {

namespace {

constexpr std::size_t kLongestPath = 512;  ///< a longer path is not one of these files

/// The parts of the tree. The broker makes each one when a file of it is first asked for (RunHeader::files_made).
constexpr std::uint32_t kMachine = 0;
constexpr std::uint32_t kTracing = 1;

/// The beginning of redirected paths. A beginning that ends in '_' matches every path that begins with it. Any other
/// matches the path itself and all paths below it.
struct PathRow {
    std::string_view path;
    std::uint32_t part;
    std::uint32_t filesystem = 0;  ///< f_type that statfs(2) reports; 0: that of the copy's file system
};
constexpr std::uint32_t kTracefs = 0x74726163;
constexpr std::array kPaths{
    PathRow{"/sys/bus/event_source", kMachine},
    PathRow{"/sys/devices/cpu", kMachine},
    PathRow{"/sys/devices/software", kMachine},
    PathRow{"/sys/devices/tracepoint", kMachine},
    PathRow{"/sys/devices/breakpoint", kMachine},
    PathRow{"/sys/devices/uprobe", kMachine},
    PathRow{"/proc/sys/kernel/perf_event_", kMachine},
    PathRow{"/proc/sys/kernel/perf_cpu_", kMachine},
    PathRow{"/proc/cpuinfo", kMachine},
    PathRow{"/sys/kernel/tracing", kTracing, kTracefs},
    PathRow{"/sys/kernel/debug/tracing", kTracing, kTracefs},
};

bool begins_with(std::string_view path, std::string_view beginning) {
    if (!path.starts_with(beginning)) return false;
    return beginning.ends_with('_') || path.size() == beginning.size() || path[beginning.size()] == '/';
}

/// Whether the path is of the caches or the topology of a CPU.
bool describes_cpu(std::string_view path) {
    constexpr std::string_view kCpus = "/sys/devices/system/cpu/cpu";
    if (!path.starts_with(kCpus)) return false;
    path.remove_prefix(kCpus.size());
    const std::size_t digits = std::min(path.find_first_not_of("0123456789"), path.size());
    path.remove_prefix(digits);
    return digits != 0 && (begins_with(path, "/cache") || begins_with(path, "/topology"));
}

/// The row of a path; null: it is not redirected. /proc/cpuinfo is redirected only if the run's CPU
/// differs from the host's.
const PathRow* row_of(const run::RunHeader& run, std::string_view path) {
    static constexpr PathRow kOfCpu{"/sys/devices/system/cpu", kMachine};
    if (run.identity_complete != 0 && describes_cpu(path)) return &kOfCpu;
    for (const PathRow& row : kPaths)
        if (begins_with(path, row.path)) return row.path != "/proc/cpuinfo" || run.identity_rows != 0 ? &row : nullptr;
    return nullptr;
}

/// Has the broker make the files of this part, if they are not there yet. Returns whether they are.
bool ensure_made(engine::Call& call, std::uint32_t part) {
    const std::uint32_t& made = call.engine.run->files_made[part];
    if (__atomic_load_n(&made, __ATOMIC_ACQUIRE) == 0)
        BrokerRequest{call.thread, run::RequestKind::files}.argument(0, part).send();
    return __atomic_load_n(&made, __ATOMIC_ACQUIRE) == 1;
}

/// The application's path, copied to `room`. Empty if it cannot be read, does not fit, or does not begin with /sys/ or
/// /proc/; a path of up to five characters is not compared with these.
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

/// The argument of openat2(2).
struct OpenHow {
    std::uint64_t flags = 0;
    std::uint64_t mode = 0;
    std::uint64_t resolve = 0;
};

/// Whether opening a file with these flags opens a setting for writing. A write to a file in /proc/sys, and to one of a
/// device in sysfs, replaces the whole value (proc_dointvec(), kernfs_fop_write_iter()), so the copy must be truncated.
bool replaces_setting(std::string_view path, std::uint64_t flags) {
    const bool is_setting =
        path.starts_with("/proc/sys/") || path.starts_with("/sys/bus/") || path.starts_with("/sys/devices/");
    return is_setting && (flags & O_ACCMODE) == O_WRONLY;
}

/// The flags with which to open the copy of the path.
std::uint64_t flags_for_copy(engine::Call& call, std::string_view path, std::uint64_t flags) {
    if (replaces_setting(path, flags)) flags |= O_TRUNC;
    before_setting_open(call, path, flags);
    return flags;
}

/// Makes a call that opens the redirected path. `flags` are those of open(2) and openat(2), which are in argument
/// `at`; openat2(2) has a pointer there.
long open_redirected(engine::Call& call, std::string_view path, std::uint64_t flags, unsigned at) {
    if (call.number != __NR_openat2) {
        call.argument[at] = flags_for_copy(call, path, flags);
        return call.pass_to_kernel();
    }
    OpenHow how;
    const bool is_usual =
        call.argument[at + 1] == sizeof how &&
        engine::x86_64::guarded_copy(&how, engine::at_address<const void>(call.argument[at]), sizeof how);
    if (!is_usual) return call.pass_to_kernel();
    how.flags = flags_for_copy(call, path, how.flags);
    call.argument[at] = engine::address_of(&how);
    return call.pass_to_kernel();
}

/// Whether openat2(2) restricts how the path is resolved (RESOLVE_BENEATH and its like). The copy has another path, to
/// which that does not apply, so the kernel opens its own file.
bool restricts_resolution(const engine::Call& call) {
    constexpr std::uint64_t kResolveCached = 0x20;
    std::uint64_t resolve = 0;
    return call.number == __NR_openat2 &&
           engine::x86_64::guarded_copy(&resolve, engine::at_address<const void>(call.argument[2] + 16),
                                        sizeof resolve) &&
           (resolve & ~kResolveCached) != 0;
}

}  // namespace

bool is_redirected(const engine::Engine& engine, std::string_view path) {
    return row_of(*engine.run, path) != nullptr;
}

template <unsigned kIndex>
bool redirect_path(engine::Call& call, long& answer) {
    if (!has_broker(call.engine)) return false;
    std::array<char, kLongestPath> room;
    const std::string_view path = path_at(call.argument[kIndex], room);
    const run::RunHeader& run = *call.engine.run;
    const bool opens = call.number == __NR_open || call.number == __NR_openat;
    if (opens && open_event_info(call, path, call.argument[kIndex + 1], answer)) return true;
    const PathRow* const row = path.empty() ? nullptr : row_of(run, path);
    if (row == nullptr || restricts_resolution(call) || !ensure_made(call, row->part)) return false;
    std::array<char, sizeof run.files_root + kLongestPath> redirected;
    std::size_t length = 0;
    while (length < sizeof run.files_root - 1 && run.files_root[length] != 0) {
        redirected[length] = run.files_root[length];
        ++length;
    }
    for (const char c : path) redirected[length++] = c;
    redirected[length] = 0;
    const std::uint64_t own_path = call.argument[kIndex];
    const std::uint64_t flags = call.argument[kIndex + 1];
    call.argument[kIndex] = engine::address_of(redirected.data());
    const bool opens_any = opens || call.number == __NR_openat2;
    if (!opens || before_probe_list_open(call, path, flags, answer))
        answer = opens_any ? open_redirected(call, path, flags, kIndex + 1) : call.pass_to_kernel();
    if (opens) after_probe_list_open(call, path, flags, answer);
    call.argument[kIndex] = own_path;
    call.argument[kIndex + 1] = flags;
    if (call.number == __NR_statfs && answer == 0 && row->filesystem != 0) {
        const std::uint64_t type = row->filesystem;
        engine::x86_64::guarded_copy(engine::at_address<void>(call.argument[1]), &type, sizeof type);
    }
    return true;
}

template bool redirect_path<0>(engine::Call&, long&);
template bool redirect_path<1>(engine::Call&, long&);

}  // namespace anyperf::agent
