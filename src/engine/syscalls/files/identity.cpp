// identity.cpp: calls by which a program looks at itself, where the kernel would describe the engine: the link
// /proc/PID/exe, the lists of mappings, the engine's descriptors in /proc/PID/fd, and arch_prctl.
//
// The paths are recognised by their text (proc_path.h). A call that follows links gets the program's path instead of
// the link's. readlink is answered here. A list of mappings is written to a file in memory (application_maps.h).
#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>

#include <algorithm>
#include <string_view>

#include "engine/freestanding/text.h"
#include "engine/own_descriptors.h"
#include "engine/syscalls/application_maps.h"
#include "engine/syscalls/file_writes.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/machine_files.h"
#include "engine/syscalls/mount_files.h"
#include "engine/syscalls/proc_path.h"
#include "engine/syscalls/random_files.h"
#include "engine/threads/run_records.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine::handlers {

namespace {

/// What the application must see at a path where the kernel would describe the engine, or where the run gives the text.
/// All members are empty for every other path.
struct Shown {
    const char* program = nullptr;  ///< of /proc/PID/exe of a process of this run: the path of its program
    std::string_view mappings;      ///< of a list of this process's mappings: the file's name
    std::string_view random;        ///< of a file whose text the deterministic run gives: the path
    bool hidden = false;            ///< a descriptor of the engine's: the path does not exist for the application
};

bool names_hidden_descriptor(const Engine& engine, std::string_view rest) {
    for (const std::string_view directory : {std::string_view{"fd/"}, std::string_view{"fdinfo/"}}) {
        if (!rest.starts_with(directory)) continue;
        for (int Engine::* const member : kOwnDescriptors) {
            const int fd = engine.*member;
            Line number;
            number.decimal(fd);
            if (fd >= 0 && rest.substr(directory.size()) == number.view()) return true;
        }
    }
    return false;
}

Shown shown_by(const Engine& engine, std::string_view path) {
    const ProcPath at = parse_proc_path(path);
    Shown shown;
    if (is_random_file(engine, path)) shown.random = path;
    if (at.pid == 0) return shown;
    const bool own = at.pid == kernel_call(__NR_getpid);
    if (at.rest == "exe")
        shown.program = own ? engine.program.path : program_path_of(engine, at.pid);
    else if (own && is_maps_file(at.rest))
        shown.mappings = at.rest;
    else if (own)
        shown.hidden = names_hidden_descriptor(engine, at.rest);
    return shown;
}

/// Calls `then` with the meaning of the path in argument `index`; its views are valid during the call. ENOENT for a
/// hidden descriptor.
template <class Then>
long with_shown(const Call& call, unsigned index, Then then) {
    char room[kLongestProcPath];
    const Shown shown = shown_by(call.engine, copy_short_path(call.argument[index], room));
    return shown.hidden ? -ENOENT : then(shown);
}

/// readlink(2) of a link to `program`: no NUL, cut off at `bytes`.
long read_link(const char* program, std::uint64_t buffer, std::uint64_t bytes) {
    const std::string_view path{program};
    if (static_cast<std::int64_t>(bytes) <= 0) return -EINVAL;
    const std::size_t length = std::min<std::size_t>(path.size(), bytes);
    return x86_64::guarded_copy(at_address<void>(buffer), path.data(), length) ? static_cast<long>(length) : -EFAULT;
}

/// Passes the call on with the program's path instead of the link's.
long with_program_path(Call& call, unsigned index) {
    return with_shown(call, index, [&](const Shown& shown) {
        if (shown.program != nullptr) call.argument[index] = address_of(shown.program);
        return call.pass_to_kernel();
    });
}

constexpr auto kWorkingDirectory = static_cast<std::uint64_t>(AT_FDCWD);

/// Passes on a call that opens the path in argument `index` for writing.
long open_to_write(Call& call, unsigned index, std::uint64_t flags) {
    const std::uint64_t directory = index == 0 ? kWorkingDirectory : call.argument[0];
    const bool must_be_new = (flags & O_CREAT) != 0 && (flags & O_EXCL) != 0;
    if (!must_be_new && is_running_program(call.engine, directory, call.argument[index])) return -ETXTBSY;
    const long got = call.pass_to_kernel();
    note_opened(call.engine, got);
    return got;
}

/// The same for a call that opens the path. A list of mappings is opened without the engine's mappings, and a random
/// file with the text of the deterministic run.
long open_with(Call& call, unsigned index, std::uint64_t flags) {
    if (long answer = 0; open_machine_file(call, index, flags, answer)) return answer;
    return with_shown(call, index, [&](const Shown& shown) {
        if (!shown.mappings.empty()) return open_filtered_maps(call.engine, shown.mappings, flags);
        if (!shown.random.empty()) return open_random_file(call.engine, shown.random, flags);
        if (shown.program != nullptr && (flags & O_NOFOLLOW) == 0) call.argument[index] = address_of(shown.program);
        return opens_for_writing(flags) ? open_to_write(call, index, flags) : call.pass_to_kernel();
    });
}

/// The same for a call that may ask for the link itself (AT_SYMLINK_NOFOLLOW).
long stat_path(Call& call, unsigned index, std::uint64_t flags) {
    if ((flags & AT_SYMLINK_NOFOLLOW) == 0) return with_program_path(call, index);
    return with_shown(call, index, [&](const Shown&) { return call.pass_to_kernel(); });
}

/// readlink and readlinkat. The buffer and its size follow the path.
long read_link_or_pass(Call& call, unsigned index) {
    const std::uint64_t buffer = call.argument[index + 1];
    const std::uint64_t bytes = call.argument[index + 2];
    return with_shown(call, index, [&](const Shown& shown) {
        if (shown.program != nullptr) return read_link(shown.program, buffer, bytes);
        char room[kLongestProcPath];
        long answer = 0;
        if (static_cast<std::int64_t>(bytes) > 0 &&
            read_numbered_link(call.engine, copy_short_path(call.argument[index], room), buffer, bytes, answer))
            return answer;
        return call.pass_to_kernel();
    });
}

}  // namespace

