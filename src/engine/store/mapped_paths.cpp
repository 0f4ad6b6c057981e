// mapped_paths.cpp: a line of /proc/self/maps is read byte by byte from a buffer: its start, and what follows the first
// slash.
#include "engine/store/mapped_paths.h"

#include <fcntl.h>

#include "engine/freestanding/kernel.h"

namespace anyperf::engine {

namespace {

/// One line while it is read.
struct MapsLine {
    static constexpr std::size_t kRoom = 400;

    std::uint64_t start = 0;
    bool in_start = true;
    std::size_t length = 0;
    char path[kRoom];

    void add(char c) {
        const bool letter = c >= 'a' && c <= 'f';
        if (in_start && c != '-') start = start * 16 + static_cast<std::uint64_t>(letter ? c - 'a' + 10 : c - '0');
        if (c == '-') in_start = false;
        if (c != '/' && length == 0) return;
        if (length == kRoom) {
            for (std::size_t i = 1; i < kRoom; ++i) path[i - 1] = path[i];
            --length;
        }
        path[length++] = c;
    }
};

}  // namespace

void for_each_mapped_path(void (*visit)(void* context, std::uint64_t start, std::string_view path), void* context) {
    const long fd = kernel_call(__NR_open, address_of("/proc/self/maps"), O_RDONLY | O_CLOEXEC);
    if (is_error(fd)) return;
    char buffer[2048] = {};
    MapsLine line;
    for (;;) {
        const long got = kernel_call(__NR_read, static_cast<std::uint64_t>(fd), address_of(buffer), sizeof buffer);
        if (got <= 0) break;
        for (long i = 0; i < got; ++i) {
            if (buffer[i] != '\n') {
                line.add(buffer[i]);
                continue;
            }
            if (line.length != 0) visit(context, line.start, {line.path, line.length});
            line = {};
        }
    }
    kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
}

}  // namespace anyperf::engine
