// uprobe_events_file.cpp: the file is in the run's directory, and the broker keeps its content
// (RunHeader::probe_list is its inode).
#include "agent/probes/uprobe_events_file.h"

#include <fcntl.h>

#include "agent/broker_request.h"
#include "agent/presented/presented_file.h"

namespace anyperf::agent {

using engine::is_error;

namespace {

/// Whether the call opens the list for writing.
bool opens_list(std::string_view path, std::uint64_t flags) {
    return path.ends_with("/uprobe_events") && (flags & O_ACCMODE) != O_RDONLY;
}

}  // namespace

bool before_probe_list_open(engine::Call& call, std::string_view path, std::uint64_t flags, long& answer) {
    if (!opens_list(path, flags) || (flags & O_TRUNC) == 0) return true;
    answer = BrokerRequest{call.thread, run::RequestKind::define_probes}.argument(0, 1).send();
    return answer >= 0;
}

void after_probe_list_open(engine::Call& call, std::string_view path, std::uint64_t flags, long answer) {
    if (is_error(answer) || !opens_list(path, flags)) return;
    __atomic_store_n(&call.engine.run_use->probe_list, 1, __ATOMIC_RELEASE);
}

bool write_probe_list(engine::Call& call, long& answer) {
    if (!has_broker(call.engine)) return false;
    if (__atomic_load_n(&call.engine.run_use->probe_list, __ATOMIC_ACQUIRE) == 0) return false;
    const std::uint64_t list = __atomic_load_n(&call.engine.run->probe_list, __ATOMIC_ACQUIRE);
    if (!writes_presented_file(call, call.argument[0], list)) return false;
    BrokerRequest request{call.thread, run::RequestKind::define_probes};
    answer = request.from_application(call.argument[1], call.argument[2]).send();
    return true;
}

}  // namespace anyperf::agent
