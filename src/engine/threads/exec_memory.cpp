#include "engine/threads/exec_memory.h"

#include <new>

#include "engine/freestanding/pages.h"

namespace anyperf::engine {

ExecMemory* take_exec_memory(Engine& engine) {
    void* memory = __atomic_exchange_n(&engine.spare_exec_memory, nullptr, __ATOMIC_ACQUIRE);
    if (memory == nullptr) memory = reserve_pages(page_up(sizeof(ExecMemory)));
    return memory == nullptr ? nullptr : new (memory) ExecMemory;
}

void give_back_exec_memory(Engine& engine, ExecMemory* memory) {
    constexpr std::size_t kMany = 4096;  // arguments; their pointers have eight pages
    void* none = nullptr;
    const bool kept = memory->count < kMany && __atomic_compare_exchange_n(&engine.spare_exec_memory, &none, memory,
                                                                           false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    if (!kept) release_pages(memory, page_up(sizeof(ExecMemory)));
}

}  // namespace anyperf::engine
