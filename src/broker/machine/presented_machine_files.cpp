// presented_machine_files.cpp: writes the presented machine's files and follows changes of them. pmu/ has their
// contents.
//
// They are ordinary files in a temporary directory, to which programs' paths are redirected. So everything that works
// on files works on them: opening, listing, mmap(2), a shell's redirection into perf_event_paranoid. The directory
// belongs to this run alone and is removed at its end, also if the broker is killed (directory_remover.h).
#include "broker/machine/presented_machine_files.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "pmu/cpu/cpu_levels.h"
#include "pmu/cpu/cpuinfo.h"
#include "pmu/cpu/identity.h"
#include "pmu/virtual_files.h"

namespace anyperf::broker {

namespace {

namespace filesystem = std::filesystem;

/// A path in `parent` that no file has, with 64 random bits of the kernel; "" if there are none.
std::string unused_name(const std::string& parent) {
    std::uint64_t random = 0;
    if (::getrandom(&random, sizeof random, 0) != sizeof random) return {};
    std::ostringstream name;
    name << parent << "/anyperf-" << std::hex << random;
    return name.str();
}

/// Whether the files fit there with room to spare: the tracepoints of syscalls need 6 MB, and /dev/shm of a container
/// has 64 MB, which its programs use too.
bool has_room(const char* directory) {
    constexpr std::uint64_t kNeeded = 32 << 20;
    struct statvfs about{};
    return ::statvfs(directory, &about) == 0 && std::uint64_t{about.f_bavail} * about.f_frsize >= kNeeded;
}

/// A new temporary directory, in the first of the usual places that can be written; "" if none can. $TMPDIR is the
/// user's choice. Otherwise memory comes first: making and removing the 1,500 files of tracefs takes 0.4 to 0.7 s of
/// CPU time on ext4 and 0.04 s in /dev/shm. The remover is started first, so that the directory goes away also if the
/// broker is killed at any moment.
std::string new_directory(DirectoryRemover& remover) {
    const char* const chosen = std::getenv("TMPDIR");
    const char* const memory = has_room("/dev/shm") ? "/dev/shm" : "/tmp";
    for (const char* parent : {chosen != nullptr ? chosen : memory, memory, "/tmp", "/dev/shm", "/run"}) {
        const std::string name = unused_name(parent);
        if (name.empty() || ::access(parent, W_OK) != 0) continue;
        remover.start(name);
        if (::mkdir(name.c_str(), S_IRWXU) == 0) return name;
        remover.finish();
    }
    return {};
}

/// A descriptor of the file, empty and open for writing. Its directories are made if they are not there.
OwnedFd create(const std::string& path) {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    const int descriptor = ::open(path.c_str(), kFlags, S_IRUSR | S_IWUSR);
    if (descriptor >= 0 || errno != ENOENT) return OwnedFd{descriptor};
    std::error_code error;
    filesystem::create_directories(filesystem::path{path}.parent_path(), error);
    return OwnedFd{::open(path.c_str(), kFlags, S_IRUSR | S_IWUSR)};
}

// Files that programs may not write get no write permission; a program that runs as root writes to them nevertheless,
// and changes only this copy.
bool write_file(const std::string& path, std::string_view content, bool writable) {
    const OwnedFd file = create(path);
    if (!file) return false;
    while (!content.empty()) {
        const ssize_t written = ::write(file.get(), content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    // The umask does not apply to fchmod(2).
    const mode_t mode = S_IRUSR | S_IRGRP | S_IROTH | (writable ? S_IWUSR : 0U);
    return ::fchmod(file.get(), mode) == 0;
}

/// Reads the number that the file begins with. Without one `out` is not changed.
template <class T>
void read_number(const std::string& path, T& out) {
    std::ifstream file{path};
    T value{};
    if (file >> value) out = value;
}

}  // namespace

MachineFiles::~MachineFiles() {
    remove();
}

void MachineFiles::remove() {
    std::error_code ignored;
    if (!root_.empty()) filesystem::remove_all(root_, ignored);
    root_.clear();
    remover_.finish();
}

bool MachineFiles::make_root() {
    using enum filesystem::perms;
    if (!root_.empty()) return true;
    root_ = new_directory(remover_);
    if (root_.empty()) return false;
    std::error_code error;
    filesystem::permissions(root_, owner_all | group_read | group_exec | others_read | others_exec, error);
    return true;
}

bool MachineFiles::write(const pmu::VirtualTree& tree) const {
    bool whole = true;
    std::error_code error;
    for (const pmu::VirtualFile& file : tree.files)
        whole = write_file(root_ + file.path, file.content, file.writable) && whole;
    for (const pmu::VirtualLink& link : tree.links) {
        // An absolute target is in the same tree.
        const std::string target = link.target.starts_with('/') ? root_ + link.target : link.target;
        const std::string path = root_ + link.path;
        if (::symlink(target.c_str(), path.c_str()) == 0 || errno != ENOENT) continue;
        filesystem::create_directories(filesystem::path{path}.parent_path(), error);
        filesystem::create_symlink(target, path, error);
    }
    return whole;
}

bool MachineFiles::write_cpu(pmu::CpuModel model, unsigned cpus, bool deterministic) const {
    const pmu::CpuIdentity* const cpu = pmu::identity_of(model);
    if (cpu == nullptr) return true;
    if (const unsigned level = pmu::level_of(model); level != 0) {
        bool whole = write_file(root_ + "/proc/cpuinfo", pmu::level_cpuinfo(level, *cpu, cpus), false);
        for (const pmu::CpuFile& file : pmu::level_sysfs(cpus))
            whole = write_file(root_ + "/sys/devices/system/cpu/" + file.path, file.content, false) && whole;
        return whole;
    }
    std::ifstream host{"/proc/cpuinfo"};
    std::ostringstream text;
    text << host.rdbuf();
    return write_file(root_ + "/proc/cpuinfo", pmu::virtual_cpuinfo(text.str(), *cpu, deterministic), false);
}

bool MachineFiles::make(pmu::CpuModel cpu, unsigned cpus, bool deterministic, std::string_view modelled_machine) {
    if (!make_root()) return false;
    const bool whole = write(pmu::virtual_files(
        {.sysctls = {}, .modelled_machine = modelled_machine, .branch_entries = pmu::kBranchEntries}));
    return write_cpu(cpu, cpus, deterministic) && whole;
}

bool MachineFiles::make_tracing(const std::vector<pmu::Tracepoint>& tracepoints) {
    return make_root() && write(pmu::trace_files(tracepoints));
}

void MachineFiles::update_probes(const pmu::ProbeEvents& probes) {
    if (root_.empty()) return;
    std::error_code ignored;
    for (const pmu::Tracepoint& gone : probes.removed()) {
        const filesystem::path place = root_ + pmu::tracepoint_directory(gone);
        // A group's directory is removed with its last probe; otherwise its `enable` is written again.
        filesystem::remove_all(place, ignored);
        filesystem::remove(place.parent_path() / "enable", ignored);
        if (!filesystem::remove(place.parent_path(), ignored)) write_file(place.parent_path() / "enable", "0\n", false);
    }
    for (const pmu::Tracepoint& come : probes.added()) {
        write(pmu::files_of_tracepoint(come));
        const filesystem::path enable =
            filesystem::path{root_ + pmu::tracepoint_directory(come)}.parent_path() / "enable";
        if (!filesystem::exists(enable, ignored)) write_file(enable, "0\n", false);
    }
    write_file(root_ + std::string{pmu::kTracefsRoot} + "/uprobe_events", probes.text(), true);
}

namespace {

constexpr std::string_view kRdpmc = "/sys/devices/cpu/rdpmc";

/// All zero if there is no such file.
struct stat stat_of(const std::string& path) {
    struct stat about{};
    if (::stat(path.c_str(), &about) != 0) about = {};
    return about;
}

}  // namespace

std::uint64_t MachineFiles::probe_list() const {
    return stat_of(root_ + std::string{pmu::kTracefsRoot} + "/uprobe_events").st_ino;
}

std::uint64_t MachineFiles::rdpmc_file() const {
    return stat_of(root_ + std::string{kRdpmc}).st_ino;
}

std::uint64_t MachineFiles::device() const {
    return root_.empty() ? 0 : stat_of(root_).st_dev;
}

void MachineFiles::write_rdpmc(std::uint32_t value) const {
    write_file(root_ + std::string{kRdpmc}, std::to_string(value) + "\n", true);
}

bool MachineFiles::limits_changed() {
    if (!limits_watch_ || !limits_) return true;
    // Takes all notifications that wait, so that the files are read once after many writes.
    alignas(inotify_event) std::array<char, 4096> room{};
    bool any = false;
    while (::read(limits_watch_.get(), room.data(), room.size()) > 0) any = true;
    return any;
}

/// The kernel takes any number; a longer interval than an hour is not one that rotates anything.
constexpr std::uint64_t kLongestIntervalMs = 3'600'000;

// Called at each open of an event, so the files are read again only after a change, which inotify(7) reports. Without
// inotify they are read each time.
void MachineFiles::read_limits(subsystem::Limits& limits) {
    if (root_.empty()) return;
    const std::string directory = root_ + "/proc/sys/kernel";
    const std::string cpu = root_ + "/sys/devices/cpu";
    if (!limits_) {
        limits_watch_ = OwnedFd{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
        constexpr std::uint32_t kWritten = IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVE | IN_MOVE_SELF | IN_DELETE_SELF;
        for (const std::string& watched : {directory, cpu})
            if (limits_watch_ && ::inotify_add_watch(limits_watch_.get(), watched.c_str(), kWritten) < 0)
                limits_watch_ = OwnedFd{};
    }
    if (limits_changed()) {
        read_number(directory + "/perf_event_paranoid", limits.paranoid);
        read_number(directory + "/perf_event_max_sample_rate", limits.max_sample_rate);
        read_number(directory + "/perf_event_max_stack", limits.max_stack);
        read_number(directory + "/perf_event_mlock_kb", limits.mlock_kb);
        std::uint64_t interval_ms = 0;
        read_number(cpu + "/perf_event_mux_interval_ms", interval_ms);
        if (interval_ms != 0 && interval_ms < kLongestIntervalMs) limits.mux_interval_ns = interval_ms * 1'000'000;
        limits_ = limits;
    }
    limits = *limits_;
}

}  // namespace anyperf::broker
