// foreign_records.h: records for a ring that is in another user's run memory. The thread makes them in memory of its
// own and sends them to the broker, which writes them to the ring (requests/user_memory.h).
#pragma once

#include "agent/process.h"
#include "subsystem/shared/ring.h"

namespace anyperf::agent {

using engine::Thread;

/// Whether the ring is in another user's memory: its page in this process's memory is empty.
bool is_foreign_ring(const Thread& thread, RingIndex ring);

class ForeignRecords {
  public:
    ForeignRecords() = default;
    ~ForeignRecords();
    ForeignRecords(const ForeignRecords&) = delete;
    ForeignRecords& operator=(const ForeignRecords&) = delete;

    /// A ring with room for several records, which nobody else sees. Its memory is null if there is none.
    subsystem::Ring ring();
    /// Sends what has been written to the ring, as records of this event. The thread holds no lock of a page.
    void send(Thread& thread, EventIndex event);

  private:
    subsystem::RingPage page_;
    std::byte* memory_ = nullptr;
};

}  // namespace anyperf::agent
