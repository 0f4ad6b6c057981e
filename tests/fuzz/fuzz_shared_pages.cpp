// fuzz_shared_pages.cpp: requests that are well formed, and between them wild words in the shared memory, of each kind
// of page. The broker serves or refuses; it does not crash, hang or leave its memory. Without a socket and an event
// loop, so that the same input does the same each time.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "anyperf/attr.h"
#include "broker/machine/presented_machine.h"
#include "broker/requests/serve_request.h"
#include "broker/state/task_life.h"
#include "input.h"
#include "run/layout.h"

namespace {

using anyperf::fuzz::Input;
using namespace anyperf;
using broker::OwnedFd;
using run::RequestHead;
using run::RequestKind;

constexpr int kSteps = 64;
constexpr std::uint32_t kPages = 3;

/// The arrays of the shared memory, as far as a short run uses them. Not the ids of the pages that the requests name:
/// those are restored before each request.
struct Part {
    std::size_t offset;
    std::size_t bytes;
};
constexpr std::array kParts{
    Part{run::kProcessesOffset, sizeof(run::ProcessRecord) * 4},
    Part{run::kThreadsOffset, sizeof(run::ThreadRecord) * 4},
    Part{run::kThreadPagesOffset, sizeof(run::ThreadPage) * 4},
    Part{run::kTupleCountsOffset, sizeof(run::TupleCounts) * 4},
    Part{run::kEventsOffset, sizeof(subsystem::EventPage) * 8},
    Part{run::kRingPagesOffset, sizeof(subsystem::RingPage) * 4},
    Part{run::kMailboxesOffset, run::kMailboxBytes* kPages},
};

void scribble(const broker::RunMemory& memory, Input& input) {
    const Part& part = kParts[input.take<std::uint8_t>() % kParts.size()];
    const std::size_t place = part.offset + input.take<std::uint16_t>() * std::size_t{4} % part.bytes;
    const auto value = input.take<std::uint32_t>();
    std::memcpy(reinterpret_cast<char*>(&memory.use()) + place, &value, sizeof value);
}

void claim_pages(const broker::RunMemory& memory) {
    for (std::uint32_t i = 0; i < kPages; ++i) {
        run::ThreadPage& page = memory.thread_page(i);
        page.state = run::RecordState::live;
        page.pid = page.tid = ::getpid();
        page.in_kernel = 1;
    }
    memory.use().thread_pages = kPages;
}

void put_attr(broker::ReceivedRequest& received, Input& input) {
    abi::Attr attr{};
    const auto shape = input.take<std::uint16_t>();
    attr.size = sizeof attr;
    attr.type = shape & 1;  // hardware or software
    attr.config = shape >> 1 & 7;
    attr.flags = 0x60 | ((shape & 16) != 0 ? 2 : 0) | ((shape & 32) != 0 ? 1 : 0);  // exclude_kernel and _hv; inherit
    if ((shape & 64) != 0) attr.sample_period = input.take<std::uint16_t>();
    if ((shape & 64) != 0) attr.sample_type = input.take<std::uint32_t>() & 0xffffff;
    if ((shape & 128) != 0) attr.read_format = shape >> 8 & 31;
    std::memcpy(received.request.payload, &attr, sizeof attr);
    received.request.head.payload_bytes = sizeof attr;
    std::array<int, 2> pair{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0) return;
    received.descriptor = OwnedFd{pair[0]};
    ::close(pair[1]);
}

void serve(broker::BrokerState& state, Input& input) {
    constexpr std::array kIoctls{0x2400U, 0x2401U, 0x2402U, 0x2403U, 0x40082404U, 0x2405U, 0x80082407U, 0x40042409U};
    broker::ReceivedRequest received;
    RequestHead& head = received.request.head;
    head = {};
    head.kind = static_cast<RequestKind>(input.take<std::uint8_t>() % static_cast<unsigned>(RequestKind::count));
    head.page = input.take<std::uint8_t>() % kPages;
    head.tid = ::getpid();
    head.event = input.take<std::uint8_t>() % 8;
    for (std::uint64_t& argument : head.argument) argument = input.take<std::uint8_t>();
    received.sender = ::getpid();
    if (head.kind == RequestKind::open) {
        head.argument[0] = 0;
        head.argument[1] = ~0U;
        head.argument[3] = 0;
        head.group = head.argument[2] != 0 ? 5 : -1;
        put_attr(received, input);
    }
    if (head.kind == RequestKind::map) {
        head.argument[0] = 4096 * (1 + (std::uint64_t{1} << head.argument[0] % 4));
        head.argument[1] = 3;
        head.argument[2] = 1;
        head.argument[3] = 0;
    }
    if (head.kind == RequestKind::ioctl) {
        head.argument[0] = kIoctls[head.argument[0] % kIoctls.size()];
        head.payload_bytes = 8;
        received.request.payload[0] = input.take<std::uint8_t>();
    }
    received.bytes = sizeof head + head.payload_bytes;
    const auto caller = broker::caller_of(received, state);
    if (!caller) return;
    broker::serve_request(state, *caller, received);
    if (state.machine) state.machine->host.end_request();
    state.publish_wanted();
    state.report_poll_changes();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    ::signal(SIGTRAP, SIG_IGN);
    auto memory = broker::RunMemory::make();
    if (!memory) return 0;
    std::strcpy(memory->header().engine_path, "/proc/self/exe");
    broker::BrokerState state{*memory, {.counters = size % 3 == 0 ? 2U : 0U}};
    Input input{data, size};
    for (int i = 0; i < kSteps && input.more(); ++i) {
        if (input.take<std::uint8_t>() % 2 == 0) {
            scribble(*memory, input);
            continue;
        }
        claim_pages(*memory);
        serve(state, input);
    }
    if (state.machine && state.machine->subsystem.needs_tick()) state.machine->subsystem.tick();
    state.processes.track(::getpid());
    broker::end_process(state, ::getpid());
    return 0;
}
