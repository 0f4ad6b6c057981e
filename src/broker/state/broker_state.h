// broker_state.h: what the broker knows about its run. The handlers of requests work on it, and the event loop reports
// closed events and ended processes to it. The serving thread and callers of Server::call_subsystem use it in turn,
// under the server's lock.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "broker/machine/machine_description.h"
#include "broker/run_memory.h"
#include "broker/state/open_events.h"
#include "broker/state/pending_children.h"
#include "broker/state/processes.h"
#include "broker/state/ring_mappings.h"
#include "broker/tasks/run_threads.h"
#include "broker/transport/descriptor_set.h"

namespace anyperf::broker {

struct PresentedMachine;

struct BrokerState {
    /// `run_memory` must outlive the state.
    BrokerState(RunMemory& run_memory, const MachineOptions& options);
    ~BrokerState();
    BrokerState(const BrokerState&) = delete;
    BrokerState& operator=(const BrokerState&) = delete;

    /// Makes the presented machine if there is none. From then on programs report what their tasks do.
    PresentedMachine& make_machine();
    /// Called when the last descriptor of the event is closed. Does nothing for events that are not open.
    void close_event(subsystem::EventIndex event);
    /// Wakes the programs that poll events whose state has changed.
    void report_poll_changes();
    /// Writes to the run's header which kinds of side-band records anybody wants (Subsystem::wanted), so that programs
    /// do not report the others.
    void publish_wanted();

    RunMemory& memory;
    MachineDescription description;
    DescriptorSet descriptors;
    RunThreads threads;
    std::optional<subsystem::TaskId> host;      ///< the thread of this process that opens events
    std::unique_ptr<PresentedMachine> machine;  ///< null until the first event is opened
    OpenEvents events;
    RingMappings mappings;
    Processes processes;
    PendingChildren children;
    std::multimap<pid_t, std::uint32_t> moved_pages;  ///< by process: pages that another user's memory has taken over
    std::set<std::uint32_t> reported_execs;           ///< thread pages whose next exec has been reported already
};

}  // namespace anyperf::broker
