// ioctl.cpp: ioctl(2) on an event, and prctl(2) PR_TASK_PERF_EVENTS_*. The memory that an argument points to is sent
// with the request, and what the subsystem writes there comes back with the answer. Only the subsystem interprets it.
// abi::kIoctls has the size and the direction of that memory for each request.
#include <errno.h>
#include <fcntl.h>

#include <algorithm>
#include <cstddef>

#include "abi/attr_sizes.h"
#include "abi/ioctls.h"
#include "agent/broker_request.h"
#include "agent/sampling/local_toggle.h"
#include "agent/syscalls/descriptors.h"
#include "agent/syscalls/event_syscalls.h"
#include "anyperf/attr.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::agent {

namespace {

using abi::ArgumentKind;

/// The length of the string at `from` with its NUL, at most `limit`. A string that runs into unreadable memory includes
/// the first unreadable byte: copying it then fails as strndup_user() does.
std::size_t string_bytes(std::uint64_t from, std::size_t limit) {
    for (std::size_t i = 0; i < limit; ++i) {
        char c = 0;
        if (!engine::x86_64::guarded_copy(&c, engine::at_address<const void>(from + i), 1)) return i + 1;
        if (c == 0) return i + 1;
    }
    return limit;
}

/// The length of the attr at `from` by its `size` field, at most `limit`. A `size` of 0 means the oldest attr's length,
/// as in the kernel. 0 if the field cannot be read.
std::size_t attr_bytes(std::uint64_t from, std::size_t limit) {
    std::uint32_t size = 0;
    const std::uint64_t size_address = from + offsetof(abi::Attr, size);
    if (!engine::x86_64::guarded_copy(&size, engine::at_address<const void>(size_address), sizeof size)) return 0;
    return size == 0 ? std::size_t{abi::kAttrSizes.front().bytes} : std::min<std::size_t>(size, limit);
}

/// Adds what the subsystem needs of the ioctl's argument. A string has at least one byte in the request and an attr
/// eight, even if the memory is unreadable. Then transmit() sends the request without its payload, and the subsystem
/// answers EFAULT.
void add_argument(const Call& call, const abi::Ioctl& row, BrokerRequest& to_broker) {
    const std::uint64_t argument = call.argument[2];
    switch (row.argument) {
        case ArgumentKind::value:
        case ArgumentKind::out: return;
        case ArgumentKind::descriptor: {
            const bool open =
                !engine::is_error(engine::kernel_call(__NR_fcntl, static_cast<std::uint32_t>(argument), F_GETFD));
            to_broker.argument(2, event_of(call.engine, argument)).argument(3, open ? 1 : 0);
            return;
        }
        case ArgumentKind::in:
        case ArgumentKind::in_out: to_broker.from_application(argument, row.bytes); return;
        case ArgumentKind::text_in: to_broker.from_application(argument, string_bytes(argument, row.bytes)); return;
        case ArgumentKind::attr_in:
            to_broker.from_application(argument, std::max<std::size_t>(8, attr_bytes(argument, row.bytes)));
            return;
    }
}

}  // namespace

long ioctl_event(Call& call, EventIndex event) {
    const auto request = static_cast<std::uint32_t>(call.argument[1]);
    if (try_local_toggle(call.thread, event, request, call.argument[2])) return 0;
    const auto* const row = std::ranges::find(abi::kIoctls, request, &abi::Ioctl::request);
    BrokerRequest to_broker{call.thread, run::RequestKind::ioctl, event};
    to_broker.argument(0, request).argument(1, call.argument[2]);
    if (row != abi::kIoctls.end()) add_argument(call, *row, to_broker);
    const long answer = to_broker.send();
    if (answer < 0) return answer;  // mailbox() is not valid without a broker
    const std::uint32_t bytes = to_broker.mailbox().payload_bytes;
    if (bytes == 0) return answer;
    return engine::x86_64::guarded_copy(engine::at_address<void>(call.argument[2]), to_broker.mailbox().payload, bytes)
               ? answer
               : -EFAULT;
}

long prctl_events(Call& call, bool on) {
    return BrokerRequest{call.thread, run::RequestKind::switch_events}.argument(0, on ? 1 : 0).send();
}

}  // namespace anyperf::agent
