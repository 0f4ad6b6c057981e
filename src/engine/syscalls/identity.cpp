// identity.cpp: calls by which a program looks at itself, where it would see the engine instead.
#include <asm/prctl.h>
#include <errno.h>
#include <linux/prctl.h>

#include <algorithm>
#include <string_view>

#include "engine/freestanding/text.h"
#include "engine/ledger.h"

#include "engine/syscalls/handlers.h"
#include "engine/x86_64/guarded_copy.h"

namespace anyperf::engine::handlers {

namespace {

/// A path is looked at only as far as the names that matter are long.
constexpr std::size_t kLongestName = 64;

/// The application's string, if it is readable and shorter than `kLongestName`; else empty.
std::string_view short_path(std::uint64_t from, char (&room)[kLongestName]) {
    for (std::size_t i = 0; i < kLongestName; ++i) {
        if (!x86_64::guarded_copy(room + i, at_address<const char>(from + i), 1)) return {};
        if (room[i] == 0) return {room, i};
    }
    return {};
}

/// Whether `path` is this process's link to the program that it runs, which the kernel takes the engine for.
bool names_own_program(std::string_view path) {
    if (path == "/proc/self/exe" || path == "/proc/thread-self/exe") return true;
    Line by_number;
    by_number.text("/proc/").decimal(kernel_call(__NR_getpid)).text("/exe");
    return path == by_number.view();
}

bool argument_names_own_program(const Call& call, unsigned index) {
    char room[kLongestName];
    return names_own_program(short_path(call.argument[index], room));
}

long link_text(const Call& call, std::uint64_t buffer, std::uint64_t bytes) {
    const std::string_view path{call.engine.program.path};
    if (static_cast<std::int64_t>(bytes) <= 0) return -EINVAL;
    const std::size_t length = std::min<std::size_t>(path.size(), bytes);
    return x86_64::guarded_copy(at_address<void>(buffer), path.data(), length) ? static_cast<long>(length) : -EFAULT;
}

/// The call with the program's path instead of the link's.
long with_program_path(Call& call, unsigned index) {
    if (argument_names_own_program(call, index)) call.argument[index] = address_of(call.engine.program.path);
    return call.pass();
}

}  // namespace

long readlink(Call& call) {
    if (!argument_names_own_program(call, 0)) return call.pass();
    return link_text(call, call.argument[1], call.argument[2]);
}

long readlinkat(Call& call) {
    if (!argument_names_own_program(call, 1)) return call.pass();
    return link_text(call, call.argument[2], call.argument[3]);
}

long path_first(Call& call) {
    return with_program_path(call, 0);
}

long path_second(Call& call) {
    // fstatat and statx with AT_SYMLINK_NOFOLLOW ask of the link itself, which is there.
    return with_program_path(call, 1);
}

long prctl(Call& call) {
    const long got = call.pass();
    if (!is_error(got) && call.argument[0] == PR_SET_NAME) note_names(call.thread);
    return got;
}

long arch_prctl(Call& call) {
    constexpr std::uint64_t kShadowStackFirst = 0x5001;  // ARCH_SHSTK_ENABLE … ARCH_SHSTK_STATUS (6.6)
    constexpr std::uint64_t kShadowStackLast = 0x5005;
    switch (call.argument[0]) {
        case ARCH_SET_GS: call.thread.gs_base = call.argument[1]; return 0;
        case ARCH_GET_GS: *at_address<std::uint64_t>(call.argument[1]) = call.thread.gs_base; return 0;
        default:
            // Returns would not be those of the shadow stack: answered like a CPU that has none.
            if (call.argument[0] >= kShadowStackFirst && call.argument[0] <= kShadowStackLast) return -ENOTSUP;
            return call.pass();
    }
}

}  // namespace anyperf::engine::handlers
