// fuzz_event_string.cpp: any bytes as an event string, on each of the fixture machines, give an error or events, never
// a crash. An error has a message without control sequences and exit status 125; events have a name and a complete
// attr.
#include <array>
#include <cstdlib>
#include <string_view>

#include "anyperf/event.h"

namespace {

using anyperf::events::Event;
using anyperf::events::EventGroup;
using anyperf::events::Machine;

const std::array<Machine, 5>& machines() {
    static const std::string folder = ANYPERF_SOURCE_DIR "/tests/fixtures/machines/";
    static const std::array<Machine, 5> all{Machine::read(folder + "intel-hybrid"),
                                            Machine::read(folder + "intel-skylake-server"),
                                            Machine::read(folder + "amd-zen"), Machine::read(folder + "arm-big-little"),
                                            Machine::read(folder + "vm-without-pmu")};
    return all;
}

void require(bool holds) {
    if (!holds) std::abort();
}

void check(const Event& event) {
    require(!event.name.empty() && !event.source_text.empty());
    require(event.attr.size == sizeof(anyperf::abi::Attr));
    require(event.config1_text.find('\0') == std::string::npos);
}

void check(const anyperf::Error& error) {
    require(!error.what.empty() && !error.cause.empty());
    require(error.exit_status == 125);
    require(error.what.find('\x1b') == std::string::npos && error.cause.find('\x1b') == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    for (const Machine& machine : machines()) {
        const auto groups = anyperf::events::parse(machine, text);
        if (!groups) {
            check(groups.error());
            continue;
        }
        require(!groups->empty());
        for (const EventGroup& group : *groups) {
            require(!group.events.empty());
            for (const Event& event : group.events) check(event);
        }
    }
    return 0;
}
