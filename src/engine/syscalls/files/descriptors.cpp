// descriptors.cpp: calls that replace, close or list file descriptors by number. The engine keeps a few descriptors in
// the process (own_descriptors.h). The application must not lose them, and it must not notice them either: it may use
// any number that it likes, and a listing of /proc/self/fd must not show them.
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "engine/freestanding/descriptor_link.h"
#include "engine/freestanding/text.h"
#include "engine/own_descriptors.h"
#include "engine/syscalls/directories.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/proc_path.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine::handlers {

long dup_onto(Call& call) {
    // If the target is one of the engine's descriptors, the engine's moves to another number first. If no number is
    // free, the answer is EBADF, as for a target above RLIMIT_NOFILE.
    return vacate_descriptor(call.engine, call.argument[1]) ? call.pass_to_kernel() : -EBADF;
}

long close_range(Call& call) {
    const auto [first, last, flags] = std::tuple{call.argument[0], call.argument[1], call.argument[2]};
    constexpr std::uint64_t kKnownFlags = CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC;
    if (static_cast<std::uint32_t>(first) > static_cast<std::uint32_t>(last) ||
        (static_cast<std::uint32_t>(flags) & ~kKnownFlags) != 0)
        return call.pass_to_kernel();  // which refuses it
    // One call for each piece between the hidden descriptors, lowest first.
    std::array<int, kOwnDescriptors.size()> hidden{};
    for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] = call.engine.*kOwnDescriptors[i];
    std::ranges::sort(hidden);
    std::uint64_t from = static_cast<std::uint32_t>(first);
    const std::uint64_t to = static_cast<std::uint32_t>(last);
    for (const int ours : hidden) {
        const auto number = static_cast<std::uint64_t>(ours);
        if (ours < 0 || number < from || number > to) continue;
        const long got = number > from ? kernel_call(__NR_close_range, from, number - 1, flags) : 0;
        if (is_error(got)) return got;
        from = number + 1;
    }
    return from <= to ? kernel_call(__NR_close_range, from, to, flags) : 0;
}

namespace {

/// struct linux_dirent64 (getdents(2)), before its name.
struct DirectoryEntry {
    std::uint64_t inode;
    std::int64_t next;
    std::uint16_t bytes;
    std::uint8_t kind;
};
constexpr std::size_t kNameOffset = 19;
constexpr std::size_t kOldNameOffset = 18;  // in struct linux_dirent, which is the same up to the kind

/// Whether `fd` is an open directory of this process's descriptors: /proc/PID/fd or fdinfo, also of a task.
bool lists_descriptors(std::uint64_t fd) {
    char target[kLongestProcPath];
    const std::string_view link = link_of_descriptor(fd, target);
    if (link.empty()) return false;
    const ProcPath at = parse_proc_path(link);
    return at.pid == kernel_call(__NR_getpid) && (at.rest == "fd" || at.rest == "fdinfo");
}

/// Whether `name` is the number of one of the engine's descriptors.
bool is_hidden(const Engine& engine, std::string_view name) {
    return std::ranges::any_of(kOwnDescriptors, [&](int Engine::* member) {
        Line number;
        number.decimal(engine.*member);
        return engine.*member >= 0 && number.view() == name;
    });
}

/// Removes the entries of the engine's descriptors from a listing in the application's memory. Returns its new length.
/// If another thread changes or unmaps the memory meanwhile, the listing may be wrong, as on the kernel.
std::size_t remove_hidden(const Engine& engine, char* listing, std::size_t length, std::size_t name_at) {
    constexpr std::size_t kLongestNumber = 12;  // of an int, with its sign, and a NUL
    std::size_t kept = 0;
    std::size_t bytes = 0;
    for (std::size_t at = 0; at + name_at < length; at += bytes) {
        DirectoryEntry entry;
        char name[kLongestNumber] = {};
        if (!x86_64::guarded_copy(&entry, listing + at, kOldNameOffset)) break;
        bytes = entry.bytes;
        if (bytes <= name_at || bytes > length - at) break;
        if (!x86_64::guarded_copy(name, listing + at + name_at, std::min(bytes - name_at, sizeof name - 1))) break;
        if (is_hidden(engine, name)) continue;
        if (kept != at && !x86_64::guarded_copy(listing + kept, listing + at, bytes)) break;
        kept += bytes;
    }
    return kept;
}

/// The kernel's listing without the engine's descriptors.
long list_without_hidden(Call& call, std::size_t name_at) {
    const long got = call.pass_to_kernel();
    if (got <= 0 || !lists_descriptors(call.argument[0])) return got;
    const std::size_t length =
        remove_hidden(call.engine, at_address<char>(call.argument[1]), static_cast<std::size_t>(got), name_at);
    // A length of 0 would mean the end of the directory, but only this part of the listing is empty: read the next one.
    return length == 0 ? list_without_hidden(call, name_at) : static_cast<long>(length);
}

}  // namespace

long getdents(Call& call) {
    long answer = 0;
    return read_sorted(call, true, answer) ? answer : list_without_hidden(call, kOldNameOffset);
}

long getdents64(Call& call) {
    long answer = 0;
    return read_sorted(call, false, answer) ? answer : list_without_hidden(call, kNameOffset);
}

}  // namespace anyperf::engine::handlers
