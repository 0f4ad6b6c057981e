// program_file.cpp: makes the checks for which execve(2) may fail, before the exec. The exec itself is that of the
// engine: it succeeds whatever the program is, and after it no error can be returned. The order of the checks is the
// kernel's: the file, its rights, its kind, its format, then the same for its interpreter.
#include "engine/load/program_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include "engine/freestanding/kernel.h"
#include "engine/freestanding/text.h"

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kExecutable = 1;  // X_OK

std::unexpected<ProgramError> fail_with(long error, const char* reason = nullptr) {
    return std::unexpected(ProgramError{error, reason});
}

std::uint64_t as_argument(int fd) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(fd));
}

/// The path of a descriptor's file in /proc. Valid as long as `link`.
const char* path_of_descriptor(int fd, Line& link) {
    return link.text("/proc/self/fd/").decimal(fd).text(std::string_view{"\0", 1}).view().data();
}

/// Finds out whether the kernel would execute the file, by an execveat(2) with an invalid argv: it always fails, and
/// EFAULT means that only argv is wrong. Returns 0 or a positive errno, such as ETXTBSY (open for writing), EACCES (a
/// noexec mount) or EINVAL (flags). Linux 6.8 and later open the file before they read argv (do_execveat_common); older
/// kernels find nothing here, since they read argv first.
long kernel_refusal(int at, const char* path, int flags) {
    constexpr std::uint64_t kFaultingAddress = ~std::uint64_t{0} << 47;
    const long answer = kernel_call(__NR_execveat, as_argument(at), address_of(path), kFaultingAddress, 0,
                                    static_cast<unsigned>(flags));
    return answer == -EFAULT ? 0 : -answer;
}

/// Checks the right to execute, for kernels before 6.8, where kernel_refusal() does not. Returns 0 or a positive errno.
/// Linux before 5.8 has no faccessat2(2), and a seccomp filter that does not know it returns ENOSYS or EPERM. Then
/// faccessat(2) checks, but for the real user instead of the effective one.
long access_refusal(int at, const char* path, int flags) {
    const unsigned access_flags = static_cast<unsigned>(flags & (AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW)) | AT_EACCESS;
    const long answer = kernel_call(__NR_faccessat2, as_argument(at), address_of(path), kExecutable, access_flags);
    if (answer != -ENOSYS && answer != -EPERM) return -answer;
    Line link;
    if (path[0] == 0 && (flags & AT_EMPTY_PATH) != 0) path = path_of_descriptor(at, link);
    return -kernel_call(__NR_faccessat, as_argument(at), address_of(path), kExecutable);
}

/// Returns a readable descriptor of the same file: a duplicate, or a new open if `fd` is O_PATH or write-only.
long open_for_reading(int fd) {
    constexpr long kUnreadableFlags = O_PATH | O_WRONLY;
    const long flags = kernel_call(__NR_fcntl, as_argument(fd), F_GETFL);
    if (is_error(flags) || (flags & kUnreadableFlags) == 0)
        return kernel_call(__NR_fcntl, as_argument(fd), F_DUPFD_CLOEXEC, 0);
    Line link;
    return kernel_call(__NR_open, address_of(path_of_descriptor(fd, link)), O_RDONLY | O_CLOEXEC);
}

