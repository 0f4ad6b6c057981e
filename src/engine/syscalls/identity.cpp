// identity.cpp: calls by which a program looks at itself, where it would see the engine instead.
#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>

#include <algorithm>
#include <string_view>

#include "engine/freestanding/text.h"
#include "engine/ledger.h"

#include "engine/syscalls/handlers.h"
#include "engine/syscalls/own_maps.h"
#include "engine/syscalls/proc_path.h"
#include "engine/x86_64/guarded_copy.h"

namespace anyperf::engine::handlers {

namespace {

/// What a path leads to that the kernel would answer for the engine.
struct Shown {
    const char* program = nullptr;  ///< behind a link to what a process of this run executes
    std::string_view mappings;      ///< the name of a list of this process's mappings
    bool hidden = false;            ///< a descriptor of the engine's
};

bool names_hidden_descriptor(const Engine& engine, std::string_view rest) {
    for (const std::string_view directory : {std::string_view{"fd/"}, std::string_view{"fdinfo/"}}) {
        if (!rest.starts_with(directory)) continue;
        for (const int fd : {engine.run_fd, engine.broker_fd}) {
            Line number;
            number.decimal(fd);
            if (fd >= 0 && rest.substr(directory.size()) == number.view()) return true;
        }
    }
    return false;
}

Shown shown_by(const Engine& engine, std::string_view path) {
    const ProcPath at = proc_path(path);
    Shown shown;
    if (at.pid == 0) return shown;
    const bool own = at.pid == kernel_call(__NR_getpid);
    if (at.rest == "exe")
        shown.program = own ? engine.program.path : program_of(engine, at.pid);
    else if (own && lists_mappings(at.rest))
        shown.mappings = at.rest;
    else if (own)
        shown.hidden = names_hidden_descriptor(engine, at.rest);
    return shown;
}

/// Calls `then` with what the argument's path shows, while its text is there.
template <class Then>
long with_shown(const Call& call, unsigned index, Then then) {
    char room[kLongestProcPath];
    const Shown shown = shown_by(call.engine, short_path(call.argument[index], room));
    return shown.hidden ? -ENOENT : then(shown);
}

long link_text(const char* program, std::uint64_t buffer, std::uint64_t bytes) {
    const std::string_view path{program};
    if (static_cast<std::int64_t>(bytes) <= 0) return -EINVAL;
    const std::size_t length = std::min<std::size_t>(path.size(), bytes);
    return x86_64::guarded_copy(at_address<void>(buffer), path.data(), length) ? static_cast<long>(length) : -EFAULT;
}

/// The call with the program's path instead of the link's.
long with_program_path(Call& call, unsigned index) {
    return with_shown(call, index, [&](const Shown& shown) {
        if (shown.program != nullptr) call.argument[index] = address_of(shown.program);
        return call.pass();
    });
}

/// The same for a call that opens: a list of mappings is one without the engine's.
long open_with(Call& call, unsigned index, std::uint64_t flags) {
    return with_shown(call, index, [&](const Shown& shown) {
        if (!shown.mappings.empty()) return open_mappings(shown.mappings, flags);
        if (shown.program != nullptr && (flags & O_NOFOLLOW) == 0) call.argument[index] = address_of(shown.program);
        return call.pass();
    });
}

/// The same for a call that may be asked for the link itself.
long look_at(Call& call, unsigned index, std::uint64_t flags) {
    if ((flags & AT_SYMLINK_NOFOLLOW) == 0) return with_program_path(call, index);
    return with_shown(call, index, [&](const Shown&) { return call.pass(); });
}

long link_or_pass(Call& call, unsigned index) {
    return with_shown(call, index, [&](const Shown& shown) {
        return shown.program != nullptr ? link_text(shown.program, call.argument[index + 1], call.argument[index + 2])
                                        : call.pass();
    });
}

}  // namespace

long readlink(Call& call) {
    return link_or_pass(call, 0);
}

long readlinkat(Call& call) {
    return link_or_pass(call, 1);
}

long path_first(Call& call) {
    return with_program_path(call, 0);
}

long path_second(Call& call) {
    return with_program_path(call, 1);
}

long open(Call& call) {
    return open_with(call, 0, call.argument[1]);
}

long openat(Call& call) {
    return open_with(call, 1, call.argument[2]);
}

long openat2(Call& call) {
    std::uint64_t flags = 0;  // struct open_how begins with them
    if (!x86_64::guarded_copy(&flags, at_address<const void>(call.argument[2]), sizeof flags)) return call.pass();
    return open_with(call, 1, flags);
}

long lstat(Call& call) {
    return look_at(call, 0, AT_SYMLINK_NOFOLLOW);
}

long newfstatat(Call& call) {
    return look_at(call, 1, call.argument[3]);
}

long statx(Call& call) {
    return look_at(call, 1, call.argument[2]);
}

long arch_prctl(Call& call) {
    constexpr std::uint64_t kCpuidFault = 0x1012;        // ARCH_SET_CPUID: the engine asks the CPU itself
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
            // Returns would not be those of the shadow stack: answered like a CPU that has none.
            return what >= kShadowStackFirst && what <= kShadowStackLast ? -ENOTSUP : call.pass();
    }
}

}  // namespace anyperf::engine::handlers
