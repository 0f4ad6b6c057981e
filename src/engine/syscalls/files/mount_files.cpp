// mount_files.cpp: rewrites the lines of /proc/PID/mountinfo (show_mountinfo() in fs/proc_namespace.c) and of
// /proc/PID/fdinfo/FD (seq_show() in fs/proc/fd.c).
#include "engine/syscalls/mount_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>

#include "engine/freestanding/memory_file.h"
#include "engine/freestanding/pages.h"
#include "engine/freestanding/text.h"
#include "engine/syscalls/made_files.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

constexpr std::string_view kFdinfo = "fdinfo/";

/// Groups of mounts that share changes are counted apart from mounts.
constexpr std::uint64_t kIsPeerGroup = std::uint64_t{1} << 40;

/// Takes the next line or word, which `end` ends, from `rest`.
std::string_view take(std::string_view& rest, char end) {
    const std::size_t length = std::min(rest.find(end), rest.size());
    const std::string_view piece = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    return piece;
}

/// A text in reserved memory, and beside it what is made of it.
class Copy {
  public:
    Copy() : room_(static_cast<char*>(reserve_pages(2 * kRoom))) {}
    ~Copy() {
        if (room_ != nullptr) release_pages(room_, 2 * kRoom);
    }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;

    /// Reads the whole file. Returns its length or a negated errno.
    long read(std::uint64_t fd) {
        if (room_ == nullptr) return -ENOMEM;
        long got = 0;
        do {
            got = kernel_call(__NR_read, fd, address_of(room_ + length_), kRoom - length_);
            if (got > 0) length_ += static_cast<std::size_t>(got);
        } while (got > 0 && length_ < kRoom);
        return is_error(got) ? got : static_cast<long>(length_);
    }
    std::string_view original() const { return {room_, length_}; }
    std::string_view made() const { return {room_ + kRoom, made_}; }

    void put(std::string_view text) {
        const std::size_t bytes = std::min(text.size(), kRoom - made_);
        __builtin_memcpy(room_ + kRoom + made_, text.data(), bytes);
        made_ += bytes;
    }
    void put(std::uint64_t value) {
        Line digits;
        put(digits.decimal(static_cast<std::int64_t>(value)).view());
    }

  private:
    static constexpr std::size_t kRoom = std::size_t{4} << 20;  // only as much is touched as the file is long
    char* room_;
    std::size_t length_ = 0;
    std::size_t made_ = 0;
};

/// "254:1"
void put_device(const Engine& engine, std::string_view word, Copy& out) {
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
void put_peers(const Engine& engine, std::string_view word, Copy& out) {
    std::string_view rest = word;
    std::uint64_t group = 0;
    take(rest, ':');
    const std::size_t before = word.size() - rest.size();
    if (!take_decimal(rest, group)) return out.put(word);
    out.put(word.substr(0, before));
    out.put(shown_mount(engine, group | kIsPeerGroup));
}

/// "36 35 254:1 ROOT PLACE OPTIONS PEERS - TYPE SOURCE OPTIONS"
void put_mount(const Engine& engine, std::string_view line, Copy& out) {
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

/// A line of fdinfo: "mnt_id:\t15". `path`: of the descriptor.
void put_fact(const Engine& engine, std::string_view line, const char* path, Copy& out) {
    std::string_view rest = line;
    std::uint64_t number = 0;
    const std::string_view name = take(rest, '\t');
    if ((name != "mnt_id:" && name != "ino:") || !take_decimal(rest, number)) return out.put(line);
    const std::uint64_t inode = name == "ino:" ? inode_at(engine, path) : 0;
    out.put(name);
    out.put("\t");
    out.put(name == "mnt_id:" ? shown_mount(engine, number) : inode != 0 ? inode : number);
}

}  // namespace

bool is_mount_file(const ProcPath& path) {
    return path.pid != 0 && (path.rest == "mountinfo" || path.rest.starts_with(kFdinfo));
}

long copy_mount_file(const Engine& engine, const ProcPath& path, std::uint64_t fd, std::uint64_t flags) {
    Copy copy;
    if (const long error = copy.read(fd); is_error(error)) return error;
    std::string_view number = path.rest;
    number.remove_prefix(std::min(kFdinfo.size(), number.size()));
    Line of_descriptor;
    of_descriptor.text("/proc/").decimal(path.pid).text("/fd/").text(number).text(std::string_view{"\0", 1});
    for (std::string_view rest = copy.original(); !rest.empty();) {
        const std::string_view line = take(rest, '\n');
        if (path.rest == "mountinfo")
            put_mount(engine, line, copy);
        else  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): it ends with a NUL
            put_fact(engine, line, of_descriptor.view().data(), copy);
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
