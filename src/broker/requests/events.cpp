// events.cpp: passes the calls on events to the subsystem, and keeps the sockets of the open ones.
//
// Each handler has three steps. It turns the request's numbers into the kernel's arguments: it looks events up, and
// truncates to the kernel's types. It calls the subsystem, which decides all that the kernel would decide. It notes
// what the broker itself must remember: sockets, mappings, processes to track.
#include "broker/requests/events.h"

#include <cerrno>
#include <utility>

#include "broker/state/task_life.h"
#include "broker/transport/program_socket.h"

namespace anyperf::broker {

namespace {

/// The kernel's arguments from a message. Each number that names something of the broker is looked up: an event that
/// this run does not have is not passed on.
subsystem::OpenRequest open_request(const RequestContext& request) {
    const run::RequestHead& head = request.head;
    subsystem::OpenRequest open;
    open.caller = request.caller;
    open.attr = request.payload;
    open.pid = static_cast<std::int32_t>(head.argument[0]);
    open.cpu = static_cast<std::int32_t>(head.argument[1]);
    open.flags = head.argument[3];
    open.group.none = head.group == -1;
    const auto leader = static_cast<EventIndex>(head.argument[2]);
    if (request.state.events.contains(leader)) open.group.event = leader;
    open.group.open = open.group.event.has_value();
    // A program sends no descriptor if it could not make one (EMFILE).
    open.descriptor_free = request.descriptor && is_made_by(request.descriptor.get(), request.kernel.pid);
    if (head.cgroup != 0) open.cgroup = head.cgroup;
    open.file = head.file;
    return open;
}

}  // namespace

// Children that the kernel has made, but that have not been reported, are registered first: the event may be opened on
// one. From here on the owner and the measured process are tracked, so that their deaths are noticed.
RequestAnswer on_open(RequestContext& request) {
    BrokerState& state = request.state;
    register_pending_children(state);
    const auto opened = request.subsystem().open(open_request(request));
    if (!opened) return {.value = -opened.error().error, .payload = AnswerPayload{opened.error().attr_size}};
    const EventIndex event = *opened;
    state.processes.track(request.kernel.pid);
    if (const auto target = request.subsystem().task_of(event))
        state.processes.track(state.threads.kernel_ids(*target).pid);
    // From here on the end of file on this socket is the last close of the event.
    state.descriptors.add(request.descriptor.get(), DescriptorKind::event, event);
    state.events.add(event, std::move(request.descriptor), request.argument(4));
    return {.event = event};
}

RequestAnswer on_read(RequestContext& request) {
    auto words = request.subsystem().read(request.event(), request.argument(0));
    if (!words) return refusal(words.error().error);
    const auto bytes = static_cast<std::int64_t>(words->size() * sizeof(std::uint64_t));
    return {.value = bytes, .payload = AnswerPayload{*std::move(words)}};
}

RequestAnswer on_ioctl(RequestContext& request) {
    subsystem::IoctlArgument argument;
    argument.word = request.argument(1);
    argument.bytes = request.payload;
    // For ioctls whose argument is a descriptor. argument(3): the descriptor is open, though perhaps not an event's.
    argument.descriptor.none = argument.word == ~std::uint64_t{0};
    const auto named = static_cast<EventIndex>(request.argument(2));
    if (request.state.events.contains(named)) argument.descriptor.event = named;
    argument.descriptor.open = request.argument(3) != 0;
    auto done = request.subsystem().ioctl(request.caller, request.event(),
                                          static_cast<std::uint32_t>(request.argument(0)), argument);
    if (!done) return refusal(done.error().error);
    return {.value = done->value, .payload = AnswerPayload{std::move(done->written)}};
}

RequestAnswer on_map(RequestContext& request) {
    const subsystem::MapRequest map{request.caller, request.argument(0), request.argument(3),
                                    static_cast<std::int32_t>(request.argument(1)),
                                    static_cast<std::int32_t>(request.argument(2))};
    const auto mapped = request.subsystem().map(request.event(), map);
    if (!mapped) return refusal(mapped.error().error);
    request.state.processes.track(request.kernel.pid);  // the mapping ends with the process
    request.state.mappings.add(request.event(), request.kernel.pid, *mapped);
    return {.value = static_cast<std::int64_t>(mapped->offset)};
}

RequestAnswer on_unmap(RequestContext& request) {
    // Taken before the call, which may free the event.
    const auto mapping = request.state.mappings.take(request.event(), request.kernel.pid, request.argument(1),
                                                     (request.argument(0) + 4095) & ~std::uint64_t{4095});
    if (!mapping) return refusal(EINVAL);
    request.subsystem().unmap(request.event(), *mapping);
    return {};
}

RequestAnswer on_identify(RequestContext& request) {
    return {.value = request.state.events.with_inode(request.argument(0))};
}

RequestAnswer on_poll(RequestContext& request) {
    const subsystem::PollState state = request.subsystem().poll(request.event());
    // Bit 0: readable, bit 1: hung up (poll_state_of() in agent/syscalls/poll.cpp).
    return {.value = (state.in ? 1 : 0) | (state.hang_up ? 2 : 0)};
}

RequestAnswer on_wake(RequestContext& request) {
    request.subsystem().ring_written(request.event());
    return {};
}

RequestAnswer on_ran_out(RequestContext& request) {
    if (request.state.events.contains(request.event())) request.subsystem().refresh_ran_out(request.event());
    return {.is_sent = false};
}

}  // namespace anyperf::broker
