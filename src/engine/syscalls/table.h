// table.h: what the engine does with each system call. Most go to the kernel as they are: the engine is not a sandbox,
// and a call that it has no part in is the application's own business.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/engine.h"
#include "engine/syscalls/interruptible.h"

namespace anyperf::engine {

/// One system call of the application, as its registers say it.
struct Call {
    Engine& engine;
    Thread& thread;
    std::uint64_t number;
    std::uint64_t argument[6];
    std::uint64_t next;  ///< the application's address behind the instruction

    /// To the kernel, with the arguments as they stand here. May answer kBeginAgain.
    long pass() const { return interruptible_call(thread, number, argument); }
};

enum class Treatment : std::uint8_t {
    pass,     ///< the kernel does it, as the application asks for it
    watch,    ///< the kernel does it, the engine takes note
    emulate,  ///< the engine does it, perhaps by other calls
    refuse,   ///< answered with an error, as a kernel without it does
};

struct SyscallRow {
    std::uint16_t number;
    std::string_view name;
    Treatment treatment;
    long (*handle)(Call&);  ///< the result for rax
    std::string_view note;
};

/// Does a system call: by its row's handler, else by the kernel.
long run_syscall(Call& call);

}  // namespace anyperf::engine
