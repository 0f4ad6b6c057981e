// memory.cpp: calls that change what memory holds. The engine wants to know what may be executed, and which translated
// code is no longer what it was.
#include <asm/shmbuf.h>
#include <errno.h>
#include <linux/ipc.h>
#include <sys/mman.h>

#include "engine/freestanding/pages.h"
#include "engine/syscalls/address_space.h"
#include "engine/syscalls/handlers.h"

namespace anyperf::engine::handlers {

namespace {

/// A change of memory that has to do with code is one with what the engine knows of it: nobody translates in between.
/// The application's other changes need no lock.
class Change {
  public:
    /// What stands in [start, end) may go, or be executed afterwards (`executable`).
    Change(Call& call, std::uint64_t start, std::uint64_t bytes, bool executable = false) : engine_(call.engine) {
        Cache& cache = engine_.cache;
        cache.lock.take();
        held_ = executable || cache.executable.touches(start, page_up(start + bytes));
        if (!held_) cache.lock.leave();
    }
    ~Change() {
        if (held_) engine_.cache.lock.leave();
    }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

    bool concerns_code() const { return held_; }

    /// [start, start + bytes) holds something else now: `protection` tells whether it may be executed.
    void replaced(std::uint64_t start, std::uint64_t bytes, std::uint64_t protection, bool shared) {
        if (!held_) return;
        const std::uint64_t end = page_up(start + bytes);
        ExecutableMap& executable = engine_.cache.executable;
        if (executable.touches(start, end)) {
            engine_.cache.remove_range(start, end);
            executable.remove(start, end);
            engine_.guarded.remove(start, end);
        }
        if ((protection & PROT_EXEC) != 0) executable.add({start, end, (protection & PROT_WRITE) != 0, shared});
    }

