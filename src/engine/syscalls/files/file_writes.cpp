#include "engine/syscalls/file_writes.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "engine/memory/written_files.h"
#include "engine/syscalls/application_maps.h"
#include "engine/syscalls/own_memory_file.h"
#include "engine/threads/run_records.h"

namespace anyperf::engine {

namespace {

/// A list with room for a fixed number of ranges; further ones are left out.
struct Ranges {
    std::array<ExecutableRange, 128> of;
    std::size_t count = 0;

    void add(const ExecutableRange& range) {
        if (count < of.size()) of[count++] = range;
    }
};

/// Files that were announced since the process last looked.
struct NewFiles {
    std::array<std::uint64_t, run::WrittenFiles::kKept> inode;
    std::size_t count = 0;
    bool all = false;  ///< too many, or one could not be read: any file may be among them

    bool has(std::uint64_t number) const {
        return all || std::find(inode.begin(), inode.begin() + count, number) != inode.begin() + count;
    }
};

/// Reads the announcements after `from` up to `until`. One that is not written yet is waited for, but not for long: its
/// program may have been killed.
NewFiles read_new(const run::WrittenFiles& files, std::uint32_t from, std::uint32_t until) {
    constexpr int kLongestWait = 1000;
    NewFiles found;
    found.all = until - from > run::WrittenFiles::kKept;
    for (std::uint32_t number = from + 1; !found.all && number != until + 1; ++number) {
        const run::WrittenFiles::Announcement& place = files.kept[(number - 1) % run::WrittenFiles::kKept];
        int waited = 0;
        while (__atomic_load_n(&place.number, __ATOMIC_ACQUIRE) != number && ++waited < kLongestWait)
            __builtin_ia32_pause();
        found.all = waited == kLongestWait;
        found.inode[found.count++] = __atomic_load_n(&place.inode, __ATOMIC_RELAXED);
    }
    return found;
}

/// The private mappings of those files.
Ranges mappings_of(const NewFiles& files) {
    struct Search {
        const NewFiles& files;
        Ranges found;
    } search{files, {}};
    for_each_mapping(
        [](void* context, const ApplicationMapping& mapping) {
            Search& into = *static_cast<Search*>(context);
            if (mapping.inode != 0 && (mapping.flags & MAP_PRIVATE) != 0 && into.files.has(mapping.inode))
                into.found.add({.start = mapping.start, .end = mapping.end});
        },
        &search);
    return search.found;
}

/// The parts of executable ranges in [start, end) that are not compared yet.
Ranges protected_parts(const ExecutableMap& executable, std::uint64_t start, std::uint64_t end) {
    Ranges parts;
    for (const ExecutableRange& range : executable) {
        if (range.shared || range.end <= start || range.start >= end) continue;
        ExecutableRange part = range;
        part.start = std::max(range.start, start);
        part.end = std::min(range.end, end);
        part.shared = true;
        parts.add(part);
    }
    return parts;
}

/// Has the code in [start, end) compared whenever it is entered. Precondition: the cache's lock is held.
void compare_from_now_on(Engine& engine, std::uint64_t start, std::uint64_t end) {
    const Ranges parts = protected_parts(engine.cache.executable, start, end);
    for (std::size_t i = 0; i < parts.count; ++i) {
        engine.cache.remove_range(parts.of[i].start, parts.of[i].end);
        engine.cache.executable.add(parts.of[i]);
    }
    if (parts.count > 0) ++engine.exact.epoch;
}

/// Whether a process of the run that has not ended executes the file.
bool is_program(const Engine& engine, const struct stat& file) {
    struct Search {
        const struct stat& file;
        bool found = false;
    } search{file};
    for_each_live_program(
        engine,
        [](void* context, const char* path) {
            Search& into = *static_cast<Search*>(context);
            struct stat program{};
            into.found = into.found || (!is_error(kernel_call(__NR_stat, address_of(path), address_of(&program))) &&
                                        program.st_ino == into.file.st_ino && program.st_dev == into.file.st_dev);
        },
        &search);
    return search.found;
}

}  // namespace

bool opens_for_writing(std::uint64_t flags) {
    return (flags & O_PATH) == 0 && ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0);
}

bool is_running_program(const Engine& engine, std::uint64_t directory, std::uint64_t path) {
    struct stat file{};
    if (engine.written == nullptr || is_error(kernel_call(__NR_newfstatat, directory, path, address_of(&file), 0)) ||
        !S_ISREG(file.st_mode) || !engine.written->executed.has(file.st_ino) || !is_program(engine, file))
        return false;
    // The kernel checks rights first.
    constexpr std::uint64_t kWrite = 2;  // W_OK
    return !is_error(kernel_call(__NR_faccessat2, directory, path, kWrite, AT_EACCESS));
}

void note_opened(Engine& engine, long answer) {
    if (engine.written == nullptr || is_error(answer) || answer == kRestartSyscall) return;
    struct stat about{};
    if (!is_regular_file(static_cast<int>(answer), about)) return;
    note_opened_memory(engine, static_cast<int>(answer), about);
    engine.written->opened.add(about.st_ino);
    if (engine.written->executed.has(about.st_ino)) engine.written->announce(about.st_ino);
}

void note_truncated(Engine& engine, std::uint64_t path, long answer) {
    struct stat about{};
    if (engine.written == nullptr || answer != 0 || is_error(kernel_call(__NR_stat, path, address_of(&about)))) return;
    if (engine.written->executed.has(about.st_ino)) engine.written->announce(about.st_ino);
}

void follow_written_files(Engine& engine) {
    const std::uint32_t until = __atomic_load_n(&engine.written->announced, __ATOMIC_ACQUIRE);
    const std::uint32_t from = __atomic_load_n(&engine.written_seen, __ATOMIC_ACQUIRE);
    // The mappings are read without the lock, because that would stop all translation. If another thread replaces one
    // meanwhile, its code is compared without need.
    const Ranges mapped = mappings_of(read_new(*engine.written, from, until));
    const LockGuard held{engine.cache.lock};
    for (std::size_t i = 0; i < mapped.count; ++i) compare_from_now_on(engine, mapped.of[i].start, mapped.of[i].end);
    __atomic_store_n(&engine.written_seen, until, __ATOMIC_RELEASE);
}

}  // namespace anyperf::engine
