#include "agent/syscalls/presented_file.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "engine/engine.h"

namespace anyperf::agent {

using engine::is_error;
using engine::kernel_call;

bool writes_presented_file(const engine::Call& call, std::uint64_t fd, std::uint64_t inode) {
    struct stat about{};
    if (inode == 0 || is_error(kernel_call(__NR_fstat, fd, engine::address_of(&about)))) return false;
    if (about.st_ino != inode || about.st_dev != call.engine.run->files_device) return false;
    const long flags = kernel_call(__NR_fcntl, fd, F_GETFL);
    return !is_error(flags) && (flags & O_ACCMODE) != O_RDONLY;
}

}  // namespace anyperf::agent