  private:
    Engine& engine_;
    bool held_ = false;
};

/// The application must not replace, unmap or protect what is the engine's.
bool is_ours(std::uint64_t start, std::uint64_t bytes) {
    return bytes != 0 && own_pages.touches(start, page_up(start + bytes));
}

bool executes(std::uint64_t protection) {
    return (protection & PROT_EXEC) != 0;
}

/// The engine reads what is executed. Without protection keys the CPU has no memory that can be executed and not read.
void make_readable(std::uint64_t& protection) {
    if (executes(protection)) protection |= PROT_READ;
}

/// Something is mapped there all along, so that a mapping in its place adds nothing to the address space.
bool is_mapped(std::uint64_t start, std::uint64_t bytes) {
    return !is_error(kernel_call(__NR_msync, start, page_up(bytes), MS_ASYNC));
}

/// False where the kernel has refused, or has not begun it.
bool was_done(long answer) {
    return !is_error(answer) && answer != kBeginAgain;
}

/// Bytes of a segment of shared memory.
std::uint64_t segment_bytes(std::uint64_t id) {
    shmid64_ds about{};
    const long got = kernel_call(__NR_shmctl, id, IPC_STAT, address_of(&about));
    return is_error(got) ? kPageBytes : about.shm_segsz;
}

}  // namespace

long mmap(Call& call) {
    const bool fixed = (call.argument[3] & MAP_FIXED) != 0;
    if (fixed && is_ours(call.argument[0], call.argument[1])) return -ENOMEM;
    if (!fits_address_space(call.thread, page_up(call.argument[1])) &&
        !(fixed && is_mapped(call.argument[0], call.argument[1])))
        return -ENOMEM;
    make_readable(call.argument[2]);
    Change change{call, call.argument[0], fixed ? call.argument[1] : 0, executes(call.argument[2])};
    const long got = call.pass();
    if (was_done(got))
        change.replaced(static_cast<std::uint64_t>(got), call.argument[1], call.argument[2],
                        (call.argument[3] & MAP_TYPE) != MAP_PRIVATE);
    return got;
}

long munmap(Call& call) {
    if (is_ours(call.argument[0], call.argument[1])) return -EINVAL;
    Change change{call, call.argument[0], call.argument[1]};
    const long got = call.pass();
    if (was_done(got)) change.replaced(call.argument[0], call.argument[1], PROT_NONE, false);
    return got;
}

long mprotect(Call& call) {
    if (is_ours(call.argument[0], call.argument[1])) return -ENOMEM;
    make_readable(call.argument[2]);
    Change change{call, call.argument[0], call.argument[1], executes(call.argument[2])};
    const long got = call.pass();
    if (was_done(got)) {
        change.replaced(call.argument[0], call.argument[1], call.argument[2], false);
    } else if (got == -ENOMEM && change.concerns_code()) {
        // The range has a hole: what stands before it has been changed all the same (mprotect_fixup runs area by area).
        const std::uint64_t end = page_up(call.argument[0] + call.argument[1]);
        for (std::uint64_t page = call.argument[0]; page < end; page += kPageBytes) {
            if (is_error(kernel_call(__NR_mprotect, page, kPageBytes, call.argument[2]))) break;
            change.replaced(page, kPageBytes, call.argument[2], false);
        }
    }
    return got;
}

long mremap(Call& call) {
    const auto [start, bytes, new_bytes, flags, place, unused] = call.argument;
    const bool onto = (flags & MREMAP_FIXED) != 0;
    if ((onto && is_ours(place, new_bytes)) || is_ours(start, bytes)) return -EFAULT;
    if (new_bytes > bytes && !fits_address_space(call.thread, page_up(new_bytes) - page_up(bytes))) return -ENOMEM;
    Change change{call, start, bytes, onto};
    const ExecutableRange* const range = change.concerns_code() ? call.engine.cache.executable.find(start) : nullptr;
    const ExecutableRange was = range != nullptr ? *range : ExecutableRange{};
    const long got = call.pass();
    if (!was_done(got)) return got;
    change.replaced(start, bytes, PROT_NONE, false);
    const int protection = range == nullptr ? PROT_NONE : PROT_EXEC | (was.writable ? PROT_WRITE : 0);
    change.replaced(static_cast<std::uint64_t>(got), new_bytes, static_cast<unsigned>(protection), was.shared);
    return got;
}

long shmat(Call& call) {
    constexpr std::uint64_t kShmExec = 0100000;
    constexpr std::uint64_t kShmRemap = 040000;
    if (limits_address_space(call.thread) && !fits_address_space(call.thread, page_up(segment_bytes(call.argument[0]))))
        return -ENOMEM;
    const bool executable = (call.argument[2] & kShmExec) != 0;
    if (!executable && (call.argument[2] & kShmRemap) == 0) return call.pass();
    const std::uint64_t bytes = segment_bytes(call.argument[0]);
    Change change{call, call.argument[1], bytes, executable};
    const long got = call.pass();
    const int protection = executable ? PROT_READ | PROT_WRITE | PROT_EXEC : PROT_NONE;
    if (was_done(got)) change.replaced(static_cast<std::uint64_t>(got), bytes, static_cast<unsigned>(protection), true);
    return got;
}

long shmdt(Call& call) {
    const std::uint64_t start = call.argument[0];
    Change change{call, start, kPageBytes};
    const ExecutableRange* const range = change.concerns_code() ? call.engine.cache.executable.find(start) : nullptr;
    const std::uint64_t bytes = range != nullptr && range->shared ? range->end - start : kPageBytes;
    const long got = call.pass();
    if (was_done(got)) change.replaced(start, bytes, PROT_NONE, false);
    return got;
}

long madvise(Call& call) {
    if (is_ours(call.argument[0], call.argument[1])) return -ENOMEM;
    if (call.argument[2] != MADV_DONTNEED && call.argument[2] != MADV_REMOVE) return call.pass();
    const Change change{call, call.argument[0], call.argument[1]};
    const long got = call.pass();
    if (!is_error(got) && change.concerns_code())
        call.engine.cache.remove_range(call.argument[0], page_up(call.argument[0] + call.argument[1]));
    return got;
}

}  // namespace anyperf::engine::handlers
