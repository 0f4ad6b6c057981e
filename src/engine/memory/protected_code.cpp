// protected_code.cpp: the list of protected pages is a second ExecutableMap (Engine::protected_code), under the cache's
// lock. A page in this list is write-protected in the kernel, although the application has asked for a writable one.
#include "engine/memory/protected_code.h"

#include <sys/mman.h>

#include <algorithm>

#include "engine/freestanding/pages.h"

namespace anyperf::engine {

namespace {

/// Drops the translations of whole pages and makes them writable.
void unprotect(Engine& engine, std::uint64_t start, std::uint64_t end) {
    engine.cache.remove_range(start, end);
    engine.protected_code.remove(start, end);
    kernel_call(__NR_mprotect, start, end - start, PROT_READ | PROT_WRITE | PROT_EXEC);
}

}  // namespace

// If the list is full the page is made writable again, and the code must be compared at each entry instead.
Protection protect_code(Engine& engine, std::uint64_t start, std::uint64_t end) {
    Protection done = Protection::unchanged;
    for (std::uint64_t page = page_down(start); page < end; page += kPageBytes) {
        const ExecutableRange* const range = engine.cache.executable.find(std::max(page, start));
        if (range == nullptr || !range->writable || engine.protected_code.find(page) != nullptr) continue;
        if (engine.keeps_code_writable) return Protection::impossible;
        if (is_error(kernel_call(__NR_mprotect, page, kPageBytes, PROT_READ | PROT_EXEC)))
            return Protection::impossible;
        if (!engine.protected_code.add({page, page + kPageBytes, true, range->shared})) {
            kernel_call(__NR_mprotect, page, kPageBytes, PROT_READ | PROT_WRITE | PROT_EXEC);
            return Protection::impossible;
        }
        done = Protection::added;
    }
    return done;
}

// All translations of the page are removed, not only those of the bytes that are written: a program that writes code (a
// JIT) writes more of it, and each write to a protected page costs a fault.
bool unprotect_written_code(Engine& engine, std::uint64_t address) {
    if (engine.protected_code.find(address) == nullptr) {
        // Another thread may have unprotected the page since the fault: then the write succeeds when it is repeated.
        const ExecutableRange* const range = engine.cache.executable.find(address);
        return range != nullptr && range->writable;
    }
    unprotect(engine, page_down(address), page_down(address) + kPageBytes);
    return true;
}

void unprotect_code(Engine& engine, std::uint64_t start, std::uint64_t end) {
    const ExecutableMap& pages = engine.protected_code;
    while (pages.touches(start, end)) {
        const ExecutableRange page =
            *std::ranges::find_if(pages, [&](const ExecutableRange& range) { return range.end > start; });
        unprotect(engine, page.start, page.end);
    }
}

bool unprotect_all_code(Engine& engine) {
    const LockGuard held{engine.cache.lock};
    bool any = false;
    while (const ExecutableRange* const range = engine.protected_code.first()) {
        unprotect(engine, range->start, range->end);
        any = true;
    }
    return any;
}

}  // namespace anyperf::engine
