// file_calls.cpp: follows the calls that make, change or report about files. The table says what each call does, and
// where its descriptor and its path are. Times of writes are those of the run's clock when it was last looked at, as
// the kernel's are those of its last tick; so a write costs no look.
#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/syscalls/file_kinds.h"
#include "engine/syscalls/made_files.h"
#include "engine/syscalls/proc_path.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

enum class Effect : std::uint8_t {
    writes,    ///< the content of an open file, if the answer is positive
    resizes,   ///< the content, if the answer is 0
    changes,   ///< owner, mode, attributes
    makes,     ///< a file
    connects,  ///< makes a socket, or two
    opens,     ///< a file, which it may make or empty
    links,     ///< a second name
    renames,   ///< two names
    removes,   ///< a name
    dates,     ///< sets times
    reports,   ///< struct stat
    reportsx,  ///< struct statx
    measures,  ///< struct statfs
    versions,  ///< the generation of an inode, by ioctl(2)
};

constexpr std::int8_t kNone = -1;

constexpr std::uint16_t kFchmodat2 = 452;

// STATX_MNT_ID and STATX_MNT_ID_UNIQUE of linux/stat.h.
constexpr std::uint32_t kMountId = 0x1000;
constexpr std::uint32_t kUniqueMountId = 0x4000;

/// Tells the ids of file systems from devices, which have 32 bits.
constexpr std::uint64_t kIsFileSystem = std::uint64_t{1} << 63;

}  // namespace

struct FileCall::Row {
    std::uint16_t number;
    Effect effect;
    std::int8_t directory;  ///< the argument that is a descriptor: of the directory, or without a path of the file
    std::int8_t path;       ///< the argument that is a path
    std::int8_t more;       ///< flags, the structure, or the second directory
};

