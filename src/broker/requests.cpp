// requests.cpp: of Server, what each kind of request does. Arguments are checked by the subsystem, as the kernel checks
// them; what is checked here is that a request names what is there.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "broker/kernel_objects.h"
#include "broker/machine.h"
#include "broker/process_maps.h"
#include "broker/server.h"
#include "broker/task_accounts.h"

namespace anyperf::broker {

using resident::RequestHead;
using subsystem::ForkKind;

namespace {

constexpr std::uint64_t kCloneThread = 0x00010000;    // CLONE_THREAD
constexpr std::uint64_t kClearSignals = 0x100000000;  // CLONE_CLEAR_SIGHAND

TaskName caller_of(const RequestHead& head) {
    return {head.page, head.pid, head.tid};
}

std::span<const std::byte> bytes_of(const resident::Request& request) {
    return {reinterpret_cast<const std::byte*>(request.payload), request.head.payload_bytes};
}

std::string_view text_of(const resident::Request& request) {
    const auto* const text = reinterpret_cast<const char*>(request.payload);
    return {text, ::strnlen(text, request.head.payload_bytes)};
}

/// Whether a ptrace(2) of another process's stops this one.
bool has_tracer(std::int32_t pid) {
    return status_field(pid, "TracerPid").find_first_of("123456789") != std::string::npos;
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span{&value, 1});
}

}  // namespace

void Server::on_open(Received& received) {
    const RequestHead& head = received.request.head;
    subsystem::OpenRequest request;
    request.caller = caller_of(head);
    request.attr = bytes_of(received.request);
    request.pid = static_cast<std::int32_t>(head.argument[0]);
    request.cpu = static_cast<std::int32_t>(head.argument[1]);
    request.flags = head.argument[3];
    request.group.none = head.group == -1;
    const auto leader = static_cast<EventIndex>(head.argument[2]);
    if (is_open(leader)) request.group.event = leader;
    request.group.open = request.group.event.has_value();
    request.descriptor_free = static_cast<bool>(received.descriptor);
    if (head.cgroup != 0) request.cgroup = head.cgroup;
    request.file = head.file;
    const bool first = !machine_;
    Machine& virtual_machine = machine();
    if (first) virtual_machine.host.called_by(request.caller, head.task_clock, head.cpu);
    notice_births();
    const auto opened = virtual_machine.subsystem.open(request);
    if (!opened) return answer(head, -opened.error().error, bytes_of(opened.error().attr_size));
    know_process(head.pid);
    const EventIndex event = *opened;
    if (const auto target = memory_.event(event).thread_page; target < engine::kMaximumThreadPages)
        know_process(memory_.thread_page(target).pid);
    watch(received.descriptor.get(), Watched::event, event);
    event_by_inode_[head.argument[4]] = event;
    events_[event] = {std::move(received.descriptor), head.argument[4]};
    answer(head, 0, {}, event);
}

void Server::on_read(Received& received) {
    const RequestHead& head = received.request.head;
    if (!is_open(head.event)) return answer(head, -EBADF);
    const auto words = machine().subsystem.read(head.event, head.argument[0]);
    if (!words) return answer(head, -words.error().error);
    const auto bytes = std::as_bytes(std::span{*words});
    answer(head, static_cast<std::int64_t>(bytes.size()), bytes);
}

void Server::on_control(Received& received) {
    const RequestHead& head = received.request.head;
    if (!is_open(head.event)) return answer(head, -EBADF);
    subsystem::IoctlArgument argument;
    argument.word = head.argument[1];
    argument.bytes = bytes_of(received.request);
    argument.descriptor.none = argument.word == ~std::uint64_t{0};
    const auto named = static_cast<EventIndex>(head.argument[2]);
    if (is_open(named)) argument.descriptor.event = named;
    argument.descriptor.open = head.argument[3] != 0;
    const auto done =
        machine().subsystem.ioctl(caller_of(head), head.event, static_cast<std::uint32_t>(head.argument[0]), argument);
    if (!done) return answer(head, -done.error().error);
    answer(head, done->value, done->written);
}

