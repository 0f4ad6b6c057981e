// own_descriptors.h: the descriptors that the engine keeps in the application's process: the run's memory, the socket
// to the broker, the engine's executable, and spares. The application must not lose them, and must not notice them.
//
// They get numbers that the application's do not reach: RLIMIT_NOFILE or above, if the engine can raise the limit for a
// moment (the kernel checks it only when a descriptor is made), else the highest numbers below it. If the limit is
// above 1024, they begin at kFirstNumber instead, because the kernel's table of descriptors is as long as its highest
// number.
//
// The engine's execve needs descriptors for the program's files for a moment; the kernel's execve does not. The
// engine's must not fail because the application's table is full. So if the hard limit is low (make_spares()), two
// spare descriptors keep numbers free for it.
#pragma once

#include <array>

#include "engine/engine.h"

namespace anyperf::engine {

/// The members of Engine that are such descriptors. A member is -1 if the process does not have that descriptor.
inline constexpr std::array kOwnDescriptors{&Engine::facts_fd,  &Engine::run_fd,   &Engine::broker_fd,
                                            &Engine::engine_fd, &Engine::spare_fd, &Engine::other_spare_fd};

/// Whether `fd` is one of these descriptors.
bool is_engine_descriptor(const Engine& engine, std::uint64_t fd);

/// Moves the descriptors to their places and makes them close on exec. Called at the start of a process.
void hide_descriptors(Engine& engine);

/// Makes the spares that the process needs and does not have. Called after a program's files have been closed.
void make_spares(Engine& engine);
/// Closes the spares, so that their numbers are free.
void free_spares(Engine& engine);

/// Called before the application replaces descriptor `fd` (dup2). If `fd` is the engine's, moves it to another number.
/// Returns false if no number is free; then the application must not replace `fd`.
bool vacate_descriptor(Engine& engine, std::uint64_t fd);

/// With `keep` makes the descriptors, except the spares, survive an exec; else makes them close on exec.
void keep_descriptors_over_exec(const Engine& engine, bool keep);

/// As long as it exists, the process may have more descriptors than the application's limit allows, if the hard limit
/// or the process's privilege permits it. It holds the cache's lock, so that no child inherits the raised limit.
class DescriptorRoom {
  public:
    explicit DescriptorRoom(Engine& engine);
    ~DescriptorRoom();
    DescriptorRoom(const DescriptorRoom&) = delete;
    DescriptorRoom& operator=(const DescriptorRoom&) = delete;

    /// RLIMIT_NOFILE of the application.
    std::uint64_t application_limit() const { return before_.soft; }

  private:
    struct Limit {
        std::uint64_t soft = 0;
        std::uint64_t hard = 0;
    };
    bool set(const Limit& limit);

    Engine& engine_;
    Limit before_;
    bool raised_ = false;
};

}  // namespace anyperf::engine
