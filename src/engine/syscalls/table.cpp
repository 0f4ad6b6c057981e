// table.cpp: see table.h.
#include "engine/syscalls/table.h"

#include <asm/unistd.h>

#include <algorithm>
#include <array>

#include "engine/syscalls/handlers.h"

namespace anyperf::engine {

namespace {

using enum Treatment;

constexpr std::array kRows{
    SyscallRow{__NR_mmap, "mmap", watch, handlers::mmap, "what may be executed"},
    SyscallRow{__NR_mprotect, "mprotect", watch, handlers::mprotect, "what may be executed"},
    SyscallRow{__NR_munmap, "munmap", watch, handlers::munmap, "translated code goes with its memory"},
    SyscallRow{__NR_mremap, "mremap", watch, handlers::mremap, "translated code goes with its memory"},
    SyscallRow{__NR_madvise, "madvise", watch, handlers::madvise, "MADV_DONTNEED empties code"},
    SyscallRow{__NR_shmat, "shmat", watch, handlers::shmat, "SHM_EXEC"},
    SyscallRow{__NR_exit, "exit", emulate, handlers::exit, "the thread's counts are kept"},
    SyscallRow{__NR_shmdt, "shmdt", watch, handlers::shmdt, "SHM_EXEC"},
    SyscallRow{__NR_arch_prctl, "arch_prctl", emulate, handlers::arch_prctl, "gs is the engine's; no shadow stack"},
    SyscallRow{__NR_set_tid_address, "set_tid_address", watch, handlers::set_tid_address, ""},
    SyscallRow{__NR_exit_group, "exit_group", emulate, handlers::exit_group, "counts are kept"},
    SyscallRow{__NR_rseq, "rseq", refuse, handlers::not_there, "an abort would go to code that never runs in place"},
};

static_assert(std::ranges::is_sorted(kRows, {}, &SyscallRow::number));

}  // namespace

long run_syscall(Call& call) {
    const auto row = std::ranges::lower_bound(kRows, call.number, {}, &SyscallRow::number);
    return row != kRows.end() && row->number == call.number ? row->handle(call) : call.pass();
}

}  // namespace anyperf::engine
