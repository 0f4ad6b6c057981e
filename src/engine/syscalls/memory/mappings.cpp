// mappings.cpp: calls that change mappings. The engine keeps a map of executable memory (memory/executable_map.h), so
// that it need not ask the kernel before it reads code, and it removes the translations of code that a call replaces.
//
// The map and the mappings have to change as one, or a thread could translate memory that is gone already. So a call
// that may concern code runs with the cache's lock held (class Change); translating needs the same lock. Other calls
// run without it.
//
// The engine's own memory is in the same address space. A call that names it fails as for an address that the
// application could not use (own_pages).
#include <asm/shmbuf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ipc.h>
#include <sys/mman.h>

#include <algorithm>

#include "engine/freestanding/pages.h"
#include "engine/memory/protected_code.h"
#include "engine/memory/written_files.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/locked_memory.h"
#include "engine/syscalls/memory_limits.h"
#include "engine/syscalls/submission_queues.h"
#include "engine/syscalls/turn_calls.h"

namespace anyperf::engine::handlers {

namespace {

/// A change of mappings. If code is concerned, it holds the cache's lock from before the system call until the map of
/// executable memory has been updated; otherwise it does nothing.
class Change {
  public:
    /// Code is concerned if [start, start + bytes) is executable now, or if the change makes memory `executable`.
    Change(Call& call, std::uint64_t start, std::uint64_t bytes, bool executable = false) : engine_(call.engine) {
        // The lock is taken in any case, because the question is about the map that it guards.
        Cache& cache = engine_.cache;
        cache.lock.lock();
        held_ = executable || cache.executable.touches(start, page_up(start + bytes));
        if (!held_) cache.lock.unlock();
    }
    ~Change() {
        if (held_) engine_.cache.lock.unlock();
    }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

    bool concerns_code() const { return held_; }

    /// Updates what the engine knows: [start, start + bytes) has other contents or rights now. Translations of it are
    /// removed; with PROT_EXEC in `protection` (PROT_*) it enters the map of executable memory.
    void replaced(std::uint64_t start, std::uint64_t bytes, std::uint64_t protection, bool shared) {
        if (held_) ++engine_.exact.epoch;
        has_rights(start, bytes, protection, shared);
    }
    /// The same after a change of rights: it is still the same memory.
    void has_rights(std::uint64_t start, std::uint64_t bytes, std::uint64_t protection, bool shared) {
        if (!held_) return;
        const std::uint64_t end = page_up(start + bytes);
        ExecutableMap& executable = engine_.cache.executable;
        if (executable.touches(start, end)) {
            engine_.cache.remove_range(start, end);
            executable.remove(start, end);
            engine_.protected_code.remove(start, end);
        }
        if ((protection & PROT_EXEC) != 0)
            executable.add({start, end, (protection & PROT_WRITE) != 0, shared, (protection & PROT_READ) == 0});
    }

