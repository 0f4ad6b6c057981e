#include "engine/syscalls/directories.h"

#include <asm/unistd.h>
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "engine/freestanding/descriptor_link.h"
#include "engine/freestanding/pages.h"
#include "engine/freestanding/text.h"
#include "engine/shown_ids.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/made_files.h"
#include "engine/syscalls/proc_path.h"
#include "engine/threads/run_records.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

/// Where an entry is, and what it is sorted by.
struct Place {
    std::uint64_t key;  ///< of the name, the first bytes in which names of the directory differ, the first one highest
    std::uint32_t at;
};

/// The directory of a descriptor, or memory that is kept for the next one. Room for entries, as getdents64 gives them,
/// follows in memory, then room for their places.
struct SortedDirectory {
    SortedDirectory* next;
    std::uint64_t mapped;  ///< bytes of this memory
    std::uint64_t room;    ///< for entries, in bytes
    std::uint64_t fd;
    std::uint64_t device;
    std::uint64_t length;  ///< bytes of the entries
    std::uint64_t count;
    std::uint64_t next_place;  ///< of the entry that is read next
    std::uint64_t before;      ///< entries of the parts that were read before
    bool at_end;               ///< the directory has no more
    bool of_threads;           ///< /proc/PID/task: the names are ids of threads

    char* entries() { return reinterpret_cast<char*>(this + 1); }
    Place* places() { return reinterpret_cast<Place*>(entries() + room); }
    std::uint64_t position() const { return before + next_place; }
};

namespace {

constexpr std::uint64_t kFirstRoom = std::uint64_t{1} << 15;
constexpr std::uint64_t kMostRoom = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostKeptRoom = std::uint64_t{1} << 20;
constexpr unsigned kMostKept = 4;
/// The descriptor of memory that is kept.
constexpr std::uint64_t kNobody = UINT64_MAX;
constexpr std::int64_t kProcFiles = 0x9fa0;  // PROC_SUPER_MAGIC

/// struct linux_dirent64 before its name, and the offsets of the older struct linux_dirent.
struct Entry {
    std::uint64_t inode;
    std::int64_t next;
    std::uint16_t bytes;
    std::uint8_t kind;
};
constexpr std::size_t kName = 19;
constexpr std::size_t kOldName = 18;
constexpr std::size_t kLongestName = 255;

Entry head_of(const char* entry) {
    Entry head;
    __builtin_memcpy(&head, entry, kName);
    return head;
}

/// The bytes of an entry are a multiple of 8, and no more than the name needs, so its NUL is in the last 8.
std::string_view name_of(const char* entry) {
    const std::size_t bytes = head_of(entry).bytes;
    std::size_t end = std::max(kName, bytes - 8);
    while (end + 1 < bytes && entry[end] != 0) ++end;
    return {entry + kName, end - kName};
}

/// The bytes of the name from `from` on, which is in it or at its end, then zeros. Reads up to 7 bytes after the entry.
std::uint64_t key_of(const char* entry, std::size_t from) {
    constexpr std::uint64_t kOnes = 0x0101010101010101;
    std::uint64_t bytes;
    __builtin_memcpy(&bytes, entry + kName + from, sizeof bytes);
    // The highest bit of each byte that is zero, and perhaps of some after the first one.
    const std::uint64_t zeros = (bytes - kOnes) & ~bytes & (kOnes << 7);
    if (zeros != 0) bytes &= ((zeros & -zeros) >> 7) - 1;
    return __builtin_bswap64(bytes);
}

/// The lock of the list of a process's directories. Waiting for it ends after some tries: if another thread held it
/// during a fork, it stays locked in the child.
class Held {
  public:
    explicit Held(Engine& engine) : word_(engine.directories_lock) {
        constexpr int kMost = 1000;
        for (int tries = 0; tries < kMost && !held_; ++tries) {
            held_ = __atomic_exchange_n(&word_, 1, __ATOMIC_ACQUIRE) == 0;
            if (!held_) kernel_call(__NR_sched_yield);
        }
    }
    ~Held() {
        if (held_) __atomic_store_n(&word_, 0, __ATOMIC_RELEASE);
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    explicit operator bool() const { return held_; }

  private:
    std::uint32_t& word_;
    bool held_ = false;
};

SortedDirectory* find(const Engine& engine, std::uint64_t fd) {
    SortedDirectory* at = engine.directories;
    while (at != nullptr && at->fd != fd) at = at->next;
    return at;
}

/// Keeps the memory of the directories of these descriptors for others, or releases it.
void forget(Engine& engine, std::uint64_t first, std::uint64_t last) {
    unsigned kept = 0;
    for (SortedDirectory** link = &engine.directories; *link != nullptr;) {
        SortedDirectory* const one = *link;
        if (one->fd >= first && one->fd <= last) one->fd = kNobody;
        if (one->fd != kNobody || (one->room <= kMostKeptRoom && ++kept <= kMostKept)) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        release_pages(one, one->mapped);
    }
}

/// Memory for `room` bytes of entries, and for where at most that many are.
SortedDirectory* make_room(std::uint64_t room) {
    constexpr std::uint64_t kShortestEntry = 24;
    const std::uint64_t mapped = page_up(sizeof(SortedDirectory) + room + room / kShortestEntry * sizeof(Place));
    auto* const made = static_cast<SortedDirectory*>(reserve_pages(mapped));
    if (made == nullptr) return nullptr;
    made->mapped = mapped;
    made->room = room;
    return made;
}

/// Takes kept memory out of the list of directories, or reserves new memory. Null if no memory is left.
SortedDirectory* take_room(Engine& engine) {
    for (SortedDirectory** link = &engine.directories; *link != nullptr; link = &(*link)->next) {
        SortedDirectory* const one = *link;
        if (one->fd != kNobody) continue;
        *link = one->next;
        return one;
    }
    return make_room(kFirstRoom);
}

/// Doubles the room for entries. Returns false at the largest size, or if no memory is left.
bool grow(SortedDirectory*& all) {
    SortedDirectory* const larger = all->room < kMostRoom ? make_room(all->room * 2) : nullptr;
    if (larger == nullptr) return false;
    larger->length = all->length;
    __builtin_memcpy(larger->entries(), all->entries(), all->length);
    release_pages(all, all->mapped);
    all = larger;
    return true;
}

/// Reads what is left of the directory, or as much as there is room for. Returns an error of the kernel, or 0.
long read_part(std::uint64_t fd, SortedDirectory*& all, bool may_grow) {
    all->length = 0;
    all->at_end = false;
    do {
        const long got =
            kernel_call(__NR_getdents64, fd, address_of(all->entries() + all->length), all->room - all->length);
        all->at_end = got == 0;
        if (got > 0) all->length += static_cast<std::uint64_t>(got);
        if (is_error(got) && all->length == 0) return got;
        // EINVAL: there is no room for one more entry. After another error the next call meets it again.
        if (is_error(got) && (got != -EINVAL || !may_grow || !grow(all))) return 0;
    } while (!all->at_end);
    return 0;
}

/// "." and "..", which most directories have.
bool is_dots(const char* name) {
    return name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0));
}