void Server::on_map(Received& received) {
    const RequestHead& head = received.request.head;
    if (!is_open(head.event)) return answer(head, -EBADF);
    const subsystem::MapRequest request{caller_of(head), head.argument[0], head.argument[3],
                                        static_cast<std::int32_t>(head.argument[1]),
                                        static_cast<std::int32_t>(head.argument[2])};
    const auto mapped = machine().subsystem.map(head.event, request);
    if (!mapped) return answer(head, -mapped.error().error);
    mappings_.emplace(head.event, *mapped);
    answer(head, static_cast<std::int64_t>(mapped->offset));
}

void Server::on_unmap(Received& received) {
    const RequestHead& head = received.request.head;
    const auto [first, last] = mappings_.equal_range(head.event);
    for (auto known = first; known != last; ++known) {
        if (known->second.bytes != head.argument[0]) continue;
        const subsystem::Mapping mapping = known->second;
        mappings_.erase(known);
        machine().subsystem.unmap(head.event, mapping);
        return answer(head, 0);
    }
    answer(head, -EINVAL);
}

void Server::on_identify(Received& received) {
    const RequestHead& head = received.request.head;
    const auto known = event_by_inode_.find(head.argument[0]);
    answer(head, known == event_by_inode_.end() ? 0 : static_cast<std::int64_t>(known->second));
}

void Server::on_before_clone(Received& received) {
    const RequestHead& head = received.request.head;
    if (!machine_ || machine_->subsystem.idle()) return answer(head, 0);
    const std::uint64_t flags = head.argument[0];
    const std::uint64_t page = head.argument[1];
    // A child without a page counts for itself, and nobody can count it.
    if (page >= engine::kMaximumThreadPages || memory_.thread_page(static_cast<std::uint32_t>(page)).tid != 0)
        return answer(head, 0);
    const ForkKind kind = (flags & kCloneThread) != 0    ? ForkKind::thread
                          : (flags & kClearSignals) != 0 ? ForkKind::clears_signals
                                                         : ForkKind::process;
    pending_[next_pending_] = {caller_of(head), kind, static_cast<std::uint32_t>(page)};
    answer(head, next_pending_++);
}

void Server::on_clone_failed(Received& received) {
    pending_.erase(static_cast<std::uint32_t>(received.request.head.argument[0]));
    answer(received.request.head, 0);
}

void Server::be_born(std::uint32_t number, const TaskName& child) {
    const Pending pending = pending_.at(number);
    pending_.erase(number);
    know_process(child.pid);
    machine().subsystem.task_forked(pending.parent, child, pending.kind);
}

void Server::notice_births() {
    for (auto at = pending_.begin(); at != pending_.end();) {
        const auto [number, pending] = *at++;
        const engine::ThreadPage& page = memory_.thread_page(pending.page);
        if (const std::int32_t tid = __atomic_load_n(&page.tid, __ATOMIC_ACQUIRE); tid != 0)
            be_born(number, {pending.page, page.process_id(), tid});
    }
}

void Server::on_cloned(Received& received) {
    // Before the parent goes on: nothing that it does from here on is seen by the child's events.
    const RequestHead& head = received.request.head;
    const auto known = pending_.find(static_cast<std::uint32_t>(head.argument[0]));
    const auto tid = static_cast<std::int32_t>(head.argument[1]);
    if (known != pending_.end() && tid > 0) {
        const Pending& pending = known->second;
        be_born(known->first, {pending.page, pending.kind == ForkKind::thread ? pending.parent.pid : tid, tid});
    }
    answer(head, 0);
}

void Server::on_begin(Received& received) {
    const RequestHead& head = received.request.head;
    if (!machine_) return answer(head, 0);
    const auto known = pending_.find(static_cast<std::uint32_t>(head.argument[0]));
    know_process(head.pid);
    if (known != pending_.end()) be_born(known->first, caller_of(head));
    answer(head, 0);
}

