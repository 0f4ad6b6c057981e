// tracee.h: a stopped task, through ptrace. Thin, and the only place of the tool that calls it.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <span>
#include <string>

namespace anyperf::step_count::tracee {

/// At most 15 bytes of an instruction and how many of them could be read.
struct CodeBytes {
    std::array<std::uint8_t, 16> bytes{};
    std::size_t size = 0;
    [[nodiscard]] std::span<const std::uint8_t> readable() const { return {bytes.data(), size}; }
};

/// Starts `arguments` in a child that is seized with every event reported and runs no instruction of its program yet.
/// Returns its pid; ends the tool with a message where the system refuses.
pid_t start(char* const arguments[]);

/// False where the task is gone (killed while it was stopped).
bool step(pid_t tid, int signal);
bool go_on(pid_t tid, int signal);
bool listen(pid_t tid);  ///< stays in its group stop and reports its end

bool registers(pid_t tid, user_regs_struct& out);
void set_registers(pid_t tid, const user_regs_struct& registers);
siginfo_t signal_info(pid_t tid);
unsigned long event_message(pid_t tid);
CodeBytes code(pid_t tid, std::uint64_t address);

/// Clears `bits` of the word at `address`.
void clear_bits(pid_t tid, std::uint64_t address, std::uint64_t bits);

/// Takes SIGTRAP out of the mask: a trap that is blocked would reset the program's own action for it.
void unblock_trap(pid_t tid);

pid_t process_of(pid_t tid);
std::string comm(pid_t tid);
std::string executable(pid_t tid);

}  // namespace anyperf::step_count::tracee