/// What all names but dots begin with.
struct Common {
    std::size_t bytes = 0;          ///< 0 if that is a dot
    std::uint64_t key_of_dots = 0;  ///< dots precede or follow all names with the same first byte
};

/// Finds the entries.
Common find_entries(SortedDirectory& all) {
    const char* first = nullptr;
    Common common;
    all.count = 0;
    for (std::uint64_t at = 0; at + kName < all.length;) {
        const char* const entry = all.entries() + at;
        const std::uint16_t bytes = head_of(entry).bytes;
        if (bytes == 0) break;
        all.places()[all.count++] = {0, static_cast<std::uint32_t>(at)};
        at += bytes;
        const char* const name = entry + kName;
        if (is_dots(name)) continue;
        if (first == nullptr) {
            first = name;
            common.bytes = first[0] == '.' ? 0 : name_of(entry).size();
            common.key_of_dots = static_cast<unsigned char>(first[0]) > '.' ? 0 : UINT64_MAX;
        }
        std::size_t same = 0;
        while (same < common.bytes && name[same] == first[same]) ++same;
        common.bytes = same;
    }
    return common;
}

void sort(SortedDirectory& all) {
    const Common common = find_entries(all);
    const char* const entries = all.entries();
    std::for_each(all.places(), all.places() + all.count, [&](Place& place) {
        const char* const entry = entries + place.at;
        place.key = common.bytes != 0 && is_dots(entry + kName) ? common.key_of_dots : key_of(entry, common.bytes);
    });
    std::sort(all.places(), all.places() + all.count, [entries](const Place& a, const Place& b) {
        return a.key != b.key ? a.key < b.key : name_of(entries + a.at) < name_of(entries + b.at);
    });
    all.next_place = 0;
}

