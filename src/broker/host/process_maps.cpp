// process_maps.cpp: parses /proc/PID/maps and the notes of ELF files.
//
// A path may name another file than the mapped one: the file may have been replaced, or the process may have another
// mount namespace. So file_of() reads only a regular file with the inode that maps shows. Without such a file the
// record has no generation and no build id, just as the kernel leaves out a build id that it does not find.
#include "broker/host/process_maps.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "broker/run_memory.h"

namespace anyperf::broker {

namespace {

/// Parses a line "start-end perms offset major:minor inode name" (proc(5), "/proc/pid/maps"). Nothing if the mapping
/// does not contain `address`.
std::optional<subsystem::TaskMapping> parse(const std::string& line, std::uint64_t address) {
    std::istringstream words{line};
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    char dash = 0;
    char colon = 0;
    std::string permissions;
    subsystem::TaskMapping mapped;
    words >> std::hex >> start >> dash >> end;
    if (!words || address < start || address >= end) return std::nullopt;
    words >> permissions >> mapped.offset >> mapped.device_major >> colon >> mapped.device_minor >> std::dec >>
        mapped.inode;
    if (!words || permissions.size() < 4) return std::nullopt;
    std::getline(words >> std::ws, mapped.name);
    mapped.offset += address - start;
    mapped.flags = permissions[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
    if (mapped.name.empty()) mapped.name = "//anon";
    // The kernel's record has the address as the offset of anonymous memory (do_mmap() sets pgoff to it, mm/mmap.c of
    // Linux), but maps shows 0.
    if (mapped.name == "//anon" || mapped.name == "[heap]") mapped.offset = address;
    return mapped;
}

/// Opens the file of a mapping, if its path still leads to that file. The path begins with /proc/PID/root, because the
/// process may have another root or mount namespace. A program may replace the file at any moment, so the checks are
/// made on the descriptor. It is opened with O_PATH, because opening a device or a FIFO can have an effect.
OwnedFd file_of(std::int32_t pid, const subsystem::TaskMapping& mapped) {
    if (!mapped.name.starts_with('/') || mapped.inode == 0) return {};
    const std::string path = "/proc/" + std::to_string(pid) + "/root" + mapped.name;
    struct stat about{};
    const OwnedFd place{::open(path.c_str(), O_PATH | O_CLOEXEC)};
    if (!place || ::fstat(place.get(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_ino != mapped.inode)
        return {};
    return OwnedFd{::open(("/proc/self/fd/" + std::to_string(place.get())).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
}

/// The inode's generation; 0 if its file system has none.
std::uint64_t generation_of(std::int32_t pid, const subsystem::TaskMapping& mapped) {
    const OwnedFd file = file_of(pid, mapped);
    std::uint64_t generation = 0;  // 64 bits: the request's number says long, but file systems write an int
    if (!file || ::ioctl(file.get(), FS_IOC_GETVERSION, &generation) != 0) return 0;
    return generation;
}

/// The build id in a PT_NOTE segment; empty if it has none.
std::vector<std::byte> find_build_id(const std::vector<char>& notes) {
    for (std::size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
        Elf64_Nhdr note;
        std::memcpy(&note, notes.data() + at, sizeof note);
        const std::size_t name = at + sizeof note;
        const std::size_t description = name + ((note.n_namesz + 3u) & ~3u);
        const std::size_t next = description + ((note.n_descsz + 3u) & ~3u);
        if (next > notes.size() || next <= at) break;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes.data() + name, "GNU", 4) == 0) {
            const auto* const bytes = reinterpret_cast<const std::byte*>(notes.data() + description);
            return {bytes, bytes + std::min<std::size_t>(note.n_descsz, 20)};
        }
        at = next;
    }
    return {};
}

}  // namespace

std::optional<subsystem::TaskMapping> mapping_of(std::int32_t pid, std::uint64_t address) {
    std::ifstream maps{"/proc/" + std::to_string(pid) + "/maps"};
    for (std::string line; std::getline(maps, line);)
        if (auto mapped = parse(line, address)) {
            mapped->generation = generation_of(pid, *mapped);
            return mapped;
        }
    return std::nullopt;
}

std::vector<std::byte> build_id_of(std::int32_t pid, const subsystem::TaskMapping& mapped) {
    const OwnedFd file = file_of(pid, mapped);
    Elf64_Ehdr header;
    if (!file || ::pread(file.get(), &header, sizeof header, 0) != sizeof header ||
        std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_phentsize != sizeof(Elf64_Phdr))
        return {};
    constexpr std::size_t kLargestNotes = 65536;
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment;
        const auto place = static_cast<off_t>(header.e_phoff + std::uint64_t{i} * sizeof segment);
        if (::pread(file.get(), &segment, sizeof segment, place) != sizeof segment) return {};
        if (segment.p_type != PT_NOTE || segment.p_filesz > kLargestNotes) continue;
        std::vector<char> notes(segment.p_filesz);
        const ssize_t got = ::pread(file.get(), notes.data(), notes.size(), static_cast<off_t>(segment.p_offset));
        notes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        if (auto id = find_build_id(notes); !id.empty()) return id;
    }
    return {};
}

subsystem::NamespaceLinks namespaces_of(std::int32_t pid, std::int32_t tid) {
    // The order of the kernel's enum (PERF_RECORD_NAMESPACES).
    constexpr std::array<const char*, subsystem::kNamespaces> kNames{"net",  "uts", "ipc",   "pid",
                                                                     "user", "mnt", "cgroup"};
    subsystem::NamespaceLinks links{};
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        const std::string path = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/ns/" + kNames[i];
        struct stat about{};
        if (::stat(path.c_str(), &about) == 0) links[i] = {about.st_dev, about.st_ino};
    }
    return links;
}

}  // namespace anyperf::broker
