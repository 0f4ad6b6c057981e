// control.cpp: ioctl(2) on an event, and prctl(2) PR_TASK_PERF_EVENTS_*. What the argument points to goes with the
// request, and comes back with the answer; what it means is the subsystem's business.
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <array>

#include "engine/x86_64/guarded_copy.h"
#include "resident/calls.h"
#include "resident/descriptors.h"
#include "resident/own_switch.h"
#include "resident/request.h"

namespace anyperf::resident {

namespace {

/// What an ioctl's argument is.
enum class Argument : std::uint8_t { value, points_in, points_out, points_both, descriptor, string, attr };

struct ControlRow {
    std::uint32_t request;
    Argument argument;
    std::uint32_t bytes;  ///< behind the pointer
};

constexpr std::array kControls{
    ControlRow{PERF_EVENT_IOC_ENABLE, Argument::value, 0},
    ControlRow{PERF_EVENT_IOC_DISABLE, Argument::value, 0},
    ControlRow{PERF_EVENT_IOC_REFRESH, Argument::value, 0},
    ControlRow{PERF_EVENT_IOC_RESET, Argument::value, 0},
    ControlRow{PERF_EVENT_IOC_PERIOD, Argument::points_in, 8},
    ControlRow{PERF_EVENT_IOC_SET_OUTPUT, Argument::descriptor, 0},
    ControlRow{PERF_EVENT_IOC_SET_FILTER, Argument::string, 4096},
    ControlRow{PERF_EVENT_IOC_ID, Argument::points_out, 8},
    ControlRow{PERF_EVENT_IOC_SET_BPF, Argument::descriptor, 0},
    ControlRow{PERF_EVENT_IOC_PAUSE_OUTPUT, Argument::value, 0},
    ControlRow{PERF_EVENT_IOC_QUERY_BPF, Argument::points_both, 8},
    ControlRow{PERF_EVENT_IOC_MODIFY_ATTRIBUTES, Argument::attr, 4096},
};

/// A string's bytes that can be read, NUL included.
std::size_t string_bytes(std::uint64_t from, std::size_t limit) {
    for (std::size_t i = 0; i < limit; ++i) {
        char c = 0;
        if (!engine::x86_64::guarded_copy(&c, engine::at_address<const void>(from + i), 1)) return 0;
        if (c == 0) return i + 1;
    }
    return limit;
}

std::size_t attr_bytes(std::uint64_t from) {
    std::uint32_t size = 0;
    if (!engine::x86_64::guarded_copy(&size, engine::at_address<const void>(from + 4), sizeof size)) return 0;
    return size == 0 ? std::size_t{PERF_ATTR_SIZE_VER0} : std::min<std::size_t>(size, 4096);
}

void add_argument(const Call& call, const ControlRow& row, Ask& ask) {
    const std::uint64_t argument = call.argument[2];
    switch (row.argument) {
        case Argument::value: return;
        case Argument::descriptor: {
            const bool open =
                !engine::is_error(engine::kernel_call(__NR_fcntl, static_cast<std::uint32_t>(argument), F_GETFD));
            ask.with(2, event_of(call.engine, argument)).with(3, open ? 1 : 0);
            return;
        }
        case Argument::points_in:
        case Argument::points_both: ask.from_application(argument, row.bytes); return;
        case Argument::points_out: return;
        case Argument::string:
            ask.from_application(argument, std::max<std::size_t>(1, string_bytes(argument, row.bytes)));
            return;
        case Argument::attr: ask.from_application(argument, std::max<std::size_t>(8, attr_bytes(argument))); return;
    }
}

}  // namespace

long control_event(Call& call, EventIndex event) {
    const auto request = static_cast<std::uint32_t>(call.argument[1]);
    if (control_own(call.thread, event, request, call.argument[2])) return 0;
    const auto* const row = std::ranges::find(kControls, request, &ControlRow::request);
    Ask ask{call.thread, RequestKind::control, event};
    ask.with(0, request).with(1, call.argument[2]);
    if (row != kControls.end()) add_argument(call, *row, ask);
    const long answer = ask.send();
    if (answer < 0) return answer;  // perhaps there is not even a mailbox
    const std::uint32_t bytes = ask.mailbox().payload_bytes;
    if (bytes == 0) return answer;
    return engine::x86_64::guarded_copy(engine::at_address<void>(call.argument[2]), ask.mailbox().payload, bytes)
               ? answer
               : -EFAULT;
}

long switch_events(Call& call, bool on) {
    return Ask{call.thread, RequestKind::switch_events}.with(0, on ? 1 : 0).send();
}

}  // namespace anyperf::resident
