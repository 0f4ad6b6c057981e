// descriptor_arguments.cpp: the table of descriptor arguments, and the check of a call against it.
//
// Left out on purpose: numbers that the application may take (the second argument of dup2 and dup3) or close in a range
// (close_range). descriptors.cpp moves or skips the engine's descriptors there.
// Not covered: the second directory of linkat, renameat and renameat2, descriptors in memory (poll, select,
// SCM_RIGHTS), and calls that are not in the table.
#include "engine/syscalls/descriptor_arguments.h"

#include <asm/unistd.h>
#include <sys/mman.h>

#include <array>

#include "engine/own_descriptors.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

// The engine uses the table to hide its own descriptors, and the agent to refresh its table of events
// (agent/syscalls/descriptors.cpp). A call without a row here acts on an engine descriptor if the program names one.

struct DescriptorArguments {
    std::uint16_t number;
    std::uint8_t which;     ///< bit N: argument N, counted from 0, is a descriptor
    std::uint8_t path = 0;  ///< the argument that is a path; if it is absolute, the kernel ignores the descriptor.
                            ///< 0: there is none
};

constexpr std::uint8_t kFirst = 1;
constexpr std::uint8_t kSecond = 2;
constexpr std::uint8_t kThird = 4;
constexpr std::uint8_t kFifth = 16;

constexpr std::array kDescriptorArguments = std::to_array<DescriptorArguments>({
    {__NR_read, kFirst},
    {__NR_write, kFirst},
    {__NR_close, kFirst},
    {__NR_fstat, kFirst},
    {__NR_lseek, kFirst},
    {__NR_mmap, kFifth},
    {__NR_ioctl, kFirst},
    {__NR_pread64, kFirst},
    {__NR_pwrite64, kFirst},
    {__NR_readv, kFirst},
    {__NR_writev, kFirst},
    {__NR_dup, kFirst},
    {__NR_dup2, kFirst},
    {__NR_dup3, kFirst},
    {__NR_sendfile, kFirst | kSecond},
    {__NR_connect, kFirst},
    {__NR_accept, kFirst},
    {__NR_accept4, kFirst},
    {__NR_sendto, kFirst},
    {__NR_recvfrom, kFirst},
    {__NR_sendmsg, kFirst},
    {__NR_recvmsg, kFirst},
    {__NR_sendmmsg, kFirst},
    {__NR_recvmmsg, kFirst},
    {__NR_shutdown, kFirst},
    {__NR_bind, kFirst},
    {__NR_listen, kFirst},
    {__NR_getsockname, kFirst},
    {__NR_getpeername, kFirst},
    {__NR_setsockopt, kFirst},
    {__NR_getsockopt, kFirst},
    {__NR_fcntl, kFirst},
    {__NR_flock, kFirst},
    {__NR_fsync, kFirst},
    {__NR_fdatasync, kFirst},
    {__NR_ftruncate, kFirst},
    {__NR_getdents, kFirst},
    {__NR_getdents64, kFirst},
    {__NR_fchdir, kFirst},
    {__NR_fchmod, kFirst},
    {__NR_fchown, kFirst},
    {__NR_fstatfs, kFirst},
    {__NR_readahead, kFirst},
    {__NR_fsetxattr, kFirst},
    {__NR_fgetxattr, kFirst},
    {__NR_flistxattr, kFirst},
    {__NR_fremovexattr, kFirst},
    {__NR_fadvise64, kFirst},
    {__NR_epoll_ctl, kFirst | kThird},
    {__NR_epoll_wait, kFirst},
    {__NR_epoll_pwait, kFirst},
    {__NR_epoll_pwait2, kFirst},
    {__NR_splice, kFirst | kThird},
    {__NR_tee, kFirst | kSecond},
    {__NR_vmsplice, kFirst},
    {__NR_copy_file_range, kFirst | kThird},
    {__NR_sync_file_range, kFirst},
    {__NR_syncfs, kFirst},
    {__NR_fallocate, kFirst},
    {__NR_timerfd_settime, kFirst},
    {__NR_timerfd_gettime, kFirst},
    {__NR_signalfd, kFirst},
    {__NR_signalfd4, kFirst},
    {__NR_inotify_add_watch, kFirst},
    {__NR_inotify_rm_watch, kFirst},
    {__NR_preadv, kFirst},
    {__NR_pwritev, kFirst},
    {__NR_preadv2, kFirst},
    {__NR_pwritev2, kFirst},
    {__NR_setns, kFirst},
    {__NR_pidfd_send_signal, kFirst},
    {__NR_pidfd_getfd, kFirst},
    {__NR_openat, kFirst, 1},
    {__NR_openat2, kFirst, 1},
    {__NR_mkdirat, kFirst, 1},
    {__NR_mknodat, kFirst, 1},
    {__NR_fchownat, kFirst, 1},
    {__NR_futimesat, kFirst, 1},
    {__NR_newfstatat, kFirst, 1},
    {__NR_unlinkat, kFirst, 1},
    {__NR_renameat, kFirst, 1},
    {__NR_renameat2, kFirst, 1},
    {__NR_linkat, kFirst, 1},
    {__NR_symlinkat, kSecond, 2},
    {__NR_readlinkat, kFirst, 1},
    {__NR_fchmodat, kFirst, 1},
    {__NR_faccessat, kFirst, 1},
    {__NR_faccessat2, kFirst, 1},
    {__NR_utimensat, kFirst, 1},
    {__NR_statx, kFirst, 1},
    {__NR_execveat, kFirst, 1},
    {__NR_name_to_handle_at, kFirst, 1},
});

/// The rows by system call number; epoll_pwait2 has the highest of those above. A call that has no row has `which` 0.
/// The engine looks here before almost every system call, so a search in the list above would cost too much.
constexpr auto kByNumber = [] {
    std::array<DescriptorArguments, __NR_epoll_pwait2 + 1> table{};
    for (const DescriptorArguments& row : kDescriptorArguments) table[row.number] = row;
    return table;
}();

bool is_absolute(std::uint64_t path) {
    char first = 0;
    return x86_64::guarded_copy(&first, at_address<const void>(path), sizeof first) && first == '/';
}

/// Whether the kernel ignores the descriptor, so that the call succeeds with any number there.
bool ignores_descriptor(const Call& call, const DescriptorArguments& row) {
    if (call.number == __NR_mmap) return (call.argument[3] & MAP_ANONYMOUS) != 0;
    return row.path != 0 && is_absolute(call.argument[row.path]);
}

}  // namespace

std::uint8_t descriptor_arguments(std::uint64_t syscall) {
    return syscall < kByNumber.size() ? kByNumber[syscall].which : std::uint8_t{0};
}

bool uses_hidden_descriptor(const Call& call) {
    if (call.number >= kByNumber.size()) return false;
    const DescriptorArguments& row = kByNumber[call.number];
    for (std::size_t i = 0; row.which >> i != 0; ++i)
        if ((row.which >> i & 1) != 0 && is_engine_descriptor(call.engine, call.argument[i])) [[unlikely]]
            return !ignores_descriptor(call, row);
    return false;
}

}  // namespace anyperf::engine