  private:
    Engine& engine_;
    bool held_ = false;
};

/// Whether the range has memory of the engine's, which the application must not replace, unmap or protect.
bool is_ours(std::uint64_t start, std::uint64_t bytes) {
    return bytes != 0 && own_pages.touches(start, page_up(start + bytes));
}

bool executes(std::uint64_t protection) {
    return (protection & PROT_EXEC) != 0;
}

/// Adds PROT_READ to executable memory, because the engine reads it to translate it. Without protection keys x86 cannot
/// make memory executable but not readable, so most programs see no difference.
void make_readable(std::uint64_t& protection) {
    if (executes(protection)) protection |= PROT_READ;
}

/// Whether a mapping of the file can be seen to change other than by writing to the mapping: the memory is shared, or
/// the file is open for writing, by this descriptor or by another one. A private mapping, too, shows what is written to
/// its file.
bool may_change_unseen(const Call& call) {
    const bool is_file = (call.argument[3] & MAP_ANONYMOUS) == 0;
    if ((call.argument[3] & MAP_TYPE) != MAP_PRIVATE) return true;
    if (!is_file || !executes(call.argument[2])) return false;
    const long flags = kernel_call(__NR_fcntl, static_cast<std::uint32_t>(call.argument[4]), F_GETFL);
    if (is_error(flags)) return false;
    return (flags & O_ACCMODE) == O_RDWR || note_executed(call.engine, static_cast<int>(call.argument[4]));
}

/// Whether a mapping is data as in the kernel's is_data_mapping(): private, writable, and not a stack.
bool is_data(std::uint64_t protection, std::uint64_t flags) {
    return (protection & PROT_WRITE) != 0 && (flags & MAP_TYPE) == MAP_PRIVATE && (flags & MAP_GROWSDOWN) == 0;
}

/// Whether the limits on the program's memory allow the mapping. What a fixed mapping replaces does not count again.
bool may_map(const Call& call, bool fixed) {
    if (!has_memory_limit(call.thread)) return true;
    const std::uint64_t bytes = page_up(call.argument[1]);
    const std::uint64_t replaced = fixed ? mapped_bytes(call.argument[0], bytes) : 0;
    return fits_memory_limits(call.thread, bytes - replaced, is_data(call.argument[2], call.argument[3]));
}

/// Whether the limits allow mprotect(2) to make the range writable: private memory becomes data by that.
bool may_make_writable(const Call& call) {
    if ((call.argument[2] & PROT_WRITE) == 0 || !has_memory_limit(call.thread)) return true;
    const std::uint64_t start = page_down(call.argument[0]);
    const std::uint64_t bytes = page_up(call.argument[0] + call.argument[1]) - start;
    const std::uint64_t more = private_bytes(start, bytes) - data_bytes(call.engine, start, bytes);
    return fits_data_limit(call.thread, more);
}

/// Whether the limits allow mremap(2) to add these bytes to the mapping at `start`.
bool may_grow(const Call& call, std::uint64_t start, std::uint64_t more) {
    if (more == 0 || !has_memory_limit(call.thread)) return true;
    return fits_memory_limits(call.thread, more, data_bytes(call.engine, page_down(start), kPageBytes) != 0);
}

/// Adds a private mapping of a file to the store of translations. Precondition: the cache's lock is held.
void store_mapping(const Call& call, std::uint64_t start) {
    if ((call.argument[3] & MAP_ANONYMOUS) != 0 || (call.argument[2] & PROT_WRITE) != 0) return;
    Engine& engine = call.engine;
    const std::uint64_t end = page_up(start + call.argument[1]);
    const std::uint32_t number =
        engine.store.add_mapping(static_cast<int>(call.argument[4]), start, end - start, call.argument[5]);
    engine.cache.executable.set_stored(start, end, number);
}

/// False if the kernel has refused the call, or if it was not made.
bool was_done(long answer) {
    return !is_error(answer) && answer != kRestartSyscall;
}

/// Bytes of a System V shared memory segment; a page if the kernel does not say.
std::uint64_t segment_bytes(std::uint64_t id) {
    shmid64_ds about{};
    const long got = kernel_call(__NR_shmctl, id, IPC_STAT, address_of(&about));
    return is_error(got) ? kPageBytes : about.shm_segsz;
}

}  // namespace

long mmap(Call& call) {
    const bool fixed = (call.argument[3] & MAP_FIXED) != 0;
    if (fixed && is_ours(call.argument[0], call.argument[1])) return -ENOMEM;
    if (!may_map(call, fixed)) return -ENOMEM;
    const std::uint64_t protection = call.argument[2];
    make_readable(call.argument[2]);
    call.argument[3] |= map_flags_of_future_locks(call.engine);
    Change change{call, call.argument[0], fixed ? call.argument[1] : 0, executes(call.argument[2])};
    const bool unseen = may_change_unseen(call);
    const long got = call.pass_to_kernel();
    // The protection that the application asked for, not the one with PROT_READ added.
    if (was_done(got)) change.replaced(static_cast<std::uint64_t>(got), call.argument[1], protection, unseen);
    if (was_done(got)) note_mapped_queue(call.argument[4], call.argument[5], static_cast<std::uint64_t>(got));
    if (was_done(got) && executes(protection) && !unseen) store_mapping(call, static_cast<std::uint64_t>(got));
    if (was_done(got) && turns::on(call.engine))
        turn_calls::note_mapping(call.engine, static_cast<std::uint64_t>(got), call.argument[1], call.argument[3],
                                 call.argument[4], call.argument[5]);
    if (!was_done(got) || lock_new_memory(call.engine, static_cast<std::uint64_t>(got), call.argument[1])) return got;
    kernel_call(__NR_munmap, static_cast<std::uint64_t>(got), call.argument[1]);
    change.replaced(static_cast<std::uint64_t>(got), call.argument[1], PROT_NONE, false);
    return -EAGAIN;
}

long munmap(Call& call) {
    if (is_ours(call.argument[0], call.argument[1])) return -EINVAL;
    Change change{call, call.argument[0], call.argument[1]};
    const long got = call.pass_to_kernel();
    if (was_done(got)) change.replaced(call.argument[0], call.argument[1], PROT_NONE, false);
    if (was_done(got)) turn_calls::forget_mapping(call.engine, call.argument[0], call.argument[1]);
    return got;
}

long mprotect(Call& call) {
    if (is_ours(call.argument[0], call.argument[1])) return -ENOMEM;
    if (!may_make_writable(call)) return -ENOMEM;
    const std::uint64_t protection = call.argument[2];
    make_readable(call.argument[2]);
    Change change{call, call.argument[0], call.argument[1], executes(call.argument[2])};
    const long got = call.pass_to_kernel();
    if (was_done(got)) {
        change.has_rights(call.argument[0], call.argument[1], protection, false);
    } else if (got == -ENOMEM && change.concerns_code()) {
        // The range has a hole. The kernel changes area by area (mprotect_fixup), so the part before the hole has been
        // changed. Repeating the call page by page finds where that part ends.
        const std::uint64_t end = page_up(call.argument[0] + call.argument[1]);
        for (std::uint64_t page = call.argument[0]; page < end; page += kPageBytes) {
            if (is_error(kernel_call(__NR_mprotect, page, kPageBytes, call.argument[2]))) break;
            change.has_rights(page, kPageBytes, protection, false);
        }
    }
    return got;
}

long mremap(Call& call) {
    const auto [start, bytes, new_bytes, flags, place, unused] = call.argument;
    const bool onto = (flags & MREMAP_FIXED) != 0;
    const bool keeps_old = (flags & MREMAP_DONTUNMAP) != 0;
    if ((onto && is_ours(place, new_bytes)) || is_ours(start, bytes)) return -EFAULT;
    const std::uint64_t grown = page_up(new_bytes) > page_up(bytes) ? page_up(new_bytes) - page_up(bytes) : 0;
    if (!may_grow(call, start, keeps_old ? page_up(bytes) : grown)) return -ENOMEM;
    // With 0 bytes the call maps shared memory a second time (mremap(2)).
    Change change{call, start, std::max<std::uint64_t>(bytes, 1), onto};
    const ExecutableRange* const range = change.concerns_code() ? call.engine.cache.executable.find(start) : nullptr;
    // A copy: the first replaced() changes the map. A moved mapping keeps its protection.
    const ExecutableRange was = range != nullptr ? *range : ExecutableRange{};
    // Protected pages would keep their protection where they are moved to, and be unknown there.
    if (change.concerns_code()) unprotect_code(call.engine, start, page_up(start + bytes));
    const long got = call.pass_to_kernel();
    if (!was_done(got)) return got;
    const auto new_start = static_cast<std::uint64_t>(got);
    turn_calls::move_mapping(call.engine, start, bytes, new_start, new_bytes);
    const std::uint64_t protection =
        range == nullptr ? PROT_NONE : PROT_EXEC | (was.writable ? PROT_WRITE : 0u) | (was.unreadable ? 0u : PROT_READ);
    change.replaced(start, bytes, keeps_old ? protection : PROT_NONE, was.shared);
    change.replaced(new_start, new_bytes, protection, was.shared);
    return got;
}

long shmat(Call& call) {
    constexpr std::uint64_t kShmExec = 0100000;
    constexpr std::uint64_t kShmRemap = 040000;
    if (has_memory_limit(call.thread) &&
        !fits_memory_limits(call.thread, page_up(segment_bytes(call.argument[0])), false))
        return -ENOMEM;
    const bool executable = (call.argument[2] & kShmExec) != 0;
    if (!executable && (call.argument[2] & kShmRemap) == 0 && !turns::on(call.engine)) return call.pass_to_kernel();
    const std::uint64_t bytes = segment_bytes(call.argument[0]);
    Change change{call, call.argument[1], bytes, executable};
    const long got = call.pass_to_kernel();
    const int protection = executable ? PROT_READ | PROT_WRITE | PROT_EXEC : PROT_NONE;
    if (was_done(got)) change.replaced(static_cast<std::uint64_t>(got), bytes, static_cast<unsigned>(protection), true);
    if (was_done(got) && turns::on(call.engine))
        turn_calls::note_segment(call.engine, static_cast<std::uint64_t>(got), bytes, call.argument[0]);
    return got;
}

long shmdt(Call& call) {
    const std::uint64_t start = call.argument[0];
    Change change{call, start, kPageBytes};
    const ExecutableRange* const range = change.concerns_code() ? call.engine.cache.executable.find(start) : nullptr;
    // shmdt does not say how long the segment is; for an executable one the map knows.
    const std::uint64_t bytes = range != nullptr && range->shared ? range->end - start : kPageBytes;
    const long got = call.pass_to_kernel();
    if (was_done(got)) change.replaced(start, bytes, PROT_NONE, false);
    if (was_done(got)) turn_calls::forget_segment(call.engine, start);
    return got;
}

long mlockall(Call& call) {
    const std::uint64_t flags = call.argument[0];
    constexpr std::uint64_t kAll = MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT;
    if ((flags & ~kAll) != 0 || (flags & (MCL_CURRENT | MCL_FUTURE)) == 0) return -EINVAL;
    if (const long error = check_lock_limit((flags & MCL_CURRENT) != 0); error != 0) return error;
    call.engine.locks_future = (flags & MCL_FUTURE) != 0 ? flags & (MCL_FUTURE | MCL_ONFAULT) : 0;
    if ((flags & MCL_CURRENT) != 0) lock_current_memory((flags & MCL_ONFAULT) != 0);
    return 0;
}

long munlockall(Call& call) {
    call.engine.locks_future = 0;
    return call.pass_to_kernel();
}

// A program that uses userfaultfd(2) may fill a page of code when another of its threads first executes it. From then
// on the engine reads code that it has not translated yet before it takes the cache's lock (wait_for_code()).
long userfaultfd(Call& call) {
    call.engine.has_userfaultfd = true;
    return call.pass_to_kernel();
}

// The descriptor may also come from /dev/userfaultfd or from another process.
long ioctl(Call& call) {
    constexpr std::uint64_t kType = 0xaa;  // UFFDIO
    if ((call.argument[1] >> 8 & 0xff) == kType) call.engine.has_userfaultfd = true;
    return call.pass_to_kernel();
}

}  // namespace anyperf::engine::handlers
