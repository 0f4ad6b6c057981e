// request_table.cpp: the rows. `Needs` is checked before the handler is called: that the event of the request is open,
// or that the run has a machine (an event was opened, or this request makes it).
#include "broker/requests/request_table.h"

#include "broker/requests/events.h"
#include "broker/requests/files.h"
#include "broker/requests/records.h"
#include "broker/requests/tasks.h"
#include "broker/requests/user_memory.h"

namespace anyperf::broker {

using run::RequestKind;

constexpr std::array<RequestRow, static_cast<std::size_t>(RequestKind::count)> kRequests{{
    {RequestKind::open, "open", on_open, Needs::making_machine},
    {RequestKind::read, "read", on_read, Needs::open_event},
    {RequestKind::ioctl, "ioctl", on_ioctl, Needs::open_event},
    {RequestKind::map, "map", on_map, Needs::open_event},
    {RequestKind::unmap, "unmap", on_unmap, Needs::nothing},
    {RequestKind::identify, "identify", on_identify, Needs::nothing},
    {RequestKind::before_clone, "before_clone", on_before_clone, Needs::machine},
    {RequestKind::clone_failed, "clone_failed", on_clone_failed, Needs::machine},
    {RequestKind::cloned, "cloned", on_cloned, Needs::machine},
    {RequestKind::begin, "begin", on_begin, Needs::machine},
    {RequestKind::executing, "executing", on_executing, Needs::machine},
    {RequestKind::executed, "executed", on_executed, Needs::machine},
    {RequestKind::end, "end", on_end, Needs::machine},
    {RequestKind::renamed, "renamed", on_renamed, Needs::machine},
    {RequestKind::mapped, "mapped", on_mapped, Needs::machine},
    {RequestKind::new_namespaces, "new_namespaces", on_new_namespaces, Needs::machine},
    {RequestKind::switch_events, "switch_events", on_switch_events, Needs::machine},
    {RequestKind::files, "files", on_files, Needs::nothing},
    {RequestKind::poll, "poll", on_poll, Needs::open_event},
    {RequestKind::wake, "wake", on_wake, Needs::machine},
    {RequestKind::ran_out, "ran_out", on_ran_out, Needs::nothing},
    {RequestKind::reaping, "reaping", on_reaping, Needs::nothing},
    {RequestKind::define_probes, "define_probes", on_define_probes, Needs::nothing},
    {RequestKind::allow_rdpmc, "allow_rdpmc", on_allow_rdpmc, Needs::nothing},
    {RequestKind::switched, "switched", on_switched, Needs::machine},
    {RequestKind::made_cgroup, "made_cgroup", on_made_cgroup, Needs::machine},
    {RequestKind::moved_tasks, "moved_tasks", on_moved_tasks, Needs::machine},
    {RequestKind::loaded_bpf, "loaded_bpf", on_loaded_bpf, Needs::machine},
    {RequestKind::change_user, "change_user", on_change_user, Needs::nothing},
    {RequestKind::write_record, "write_record", on_write_record, Needs::machine},
}};

namespace {

/// Whether every kind has its row, in the order of the kinds. A row without a handler does not compile.
consteval bool has_every_kind() {
    for (std::size_t i = 0; i < kRequests.size(); ++i)
        if (static_cast<std::size_t>(kRequests[i].kind) != i || kRequests[i].name.empty()) return false;
    return true;
}
static_assert(has_every_kind());

}  // namespace

}  // namespace anyperf::broker
