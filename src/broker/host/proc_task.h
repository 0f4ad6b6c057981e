// proc_task.h: what /proc says of a thread: its run time, context switches, migrations and credentials. Reading
// these files needs no privilege over a thread of the same user.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace anyperf::broker {

/// The time on a CPU in ns (/proc/PID/task/TID/schedstat); nothing if the thread is gone or the file cannot be read.
std::optional<std::uint64_t> time_on_cpu(std::int32_t pid, std::int32_t tid);

/// Voluntary and involuntary context switches (/proc/PID/task/TID/status); nothing if the thread is gone.
std::optional<std::uint64_t> context_switches_of(std::int32_t pid, std::int32_t tid);

/// Migrations to another CPU (/proc/PID/task/TID/sched, se.nr_migrations); nothing if the thread is gone or the kernel
/// was built without that file.
std::optional<std::uint64_t> cpu_migrations_of(std::int32_t pid, std::int32_t tid);

/// Whether the thread may write a file of this user that only its owner may write: its filesystem user id is the
/// user's, or it may override permissions (CAP_DAC_OVERRIDE, capabilities(7)).
bool may_write_for(std::int32_t tid, std::uint32_t user);

/// Whether the thread is in this process's user namespace: its capabilities then hold for the machine.
bool shares_user_namespace(std::int32_t tid);

/// The thread's capabilities by the field's name in /proc/PID/status ("CapEff", "CapPrm"), a bit each. Those that the
/// thread has in another user namespace only do not count.
std::uint64_t capability_set(std::int32_t tid, const std::string& name);

/// The numbers in a text such as the line "Uid:\treal\teffective\tsaved\tfs" of /proc/PID/status. Everything between
/// the numbers is skipped. Ids have 32 bits, limits 64. A number that does not fit into 64 bits gives 0.
std::vector<std::uint64_t> numbers_of(const std::string& text);

/// The text of a field of /proc/PID/status, such as "Uid"; empty if the process is gone or has no such field.
std::string status_field(std::int32_t pid, const std::string& name);

}  // namespace anyperf::broker
