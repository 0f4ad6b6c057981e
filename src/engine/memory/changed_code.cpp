// changed_code.cpp: see changed_code.h.
#include "engine/memory/changed_code.h"

#include <sys/mman.h>

#include <algorithm>

#include "engine/freestanding/pages.h"

namespace anyperf::engine {

namespace {

void open(Engine& engine, std::uint64_t start, std::uint64_t end) {
    engine.cache.remove_range(start, end);
    engine.guarded.remove(start, end);
    kernel_call(__NR_mprotect, start, end - start, PROT_READ | PROT_WRITE | PROT_EXEC);
}

}  // namespace

Guard guard_code(Engine& engine, std::uint64_t start, std::uint64_t end) {
    Guard done = Guard::as_it_was;
    for (std::uint64_t page = page_down(start); page < end; page += kPageBytes) {
        const ExecutableRange* const range = engine.cache.executable.find(std::max(page, start));
        if (range == nullptr || !range->writable || engine.guarded.find(page) != nullptr) continue;
        if (is_error(kernel_call(__NR_mprotect, page, kPageBytes, PROT_READ | PROT_EXEC))) return Guard::impossible;
        if (!engine.guarded.add({page, page + kPageBytes, true, range->shared})) {
            kernel_call(__NR_mprotect, page, kPageBytes, PROT_READ | PROT_WRITE | PROT_EXEC);
            return Guard::impossible;
        }
        done = Guard::begun;
    }
    return done;
}

bool open_written_code(Engine& engine, std::uint64_t address) {
    if (engine.guarded.find(address) == nullptr) {
        // Another thread may have opened the page between the fault and here: then the write can be tried again.
        const ExecutableRange* const range = engine.cache.executable.find(address);
        return range != nullptr && range->writable;
    }
    open(engine, page_down(address), page_down(address) + kPageBytes);
    return true;
}

bool open_all_code(Engine& engine) {
    const Held held{engine.cache.lock};
    bool any = false;
    while (const ExecutableRange* const range = engine.guarded.first()) {
        open(engine, range->start, range->end);
        any = true;
    }
    return any;
}

}  // namespace anyperf::engine
