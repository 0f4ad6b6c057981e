#include "engine/syscalls/directories.h"

#include <asm/unistd.h>
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "engine/freestanding/pages.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/made_files.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

/// The directory of a descriptor. The entries follow in memory as getdents64 gave them, then where each of them is.
struct SortedDirectory {
    SortedDirectory* next;
    std::uint64_t mapped;  ///< bytes of this memory
    std::uint64_t fd;
    std::uint64_t device;
    std::uint64_t length;  ///< bytes of the entries
    std::uint64_t count;
    std::uint64_t position;  ///< the entry that is read next

    char* entries() { return reinterpret_cast<char*>(this + 1); }
    std::uint32_t* places() { return reinterpret_cast<std::uint32_t*>(entries() + length); }
};

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
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

std::string_view name_of(const char* entry) {
    return {entry + kName};
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

void forget(Engine& engine, std::uint64_t first, std::uint64_t last) {
    for (SortedDirectory** link = &engine.directories; *link != nullptr;) {
        SortedDirectory* const one = *link;
        if (one->fd < first || one->fd > last) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        release_pages(one, one->mapped);
    }
}

/// Memory for `bytes` of entries, and for where at most that many are.
SortedDirectory* make_room(std::uint64_t bytes) {
    constexpr std::uint64_t kShortestEntry = 24;
    const std::uint64_t mapped =
        page_up(sizeof(SortedDirectory) + bytes + bytes / kShortestEntry * sizeof(std::uint32_t));
    auto* const made = static_cast<SortedDirectory*>(reserve_pages(mapped));
    if (made != nullptr) made->mapped = mapped;
    return made;
}

/// Reads the entries of the directory, which is at its beginning. Null: `error` is the kernel's, or 0 if there is no
/// room for them.
SortedDirectory* read_all(std::uint64_t fd, long& error) {
    std::uint64_t room = std::uint64_t{1} << 15;
    SortedDirectory* all = make_room(room);
    error = 0;
    while (all != nullptr) {
        const long got = kernel_call(__NR_getdents64, fd, address_of(all->entries() + all->length), room - all->length);
        if (got > 0) all->length += static_cast<std::uint64_t>(got);
        if (got == 0) return all;
        error = got < 0 && got != -EINVAL ? got : 0;
        SortedDirectory* const larger = error == 0 && room < kMostBytes ? make_room(room * 2) : nullptr;
        if (larger != nullptr) {
            larger->length = all->length;
            __builtin_memcpy(larger->entries(), all->entries(), all->length);
        }
        release_pages(all, all->mapped);
        all = larger;
        room *= 2;
    }
    return nullptr;
}

void sort(SortedDirectory& all) {
    all.length = (all.length + 7) & ~std::uint64_t{7};
    for (std::uint64_t at = 0; at + kName < all.length;) {
        Entry entry;
        __builtin_memcpy(&entry, all.entries() + at, kName);
        if (entry.bytes == 0) break;
        all.places()[all.count++] = static_cast<std::uint32_t>(at);
        at += entry.bytes;
    }
    const char* const entries = all.entries();
    std::sort(all.places(), all.places() + all.count,
              [entries](std::uint32_t a, std::uint32_t b) { return name_of(entries + a) < name_of(entries + b); });
}

/// The sorted directory of the descriptor; read if the program begins to read it. Null: it is not sorted, and `error`
/// is the call's answer if it is not 0.
SortedDirectory* directory_of(Engine& engine, std::uint64_t fd, long& error) {
    error = 0;
    if (SortedDirectory* const known = find(engine, fd); known != nullptr) return known;
    struct statfs system{};
    struct stat about{};
    if (is_error(kernel_call(__NR_fstatfs, fd, address_of(&system))) || system.f_type == kProcFiles ||
        is_error(kernel_call(__NR_fstat, fd, address_of(&about))) || !S_ISDIR(about.st_mode) ||
        kernel_call(__NR_lseek, fd, 0, SEEK_CUR) != 0)
        return nullptr;
    SortedDirectory* const all = read_all(fd, error);
    if (all == nullptr) {
        kernel_call(__NR_lseek, fd, 0, SEEK_SET);
        return nullptr;
    }
    sort(*all);
    all->fd = fd;
    all->device = about.st_dev;
    all->next = engine.directories;
    engine.directories = all;
    return all;
}

/// Stores entry `number` at `to`, where `room` bytes are. Returns its bytes; 0: it does not fit; negative: EFAULT.
long store_entry(const Engine& engine, SortedDirectory& all, std::uint64_t number, bool is_old, std::uint64_t to,
                 std::uint64_t room) {
    char out[512] = {};  // a name has at most 255 bytes
    const char* const from = all.entries() + all.places()[number];
    Entry entry;
    __builtin_memcpy(&entry, from, kName);
    const std::string_view name = name_of(from).substr(0, 255);
    const std::size_t name_at = is_old ? kOldName : kName;
    const std::size_t bytes = (name_at + name.size() + (is_old ? 2 : 1) + 7) & ~std::size_t{7};
    if (bytes > room) return 0;
    entry.inode = shown_inode(engine, all.device, entry.inode, DTTOIF(entry.kind));
    entry.next = static_cast<std::int64_t>(number + 1);
    entry.bytes = static_cast<std::uint16_t>(bytes);
    __builtin_memcpy(out, &entry, name_at);
    __builtin_memcpy(out + name_at, name.data(), name.size());
    if (is_old) out[bytes - 1] = static_cast<char>(entry.kind);
    return x86_64::guarded_copy(at_address<void>(to), out, bytes) ? static_cast<long>(bytes) : -EFAULT;
}

}  // namespace

