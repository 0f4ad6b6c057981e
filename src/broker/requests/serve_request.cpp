// serve_request.cpp: checks of the frame and of what a kind of request needs.
//
// A request may contain anything. caller_of() checks, in this order, that the datagram is whole, that version and kind
// are known, and that the thread and the page that it names are the sender's. A request that fails is dropped without
// an answer: there is no mailbox to which one could safely be written.
#include "broker/requests/serve_request.h"

#include <cerrno>

#include "broker/requests/request_table.h"

namespace anyperf::broker {

using run::RequestHead;

namespace {

bool is_whole(const ReceivedRequest& received) {
    const RequestHead& head = received.request.head;
    return received.bytes >= sizeof head && received.bytes - sizeof head >= head.payload_bytes &&
           head.payload_bytes <= run::kRequestPayload;
}

void note_caller(BrokerState& state, const TaskId& caller, const RequestHead& head) {
    run::ThreadPage& page = state.memory.thread_page(caller.thread_page);
    // Events of one CPU count what a thread does there, so a move is reported before anything else is done.
    if (state.machine) {
        state.machine->host.begin_request(caller, {head.task_clock, head.switches, head.cpu});
        if (page.cpu != head.cpu && head.cpu >= 0) state.machine->subsystem.task_moved(caller, head.cpu);
    }
    page.cpu = head.cpu;
}

/// Makes the machine for a request that needs it, and reports the caller to it, which note_caller() could not do.
void make_machine_for(BrokerState& state, const TaskId& caller, const RequestHead& head) {
    if (!state.machine) state.make_machine().host.begin_request(caller, {head.task_clock, head.switches, head.cpu});
}

}  // namespace

std::optional<TaskId> caller_of(const ReceivedRequest& received, BrokerState& state) {
    const RequestHead& head = received.request.head;
    if (!is_whole(received) || head.version != run::kProtocolVersion || head.kind >= run::RequestKind::count)
        return std::nullopt;
    // A datagram may be older than its sender's death. It must not get the rights of the next process of that number.
    // The server has looked for deaths after it received the datagram, and has forgotten the threads of the dead
    // (end_process()). So a sender that is known here lives, or has died just now and has no successor yet.
    return state.threads.sender(head.page, received.sender, head.tid);
}

RequestAnswer serve_request(BrokerState& state, const TaskId& caller, ReceivedRequest& received) {
    const RequestHead& head = received.request.head;
    note_caller(state, caller, head);
    const RequestRow& row = kRequests[static_cast<std::size_t>(head.kind)];
    if (row.needs == Needs::machine && !state.machine) return {};
    if (row.needs == Needs::open_event && !state.events.contains(head.event)) return refusal(EBADF);
    if (row.needs == Needs::making_machine) make_machine_for(state, caller, head);
    RequestContext request{state,
                           caller,
                           state.threads.kernel_ids(caller),
                           head,
                           std::as_bytes(std::span{received.request.payload, head.payload_bytes}),
                           received.descriptor};
    return row.handler(request);
}

}  // namespace anyperf::broker
