#include "engine/memory/written_files.h"

#include <errno.h>
#include <fcntl.h>

#include "run/written_files.h"

namespace anyperf::engine {

namespace {

long control(int fd, std::uint64_t command, std::uint64_t argument) {
    return kernel_call(__NR_fcntl, static_cast<std::uint64_t>(fd), command, argument);
}

/// Whether any process has the file open for writing. The kernel grants a read lease only if nobody has (fcntl(2),
/// F_SETLEASE). False if it does not say: the file is another user's, or its file system has no leases.
bool is_open_for_writing(int fd) {
    if (control(fd, F_GETLEASE, 0) != F_UNLCK) return false;  // the application's own lease stays as it is
    const long got = control(fd, F_SETLEASE, F_RDLCK);
    if (!is_error(got)) control(fd, F_SETLEASE, F_UNLCK);
    return got == -EAGAIN;
}

}  // namespace

bool is_regular_file(int fd, struct stat& about) {
    return !is_error(kernel_call(__NR_fstat, static_cast<std::uint64_t>(fd), address_of(&about))) &&
           S_ISREG(about.st_mode);
}

bool note_executed(Engine& engine, int fd) {
    struct stat about{};
    if (engine.written == nullptr || !is_regular_file(fd, about)) return false;
    engine.written->executed.add(about.st_ino);
    // The kernel does not count who writes a memory file (memfd_create(2)), which has no name.
    return engine.written->opened.has(about.st_ino) && (about.st_nlink == 0 || is_open_for_writing(fd));
}

}  // namespace anyperf::engine
