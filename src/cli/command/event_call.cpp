// event_call.cpp: the call of an event, as `stat` makes it.
#include "cli/command/event_call.h"

#include "abi/attr_flags.h"

namespace anyperf::cli {

host::OpenCall call_of(const events::Event& event) {
    host::OpenCall call;
    call.attr = attr_to_open(event);
    call.attr.flags |= abi::flag("disabled");
    if (event.cpu_wide_only) {
        call.pid = -1;
        call.cpu = event.cpus.empty() ? 0 : event.cpus.front();
    }
    return call;
}

}  // namespace anyperf::cli
