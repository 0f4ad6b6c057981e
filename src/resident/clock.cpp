// clock.cpp: the vDSO's own clock_gettime, called where it stands, not translated: it uses general registers alone, as
// all of the kernel's code does.
#include "resident/clock.h"

#include <elf.h>
#include <time.h>

#include <string_view>

#include "resident/process.h"

namespace anyperf::resident {

using engine::address_of;
using engine::at_address;

namespace {

using ClockGettime = int (*)(std::int32_t, timespec*);

/// What the dynamic section of the vDSO names, as addresses in memory.
struct Symbols {
    const Elf64_Sym* table = nullptr;
    const char* names = nullptr;
    std::uint64_t count = 0;
};

Symbols symbols_of(std::uint64_t image, const Elf64_Dyn* dynamic, std::uint64_t bias) {
    Symbols found;
    for (; dynamic->d_tag != DT_NULL; ++dynamic) {
        const std::uint64_t address = bias + dynamic->d_un.d_ptr;
        if (address < image) continue;
        if (dynamic->d_tag == DT_SYMTAB) found.table = at_address<const Elf64_Sym>(address);
        if (dynamic->d_tag == DT_STRTAB) found.names = at_address<const char>(address);
        if (dynamic->d_tag == DT_HASH) found.count = at_address<const std::uint32_t>(address)[1];
    }
    // Without the old hash table nothing tells how many there are; the table of names stands behind them.
    if (found.count == 0 && found.table != nullptr && address_of(found.names) > address_of(found.table))
        found.count = (address_of(found.names) - address_of(found.table)) / sizeof(Elf64_Sym);
    return found;
}

std::uint64_t find_clock(std::uint64_t image, std::uint64_t end) {
    const auto& header = *at_address<const Elf64_Ehdr>(image);
    const auto* const segments = at_address<const Elf64_Phdr>(image + header.e_phoff);
    const Elf64_Dyn* dynamic = nullptr;
    std::uint64_t bias = 0;
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        if (segments[i].p_type == PT_LOAD) bias = image + segments[i].p_offset - segments[i].p_vaddr;
        if (segments[i].p_type == PT_DYNAMIC) dynamic = at_address<const Elf64_Dyn>(image + segments[i].p_offset);
    }
    if (dynamic == nullptr) return 0;
    const Symbols symbols = symbols_of(image, dynamic, bias);
    for (std::uint64_t i = 0; symbols.table != nullptr && symbols.names != nullptr && i < symbols.count; ++i) {
        const Elf64_Sym& symbol = symbols.table[i];
        if (std::string_view{symbols.names + symbol.st_name} != "__vdso_clock_gettime") continue;
        const std::uint64_t address = bias + symbol.st_value;
        return address > image && address < end ? address : 0;
    }
    return 0;
}

}  // namespace

void find_clock(const engine::Engine& engine, Process& process) {
    const std::uint64_t image = engine.program.vdso_start;
    process.clock = image == 0 ? 0 : find_clock(image, engine.program.vdso_end);
}

void forget_clock(const engine::Engine& engine, std::uint64_t start, std::uint64_t end) {
    Process* const process = known_process(engine);
    if (process != nullptr && start < engine.program.vdso_end && end > engine.program.vdso_start) process->clock = 0;
}

std::uint64_t clock_now(const engine::Engine& engine, std::int32_t clockid) {
    timespec now{};
    const Process* const process = known_process(engine);
    const std::uint64_t vdso = process != nullptr ? process->clock : 0;
    if (vdso == 0 || reinterpret_cast<ClockGettime>(vdso)(clockid, &now) != 0)
        engine::kernel_call(__NR_clock_gettime, static_cast<std::uint64_t>(static_cast<std::int64_t>(clockid)),
                            address_of(&now));
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace anyperf::resident