/// Whether a file system is /proc. `device`: as stat(2) reports it.
bool is_proc(const Engine& engine, std::uint64_t fd, std::uint64_t device) {
    if (major(device) != 0) return false;  // a disk
    for (const SortedDirectory* one = engine.directories; one != nullptr; one = one->next)
        if (one->device == device) return one->of_threads;
    struct statfs system{};
    return is_error(kernel_call(__NR_fstatfs, fd, address_of(&system))) || system.f_type == kProcFiles;
}

/// Whether the descriptor is of /proc/PID/task of a process of the run, and names there are translated.
bool lists_threads(const Engine& engine, std::uint64_t fd) {
    if (!turns::shows_ids(engine)) return false;
    char room[64];
    const std::string_view link = link_of_descriptor(fd, room);
    if (link.empty()) return false;
    const ProcPath at = parse_proc_path(link);
    return at.rest == "task" && record_of_process(engine, at.pid) != nullptr;
}

/// The name that programs see for an entry of /proc/PID/task.
std::int32_t shown_thread(const Engine& engine, std::string_view name) {
    const std::int32_t id = decimal_number(name);
    return id == 0 ? 0 : turns::shown_of(engine, id);
}

void sort_threads(const Engine& engine, SortedDirectory& all) {
    for (std::size_t i = 0; i < all.count; ++i) {
        Place& place = all.places()[i];
        place.key = static_cast<std::uint64_t>(shown_thread(engine, name_of(all.entries() + place.at)));
    }
    std::sort(all.places(), all.places() + all.count, [](const Place& a, const Place& b) { return a.key < b.key; });
}

/// The device of the directory that the descriptor is open on. Mostly the program has asked about it. False: it is no
/// directory.
bool device_of(const Call& call, std::uint64_t fd, std::uint64_t& device) {
    const run::MadeFile known = remembered_file(call, fd);
    struct stat about{};
    if (!known && (is_error(kernel_call(__NR_fstat, fd, address_of(&about))) || !S_ISDIR(about.st_mode))) return false;
    device = known ? known.device() : about.st_dev;
    return true;
}

/// The sorted directory of the descriptor; read if the program begins to read it. Null: it is not sorted, and `error`
/// is the call's answer if it is not 0.
SortedDirectory* directory_of(const Call& call, std::uint64_t fd, long& error) {
    Engine& engine = call.engine;
    error = 0;
    if (SortedDirectory* const known = find(engine, fd); known != nullptr) return known;
    std::uint64_t device = 0;
    if (!device_of(call, fd, device)) return nullptr;
    const bool of_threads = is_proc(engine, fd, device);
    if (of_threads && !lists_threads(engine, fd)) return nullptr;
    SortedDirectory* all = take_room(engine);
    if (all == nullptr) return nullptr;
    error = read_part(fd, all, true);
    sort(*all);
    all->of_threads = of_threads;
    if (of_threads) sort_threads(engine, *all);
    all->fd = error == 0 ? fd : kNobody;
    all->device = device;
    all->before = 0;
    all->next = engine.directories;
    engine.directories = all;
    return error == 0 ? all : nullptr;
}

/// Writes the entry that is read next to `out`, for a program that has `room` bytes left. Returns its bytes; 0: it does
/// not fit.
std::size_t write_entry(const Engine& engine, SortedDirectory& all, bool is_old, char* out, std::uint64_t room) {
    const char* const from = all.entries() + all.places()[all.next_place].at;
    Entry entry = head_of(from);
    std::string_view name = name_of(from).substr(0, kLongestName);
    Line shown;
    if (const std::int32_t id = all.of_threads ? shown_thread(engine, name) : 0; id != 0)
        name = shown.decimal(id).view();
    const std::size_t name_at = is_old ? kOldName : kName;
    const std::size_t bytes = (name_at + name.size() + (is_old ? 2 : 1) + 7) & ~std::size_t{7};
    if (bytes > room) return 0;
    entry.inode = shown_inode(engine, all.device, entry.inode, DTTOIF(entry.kind));
    entry.next = static_cast<std::int64_t>(all.position() + 1);
    entry.bytes = static_cast<std::uint16_t>(bytes);
    __builtin_memset(out + bytes - 8, 0, 8);
    __builtin_memcpy(out, &entry, name_at);
    __builtin_memcpy(out + name_at, name.data(), name.size());
    if (is_old) out[bytes - 1] = static_cast<char>(entry.kind);
    return bytes;
}