void Server::on_executing(Received& received) {
    // A tracer is stopped for at the end of execve, before the new program has done anything, and finds its events as
    // they are then. Only for it, since an execve that still fails has been told of in vain.
    const RequestHead& head = received.request.head;
    told_executions_.erase(head.page);
    if (machine_ && head.payload_bytes != 0 && has_tracer(head.pid)) {
        execute(head, text_of(received.request));
        told_executions_.insert(head.page);
    }
    answer(head, 0);
}

void Server::on_executed(Received& received) {
    const RequestHead& head = received.request.head;
    if (machine_ && told_executions_.erase(head.page) == 0) execute(head, text_of(received.request));
    answer(head, 0);
}

void Server::execute(const RequestHead& head, std::string_view name) {
    machine_->subsystem.task_exec(caller_of(head), caller_of(head));
    machine_->subsystem.task_comm(caller_of(head), name, true);
}

void Server::on_end(Received& received) {
    const RequestHead& head = received.request.head;
    if (machine_ && head.argument[0] != 0)
        end_threads_of(head.pid, false);
    else if (machine_)
        end_thread(caller_of(head));
    answer(head, 0);
}

void Server::on_renamed(Received& received) {
    const RequestHead& head = received.request.head;
    if (machine_) machine_->subsystem.task_comm(caller_of(head), text_of(received.request), false);
    answer(head, 0);
}

void Server::on_mapped(Received& received) {
    const RequestHead& head = received.request.head;
    if (machine_) {
        auto mapped = mapping_of(head.pid, head.argument[0]);
        if (mapped) {
            mapped->task = {head.pid, head.tid};
            mapped->address = head.argument[0];
            mapped->bytes = (head.argument[1] + 4095) & ~std::uint64_t{4095};
            mapped->prot = static_cast<std::uint32_t>(head.argument[2]);
            if (head.argument[3] != 0) mapped->flags = static_cast<std::uint32_t>(head.argument[3]);
            const auto name = static_cast<resident::MappingName>(head.argument[4]);
            if (name == resident::MappingName::ring) {
                mapped->name = "anon_inode:[perf_event]";
                mapped->offset = 0;
            }
            if (name == resident::MappingName::none) mapped->name = "//anon";
            const std::vector<std::byte> id = build_id_of(head.pid, *mapped);
            mapped->build_id = id;
            machine_->subsystem.task_mapped(caller_of(head), *mapped);
        }
    }
    answer(head, 0);
}

void Server::on_new_namespaces(Received& received) {
    const RequestHead& head = received.request.head;
    if (machine_) machine_->subsystem.task_namespaces(caller_of(head), namespaces_of(head.pid, head.tid));
    answer(head, 0);
}

void Server::on_switch_events(Received& received) {
    const RequestHead& head = received.request.head;
    if (machine_) machine_->subsystem.prctl(caller_of(head), head.argument[0] != 0);
    answer(head, 0);
}

bool Server::make_files(std::uint32_t part) {
    engine::RunHeader& header = memory_.header();
    if (header.files_made[part] != 0) return header.files_made[part] == 1;
    bool made = part == 0 ? files_.make(pmu::identity_of(options_.cpu_model)) : files_.make_tracing(tracepoints_.all());
    made = made && files_.root().size() < sizeof header.files_root;
    if (made) files_.root().copy(header.files_root, sizeof header.files_root - 1);
    __atomic_store_n(&header.files_made[part], made ? 1 : 2, __ATOMIC_RELEASE);
    return made;
}

void Server::on_files(Received& received) {
    const std::uint64_t part = received.request.head.argument[0];
    const bool made = part < engine::kFileParts && make_files(static_cast<std::uint32_t>(part));
    answer(received.request.head, made ? 1 : 0);
}