namespace {

using Row = FileCall::Row;
using enum Effect;

constexpr std::array kRows{
    Row{__NR_write, writes, 0, kNone, kNone},
    Row{__NR_open, opens, kNone, 0, 1},
    Row{__NR_stat, reports, kNone, 0, 1},
    Row{__NR_fstat, reports, 0, kNone, 1},
    Row{__NR_lstat, reports, kNone, 0, 1},
    Row{__NR_ioctl, versions, 0, kNone, 2},
    Row{__NR_pwrite64, writes, 0, kNone, kNone},
    Row{__NR_writev, writes, 0, kNone, kNone},
    Row{__NR_sendfile, writes, 0, kNone, kNone},
    Row{__NR_socket, connects, kNone, kNone, kNone},
    Row{__NR_accept, connects, kNone, kNone, kNone},
    Row{__NR_socketpair, connects, kNone, kNone, 3},
    Row{__NR_truncate, resizes, kNone, 0, kNone},
    Row{__NR_ftruncate, resizes, 0, kNone, kNone},
    Row{__NR_rename, renames, kNone, 0, kNone},
    Row{__NR_mkdir, makes, kNone, 0, kNone},
    Row{__NR_rmdir, removes, kNone, 0, kNone},
    Row{__NR_creat, opens, kNone, 0, kNone},
    Row{__NR_link, links, kNone, 0, kNone},
    Row{__NR_unlink, removes, kNone, 0, kNone},
    Row{__NR_symlink, makes, kNone, 1, kNone},
    Row{__NR_chmod, changes, kNone, 0, kNone},
    Row{__NR_fchmod, changes, 0, kNone, kNone},
    Row{__NR_chown, changes, kNone, 0, kNone},
    Row{__NR_fchown, changes, 0, kNone, kNone},
    Row{__NR_lchown, changes, kNone, 0, kNone},
    Row{__NR_utime, dates, kNone, 0, 1},
    Row{__NR_mknod, makes, kNone, 0, kNone},
    Row{__NR_statfs, measures, kNone, 0, 1},
    Row{__NR_fstatfs, measures, 0, kNone, 1},
    Row{__NR_setxattr, changes, kNone, 0, kNone},
    Row{__NR_lsetxattr, changes, kNone, 0, kNone},
    Row{__NR_fsetxattr, changes, 0, kNone, kNone},
    Row{__NR_removexattr, changes, kNone, 0, kNone},
    Row{__NR_lremovexattr, changes, kNone, 0, kNone},
    Row{__NR_fremovexattr, changes, 0, kNone, kNone},
    Row{__NR_utimes, dates, kNone, 0, 1},
    Row{__NR_openat, opens, 0, 1, 2},
    Row{__NR_mkdirat, makes, 0, 1, kNone},
    Row{__NR_mknodat, makes, 0, 1, kNone},
    Row{__NR_fchownat, changes, 0, 1, 4},
    Row{__NR_futimesat, dates, 0, 1, 2},
    Row{__NR_newfstatat, reports, 0, 1, 2},
    Row{__NR_unlinkat, removes, 0, 1, kNone},
    Row{__NR_renameat, renames, 0, 1, 2},
    Row{__NR_linkat, links, 0, 1, 2},
    Row{__NR_symlinkat, makes, 1, 2, kNone},
    Row{__NR_fchmodat, changes, 0, 1, kNone},
    Row{__NR_splice, writes, 2, kNone, kNone},
    Row{__NR_utimensat, dates, 0, 1, 2},
    Row{__NR_fallocate, resizes, 0, kNone, kNone},
    Row{__NR_accept4, connects, kNone, kNone, kNone},
    Row{__NR_pwritev, writes, 0, kNone, kNone},
    Row{__NR_renameat2, renames, 0, 1, 2},
    Row{__NR_memfd_create, makes, kNone, kNone, kNone},
    Row{__NR_copy_file_range, writes, 2, kNone, kNone},
    Row{__NR_pwritev2, writes, 0, kNone, kNone},
    Row{__NR_statx, reportsx, 0, 1, 4},
    Row{__NR_openat2, opens, 0, 1, 2},
    Row{kFchmodat2, changes, 0, 1, 3},
};
static_assert(std::ranges::is_sorted(kRows, {}, &Row::number));

/// By number: the index of its row, from 1 on; 0: it has none.
constexpr auto kIndexOf = [] {
    std::array<std::uint8_t, 512> table{};
    for (std::size_t i = 0; i < kRows.size(); ++i) table[kRows[i].number] = static_cast<std::uint8_t>(i + 1);
    return table;
}();

/// A file as the *at calls name it.
struct Place {
    std::uint64_t directory;
    std::uint64_t path;
};

constexpr auto kWorkingDirectory = static_cast<std::uint64_t>(AT_FDCWD);

Place place_of(const Call& call, std::int8_t directory, std::int8_t path) {
    static constexpr char kEmpty[] = "";
    return {directory == kNone ? kWorkingDirectory : call.argument[directory],
            path == kNone ? address_of(kEmpty) : call.argument[path]};
}

Place place_of(const Call& call, const Row& row) {
    return place_of(call, row.directory, row.path);
}

bool look_at(const Place& place, unsigned flags, struct stat& about) {
    return !is_error(kernel_call(__NR_newfstatat, place.directory, place.path, address_of(&about), flags));
}

/// The time of day in the run.
std::int64_t time_of_day(Thread& thread, bool exactly) {
    const Engine& engine = *thread.engine;
    const std::uint64_t units =
        exactly ? look_at_clock(thread) : __atomic_load_n(&engine.run_use->clock, __ATOMIC_RELAXED);
    return static_cast<std::int64_t>(engine.run->epoch_ns + units / kUnitsOfNanosecond);
}

run::MadeFile entry_of(const Engine& engine, const struct stat& about) {
    return made_files(engine).find_or_add(about.st_dev, about.st_ino);
}

void date_content(const run::MadeFile& file, std::int64_t now) {
    if (!file) return;
    run::FileTimes& times = file.set_times();
    times.modified = times.changed = now;
}

/// The place's directory has got or lost a name.
void date_directory(Call& call, const Place& place) {
    char room[4096];
    const std::string_view path = copy_path(place.path, room, sizeof room);
    std::size_t length = path.size();
    while (length > 1 && room[length - 1] == '/') --length;
    while (length > 0 && room[length - 1] != '/') --length;
    room[length] = 0;
    struct stat about{};
    if (!path.empty() && look_at({place.directory, address_of(room)}, AT_EMPTY_PATH, about))
        date_content(entry_of(call.engine, about), time_of_day(call.thread, true));
}

/// The run has made the file. A record of the call may have given it a number already.
void begin_file(Call& call, const Place& place, unsigned flags, std::uint32_t recorded_before) {
    struct stat about{};
    const run::MadeFile file = look_at(place, flags, about) ? entry_of(call.engine, about) : run::MadeFile{};
    if (!file) return;
    if (file.number() <= (run::MadeFiles::kOfRecord | recorded_before))
        file.set_number(made_files(call.engine).new_number());
    run::FileTimes& times = file.set_times();
    times.born = times.changed = times.modified = time_of_day(call.thread, true);
    times.accessed = run::kNoFileTime;
}

void note_made(Call& call, const Row& row, long answer, std::uint32_t recorded_before) {
    if (row.effect == opens || row.path == kNone)
        begin_file(call, {static_cast<std::uint64_t>(answer), address_of("")}, AT_EMPTY_PATH, recorded_before);
    else
        begin_file(call, place_of(call, row), AT_SYMLINK_NOFOLLOW, recorded_before);
    if (row.path != kNone) date_directory(call, place_of(call, row));
}

/// A socket is as old as the run, as a pipe is (shown_files.cpp).
void begin_socket(Call& call, std::uint64_t fd) {
    struct stat about{};
    if (!look_at({fd, address_of("")}, AT_EMPTY_PATH, about)) return;
    run::MadeFiles& files = made_files(call.engine);
    files.socket_device = about.st_dev;
    const run::MadeFile socket = entry_of(call.engine, about);
    if (!socket) return;
    socket.set_number(files.new_number());
    run::FileTimes& times = socket.set_times();
    times.born = times.changed = times.modified = static_cast<std::int64_t>(call.engine.run->epoch_ns);
    times.accessed = run::kNoFileTime;
}

void note_sockets(Call& call, const Row& row, long answer) {
    std::uint32_t pair[2];
    if (row.more == kNone) return begin_socket(call, static_cast<std::uint64_t>(answer));
    if (!x86_64::guarded_copy(pair, at_address<const void>(call.argument[row.more]), sizeof pair)) return;
    for (const std::uint32_t fd : pair) begin_socket(call, fd);
}

/// The file's owner, mode or names have changed.
void date_status(Call& call, const struct stat& about) {
    if (const run::MadeFile file = entry_of(call.engine, about); file)
        file.set_times().changed = time_of_day(call.thread, true);
}

/// `removed`: the file before, if it was there.
void note_removed(Call& call, const Row& row, const struct stat& removed) {
    date_directory(call, place_of(call, row));
    if (removed.st_nlink > 1 && !S_ISDIR(removed.st_mode)) date_status(call, removed);
}

void note_names(Call& call, const Row& row) {
    const Place to =
        row.more != kNone ? place_of(call, row.more, static_cast<std::int8_t>(row.more + 1)) : place_of(call, kNone, 1);
    if (row.effect == renames) date_directory(call, place_of(call, row));
    date_directory(call, to);
    struct stat about{};
    if (look_at(to, AT_SYMLINK_NOFOLLOW, about)) date_status(call, about);
}

/// The open(2) flags of the call.
std::uint64_t open_flags(const Call& call, const Row& row) {
    if (row.more == kNone) return O_CREAT | O_TRUNC | O_WRONLY;
    if (call.number != __NR_openat2) return call.argument[row.more];
    std::uint64_t flags = 0;
    x86_64::guarded_copy(&flags, at_address<const void>(call.argument[row.more]), sizeof flags);
    return flags;
}

/// Where the process remembers the entry of the descriptor's file (DescriptorKinds); null: it does not.
std::uint32_t* remembered_place(const Call& call, std::uint64_t fd) {
    DescriptorKinds& kinds = call.engine.descriptor_kinds;
    return fd < DescriptorKinds::kRemembered && !kinds.off && !call.thread.owned_by_parent ? &kinds.made_file[fd]
                                                                                           : nullptr;
}

/// The number of the entry for the file that the descriptor writes; kNoMadeFile: it writes none.
std::uint32_t written_entry(const Call& call, std::uint64_t fd) {
    struct stat about{};
    if (kind_of_descriptor(call.thread, fd) != DescriptorKind::never_waits ||
        !look_at({fd, address_of("")}, AT_EMPTY_PATH, about) || !S_ISREG(about.st_mode))
        return DescriptorKinds::kNoMadeFile;
    const run::MadeFile file = entry_of(call.engine, about);
    return file ? file.entry() : DescriptorKinds::kNoMadeFile;
}

void note_written(Call& call, std::uint64_t fd) {
    std::uint32_t* const place = remembered_place(call, fd);
    std::uint32_t number = place != nullptr ? *place : 0;
    if (number == 0) {
        number = written_entry(call, fd);
        if (place != nullptr) *place = number;
    }
    if (number != DescriptorKinds::kNoMadeFile)
        date_content(made_files(call.engine).at(number), time_of_day(call.thread, false));
}

/// The time in a timespec of utimensat(2); kNoFileTime: it is left as it is.
std::int64_t time_given(const timespec& time, std::int64_t now) {
    if (time.tv_nsec == UTIME_NOW) return now;
    if (time.tv_nsec == UTIME_OMIT) return run::kNoFileTime;
    constexpr std::int64_t kMostSeconds = INT64_MAX / kNsOfSecond - 1;
    return std::clamp<std::int64_t>(time.tv_sec, -kMostSeconds, kMostSeconds) * kNsOfSecond + time.tv_nsec;
}

/// The two times that a call of the older kinds sets, as timespecs.
bool read_times(const Call& call, std::uint64_t from, timespec (&times)[2]) {
    if (call.number == __NR_utime) {
        std::int64_t seconds[2];
        if (!x86_64::guarded_copy(seconds, at_address<const void>(from), sizeof seconds)) return false;
        times[0] = {seconds[0], 0};
        times[1] = {seconds[1], 0};
        return true;
    }
    if (!x86_64::guarded_copy(times, at_address<const void>(from), sizeof times)) return false;
    if (call.number != __NR_utimensat)
        for (timespec& time : times) time.tv_nsec *= 1000;  // a timeval
    return true;
}

bool follows_no_link(const Call& call, const Row& row) {
    switch (call.number) {
        case __NR_lchown:
        case __NR_lsetxattr:
        case __NR_lremovexattr: return true;
        case __NR_fchownat: return (call.argument[row.more] & AT_SYMLINK_NOFOLLOW) != 0;
        case kFchmodat2:
        case __NR_utimensat: return (call.argument[3] & AT_SYMLINK_NOFOLLOW) != 0;
        default: return false;
    }
}

/// The file that the call has changed.
bool look_at_changed(const Call& call, const Row& row, struct stat& about) {
    Place place = place_of(call, row);
    if (place.path == 0) place.path = address_of("");  // utimensat(2) of a descriptor
    return look_at(place, AT_EMPTY_PATH | (follows_no_link(call, row) ? AT_SYMLINK_NOFOLLOW : 0), about);
}

void set_dates(Call& call, const Row& row, run::FileTimes& file) {
    timespec times[2]{{0, UTIME_NOW}, {0, UTIME_NOW}};
    if (call.argument[row.more] != 0 && !read_times(call, call.argument[row.more], times)) return;
    const std::int64_t now = time_of_day(call.thread, true);
    const std::int64_t accessed = time_given(times[0], now);
    const std::int64_t modified = time_given(times[1], now);
    if (accessed != run::kNoFileTime) file.accessed = accessed;
    if (modified != run::kNoFileTime) file.modified = modified;
}

void note_changed(Call& call, const Row& row) {
    struct stat about{};
    const run::MadeFile file = look_at_changed(call, row, about) ? entry_of(call.engine, about) : run::MadeFile{};
    if (!file) return;
    run::FileTimes& times = file.set_times();
    times.changed = time_of_day(call.thread, true);
    if (row.effect == resizes) times.modified = times.changed;
    if (row.effect == dates) set_dates(call, row, times);
}

std::int64_t ns_of_file(std::int64_t seconds, std::int64_t ns) {
    constexpr std::int64_t kMostSeconds = INT64_MAX / kNsOfSecond - 1;
    return std::clamp(seconds, -kMostSeconds, kMostSeconds) * kNsOfSecond + ns;
}

/// Stores ns since 1970 as seconds and what is left.
template <class Seconds, class Nanoseconds>
void store_time(std::int64_t time, Seconds& seconds, Nanoseconds& ns) {
    const std::int64_t part = (time % kNsOfSecond + kNsOfSecond) % kNsOfSecond;
    seconds = static_cast<Seconds>((time - part) / kNsOfSecond);
    ns = static_cast<Nanoseconds>(part);
}

/// Remembers the entry of a file or directory that the call has reported about, if it names a descriptor of it.
void remember_file(const Call& call, const Row& row, const FileFacts& facts, const run::MadeFile& file) {
    if (!file || row.directory == kNone || (!S_ISREG(facts.mode) && !S_ISDIR(facts.mode))) return;
    char first = 0;
    if (row.path != kNone && (!x86_64::guarded_read(call.argument[row.path], first) || first != 0)) return;
    if (std::uint32_t* const place = remembered_place(call, call.argument[row.directory]); place != nullptr)
        *place = file.entry();
}

/// Whether the kernel makes files of this type of file system when they are first looked at.
bool is_of_kernel(std::uint64_t type) {
    // The numbers of linux/magic.h: proc, sysfs, both cgroups, debugfs, tracefs, securityfs, nsfs, pidfs.
    constexpr std::array<std::uint64_t, 9> kTypes{0x9fa0,     0x62656572, 0x27e0eb,   0x63677270, 0x64626720,
                                                  0x74726163, 0x73636673, 0x6e736673, 0x50494446};
    return std::ranges::find(kTypes, type) != kTypes.end();
}

/// The kind of file system of the open file, if it is on this device.
run::DeviceKind kind_of_open(std::uint64_t fd, std::uint64_t device) {
    struct statfs system{};
    struct stat about{};
    if (!look_at({fd, address_of("")}, AT_EMPTY_PATH, about) || about.st_dev != device ||
        is_error(kernel_call(__NR_fstatfs, fd, address_of(&system))))
        return run::DeviceKind::unknown;
    return is_of_kernel(static_cast<std::uint64_t>(system.f_type)) ? run::DeviceKind::kernels : run::DeviceKind::stores;
}

/// The kind of file system that has the file of a call that reports about it, which is on `device`.
run::DeviceKind kind_at(const Call& call, const Row& row, std::uint64_t device) {
    const Place place = place_of(call, row);
    char first = 0;
    if (!x86_64::guarded_read(place.path, first) || first == 0) return kind_of_open(place.directory, device);
    auto kind = run::DeviceKind::unknown;
    for (const unsigned follow : {0u, unsigned{O_NOFOLLOW}}) {
        const long fd = kernel_call(__NR_openat, place.directory, place.path, O_PATH | O_CLOEXEC | follow);
        if (is_error(fd)) continue;
        kind = kind_of_open(static_cast<std::uint64_t>(fd), device);
        kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
        if (kind != run::DeviceKind::unknown) break;
    }
    return kind;
}

/// Whether the file of the call is one that the kernel makes when it is looked at. Asked once for each file system.
bool has_no_times(const Call& call, const Row& row, std::uint64_t device) {
    if (major(device) != 0) return false;  // a disk
    run::MadeFiles& files = made_files(call.engine);
    const std::uint32_t number = files.devices.number_of(device);
    if (number == 0) return false;
    run::DeviceKind& kind = files.device_kind[number - 1];
    if (kind == run::DeviceKind::unknown) kind = kind_at(call, row, device);
    return kind == run::DeviceKind::kernels;
}

void show_stat(const Call& call, const Row& row) {
    const std::uint64_t to = call.argument[row.more];
    struct stat about;
    if (!x86_64::guarded_copy(&about, at_address<const void>(to), sizeof about)) return;
    FileFacts facts{.device = about.st_dev,
                    .inode = about.st_ino,
                    .mode = about.st_mode,
                    .accessed = ns_of_file(about.st_atim.tv_sec, about.st_atim.tv_nsec),
                    .modified = ns_of_file(about.st_mtim.tv_sec, about.st_mtim.tv_nsec),
                    .changed = ns_of_file(about.st_ctim.tv_sec, about.st_ctim.tv_nsec),
                    .born = 0,
                    .of_kernel = has_no_times(call, row, about.st_dev)};
    remember_file(call, row, facts, show_file(call.engine, facts));
    about.st_ino = facts.inode;
    about.st_dev = shown_device(call.engine, about.st_dev);
    store_time(facts.accessed, about.st_atim.tv_sec, about.st_atim.tv_nsec);
    store_time(facts.modified, about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
    store_time(facts.changed, about.st_ctim.tv_sec, about.st_ctim.tv_nsec);
    x86_64::guarded_copy(at_address<void>(to), &about, sizeof about);
}

void show_statx(const Call& call, const Row& row) {
    const std::uint64_t to = call.argument[row.more];
    struct ::statx about;
    if (!x86_64::guarded_copy(&about, at_address<const void>(to), sizeof about)) return;
    const auto time = [](const statx_timestamp& at) { return ns_of_file(at.tv_sec, at.tv_nsec); };
    FileFacts facts{.device = makedev(about.stx_dev_major, about.stx_dev_minor),
                    .inode = about.stx_ino,
                    .mode = about.stx_mode,
                    .accessed = time(about.stx_atime),
                    .modified = time(about.stx_mtime),
                    .changed = time(about.stx_ctime),
                    .born = time(about.stx_btime),
                    .of_kernel = has_no_times(call, row, makedev(about.stx_dev_major, about.stx_dev_minor))};
    remember_file(call, row, facts, show_file(call.engine, facts));
    about.stx_ino = facts.inode;
    const std::uint64_t device = shown_device(call.engine, facts.device);
    about.stx_dev_major = major(device);
    about.stx_dev_minor = minor(device);
    if ((about.stx_mask & (kMountId | kUniqueMountId)) != 0)
        about.stx_mnt_id = shown_mount(call.engine, about.stx_mnt_id);
    store_time(facts.accessed, about.stx_atime.tv_sec, about.stx_atime.tv_nsec);
    store_time(facts.modified, about.stx_mtime.tv_sec, about.stx_mtime.tv_nsec);
    store_time(facts.changed, about.stx_ctime.tv_sec, about.stx_ctime.tv_nsec);
    if ((about.stx_mask & STATX_BTIME) != 0) store_time(facts.born, about.stx_btime.tv_sec, about.stx_btime.tv_nsec);
    x86_64::guarded_copy(at_address<void>(to), &about, sizeof about);
}

void show_generation(const Call& call, const Row& row) {
    const auto request = static_cast<std::uint32_t>(call.argument[1]);
    if (request == FS_IOC_GETVERSION || request == FS_IOC32_GETVERSION)
        x86_64::guarded_copy(at_address<void>(call.argument[row.more]), &run::kShownGeneration,
                             sizeof run::kShownGeneration);
}

/// Shows a file system of 64 GiB and 4 Mi files, half of which are free. A file system without a size, as /proc, has
/// none here either.
void show_statfs(const Call& call, const Row& row) {
    constexpr std::uint64_t kBytes = std::uint64_t{64} << 30;
    constexpr std::uint64_t kFiles = std::uint64_t{4} << 20;
    const std::uint64_t to = call.argument[row.more];
    struct statfs about;
    if (!x86_64::guarded_copy(&about, at_address<const void>(to), sizeof about)) return;
    if (about.f_blocks != 0 && about.f_bsize > 0) {
        about.f_blocks = kBytes / static_cast<std::uint64_t>(about.f_bsize);
        about.f_bfree = about.f_bavail = about.f_blocks / 2;
    }
    if (about.f_files != 0) {
        about.f_files = kFiles;
        about.f_ffree = kFiles / 2;
    }
    std::uint64_t id = 0;
    static_assert(sizeof id == sizeof about.f_fsid);
    __builtin_memcpy(&id, &about.f_fsid, sizeof id);
    if (id != 0) id = made_files(call.engine).devices.number_of(id | kIsFileSystem);
    __builtin_memcpy(&about.f_fsid, &id, sizeof id);
    x86_64::guarded_copy(at_address<void>(to), &about, sizeof about);
}

}  // namespace

run::MadeFile remembered_file(const Call& call, std::uint64_t fd) {
    const std::uint32_t* const place = remembered_place(call, fd);
    return place != nullptr ? made_files(call.engine).at(*place) : run::MadeFile{};
}

FileCall::FileCall(Call& call) : call_(call) {
    if (call.number >= kIndexOf.size() || kIndexOf[call.number] == 0) return;
    row_ = &kRows[kIndexOf[call.number] - 1];
    if (row_->effect == makes || row_->effect == opens)
        recorded_ = __atomic_load_n(&made_files(call.engine).numbers_of_records, __ATOMIC_RELAXED);
    struct stat about{};
    if (row_->effect == opens) {
        const std::uint64_t flags = open_flags(call, *row_);
        was_there_ = (flags & O_CREAT) == 0 || look_at(place_of(call, *row_), 0, about);
    } else if (row_->effect == removes) {
        if (!look_at(place_of(call, *row_), AT_SYMLINK_NOFOLLOW, removed_)) removed_.st_nlink = 0;
    } else if (call.number == __NR_utimensat) {
        give_real_times();
    }
}

// The kernel gets the times that files older than the run really have where a program has copied what it saw.
void FileCall::give_real_times() {
    const std::uint64_t from = call_.argument[row_->more];
    if (from == 0 || !x86_64::guarded_copy(given_times_, at_address<const void>(from), sizeof given_times_)) return;
    given_ = from;
    for (std::size_t i = 0; i < 2; ++i) {
        real_times_[i] = given_times_[i];
        const auto ns = static_cast<std::uint64_t>(given_times_[i].tv_nsec);
        if (ns >= static_cast<std::uint64_t>(kNsOfSecond)) continue;  // UTIME_NOW, UTIME_OMIT, or not valid
        store_time(real_file_time(call_.engine, time_given(given_times_[i], 0)), real_times_[i].tv_sec,
                   real_times_[i].tv_nsec);
    }
    call_.argument[row_->more] = address_of(real_times_);
}

void FileCall::finish_row(long answer) {
    if (given_ != 0) call_.argument[row_->more] = given_;
    if (is_error(answer) || answer == kRestartSyscall) return;
    switch (row_->effect) {
        case reports: return show_stat(call_, *row_);
        case reportsx: return show_statx(call_, *row_);
        case measures: return show_statfs(call_, *row_);
        case writes:
            if (answer > 0) note_written(call_, call_.argument[row_->directory]);
            return;
        case opens: return note_opened(answer);
        case removes: return note_removed(call_, *row_, removed_);
        case connects: return note_sockets(call_, *row_, answer);
        case makes: return note_made(call_, *row_, answer, recorded_);
        case versions: return show_generation(call_, *row_);
        case links:
        case renames: return note_names(call_, *row_);
        case resizes:
        case changes:
        case dates: return note_changed(call_, *row_);
    }
}

void FileCall::note_opened(long answer) {
    const std::uint64_t flags = open_flags(call_, *row_);
    const auto fd = static_cast<std::uint64_t>(answer);
    if ((flags & O_TMPFILE) == O_TMPFILE)
        begin_file(call_, {fd, address_of("")}, AT_EMPTY_PATH, recorded_);
    else if (!was_there_)
        note_made(call_, *row_, answer, recorded_);
    else if ((flags & O_TRUNC) != 0)
        note_written(call_, fd);
}

}  // namespace anyperf::engine
