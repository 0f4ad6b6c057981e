#include "engine/syscalls/own_memory_file.h"

#include <fcntl.h>
#include <sys/sysmacros.h>

#include <string_view>

#include "engine/freestanding/descriptor_link.h"
#include "engine/freestanding/pages.h"

namespace anyperf::engine {

namespace {

/// Whether the descriptor is the memory of a process: a file /proc/PID/mem or /proc/PID/task/TID/mem.
bool is_memory(std::uint64_t fd) {
    char room[64];
    return link_of_descriptor(fd, room).ends_with("/mem");
}

/// The first byte of memory that the call has written; 0: it has written none.
std::uint64_t written_address(const Call& call, std::uint64_t bytes) {
    constexpr std::uint64_t kAtPosition = ~std::uint64_t{0};  // pwritev2(2)
    switch (call.number) {
        case __NR_pwrite64:
        case __NR_pwritev: return call.argument[3];
        case __NR_pwritev2:
            if (call.argument[3] != kAtPosition) return call.argument[3];
            [[fallthrough]];
        case __NR_write:
        case __NR_writev: {
            const long position = kernel_call(__NR_lseek, call.argument[0], 0, SEEK_CUR);
            return is_error(position) ? 0 : static_cast<std::uint64_t>(position) - bytes;
        }
        default: return 0;
    }
}

}  // namespace

// The link is read only of a file that may be one: /proc belongs to no device, and shows such a file as empty.
void note_opened_memory(Engine& engine, int fd, const struct stat& about) {
    constexpr unsigned kRights = 0777;
    if (about.st_size != 0 || major(about.st_dev) != 0 || (about.st_mode & kRights) != 0600) return;
    if (is_memory(static_cast<std::uint32_t>(fd))) engine.writes_memory_file = true;
}

void follow_memory_writes(const Call& call, long answer) {
    if (answer <= 0) return;
    const auto bytes = static_cast<std::uint64_t>(answer);
    const std::uint64_t start = written_address(call, bytes);
    if (start == 0 || !is_memory(call.argument[0])) return;
    Cache& cache = call.engine.cache;
    const LockGuard held{cache.lock};
    const std::uint64_t end = page_up(start + bytes);
    if (!cache.executable.touches(start, end)) return;
    cache.remove_range(start, end);
    cache.executable.set_unstored(start, end);
    ++call.engine.exact.epoch;
}

}  // namespace anyperf::engine
