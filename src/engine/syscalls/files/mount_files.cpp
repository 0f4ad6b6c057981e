// mount_files.cpp: rewrites the lines of /proc/PID/mountinfo (show_mountinfo() in fs/proc_namespace.c) and of
// /proc/PID/fdinfo/FD (seq_show() in fs/proc/fd.c).
#include "engine/syscalls/mount_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>

#include "engine/freestanding/copied_text.h"
#include "engine/freestanding/memory_file.h"
#include "engine/freestanding/text.h"
#include "engine/shown_ids.h"
#include "engine/syscalls/made_files.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

constexpr std::string_view kFdinfo = "fdinfo/";

/// Groups of mounts that share changes are counted apart from mounts.
constexpr std::uint64_t kIsPeerGroup = std::uint64_t{1} << 40;

/// "254:1"
void put_device(const Engine& engine, std::string_view word, CopiedText& out) {
    std::uint64_t major_number = 0;
    std::uint64_t minor_number = 0;
    std::string_view rest = word;
    if (!take_decimal(rest, major_number) || !rest.starts_with(':')) return out.put(word);
    rest.remove_prefix(1);
    take_decimal(rest, minor_number);
    const std::uint64_t shown =
        shown_device(engine, makedev(static_cast<unsigned>(major_number), static_cast<unsigned>(minor_number)));
    out.put(major(shown));
    out.put(":");
    out.put(minor(shown));
}

/// "shared:2", "master:2", "propagate_from:2", "unbindable"
void put_peers(const Engine& engine, std::string_view word, CopiedText& out) {
    std::string_view rest = word;
    std::uint64_t group = 0;
    take(rest, ':');
    const std::size_t before = word.size() - rest.size();
    if (!take_decimal(rest, group)) return out.put(word);
    out.put(word.substr(0, before));
    out.put(shown_mount(engine, group | kIsPeerGroup));
}

/// "36 35 254:1 ROOT PLACE OPTIONS PEERS - TYPE SOURCE OPTIONS"
void put_mount(const Engine& engine, std::string_view line, CopiedText& out) {
    constexpr unsigned kIds = 2, kDevice = 2, kFirstPeers = 6;
    bool are_peers = true;
    for (unsigned field = 0; !line.empty(); ++field) {
        const std::string_view word = take(line, ' ');
        std::string_view rest = word;
        std::uint64_t number = 0;
        if (field != 0) out.put(" ");
        are_peers = are_peers && (field < kFirstPeers || word != "-");
        if (field < kIds && take_decimal(rest, number))
            out.put(shown_mount(engine, number));
        else if (field == kDevice)
            put_device(engine, word, out);
        else if (field >= kFirstPeers && are_peers)
            put_peers(engine, word, out);
        else
            out.put(word);
    }
}

/// The inode number that programs see for the file of a path below /proc/PID/fd or ns; 0: it cannot be looked at.
std::uint64_t inode_at(const Engine& engine, const char* path) {
    struct stat about{};
    if (is_error(kernel_call(__NR_stat, address_of(path), address_of(&about)))) return 0;
    return shown_inode(engine, about.st_dev, about.st_ino, about.st_mode);
}

/// The hexadecimal number after `name` in the line, and where its digits are. False: there is none.
struct HexField {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::uint64_t value = 0;

    static bool find(std::string_view line, std::string_view name, HexField& out) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        const std::size_t at = line.find(name);
        if (at == std::string_view::npos) return false;
        out.begin = at + name.size();
        out.end = std::min(line.find_first_not_of(kDigits, out.begin), line.size());
        out.value = 0;
        for (std::size_t i = out.begin; i < out.end; ++i) out.value = out.value << 4 | kDigits.find(line[i]);
        return out.end > out.begin;
    }
};

void put_hex(std::uint64_t value, Line& out) {
    char digits[16];
    std::size_t count = 0;
    do digits[count++] = "0123456789abcdef"[value & 15];
    while ((value >>= 4) != 0);
    while (count > 0) out.text({&digits[--count], 1});
}