void Server::on_poll(Received& received) {
    const RequestHead& head = received.request.head;
    if (!is_open(head.event)) return answer(head, -EBADF);
    const subsystem::PollState state = machine().subsystem.poll(head.event);
    answer(head, (state.in ? 1 : 0) | (state.hang_up ? 2 : 0));
}

void Server::on_wake(Received& received) {
    const EventIndex event = received.request.head.event;
    if (machine_) machine_->subsystem.wrote(event);
    answer(received.request.head, 0);
}

void Server::on_reaping(Received& received) {
    // The request says nothing that the process's pidfd would not: who is told of here must have ended.
    const auto known = processes_.find(static_cast<std::int32_t>(received.request.head.argument[0]));
    if (known != processes_.end()) {
        pollfd process{known->second.get(), POLLIN, 0};
        if (::poll(&process, 1, 0) == 1) end_process(known->first);
    }
    answer(received.request.head, 0);
}

void Server::on_define_probes(Received& received) {
    const RequestHead& head = received.request.head;
    if (head.argument[0] != 0)
        if (const auto cleared = probes_.clear(); !cleared) return answer(head, -cleared.error().error);
    files_.follow(probes_);
    std::string_view text{reinterpret_cast<const char*>(received.request.payload), head.payload_bytes};
    if (text.size() == resident::kRequestPayload && text.contains('\n')) text = text.substr(0, text.rfind('\n') + 1);
    const auto taken = static_cast<std::int64_t>(text.size());
    while (!text.empty()) {
        const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size()));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const std::string_view words = line.substr(0, line.find('#'));
        if (words.find_first_not_of(" \t\0") == std::string_view::npos) continue;
        const auto defined = probes_.define(words);
        if (!defined) return answer(head, -defined.error().error);
        files_.follow(probes_);
    }
    answer(head, taken);
}

/// The thread has noticed behind the call in which it waited. Which task had the CPU meanwhile only the kernel knows.
void Server::on_switched(Received& received) {
    constexpr std::uint64_t kMost = 1024;
    constexpr TaskName kUnknown{subsystem::kOutsideOfRun, -1, -1};
    const RequestHead& head = received.request.head;
    const TaskName caller = caller_of(head);
    const auto tell = [&](subsystem::Switch direction, std::uint64_t ago) {
        machine_->subsystem.task_switched(caller, direction, kUnknown, ago);
    };
    if (machine_ && head.argument[3] != 0) tell(subsystem::Switch::in, 0);
    const std::uint64_t waits = std::min(head.argument[0], kMost);
    for (std::uint64_t i = 0; machine_ && i < waits; ++i) {
        tell(subsystem::Switch::out, head.argument[2] / waits * (waits - i));
        tell(subsystem::Switch::in, head.argument[2] / waits * (waits - i - 1));
    }
    for (std::uint64_t i = 0; machine_ && i < std::min(head.argument[1], kMost); ++i) {
        tell(subsystem::Switch::preempted, 0);
        tell(subsystem::Switch::in, 0);
    }
    answer(head, 0);
}

void Server::on_made_cgroup(Received& received) {
    const RequestHead& head = received.request.head;
    const auto cgroup = machine_ ? cgroup_at(received.descriptor.get()) : std::nullopt;
    if (cgroup) machine_->subsystem.task_made_cgroup(caller_of(head), cgroup->inode, cgroup->path);
    answer(head, 0);
}

void Server::on_loaded_bpf(Received& received) {
    const RequestHead& head = received.request.head;
    const auto loaded = machine_ ? bpf_program(received.descriptor.get()) : std::nullopt;
    if (loaded) machine_->subsystem.task_loaded_bpf(caller_of(head), loaded->functions(), loaded->program);
    answer(head, 0);
}

void Server::on_ran_out(Received& received) {
    const EventIndex event = received.request.head.event;
    if (machine_ && is_open(event)) machine_->subsystem.ran_out(event);
}

}  // namespace anyperf::broker