/// Copies the entries in `piece` to the program. If not all of its memory can be written, as many as fit there. Returns
/// how many bytes they have, and adds their number to `count`.
std::size_t copy_entries(std::uint64_t to, const char* piece, std::size_t length, std::uint64_t& count) {
    // guarded_prefix() copies byte by byte.
    const std::size_t there = x86_64::guarded_copy(at_address<void>(to), piece, length)
                                  ? length
                                  : x86_64::guarded_prefix(at_address<void>(to), piece, length);
    std::size_t copied = 0;
    while (copied < length && copied + head_of(piece + copied).bytes <= there) {
        copied += head_of(piece + copied).bytes;
        ++count;
    }
    return copied;
}

/// Stores the entries that are read next at `to`, where `room` bytes are. Returns their bytes; 0: there are no more;
/// negative: an error.
long store_entries(const Engine& engine, SortedDirectory& all, bool is_old, std::uint64_t to, std::uint64_t room) {
    char piece[2048];
    constexpr std::size_t kLongestEntry = (kName + kLongestName + 1 + 7) / 8 * 8;
    std::uint64_t stored = 0;
    for (;;) {
        const std::uint64_t first = all.next_place;
        std::size_t length = 0;
        while (all.next_place < all.count && length + kLongestEntry <= sizeof piece) {
            const std::size_t bytes = write_entry(engine, all, is_old, piece + length, room - stored - length);
            if (bytes == 0) break;
            length += bytes;
            ++all.next_place;
        }
        if (length == 0) return stored != 0 || all.next_place == all.count ? static_cast<long>(stored) : -EINVAL;
        all.next_place = first;
        const std::size_t copied = copy_entries(to + stored, piece, length, all.next_place);
        stored += copied;
        if (copied < length) return stored != 0 ? static_cast<long>(stored) : -EFAULT;
    }
}

/// If all entries that are in memory have been given: reads the next part of a directory that has more. Returns an
/// error of the kernel, or 0.
long read_further(SortedDirectory& all) {
    if (all.next_place < all.count || all.at_end) return 0;
    const std::uint64_t before = all.position();
    SortedDirectory* same = &all;
    const long error = read_part(all.fd, same, false);
    sort(all);
    all.before = before;
    return error;
}

}  // namespace

bool read_sorted(Call& call, bool is_old, long& answer) {
    if (!has_virtual_clock(call.engine) || call.thread.owned_by_parent) return false;
    const Held held{call.engine};
    if (!held) return false;
    const std::uint64_t fd = static_cast<std::uint32_t>(call.argument[0]);
    SortedDirectory* const all = directory_of(call, fd, answer);
    if (all == nullptr) return answer != 0;
    answer = read_further(*all);
    const std::uint64_t room = static_cast<std::uint32_t>(call.argument[2]);
    if (all->next_place < all->count) answer = store_entries(call.engine, *all, is_old, call.argument[1], room);
    return true;
}

void forget_closed_directories(Engine& engine, std::uint64_t number, const std::uint64_t* argument) {
    if (engine.directories == nullptr) return;
    const auto forget_range = [&](std::uint64_t first, std::uint64_t last) {
        const Held held{engine};
        if (held) forget(engine, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last));
    };
    switch (number) {
        case __NR_close: return forget_range(argument[0], argument[0]);
        case __NR_dup2:
        case __NR_dup3: return forget_range(argument[1], argument[1]);
        case __NR_close_range: return forget_range(argument[0], argument[1]);
        default: return;
    }
}

namespace handlers {

long lseek(Call& call) {
    if (call.engine.directories == nullptr || call.thread.owned_by_parent) return call.pass_to_kernel();
    const Held held{call.engine};
    const std::uint64_t fd = static_cast<std::uint32_t>(call.argument[0]);
    SortedDirectory* const all = held ? find(call.engine, fd) : nullptr;
    if (all == nullptr) return call.pass_to_kernel();
    const auto first = static_cast<std::int64_t>(all->before);
    const auto end = static_cast<std::int64_t>(all->before + all->count);
    auto to = static_cast<std::int64_t>(call.argument[1]);
    switch (static_cast<std::uint32_t>(call.argument[2])) {
        case SEEK_SET: break;
        case SEEK_CUR: to += static_cast<std::int64_t>(all->position()); break;
        case SEEK_END: to += end; break;
        default: return -EINVAL;
    }
    if (to == 0) {
        forget(call.engine, fd, fd);
        return kernel_call(__NR_lseek, fd, 0, SEEK_SET);
    }
    if (to < first || to > end) return -EINVAL;
    all->next_place = static_cast<std::uint64_t>(to - first);
    return to;
}

}  // namespace handlers

}  // namespace anyperf::engine