bool read_sorted(Call& call, bool is_old, long& answer) {
    if (!has_virtual_clock(call.engine) || call.thread.owned_by_parent) return false;
    const Held held{call.engine};
    if (!held) return false;
    const std::uint64_t fd = static_cast<std::uint32_t>(call.argument[0]);
    SortedDirectory* const all = directory_of(call.engine, fd, answer);
    if (all == nullptr) return answer != 0;
    std::uint64_t stored = 0;
    const std::uint64_t room = static_cast<std::uint32_t>(call.argument[2]);
    while (all->position < all->count) {
        const long bytes =
            store_entry(call.engine, *all, all->position, is_old, call.argument[1] + stored, room - stored);
        if (bytes <= 0 && stored == 0) answer = bytes < 0 ? bytes : -EINVAL;
        if (bytes <= 0) break;
        stored += static_cast<std::uint64_t>(bytes);
        ++all->position;
    }
    if (stored != 0) answer = static_cast<long>(stored);
    return true;
}

void forget_closed_directories(Engine& engine, std::uint64_t number, const std::uint64_t* argument) {
    if (engine.directories == nullptr) return;
    const Held held{engine};
    if (!held) return;
    const auto fd = [argument](unsigned i) { return std::uint64_t{static_cast<std::uint32_t>(argument[i])}; };
    switch (number) {
        case __NR_close: return forget(engine, fd(0), fd(0));
        case __NR_dup2:
        case __NR_dup3: return forget(engine, fd(1), fd(1));
        case __NR_close_range: return forget(engine, fd(0), fd(1));
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
    auto to = static_cast<std::int64_t>(call.argument[1]);
    switch (static_cast<std::uint32_t>(call.argument[2])) {
        case SEEK_SET: break;
        case SEEK_CUR: to += static_cast<std::int64_t>(all->position); break;
        case SEEK_END: to += static_cast<std::int64_t>(all->count); break;
        default: return -EINVAL;
    }
    if (to < 0 || to > static_cast<std::int64_t>(all->count)) return -EINVAL;
    if (to == 0) {
        forget(call.engine, fd, fd);
        return kernel_call(__NR_lseek, fd, 0, SEEK_SET);
    }
    all->position = static_cast<std::uint64_t>(to);
    return to;
}

}  // namespace handlers

}  // namespace anyperf::engine
