// library.h: the life of the library: pfm_initialize(3), pfm_terminate(3), and what every other call holds meanwhile.
#pragma once

#include "events/catalog/machine.h"

namespace anyperf::pfm {

/// A call's hold on the initialised library. Any number of threads hold one at a time; pfm_terminate waits for them.
class Session {
  public:
    Session();
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    bool initialized() const { return machine_ != nullptr; }
    const catalog::Machine& machine() const { return *machine_; }

  private:
    const catalog::Machine* machine_;
};

/// Reads the environment and the machine; does nothing where that was done already.
void initialize();
void terminate();

}  // namespace anyperf::pfm
