// resolve_probed_file.cpp: a file is identified by the device and inode that /proc/self/maps shows for its mappings. On
// overlay and other stacked file systems stat(2) may give others. So the file is mapped for a moment, and its device
// and inode are read from the maps.
#include "agent/probes/resolve_probed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include <cstddef>

#include "anyperf/attr.h"
#include "engine/freestanding/pages.h"
#include "engine/syscalls/application_maps.h"
#include "engine/syscalls/proc_path.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::agent {

using engine::address_of;
using engine::at_address;
using engine::is_error;
using engine::kernel_call;
using engine::x86_64::guarded_copy;
using subsystem::FileId;
using subsystem::kTypeUprobe;
using subsystem::ProbedFile;

namespace {

constexpr std::size_t kLongestPath = 4096;  // PATH_MAX, with its NUL

/// 0, or the error that the kernel would give for the path's text: perf_uprobe_init() turns EINVAL of strndup_user(),
/// for a path that is too long, into E2BIG, and refuses an empty one with EINVAL.
std::int32_t path_error(std::uint64_t path) {
    if (path == 0) return EINVAL;
    for (std::size_t i = 0; i < kLongestPath; ++i) {
        char c = 0;
        if (!guarded_copy(&c, at_address<const char>(path + i), 1)) return EFAULT;
        if (c == 0) return i == 0 ? EINVAL : 0;
    }
    return E2BIG;
}

/// The path to open for the application's `path`. /proc/self/exe becomes the program's path, because the kernel would
/// find the engine there.
std::uint64_t real_path(const engine::Engine& engine, std::uint64_t path) {
    char room[engine::kLongestProcPath];
    const engine::ProcPath at = engine::parse_proc_path(engine::copy_short_path(path, room));
    const bool own = at.pid != 0 && at.pid == kernel_call(__NR_getpid);
    return own && at.rest == "exe" ? address_of(engine.program.path) : path;
}

/// Whether the file is in procfs or sysfs. Their files have no page cache, so uprobe_register() refuses them with EIO.
bool has_no_pages(std::uint64_t path) {
    constexpr std::uint64_t kProc = 0x9fa0;
    constexpr std::uint64_t kSys = 0x62656572;
    struct statfs system{};
    if (is_error(kernel_call(__NR_statfs, path, address_of(&system)))) return false;
    const auto type = static_cast<std::uint64_t>(system.f_type);
    return type == kProc || type == kSys;
}

/// The file's device and inode as /proc/self/maps shows them. False: this process cannot map the file.
bool name_in_maps(std::uint64_t path, FileId& name) {
    const long fd = kernel_call(__NR_open, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (is_error(fd)) return false;
    const long got = engine::map_own_pages(engine::kPageBytes, PROT_READ, MAP_PRIVATE, static_cast<int>(fd));
    kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
    if (is_error(got)) return false;
    const auto address = static_cast<std::uint64_t>(got);
    const engine::ApplicationMapping mapping = engine::mapping_at(address);
    engine::release_pages(at_address<void>(address), engine::kPageBytes);
    name = {mapping.device, mapping.inode};
    return mapping.inode != 0;
}

/// The file's device and inode, from its mapping; if it cannot be mapped, from stat(2).
FileId name_of(std::uint64_t path, const struct stat& about) {
    FileId name;
    if (!name_in_maps(path, name))
        name = {std::uint64_t{major(about.st_dev)} << 32 | minor(about.st_dev), about.st_ino};
    return name;
}

}  // namespace

// The order of the errors is that of the kernel: the pointer, the path, the kind of file.
ProbedFile resolve_probed_file(const engine::Engine& engine, std::uint64_t attr) {
    std::uint32_t type = 0;
    std::uint64_t path = 0;
    if (!guarded_copy(&type, at_address<const void>(attr), sizeof type) || type != kTypeUprobe) return {};
    if (!guarded_copy(&path, at_address<const void>(attr + offsetof(abi::Attr, config1)), sizeof path)) return {};
    ProbedFile file;
    file.error = path_error(path);
    if (file.error != 0) return file;
    path = real_path(engine, path);
    struct stat about{};
    const long got = kernel_call(__NR_stat, path, address_of(&about));
    if (is_error(got))
        file.error = static_cast<std::int32_t>(-got);
    else if (!S_ISREG(about.st_mode))
        file.error = EINVAL;
    else if (has_no_pages(path))
        file.error = EIO;
    if (file.error != 0) return file;
    file.name = name_of(path, about);
    file.bytes = static_cast<std::uint64_t>(about.st_size);
    return file;
}

}  // namespace anyperf::agent
