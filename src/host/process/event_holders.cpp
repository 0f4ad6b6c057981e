#include "host/process/event_holders.h"

#include <unistd.h>

#include <algorithm>

#include "host/kernel/sysctl.h"
#include "host/process/process_status.h"

namespace anyperf::host {

namespace {

/// How many of a process's descriptors are events. The kernel names their inode "[perf_event]".
int events_of(const Root& root, const std::string& process) {
    const std::string directory = "/proc/" + process + "/fd";
    return static_cast<int>(std::ranges::count_if(root.list(directory), [&](const std::string& fd) {
        return root.link(directory + "/" + fd) == "anon_inode:[perf_event]";
    }));
}

}  // namespace

// Descriptors of other users' processes are visible only with CAP_SYS_PTRACE, so without it holders may be missing.
// This process is left out: the question is who else uses the counters.
std::vector<EventHolder> event_holders(const Root& root) {
    std::vector<EventHolder> holders;
    for (const std::string& name : root.list("/proc")) {
        if (name.find_first_not_of("0123456789") != name.npos) continue;
        const int pid = std::stoi(name);
        if (root.is_this_machine() && pid == ::getpid()) continue;
        const int events = events_of(root, name);
        if (events == 0) continue;
        const auto status = process_status(root, name);
        holders.push_back({pid, status ? status->name : "?", events});
    }
    return holders;
}

std::string describe(const std::vector<EventHolder>& holders) {
    std::string text;
    for (const EventHolder& holder : holders)
        text += (text.empty() ? "" : ", ") + holder.name + " (pid " + std::to_string(holder.pid) + ", " +
                std::to_string(holder.events) + (holder.events == 1 ? " event)" : " events)");
    return text;
}

}  // namespace anyperf::host
