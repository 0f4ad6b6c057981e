// memory.cpp: calls that change what memory holds. The engine wants to know what may be executed, and which translated
// code is no longer what it was.
#include <errno.h>
#include <sys/mman.h>

#include "engine/freestanding/pages.h"
#include "engine/syscalls/handlers.h"

namespace anyperf::engine::handlers {

namespace {

/// [start, start + bytes) holds something else now: `protection` tells whether it may be executed.
void replaced(Engine& engine, std::uint64_t start, std::uint64_t bytes, std::uint64_t protection, bool shared) {
    const std::uint64_t end = page_up(start + bytes);
    const Held held{engine.cache.lock};
    ExecutableMap& executable = engine.cache.executable;
    if (executable.touches(start, end)) {
        engine.cache.remove_range(start, end);
        executable.remove(start, end);
        engine.guarded.remove(start, end);
    }
    if ((protection & PROT_EXEC) != 0) executable.add({start, end, (protection & PROT_WRITE) != 0, shared});
}

/// The application must not replace, unmap or protect what is the engine's.
bool is_ours(std::uint64_t start, std::uint64_t bytes) {
    return bytes != 0 && own_pages.touches(start, page_up(start + bytes));
}

}  // namespace

long mmap(Call& call) {
    if ((call.argument[3] & MAP_FIXED) != 0 && is_ours(call.argument[0], call.argument[1])) return -ENOMEM;
    const long got = call.pass();
    if (!is_error(got))
        replaced(call.engine, static_cast<std::uint64_t>(got), call.argument[1], call.argument[2],
                 (call.argument[3] & MAP_TYPE) != MAP_PRIVATE);
    return got;
}

long munmap(Call& call) {
    if (is_ours(call.argument[0], call.argument[1])) return -EINVAL;
    const long got = call.pass();
    if (!is_error(got)) replaced(call.engine, call.argument[0], call.argument[1], PROT_NONE, false);
    return got;
}

long mprotect(Call& call) {
    if (is_ours(call.argument[0], call.argument[1])) return -ENOMEM;
    const long got = call.pass();
    if (!is_error(got)) {
        replaced(call.engine, call.argument[0], call.argument[1], call.argument[2], false);
    } else if (got == -ENOMEM) {
        // The range has a hole: what stands before it has been changed all the same (mprotect_fixup runs area by area).
        const std::uint64_t end = page_up(call.argument[0] + call.argument[1]);
        for (std::uint64_t page = call.argument[0]; page < end; page += kPageBytes) {
            if (is_error(kernel_call(__NR_mprotect, page, kPageBytes, call.argument[2]))) break;
            replaced(call.engine, page, kPageBytes, call.argument[2], false);
        }
    }
    return got;
}

long mremap(Call& call) {
    const bool onto = (call.argument[3] & MREMAP_FIXED) != 0 && is_ours(call.argument[4], call.argument[2]);
    if (onto || is_ours(call.argument[0], call.argument[1])) return -EFAULT;
    const ExecutableRange* range = nullptr;
    ExecutableRange was;
    {
        const Held held{call.engine.cache.lock};
        range = call.engine.cache.executable.find(call.argument[0]);
        if (range != nullptr) was = *range;
    }
    const long got = call.pass();
    if (is_error(got)) return got;
    replaced(call.engine, call.argument[0], call.argument[1], PROT_NONE, false);
    const int protection = range == nullptr ? PROT_NONE : PROT_EXEC | (was.writable ? PROT_WRITE : 0);
    replaced(call.engine, static_cast<std::uint64_t>(got), call.argument[2], static_cast<unsigned>(protection),
             was.shared);
    return got;
}

long shmat(Call& call) {
    constexpr std::uint64_t kShmExec = 0100000;
    const long got = call.pass();
    if (!is_error(got) && (call.argument[2] & kShmExec) != 0)
        replaced(call.engine, static_cast<std::uint64_t>(got), kPageBytes, PROT_READ | PROT_WRITE | PROT_EXEC, true);
    return got;
}

long shmdt(Call& call) {
    const std::uint64_t start = call.argument[0];
    const long got = call.pass();
    if (!is_error(got)) replaced(call.engine, start, kPageBytes, PROT_NONE, false);
    return got;
}

long madvise(Call& call) {
    if (is_ours(call.argument[0], call.argument[1])) return -ENOMEM;
    const long got = call.pass();
    if (!is_error(got) && (call.argument[2] == MADV_DONTNEED || call.argument[2] == MADV_REMOVE)) {
        const Held held{call.engine.cache.lock};
        const std::uint64_t end = page_up(call.argument[0] + call.argument[1]);
        if (call.engine.cache.executable.touches(call.argument[0], end))
            call.engine.cache.remove_range(call.argument[0], end);
    }
    return got;
}

}  // namespace anyperf::engine::handlers
