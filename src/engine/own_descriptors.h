// own_descriptors.h: the descriptors that the engine keeps in the application's process: the run's memory, the socket
// to the broker, the engine's executable, and spares. The application must not lose them, and must not notice them.
//
// They are placed where the application's numbers do not reach: at RLIMIT_NOFILE or above it, if the limit can be
// raised for the moment (the kernel checks it only when a descriptor is made), else at the highest numbers below it.
// Where the limit is far above kFirstNumber they are at kFirstNumber, because the kernel's table of descriptors is as
// long as its highest number.
//
// An execve needs descriptors for the program's files for a moment, which the kernel's does not: it must not fail
// because the application's table is full. Where the limit can't be raised, two spare descriptors keep numbers free for
// that.
#pragma once

#include <array>

#include "engine/engine.h"

namespace anyperf::engine {

/// The members of Engine that are such descriptors; each is -1 if the process has none.
inline constexpr std::array kOwnDescriptors{&Engine::facts_fd,  &Engine::run_fd,   &Engine::broker_fd,
                                            &Engine::engine_fd, &Engine::spare_fd, &Engine::other_spare_fd};

/// Whether the number is one of them.
bool is_engine_descriptor(const Engine& engine, std::uint64_t fd);

/// At the start of a process: moves them to their places and makes them close on exec.
void hide_descriptors(Engine& engine);

/// Makes the spares, if the process needs them and has none: after a program's files have been closed.
void make_spares(Engine& engine);
/// Gives the spares' numbers up.
void free_spares(Engine& engine);

/// Before the application replaces descriptor `fd` (dup2): if it is the engine's, the engine moves to another number.
/// False if there is none left; then the application must not have this one.
bool vacate_descriptor(Engine& engine, std::uint64_t fd);

/// Makes them survive an exec, without the spares, or not.
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
