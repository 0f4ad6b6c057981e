// program_file.cpp: see program_file.h.
#include "engine/load/program_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "engine/freestanding/kernel.h"

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kExecutable = 1;  // X_OK

std::unexpected<ProgramError> error(long value, const char* reason = nullptr) {
    return std::unexpected(ProgramError{value, reason});
}

std::uint64_t descriptor(int fd) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(fd));
}

/// Opens a regular file that the caller may execute. The error is a positive errno, as execve(2) gives it.
std::expected<int, ProgramError> open_executable(int at, const char* path, int flags) {
    const long allowed =
        kernel_call(__NR_faccessat2, descriptor(at), address_of(path), kExecutable,
                    static_cast<unsigned>((flags & (AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW)) | AT_EACCESS));
    if (is_error(allowed)) return error(-allowed);
    long fd = 0;
    if (path[0] == 0 && (flags & AT_EMPTY_PATH) != 0) {
        fd = kernel_call(__NR_fcntl, descriptor(at), F_DUPFD_CLOEXEC, 0);
    } else {
        const int nofollow = (flags & AT_SYMLINK_NOFOLLOW) != 0 ? O_NOFOLLOW : 0;
        fd = kernel_call(__NR_openat, descriptor(at), address_of(path),
                         static_cast<unsigned>(O_RDONLY | O_CLOEXEC | nofollow));
        if (fd == -EACCES)
            return error(EACCES, "it may be executed but not read, and anyperf has to read what it runs");
    }
    if (is_error(fd)) return error(-fd);
    return static_cast<int>(fd);
}

/// Refuses what is no regular file, and what would gain privilege, which only the kernel can give.
std::expected<void, ProgramError> check_file(int fd) {
    struct stat status{};
    const long got = kernel_call(__NR_fstat, descriptor(fd), address_of(&status));
    if (is_error(got)) return error(-got);
    if ((status.st_mode & S_IFMT) != S_IFREG) return error(EACCES);
    const long user = kernel_call(__NR_geteuid);
    const long group = kernel_call(__NR_getegid);
    const bool gains_user = (status.st_mode & S_ISUID) != 0 && status.st_uid != static_cast<unsigned>(user);
    const bool gains_group =
        (status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && status.st_gid != static_cast<unsigned>(group);
    if (gains_user || gains_group)
        return error(EPERM, "it is set-user-id or set-group-id, and only the kernel can give it that privilege");
    return {};
}

bool is_32_bit(const char* bytes, std::size_t count) {
    return count > EI_CLASS && bytes[0] == 0x7f && bytes[1] == 'E' && bytes[2] == 'L' && bytes[3] == 'F' &&
           bytes[EI_CLASS] == ELFCLASS32;
}

/// Follows scripts from `fd` (closed or kept in `out`) to an ELF file.
std::expected<void, ProgramError> follow(int fd, ProgramFile& out) {
    for (;;) {
        out.program.fd = fd;
        if (const auto checked = check_file(fd); !checked) return checked;
        char start[kScriptLine];
        const long count = kernel_call(__NR_pread64, descriptor(fd), address_of(start), sizeof start, 0);
        if (is_error(count)) return error(-count);
        if (is_32_bit(start, static_cast<std::size_t>(count)))
            return error(ENOEXEC, "it is a 32-bit program, and anyperf runs 64-bit ones");
        ScriptLine line;
        const auto script = parse_script(start, static_cast<std::size_t>(count), line);
        if (!script) return error(script.error());
        if (!*script) break;
        if (out.scripts == kDeepestScript) return error(ELOOP);
        out.lines[out.scripts++] = line;
        kernel_call(__NR_close, descriptor(fd));
        out.program.fd = -1;
        const auto next = open_executable(AT_FDCWD, line.interpreter, 0);
        if (!next) return std::unexpected(next.error());
        fd = *next;
    }
    if (const auto read = read_elf(fd, out.program); !read) return error(read.error());
    return {};
}

}  // namespace

void ProgramFile::close() {
    for (ElfFile* file : {&program, &loader}) {
        if (file->fd >= 0) kernel_call(__NR_close, descriptor(file->fd));
        file->fd = -1;
    }
}

std::expected<void, ProgramError> find_opened_program(int fd, ProgramFile& out) {
    out.program.fd = out.loader.fd = -1;
    out.scripts = 0;
    if (const auto followed = follow(fd, out); !followed) return followed;
    if (!out.program.has_interpreter()) return {};
    const auto loader = open_executable(AT_FDCWD, out.program.interpreter, 0);
    if (!loader) return std::unexpected(loader.error());
    if (const auto read = read_elf(*loader, out.loader); !read) {
        out.loader.fd = *loader;
        return error(read.error() == ENOEXEC ? ELIBBAD : read.error());
    }
    return {};
}

std::expected<void, ProgramError> find_program(int at, const char* path, int flags, ProgramFile& out) {
    out.program.fd = out.loader.fd = -1;
    const auto fd = open_executable(at, path, flags);
    if (!fd) return std::unexpected(fd.error());
    return find_opened_program(*fd, out);
}

}  // namespace anyperf::engine
