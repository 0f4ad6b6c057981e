// library.h: the library's lifetime: pfm_initialize(3), pfm_terminate(3), and how every other call is protected from a
// concurrent pfm_terminate().
#pragma once

#include "events/catalog/detection/machine_pmus.h"

namespace anyperf::pfm {

/// Keeps the library initialised for the duration of one call. Any number of threads may have one at the same time;
/// pfm_terminate() waits until all are gone. So a thread that has one must not call pfm_terminate().
class Session {
  public:
    Session();
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// False if pfm_initialize() was not called, or pfm_terminate() was called since.
    bool initialized() const { return machine_ != nullptr; }
    /// Only if initialized().
    const catalog::MachinePmus& machine() const { return *machine_; }

  private:
    const catalog::MachinePmus* machine_;
};

/// Reads the environment (LIBPFM_…) and the machine. Does nothing if the library is initialised.
void initialize();
/// Waits for the calls that are running. Does nothing if the library is not initialised.
void terminate();

}  // namespace anyperf::pfm