/// Opens a file that the caller may execute. The error is a positive errno, as execve(2) gives it.
std::expected<int, ProgramError> open_executable(int at, const char* path, int flags) {
    if (const long refusal = kernel_refusal(at, path, flags); refusal != 0) return fail_with(refusal);
    if ((flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0) return fail_with(EINVAL);  // do_open_execat()
    if (const long refusal = access_refusal(at, path, flags); refusal != 0) return fail_with(refusal);
    long fd = 0;
    if (path[0] == 0 && (flags & AT_EMPTY_PATH) != 0) {
        fd = open_for_reading(at);
    } else {
        const int nofollow = (flags & AT_SYMLINK_NOFOLLOW) != 0 ? O_NOFOLLOW : 0;
        // O_NONBLOCK: the open of a FIFO must not wait for a writer. check_regular() refuses the FIFO later.
        fd = kernel_call(__NR_openat, as_argument(at), address_of(path),
                         static_cast<unsigned>(O_RDONLY | O_CLOEXEC | O_NONBLOCK | nofollow));
    }
    if (fd == -EACCES)
        return fail_with(EACCES, "the file is executable but not readable, and anyperf must read what it runs");
    if (is_error(fd)) return fail_with(-fd);
    return static_cast<int>(fd);
}

/// Opens a file that open_executable() has accepted a moment ago, in the process before the exec.
std::expected<int, ProgramError> open_checked(const char* path) {
    const long fd = kernel_call(__NR_openat, as_argument(AT_FDCWD), address_of(path),
                                static_cast<unsigned>(O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (is_error(fd)) return fail_with(-fd);
    return static_cast<int>(fd);
}

std::expected<void, ProgramError> check_regular(const struct stat& status) {
    if ((status.st_mode & S_IFMT) != S_IFREG) return fail_with(EACCES);
    return {};
}

/// Whether the kernel would ignore that a program file is set-user-id or has capabilities (execve(2)).
bool privilege_is_ignored(int fd) {
    struct statfs mount{};
    return kernel_call(__NR_prctl, PR_GET_NO_NEW_PRIVS) == 1 ||
           (kernel_call(__NR_fstatfs, as_argument(fd), address_of(&mount)) == 0 && (mount.f_flags & ST_NOSUID) != 0);
}

/// Whether the file gives the process capabilities in this user namespace. Root has all of them already. For
/// capabilities of another namespace the kernel returns EOVERFLOW (cap_inode_getsecurity()).
bool has_capabilities(int fd) {
    return kernel_call(__NR_geteuid) != 0 &&
           kernel_call(__NR_fgetxattr, as_argument(fd), address_of("security.capability"), 0, 0) > 0;
}

/// Refuses a program that would gain privilege, since only the kernel can grant it. Only the ELF file is checked: Linux
/// ignores the set-id bits of scripts.
std::expected<void, ProgramError> check_privilege(int fd, const struct stat& status) {
    const bool gains_user =
        (status.st_mode & S_ISUID) != 0 && status.st_uid != static_cast<unsigned>(kernel_call(__NR_geteuid));
    const bool gains_group = (status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
                             status.st_gid != static_cast<unsigned>(kernel_call(__NR_getegid));
    if ((!gains_user && !gains_group && !has_capabilities(fd)) || privilege_is_ignored(fd)) return {};
    return fail_with(EPERM,
                     gains_user || gains_group
                         ? "the file is set-user-id or set-group-id, and only the kernel can grant that privilege; "
                           "setpriv --no-new-privs runs it without"
                         : "the file has capabilities (getcap), and only the kernel can grant them; "
                           "setpriv --no-new-privs runs it without");
}

bool is_32_bit(const char* bytes, std::size_t count) {
    return count > EI_CLASS && bytes[0] == 0x7f && bytes[1] == 'E' && bytes[2] == 'L' && bytes[3] == 'F' &&
           bytes[EI_CLASS] == ELFCLASS32;
}

/// Follows scripts from `fd` to an ELF file, and reads its headers. Takes ownership of `fd`: it is closed, or in
/// `out.program.fd`, also after an error.
std::expected<void, ProgramError> follow_scripts(int fd, ProgramFile& out) {
    struct stat status{};
    for (;;) {
        out.program.fd = fd;
        if (const long got = kernel_call(__NR_fstat, as_argument(fd), address_of(&status)); is_error(got))
            return fail_with(-got);
        if (const auto checked = check_regular(status); !checked) return checked;
        char start[kScriptLineBytes];
        const long count = kernel_call(__NR_pread64, as_argument(fd), address_of(start), sizeof start, 0);
        if (is_error(count)) return fail_with(-count);
        if (is_32_bit(start, static_cast<std::size_t>(count)))
            return fail_with(ENOEXEC, "the file is a 32-bit program, and anyperf runs only 64-bit programs");
        ScriptLine line;
        const auto script = parse_script(start, static_cast<std::size_t>(count), line);
        if (!script) return fail_with(script.error());
        if (!*script) break;
        if (out.scripts == kDeepestScript) return fail_with(ELOOP);
        out.lines[out.scripts++] = line;
        kernel_call(__NR_close, as_argument(fd));
        out.program.fd = -1;
        const auto next = open_executable(AT_FDCWD, line.interpreter, 0);
        if (!next) return std::unexpected(next.error());
        fd = *next;
    }
    if (const auto checked = check_privilege(fd, status); !checked) return checked;
    if (const auto read = read_elf(fd, out.program); !read) return fail_with(read.error());
    return {};
}

}  // namespace

void ProgramFile::close() {
    for (ElfFile* file : {&program, &loader}) {
        if (file->fd >= 0) kernel_call(__NR_close, as_argument(file->fd));
        file->fd = -1;
    }
}

std::expected<void, ProgramError> resolve_program(int fd, bool checked, ProgramFile& out) {
    out.program.fd = out.loader.fd = -1;
    out.scripts = 0;
    if (const auto followed = follow_scripts(fd, out); !followed) return followed;
    if (!out.program.has_interpreter()) return {};
    const auto loader =
        checked ? open_checked(out.program.interpreter) : open_executable(AT_FDCWD, out.program.interpreter, 0);
    if (!loader) return std::unexpected(loader.error());
    if (const auto read = read_elf(*loader, out.loader); !read)
        return fail_with(read.error() == ENOEXEC ? ELIBBAD : read.error());
    return {};
}

std::expected<void, ProgramError> find_program(int at, const char* path, int flags, ProgramFile& out) {
    out.program.fd = out.loader.fd = -1;
    const auto fd = open_executable(at, path, flags);
    if (!fd) return std::unexpected(fd.error());
    return resolve_program(*fd, false, out);
}

}  // namespace anyperf::engine
