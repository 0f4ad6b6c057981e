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

/// The program behind a link of /proc to what a process of this run executes, which the kernel takes the engine for.
/// Null where `path` is no such link.
const char* program_behind(const Engine& engine, std::string_view path) {
    constexpr std::string_view kProc = "/proc/";
    constexpr std::string_view kExe = "/exe";
    if (!path.starts_with(kProc) || !path.ends_with(kExe)) return nullptr;
    path.remove_prefix(kProc.size());
    path.remove_suffix(kExe.size());
    if (path == "self" || path == "thread-self") return engine.program.path;
    std::int32_t pid = 0;
    for (const char digit : path) {
        if (digit < '0' || digit > '9' || pid > INT32_MAX / 10 - 1) return nullptr;
        pid = pid * 10 + (digit - '0');
    }
    return pid == kernel_call(__NR_getpid) ? engine.program.path : program_of(engine, pid);
}

const char* program_at(const Call& call, unsigned index) {
    char room[kLongestName];
    return program_behind(call.engine, short_path(call.argument[index], room));
}

long link_text(const char* program, std::uint64_t buffer, std::uint64_t bytes) {
    const std::string_view path{program};
    if (static_cast<std::int64_t>(bytes) <= 0) return -EINVAL;
    const std::size_t length = std::min<std::size_t>(path.size(), bytes);
    return x86_64::guarded_copy(at_address<void>(buffer), path.data(), length) ? static_cast<long>(length) : -EFAULT;
}

/// The call with the program's path instead of the link's.
long with_program_path(Call& call, unsigned index) {
    if (const char* const program = program_at(call, index)) call.argument[index] = address_of(program);
    return call.pass();
}

}  // namespace

long readlink(Call& call) {
    const char* const program = program_at(call, 0);
    return program != nullptr ? link_text(program, call.argument[1], call.argument[2]) : call.pass();
}

long readlinkat(Call& call) {
    const char* const program = program_at(call, 1);
    return program != nullptr ? link_text(program, call.argument[2], call.argument[3]) : call.pass();
}

long path_first(Call& call) {
    return with_program_path(call, 0);
}

long path_second(Call& call) {
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
        case ARCH_SET_GS: set_gs_base(call.thread, call.argument[1]); return 0;
        case ARCH_GET_GS: *at_address<std::uint64_t>(call.argument[1]) = call.thread.gs_base; return 0;
        default:
            // Returns would not be those of the shadow stack: answered like a CPU that has none.
            if (call.argument[0] >= kShadowStackFirst && call.argument[0] <= kShadowStackLast) return -ENOTSUP;
            return call.pass();
    }
}

}  // namespace anyperf::engine::handlers
