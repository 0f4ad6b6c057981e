// descriptors.cpp: calls that close or replace file descriptors. The engine holds two, of the run's memory and to who
// hosts the run, which the application neither knows nor may lose.
#include <errno.h>
#include <fcntl.h>

#include <tuple>
#include <utility>

#include "engine/freestanding/text.h"
#include "engine/ledger.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/proc_path.h"

namespace anyperf::engine::handlers {

long dup_onto(Call& call) {
    // The application may use the number: ours moves away.
    give_up_number(call.engine, call.argument[1]);
    return call.pass();
}

long close_range(Call& call) {
    const auto [first, last, flags] = std::tuple{call.argument[0], call.argument[1], call.argument[2]};
    if (static_cast<std::uint32_t>(first) > static_cast<std::uint32_t>(last)) return call.pass();
    // In pieces between the hidden ones, lowest first.
    int hidden[] = {call.engine.run_fd, call.engine.broker_fd};
    if (hidden[0] > hidden[1]) std::swap(hidden[0], hidden[1]);
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

/// Whether a descriptor is of this process's /proc/self/fd or its like.
bool lists_descriptors(std::uint64_t fd) {
    char target[kLongestProcPath];
    Line link;
    link.text("/proc/self/fd/").decimal(static_cast<std::int32_t>(fd)).text(std::string_view{"\0", 1});
    const long length = kernel_call(__NR_readlink, address_of(link.view().data()), address_of(target), sizeof target);
    if (is_error(length)) return false;
    const ProcPath at = proc_path({target, static_cast<std::size_t>(length)});
    return at.pid == kernel_call(__NR_getpid) && (at.rest == "fd" || at.rest == "fdinfo");
}

/// Takes the entries of that name out of a listing; its new length.
std::size_t without(char* listing, std::size_t length, std::string_view name) {
    std::size_t kept = 0;
    for (std::size_t at = 0; at < length;) {
        DirectoryEntry entry;
        __builtin_memcpy(&entry, listing + at, kNameOffset);
        if (name != listing + at + kNameOffset) {
            for (std::size_t i = 0; i < entry.bytes; ++i) listing[kept + i] = listing[at + i];
            kept += entry.bytes;
        }
        at += entry.bytes;
    }
    return kept;
}

}  // namespace

long getdents64(Call& call) {
    const long got = call.pass();
    if (got <= 0 || !lists_descriptors(call.argument[0])) return got;
    auto* const listing = at_address<char>(call.argument[1]);
    auto length = static_cast<std::size_t>(got);
    for (const int fd : {call.engine.run_fd, call.engine.broker_fd}) {
        Line name;
        name.decimal(fd);
        if (fd >= 0) length = without(listing, length, name.view());
    }
    // Nothing left of this piece is not the listing's end.
    return length == 0 ? getdents64(call) : static_cast<long>(length);
}

}  // namespace anyperf::engine::handlers