long readlink(Call& call) {
    return read_link_or_pass(call, 0);
}

long readlinkat(Call& call) {
    return read_link_or_pass(call, 1);
}

long path_in_first_argument(Call& call) {
    return with_program_path(call, 0);
}

long path_in_second_argument(Call& call) {
    return with_program_path(call, 1);
}

long open(Call& call) {
    return open_with(call, 0, call.argument[1]);
}

long openat(Call& call) {
    return open_with(call, 1, call.argument[2]);
}

long openat2(Call& call) {
    struct {  // open_how
        std::uint64_t flags, mode, resolve;
    } how{};
    return with_shown(call, 1, [&](const Shown& shown) -> long {
        const bool known = x86_64::guarded_copy(&how, at_address<const void>(call.argument[2]), sizeof how);
        const long got =
            known && opens_for_writing(how.flags) ? open_to_write(call, 1, how.flags) : call.pass_to_kernel();
        if (is_error(got) || !known || (shown.program == nullptr && shown.mappings.empty() && shown.random.empty()))
            return got;
        // The kernel has checked the arguments, and whether the path may be resolved in the way that they demand. Its
        // descriptor is closed, and the path is opened again as the application must see it.
        kernel_call(__NR_close, static_cast<std::uint64_t>(got));
        return open_with(call, 1, how.flags);
    });
}

long creat(Call& call) {
    return open_to_write(call, 0, O_CREAT);
}

long truncate(Call& call) {
    if (is_running_program(call.engine, kWorkingDirectory, call.argument[0])) return -ETXTBSY;
    const long got = call.pass_to_kernel();
    note_truncated(call.engine, call.argument[0], got);
    return got;
}

long memfd_create(Call& call) {
    const long got = call.pass_to_kernel();
    note_opened(call.engine, got);
    return got;
}

long lstat(Call& call) {
    return stat_path(call, 0, AT_SYMLINK_NOFOLLOW);
}

long newfstatat(Call& call) {
    return stat_path(call, 1, call.argument[3]);
}

long statx(Call& call) {
    return stat_path(call, 1, call.argument[2]);
}

long arch_prctl(Call& call) {
    constexpr std::uint64_t kCpuidFault = 0x1012;        // ARCH_SET_CPUID: the engine executes CPUID itself
    constexpr std::uint64_t kShadowStackFirst = 0x5001;  // ARCH_SHSTK_ENABLE … ARCH_SHSTK_STATUS (6.6)
    constexpr std::uint64_t kShadowStackLast = 0x5005;
    const std::uint64_t what = call.argument[0];
    switch (what) {
        case ARCH_SET_GS: set_gs_base(call.thread, call.argument[1]); return 0;
        case ARCH_GET_GS: {
            const std::uint64_t base = call.thread.gs_base;
            return x86_64::guarded_copy(at_address<void>(call.argument[1]), &base, sizeof base) ? 0 : -EFAULT;
        }
        case kCpuidFault: return -ENODEV;
        default:
            // Translated code can't run with a shadow stack, because its returns do not follow the application's
            // addresses. The answer is that of a CPU without shadow stacks.
            return what >= kShadowStackFirst && what <= kShadowStackLast ? -ENOTSUP : call.pass_to_kernel();
    }
}

}  // namespace anyperf::engine::handlers
