// task_accounts.h: what the kernel tells of a thread from outside: how long it has run, its switches, its rights. From
// /proc, so it needs no right that the owner of the thread has not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace anyperf::broker {

/// ns on a CPU (/proc/PID/task/TID/schedstat); nothing where the thread is gone or the kernel does not tell.
std::optional<std::uint64_t> time_on_cpu(std::int32_t pid, std::int32_t tid);

/// Context switches of both kinds (/proc/PID/task/TID/status); nothing where the thread is gone.
std::optional<std::uint64_t> switches_of(std::int32_t pid, std::int32_t tid);

/// How often it has gone on on another CPU (/proc/PID/task/TID/sched); nothing where the thread is gone, or the kernel
/// was built without that file.
std::optional<std::uint64_t> moves_of(std::int32_t pid, std::int32_t tid);

/// A field of /proc/PID/status, "Uid" or "CapEff", its text; empty where the process is gone.
std::string status_field(std::int32_t pid, const std::string& name);

}  // namespace anyperf::broker
