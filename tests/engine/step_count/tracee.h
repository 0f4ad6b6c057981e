// tracee.h: thin wrappers of ptrace for a stopped task. Nothing else in the tool calls ptrace.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <span>
#include <string>

namespace anyperf::step_count::tracee {

/// At most 15 bytes of an instruction, of which `size` could be read.
struct CodeBytes {
    std::array<std::uint8_t, 16> bytes{};
    std::size_t size = 0;
    [[nodiscard]] std::span<const std::uint8_t> readable() const { return {bytes.data(), size}; }
};

/// Starts `arguments` in a child that is seized, reports every ptrace event, and has run no instruction of its program.
/// Returns the child's pid; if tracing is refused, the tool exits with a message.
pid_t start(char* const arguments[]);

/// Resume the task and deliver `signal` if it is not 0. False if the task was killed while it was stopped.
bool step(pid_t tid, int signal);
bool resume(pid_t tid, int signal);
bool listen(pid_t tid);  ///< PTRACE_LISTEN: the task stays in its group stop

bool registers(pid_t tid, user_regs_struct& out);
void set_registers(pid_t tid, const user_regs_struct& registers);
siginfo_t signal_info(pid_t tid);
unsigned long event_message(pid_t tid);
CodeBytes code(pid_t tid, std::uint64_t address);

/// The task's word at `address`.
std::uint64_t word(pid_t tid, std::uint64_t address);

/// Clears `bits` in the task's word at `address`.
void clear_bits(pid_t tid, std::uint64_t address, std::uint64_t bits);

/// Unblocks SIGTRAP: a trap while SIGTRAP is blocked would reset the program's own action for it.
void unblock_trap(pid_t tid);

pid_t process_of(pid_t tid);
std::string comm(pid_t tid);
std::string executable(pid_t tid);

}  // namespace anyperf::step_count::tracee
