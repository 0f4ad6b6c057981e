// shown_directories.cpp: a path of the kernel's that begins with RunHeader::files_root stands for the rest of it.
//
// A relative path is followed by the kernel in the copy, which has the presented directories only. So chdir(2) with a
// relative path is answered here: it may lead out of them, or into them from above. LIMIT: other calls with a relative
// path are not, so `open("../..")` in such a directory finds the copy's own parents.
#include "agent/presented/shown_directories.h"

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "agent/broker_request.h"
#include "agent/presented/redirected_files.h"
#include "engine/syscalls/proc_path.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::agent {

namespace {

using engine::address_of;
using engine::at_address;
using engine::Call;
using engine::is_error;
using engine::kernel_call;
using engine::x86_64::guarded_copy;

/// Room for the root of the copy and a path below it. A longer path is none of the presented machine's.
constexpr std::size_t kLongestPath = 1024;
using PathRoom = std::array<char, kLongestPath>;

/// Whether the copy of some part exists. A directory of the copy can't be reached before.
bool has_copy(const engine::Engine& engine) {
    if (!has_broker(engine)) return false;
    return std::ranges::any_of(engine.run->files_made,
                               [](const std::uint32_t& made) { return __atomic_load_n(&made, __ATOMIC_ACQUIRE) == 1; });
}

/// The path that programs see for a path of the copy. Empty if `path` is not of the copy.
std::string_view shown_path(const engine::Engine& engine, std::string_view path) {
    const std::string_view root{engine.run->files_root};
    if (!path.starts_with(root)) return {};
    path.remove_prefix(root.size());
    if (path.empty()) return "/";
    return path.front() == '/' ? path : std::string_view{};
}

/// The kernel's working directory; empty if its path does not fit.
std::string_view kernel_directory(PathRoom& room) {
    const long bytes = kernel_call(__NR_getcwd, address_of(room.data()), room.size());
    return {room.data(), is_error(bytes) ? 0 : static_cast<std::size_t>(bytes - 1)};
}

/// Takes the leading components "." and ".." off `path`. For each ".." the last component of `base` goes. `base` is a
/// path without links, so its text shows its parents.
void go_up(std::string_view& base, std::string_view& path) {
    while (path == "." || path == ".." || path.starts_with("./") || path.starts_with("../")) {
        const bool up = path.starts_with("..");
        path.remove_prefix(up ? 2 : 1);
        path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
        if (up) base = base.substr(0, base.rfind('/'));
    }
}

/// Changes to the absolute path in `room`.
long change_to(Call& call, const PathRoom& room) {
    const std::uint64_t own_path = call.argument[0];
    call.argument[0] = address_of(room.data());
    long answer = 0;
    if (!redirect_path<0>(call, answer)) answer = call.pass_to_kernel();
    call.argument[0] = own_path;
    return answer;
}

/// chdir(2) with a relative path, from a directory of the copy or from one below /sys or /proc.
bool change_relative(Call& call, std::string_view path, long& answer) {
    PathRoom room;
    const std::string_view directory = kernel_directory(room);
    const std::string_view shown = shown_path(call.engine, directory);
    std::string_view base = shown.empty() ? directory : shown;
    if (shown.empty() && !base.starts_with("/sys") && !base.starts_with("/proc")) return false;
    go_up(base, path);
    PathRoom target;
    if (base.size() + path.size() + 2 > target.size()) return false;
    char* end = std::ranges::copy(base, target.data()).out;
    *end++ = '/';
    end = std::ranges::copy(path, end).out;
    *end = 0;
    const std::string_view whole{target.data(), end};
    // From a directory of the kernel's to another one, the kernel's own lookup is the right one.
    if (shown.empty() && !is_redirected(call.engine, whole)) return false;
    answer = change_to(call, target);
    return true;
}

/// Stores `text` as readlink(2) does: without a NUL, cut off at `bytes`.
long store_link(std::string_view text, std::uint64_t buffer, std::uint64_t bytes) {
    const auto room = static_cast<std::int32_t>(bytes);
    if (room <= 0) return -EINVAL;
    const auto count = std::min(text.size(), static_cast<std::size_t>(room));
    return guarded_copy(at_address<void>(buffer), text.data(), count) ? static_cast<long>(count) : -EFAULT;
}

}  // namespace

bool change_directory(Call& call, long& answer) {
    if (redirect_path<0>(call, answer)) return true;
    PathRoom room;
    if (!has_broker(call.engine)) return false;
    const std::string_view path = engine::copy_path(call.argument[0], room.data(), room.size());
    return !path.empty() && path.front() != '/' && change_relative(call, path, answer);
}

bool current_directory(Call& call, long& answer) {
    if (!has_copy(call.engine)) return false;
    PathRoom room;
    const std::string_view shown = shown_path(call.engine, kernel_directory(room));
    if (shown.empty()) return false;
    const std::size_t bytes = shown.size() + 1;  // with the NUL
    if (call.argument[1] < bytes)
        answer = -ERANGE;
    else
        answer =
            guarded_copy(at_address<void>(call.argument[0]), shown.data(), bytes) ? static_cast<long>(bytes) : -EFAULT;
    return true;
}

bool link_to_directory(Call& call, long& answer) {
    if (!has_copy(call.engine)) return false;
    const bool at = call.number == __NR_readlinkat;
    const std::uint64_t path = call.argument[at ? 1 : 0];
    char name[engine::kLongestProcPath];
    if (!engine::copy_short_path(path, name).starts_with("/proc/")) return false;
    PathRoom room;
    const long length =
        kernel_call(__NR_readlinkat, static_cast<std::uint64_t>(AT_FDCWD), path, address_of(room.data()), room.size());
    if (is_error(length)) return false;
    const std::string_view shown = shown_path(call.engine, {room.data(), static_cast<std::size_t>(length)});
    if (shown.empty()) return false;
    answer = store_link(shown, call.argument[at ? 2 : 1], call.argument[at ? 3 : 2]);
    return true;
}

}  // namespace anyperf::agent
