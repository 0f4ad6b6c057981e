#include "agent/presented/presented_file.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "engine/engine.h"

namespace anyperf::agent {

using engine::is_error;
using engine::kernel_call;

namespace {

/// The inode of the presented file that `fd` is open for writing on; 0: it is no such file.
std::uint64_t written_inode(const engine::Call& call, std::uint64_t fd) {
    struct stat about{};
    if (is_error(kernel_call(__NR_fstat, fd, engine::address_of(&about)))) return 0;
    if (about.st_dev != call.engine.run->files_device) return 0;
    const long flags = kernel_call(__NR_fcntl, fd, F_GETFL);
    return !is_error(flags) && (flags & O_ACCMODE) != O_RDONLY ? about.st_ino : 0;
}

}  // namespace

bool writes_presented_file(const engine::Call& call, std::uint64_t fd, std::uint64_t inode) {
    return inode != 0 && written_inode(call, fd) == inode;
}

bool writes_some_presented_file(const engine::Call& call, std::uint64_t fd) {
    return written_inode(call, fd) != 0;
}

}  // namespace anyperf::agent
