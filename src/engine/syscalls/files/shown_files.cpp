// shown_files.cpp: what programs of a deterministic run see of a file's inode number and times.
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>

#include "engine/syscalls/made_files.h"
#include "engine/time/virtual_clock.h"

namespace anyperf::engine {

namespace {

constexpr std::int64_t kDayNs = 86'400 * kNsOfSecond;
/// Times up to 179 years after the epoch fit into the day before it, 65 µs apart.
constexpr std::int64_t kSlower = 65'536;

std::int64_t epoch_of(const Engine& engine) {
    return static_cast<std::int64_t>(engine.run->epoch_ns);
}

std::int64_t either(std::int64_t set, std::int64_t otherwise) {
    return set != run::kNoFileTime ? set : otherwise;
}

/// The file's entry with a number; none: there is no room. Mostly a pipe or socket has no name, so no call has made it
/// by one; it is as old as the run.
run::MadeFile numbered_entry(const Engine& engine, std::uint64_t device, std::uint64_t inode, unsigned mode) {
    run::MadeFiles& files = made_files(engine);
    const run::MadeFile file = files.find_or_add(device, inode);
    if (!file || file.number() != 0) return file;
    file.set_number(files.new_number());
    if (S_ISFIFO(mode) || S_ISSOCK(mode)) {
        run::FileTimes& times = file.set_times();
        for (std::int64_t* const time : {&times.born, &times.changed, &times.modified})
            *time = either(*time, epoch_of(engine));
    }
    return file;
}

}  // namespace

run::MadeFiles& made_files(const Engine& engine) {
    auto& files = *at_address<run::MadeFiles>(address_of(engine.run_use) + run::kMadeFilesOffset);
    if (__atomic_load_n(&files.started, __ATOMIC_RELAXED) != 0) [[likely]]
        return files;
    timespec now{};
    kernel_call(__NR_clock_gettime, CLOCK_REALTIME_COARSE, address_of(&now));
    std::int64_t none = 0;
    __atomic_compare_exchange_n(&files.started, &none, ns_of(now), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return files;
}

std::int64_t shown_file_time(const Engine& engine, std::int64_t real) {
    if (real > made_files(engine).started) return epoch_of(engine);
    const std::int64_t last_day = epoch_of(engine) - kDayNs;
    return real <= last_day ? real : last_day + std::min((real - last_day) / kSlower, kDayNs - 1);
}

std::int64_t real_file_time(const Engine& engine, std::int64_t shown) {
    const std::int64_t last_day = epoch_of(engine) - kDayNs;
    if (shown <= last_day || shown >= epoch_of(engine)) return shown;
    return last_day + std::min((shown - last_day) * kSlower, made_files(engine).started - last_day);
}

std::uint64_t shown_inode(const Engine& engine, std::uint64_t device, std::uint64_t inode, unsigned mode) {
    const run::MadeFile file = numbered_entry(engine, device, inode, mode);
    return file ? file.shown_inode() : inode;
}

std::uint64_t shown_device(const Engine& engine, std::uint64_t device) {
    return made_files(engine).shown_device(device);
}

std::uint64_t shown_mount(const Engine& engine, std::uint64_t mount) {
    const std::uint32_t number = made_files(engine).mounts.number_of(mount);
    return number != 0 ? number : mount;
}

run::MadeFile show_file(const Engine& engine, FileFacts& facts) {
    const run::MadeFile file = numbered_entry(engine, facts.device, facts.inode, facts.mode);
    run::FileTimes known;
    if (file) {
        known = file.times();
        facts.inode = file.shown_inode();
    }
    facts.modified = either(known.modified, shown_file_time(engine, facts.modified));
    facts.changed = either(known.changed, shown_file_time(engine, facts.changed));
    facts.born = either(known.born, shown_file_time(engine, facts.born));
    // A file without a type describes a process or the like (pidfd_open(2)), which may be older than the run.
    if (facts.of_kernel || (facts.mode & S_IFMT) == 0) facts.modified = facts.changed = facts.born = epoch_of(engine);
    facts.accessed = either(known.accessed, facts.modified);
    return file;
}

}  // namespace anyperf::engine
