// own_descriptors.h: the descriptors that the engine keeps in the application's process: the facts, the run memory, the
// socket to the broker, the engine's executable, and spares. The application must not close them or notice them.
//
// The application gets the lowest free numbers (open(2)), so the engine's descriptors have high ones. With a limit
// (RLIMIT_NOFILE) of at most 1024 they are above it, which the application cannot reach: the kernel checks the limit
// only when a descriptor is made, so the engine raises it for a moment. If it can't, they are the highest numbers below
// the limit. With a higher limit they begin at 1000: the kernel's table of descriptors is as long as the highest
// number.
//
// The engine's execve needs descriptors for the program's files for a moment; the kernel's execve does not. So it could
// fail where the kernel's would not, because the application's table is full. If the hard limit is low (make_spares()),
// two spare descriptors keep numbers free for it.
#pragma once

#include <array>

#include "engine/engine.h"

namespace anyperf::engine {

/// The members of Engine that are such descriptors. A member is -1 if the process does not have that descriptor.
inline constexpr std::array kOwnDescriptors{&Engine::facts_fd,  &Engine::run_fd,   &Engine::broker_fd,
                                            &Engine::engine_fd, &Engine::spare_fd, &Engine::other_spare_fd};

/// Whether `fd` is one of these descriptors.
bool is_engine_descriptor(const Engine& engine, std::uint64_t fd);

/// Moves the descriptors to their numbers and makes them close on exec. Called at the start of a process.
void hide_descriptors(Engine& engine);

/// Makes the spares that the process needs and does not have. Called after a program's files have been closed.
void make_spares(Engine& engine);
/// Closes the spares, so that their numbers are free.
void free_spares(Engine& engine);

/// Called before the application replaces descriptor `fd` (dup2). If `fd` is the engine's, moves it to another number.
/// Returns false if no number is free; then the application must not replace `fd`.
bool vacate_descriptor(Engine& engine, std::uint64_t fd);

/// `keep`: makes the descriptors, except the spares, survive an exec; otherwise makes them close on exec.
void keep_descriptors_over_exec(const Engine& engine, bool keep);

/// While it exists, the process may have more descriptors than the application's limit allows, if the hard limit or the
/// process's privilege permits that. It holds the cache's lock, so that no child inherits the raised limit.
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
