// opens_and_closes.cpp: opens N events of one task on a PMU with four counters, then closes them, by the subsystem
// that the broker of a run hosts. many_events_test.py counts its instructions: they show how the work grows with N.
#include <cstdio>
#include <cstdlib>

#include "abi/attr_flags.h"
#include "subsystem/subsystem.h"
#include "unit/subsystem/fake_host.h"
#include "unit/subsystem/fake_pmu.h"

namespace {

namespace abi = anyperf::abi;
namespace subsystem = anyperf::subsystem;

abi::Attr counting() {
    abi::Attr attr;
    attr.type = abi::kTypeRaw;
    attr.size = 136;
    attr.flags = abi::flag("exclude_kernel");
    return attr;
}

/// Whether all events could be opened.
bool open_and_close(std::size_t events) {
    subsystem::FakeHost host;
    subsystem::FakeCpuPmu cpu;
    cpu.counters = 0b1111;
    subsystem::Subsystem opens{host, {&cpu}};
    const subsystem::FakeTask& task = host.start(100);
    const abi::Attr attr = counting();
    std::vector<subsystem::EventIndex> open;
    for (std::size_t i = 0; i < events; ++i) {
        const auto event = opens.open({.caller = task.name, .attr = std::as_bytes(std::span(&attr, 1))});
        if (!event) return false;
        open.push_back(*event);
    }
    for (const auto event : open) opens.close(event);
    return cpu.held.empty();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    return open_and_close(std::strtoul(argv[1], nullptr, 10)) ? 0 : 1;
}