/// A line about a file that an epoll or inotify descriptor watches: "inotify wd:1 ino:a740a3 sdev:fe00000 … f_handle:…"
/// (inotify_fdinfo() and ep_show_fdinfo() of Linux). The handle has the kernel's inode in it. Empty: another line.
Line shown_watch(const Engine& engine, std::string_view line) {
    constexpr unsigned kMinorBits = 20;  // of the kernel's dev_t
    Line shown;
    HexField inode, device, handle;
    if (!HexField::find(line, " ino:", inode) || !HexField::find(line, " sdev:", device) || device.begin < inode.end)
        return shown;
    const std::uint64_t kernels = makedev(static_cast<unsigned>(device.value >> kMinorBits),
                                          static_cast<unsigned>(device.value & ((1u << kMinorBits) - 1)));
    const std::uint64_t number = shown_device(engine, kernels);
    const std::size_t end = HexField::find(line, " f_handle:", handle) ? handle.begin : line.size();
    shown.text(line.substr(0, inode.begin));
    put_hex(shown_inode(engine, kernels, inode.value, 0), shown);
    shown.text(piece_of(line, inode.end, device.begin));
    put_hex(std::uint64_t{major(number)} << kMinorBits | minor(number), shown);
    shown.text(piece_of(line, device.end, end));
    for (std::size_t i = end; i < line.size(); ++i) shown.text("0");
    return shown;
}

}  // namespace

Line shown_fact(const Engine& engine, std::string_view line, const char* path) {
    Line shown;
    std::string_view rest = line;
    std::uint64_t number = 0;
    const std::string_view name = take(rest, '\t');
    if (name == line) return shown_watch(engine, line);
    const bool is_id = name == "Pid:" || name == "NSpid:";  // of a pidfd
    if ((name != "mnt_id:" && name != "ino:" && !is_id) || !take_decimal(rest, number)) return shown;
    if (is_id && !rest.empty()) return shown;
    if (is_id) {
        const std::int32_t id = turns::shown_of(engine, static_cast<std::int32_t>(number));
        shown.text(name).text("\t").decimal(id);
        return shown;
    }
    const std::uint64_t inode = name == "ino:" ? inode_at(engine, path) : 0;
    number = name == "mnt_id:" ? shown_mount(engine, number) : inode != 0 ? inode : number;
    shown.text(name).text("\t").decimal(static_cast<std::int64_t>(number));
    return shown;
}

bool is_mount_file(const ProcPath& path) {
    return path.pid != 0 && (path.rest == "mountinfo" || path.rest.starts_with(kFdinfo));
}

long copy_mount_file(const Engine& engine, const ProcPath& path, std::uint64_t fd, std::uint64_t flags) {
    CopiedText copy;
    if (const long error = copy.read(fd); is_error(error)) return error;
    std::string_view number = path.rest;
    number.remove_prefix(std::min(kFdinfo.size(), number.size()));
    Line of_descriptor;
    of_descriptor.text("/proc/").decimal(path.pid).text("/fd/").text(number).text(std::string_view{"\0", 1});
    for (std::string_view rest = copy.original(); !rest.empty();) {
        const std::string_view line = take(rest, '\n');
        if (path.rest == "mountinfo") {
            put_mount(engine, line, copy);
        } else {
            // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): it ends with a NUL
            const Line shown = shown_fact(engine, line, of_descriptor.view().data());
            copy.put(shown.view().empty() ? line : shown.view());
        }
        copy.put("\n");
    }
    return make_memory_file("mounts", copy.made(), flags);
}

bool read_numbered_link(const Engine& engine, std::string_view path, std::uint64_t buffer, std::uint64_t bytes,
                        long& answer) {
    const ProcPath at = parse_proc_path(path);
    if (!has_virtual_clock(engine) || at.pid == 0 || (!at.rest.starts_with("fd/") && !at.rest.starts_with("ns/")))
        return false;
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): it ends with a NUL
    const char* const place = path.data();
    char link[64];
    const long length = kernel_call(__NR_readlink, address_of(place), address_of(link), sizeof link);
    if (length <= 0) return false;
    std::string_view number{link, static_cast<std::size_t>(length)};
    std::uint64_t value = 0;
    const std::string_view kind = take(number, '[');
    if (!kind.ends_with(':') || !take_decimal(number, value) || number != "]") return false;
    const std::uint64_t inode = inode_at(engine, place);
    if (inode == 0) return false;
    Line shown;
    shown.text(kind).text("[").decimal(static_cast<std::int64_t>(inode)).text("]");
    const std::size_t copied = std::min<std::size_t>(shown.view().size(), bytes);
    answer = x86_64::guarded_copy(at_address<void>(buffer), shown.view().data(), copied) ? static_cast<long>(copied)
                                                                                         : -EFAULT;
    return true;
}

}  // namespace anyperf::engine
