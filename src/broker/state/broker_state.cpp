// broker_state.cpp: the presented machine's start, and what programs see of its changes.
#include "broker/state/broker_state.h"

#include "broker/machine/presented_machine.h"

namespace anyperf::broker {

BrokerState::BrokerState(RunMemory& run_memory, const MachineOptions& options)
    : memory(run_memory), description(run_memory, options), threads(run_memory), processes(descriptors) {}

BrokerState::~BrokerState() = default;

PresentedMachine& BrokerState::make_machine() {
    if (!machine) {
        machine = std::make_unique<PresentedMachine>(memory, description, threads);
        __atomic_store_n(&memory.header().events_used, 1, __ATOMIC_RELEASE);
    }
    return *machine;
}

void BrokerState::close_event(EventIndex event) {
    if (events.remove(event)) machine->subsystem.close(event);
}

void BrokerState::report_poll_changes() {
    if (!machine) return;
    for (const EventIndex event : machine->host.take_poll_changes()) events.signal_poll_change(event);
}

void BrokerState::publish_wanted() {
    if (!machine) return;
    const std::uint32_t wanted = machine->subsystem.wanted();
    std::uint32_t& published = memory.header().wanted_side_band;
    if (published != wanted) __atomic_store_n(&published, wanted, __ATOMIC_RELEASE);
}

}  // namespace anyperf::broker
