#include "engine/freestanding/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "engine/freestanding/kernel.h"
#include "engine/freestanding/text.h"

namespace anyperf::engine {

long read_only(long fd, std::uint64_t flags) {
    Line path;
    path.text("/proc/self/fd/").decimal(fd).text(std::string_view{"\0", 1});
    const long again = kernel_call(__NR_open, address_of(path.view().data()), O_RDONLY | O_CLOEXEC);
    if (is_error(again)) return fd;
    kernel_call(__NR_dup3, static_cast<std::uint64_t>(again), static_cast<std::uint64_t>(fd), flags & O_CLOEXEC);
    kernel_call(__NR_close, static_cast<std::uint64_t>(again));
    return fd;
}

long make_memory_file(const char* name, std::string_view text, std::uint64_t flags) {
    const long fd = kernel_call(__NR_memfd_create, address_of(name), MFD_CLOEXEC);
    if (is_error(fd)) return fd;
    const long written =
        kernel_call(__NR_pwrite64, static_cast<std::uint64_t>(fd), address_of(text.data()), text.size(), 0);
    if (written == static_cast<long>(text.size())) return read_only(fd, flags);
    kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
    return is_error(written) ? written : -EIO;
}

}  // namespace anyperf::engine
