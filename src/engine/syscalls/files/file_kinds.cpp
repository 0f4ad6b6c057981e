#include "engine/syscalls/file_kinds.h"

#include <asm/unistd.h>
#include <linux/sched.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <string_view>

#include "engine/freestanding/descriptor_link.h"
#include "engine/x86_64/cpu/thread.h"

namespace anyperf::engine {

namespace {

/// Documentation/admin-guide/devices.txt: the character devices of major 1.
DescriptorKind kind_of_device(std::uint64_t device) {
    constexpr unsigned kMemory = 1;
    constexpr unsigned kNull = 3, kZero = 5, kFull = 7, kRandom = 8, kUrandom = 9;
    if (major(device) != kMemory) return DescriptorKind::other;
    switch (minor(device)) {
        case kNull:
        case kZero:
        case kFull: return DescriptorKind::never_waits;
        case kRandom:
        case kUrandom: return DescriptorKind::random;
        default: return DescriptorKind::other;
    }
}

/// A file of the kernel that has no inode of its own says what it is in the link of its descriptor.
bool is_inotify(std::uint64_t fd) {
    char room[32];
    return link_of_descriptor(fd, room) == "anon_inode:inotify";
}

DescriptorKind asked(std::uint64_t fd, PipeFile& pipe) {
    struct stat about{};
    if (is_error(kernel_call(__NR_fstat, fd, address_of(&about)))) return DescriptorKind::unknown;
    pipe = {about.st_dev, about.st_ino};
    if (S_ISFIFO(about.st_mode)) return DescriptorKind::pipe;
    if (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode) || S_ISBLK(about.st_mode)) return DescriptorKind::never_waits;
    if (S_ISCHR(about.st_mode)) return kind_of_device(about.st_rdev);
    return (about.st_mode & S_IFMT) == 0 && is_inotify(fd) ? DescriptorKind::inotify : DescriptorKind::other;
}

bool is_remembered(const Thread& thread, std::uint64_t fd) {
    return fd < DescriptorKinds::kRemembered && !thread.engine->descriptor_kinds.off && !thread.owned_by_parent;
}

}  // namespace

DescriptorKind kind_of_descriptor(const Thread& thread, std::uint64_t fd) {
    DescriptorKinds& kinds = thread.engine->descriptor_kinds;
    const bool remembers = is_remembered(thread, fd);
    DescriptorKind kind = remembers ? kinds.of[fd] : DescriptorKind::unknown;
    if (kind != DescriptorKind::unknown) [[likely]]
        return kind;
    PipeFile pipe{};
    kind = asked(fd, pipe);
    if (remembers) {
        kinds.pipe[fd] = pipe;
        kinds.of[fd] = kind;
    }
    return kind == DescriptorKind::unknown ? DescriptorKind::other : kind;
}

const PipeFile* known_pipe(const Thread& thread, std::uint64_t fd) {
    const DescriptorKinds& kinds = thread.engine->descriptor_kinds;
    return is_remembered(thread, fd) && kinds.of[fd] == DescriptorKind::pipe ? &kinds.pipe[fd] : nullptr;
}

void forget_closed_descriptors(DescriptorKinds& kinds, std::uint64_t number, const std::uint64_t* argument) {
    switch (number) {
        case __NR_close: kinds.forget(argument[0], argument[0]); break;
        case __NR_dup2:
        case __NR_dup3: kinds.forget(argument[1], argument[1]); break;
        case __NR_close_range:
            kinds.forget(static_cast<std::uint32_t>(argument[0]), static_cast<std::uint32_t>(argument[1]));
            break;
        case __NR_unshare: kinds.off = kinds.off || (argument[0] & CLONE_FILES) != 0; break;
        default: break;
    }
}

}  // namespace anyperf::engine
