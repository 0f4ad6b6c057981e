// requests_test.cpp: from a datagram to its answer, without a socket, a program or a server. The run's memory is real,
// but only this process has it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <string_view>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "anyperf/attr.h"
#include "broker/requests/request_table.h"
#include "broker/requests/serve_request.h"
#include "broker/state/task_life.h"
#include "subsystem/events/attr_copy.h"
#include "subsystem/records/record_interests.h"

namespace anyperf::broker {
namespace {

using run::RequestKind;

constexpr std::uint32_t kPage = 1;
constexpr std::uint32_t kNotOpen = 7;

class Requests : public testing::Test {
  protected:
    void SetUp() override {
        run::ThreadPage& page = memory_.thread_page(kPage);
        page.state = run::RecordState::live;
        page.pid = ::getpid();
        page.tid = ::getpid();
        memory_.use().thread_pages = kPage + 1;
    }

    static ReceivedRequest request(RequestKind kind, std::uint32_t event = 0) {
        ReceivedRequest received;
        received.request.head = {.kind = kind, .page = kPage, .tid = ::getpid(), .event = event};
        received.bytes = sizeof(run::RequestHead);
        received.sender = ::getpid();
        return received;
    }

    static ReceivedRequest open_request(const abi::Attr& attr) {
        ReceivedRequest received = request(RequestKind::open);
        received.request.head.argument[1] = ~std::uint64_t{0};  // any CPU
        received.request.head.argument[4] = 4711;               // inode of the program's end
        received.request.head.payload_bytes = sizeof attr;
        std::memcpy(received.request.payload, &attr, sizeof attr);
        received.bytes += sizeof attr;
        std::array<int, 2> pair{-1, -1};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()), 0);
        received.descriptor = OwnedFd{pair[0]};
        ::close(pair[1]);
        return received;
    }

    static abi::Attr task_clock() {
        abi::Attr attr{};
        attr.type = abi::kTypeSoftware;
        attr.size = sizeof attr;
        attr.config = 1;  // PERF_COUNT_SW_TASK_CLOCK
        attr.flags = abi::flag("exclude_kernel") | abi::flag("exclude_hv");
        return attr;
    }

    RequestAnswer serve(ReceivedRequest received) {
        const auto caller = caller_of(received, state_);
        EXPECT_TRUE(caller.has_value());
        RequestAnswer answer = serve_request(state_, *caller, received);
        if (state_.machine) state_.machine->host.end_request();
        return answer;
    }

    RunMemory memory_ = *RunMemory::make();
    BrokerState state_{memory_, {}};
};

TEST_F(Requests, EachKindHasANameOfItsOwn) {
    std::set<std::string_view> names;
    for (const RequestRow& row : kRequests) EXPECT_TRUE(names.insert(row.name).second) << row.name;
}

TEST_F(Requests, MalformedRequestHasNoCaller) {
    EXPECT_TRUE(caller_of(request(RequestKind::identify), state_).has_value());

    ReceivedRequest cut = request(RequestKind::identify);
    cut.bytes -= 1;
    EXPECT_FALSE(caller_of(cut, state_).has_value());

    ReceivedRequest short_payload = request(RequestKind::renamed);
    short_payload.request.head.payload_bytes = 1;
    EXPECT_FALSE(caller_of(short_payload, state_).has_value());

    ReceivedRequest unknown_kind = request(RequestKind::count);
    EXPECT_FALSE(caller_of(unknown_kind, state_).has_value());

    ReceivedRequest no_page = request(RequestKind::identify);
    no_page.request.head.page = run::kMaximumThreadPages;
    EXPECT_FALSE(caller_of(no_page, state_).has_value());
}

TEST_F(Requests, PageOfAnotherThreadHasNoCaller) {
    ReceivedRequest received = request(RequestKind::identify);
    received.request.head.tid += 1;
    EXPECT_FALSE(caller_of(received, state_).has_value());
}

TEST_F(Requests, RequestOnAnEventThatIsNotOpenIsRefusedWithEBADF) {
    for (const RequestKind kind : {RequestKind::read, RequestKind::ioctl, RequestKind::map, RequestKind::poll})
        EXPECT_EQ(serve(request(kind, kNotOpen)).value, -EBADF) << kRequests[static_cast<std::size_t>(kind)].name;
}

TEST_F(Requests, UnmapOfAnUnknownMappingIsRefusedWithEINVAL) {
    EXPECT_EQ(serve(request(RequestKind::unmap, kNotOpen)).value, -EINVAL);
}

TEST_F(Requests, ReportsBeforeTheFirstOpenAreAnsweredWithZeroAndMakeNoMachine) {
    for (const RequestRow& row : kRequests) {
        if (row.needs != Needs::machine) continue;
        const RequestAnswer answer = serve(request(row.kind));
        EXPECT_TRUE(answer.is_sent) << row.name;
        EXPECT_EQ(answer.value, 0) << row.name;
        EXPECT_EQ(state_.machine, nullptr) << row.name;
    }
}

TEST_F(Requests, AllButTwoAreAnsweredInTheMailbox) {
    for (const RequestRow& row : kRequests) {
        const bool is_answered_elsewhere = row.kind == RequestKind::ran_out || row.kind == RequestKind::change_user;
        EXPECT_EQ(serve(request(row.kind, kNotOpen)).is_sent, !is_answered_elsewhere) << row.name;
    }
}

TEST_F(Requests, OpenMakesTheMachineAndAnEventThatIsFoundByItsInode) {
    const RequestAnswer opened = serve(open_request(task_clock()));
    ASSERT_EQ(opened.value, 0);
    EXPECT_NE(opened.event, 0u);
    EXPECT_NE(state_.machine, nullptr);
    EXPECT_EQ(memory_.header().events_used, 1u);

    ReceivedRequest identify = request(RequestKind::identify);
    identify.request.head.argument[0] = 4711;
    EXPECT_EQ(serve(std::move(identify)).value, static_cast<std::int64_t>(opened.event));
}

TEST_F(Requests, OpenWithADescriptorThatIsNotASocketPairOfTheSenderIsRefusedWithEMFILE) {
    ReceivedRequest file = open_request(task_clock());
    file.descriptor = OwnedFd{::open("/dev/null", O_RDWR | O_CLOEXEC)};
    EXPECT_EQ(serve(std::move(file)).value, -EMFILE);

    ReceivedRequest unconnected = open_request(task_clock());
    unconnected.descriptor = OwnedFd{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
    EXPECT_EQ(serve(std::move(unconnected)).value, -EMFILE);
}

TEST_F(Requests, ThreadsReportTheirContextSwitchesWhileAnEventCountsThem) {
    constexpr std::uint32_t kWanted = subsystem::kWantsSwitchCounts;
    serve(open_request(task_clock()));
    state_.publish_wanted();
    EXPECT_EQ(memory_.header().wanted_side_band & kWanted, 0u);
    abi::Attr attr = task_clock();
    attr.config = 3;  // PERF_COUNT_SW_CONTEXT_SWITCHES, which happen in the kernel
    attr.flags &= ~abi::flag("exclude_kernel");
    const RequestAnswer opened = serve(open_request(attr));
    if (opened.value == -EACCES) GTEST_SKIP() << "needs CAP_PERFMON or perf_event_paranoid 1";
    ASSERT_EQ(opened.value, 0);
    state_.publish_wanted();
    EXPECT_EQ(memory_.header().wanted_side_band & kWanted, kWanted);
    state_.close_event(opened.event);
    state_.publish_wanted();
    EXPECT_EQ(memory_.header().wanted_side_band & kWanted, 0u);
}

TEST_F(Requests, EmptyLinesOfProbesAreSkipped) {
    ReceivedRequest received = request(RequestKind::define_probes);
    constexpr std::string_view kLines{" \t\n\0 \n\n", 7};
    std::memcpy(received.request.payload, kLines.data(), kLines.size());
    received.request.head.payload_bytes = kLines.size();
    received.bytes += kLines.size();
    EXPECT_EQ(serve(std::move(received)).value, static_cast<std::int64_t>(kLines.size()));
}

TEST_F(Requests, EndOfAThreadMakesNoMachine) {
    ReceivedRequest reaping = request(RequestKind::reaping);
    reaping.request.head.argument[0] = static_cast<std::uint64_t>(::getpid());
    EXPECT_EQ(serve(std::move(reaping)).value, 0);
    state_.processes.track(::getpid());
    end_process(state_, ::getpid());
    EXPECT_EQ(state_.machine, nullptr);
}

TEST_F(Requests, RefusedOpenAnswersTheSizeOfAttrThatIsKnown) {
    abi::Attr attr = task_clock();
    attr.size = sizeof attr + 8;
    ReceivedRequest received = open_request(attr);
    received.request.head.payload_bytes += 8;
    received.request.payload[sizeof attr] = 1;  // an unknown field that is set
    received.bytes += 8;
    const RequestAnswer answer = serve(std::move(received));
    EXPECT_EQ(answer.value, -E2BIG);
    std::uint32_t size = 0;
    ASSERT_EQ(answer.payload.bytes().size(), sizeof size);
    std::memcpy(&size, answer.payload.bytes().data(), sizeof size);
    EXPECT_EQ(size, subsystem::kAttrBytes);
}

TEST_F(Requests, ReadAnswersTheNumberOfBytesAndThem) {
    const RequestAnswer opened = serve(open_request(task_clock()));
    ReceivedRequest read = request(RequestKind::read, opened.event);
    read.request.head.argument[0] = 64;  // size of the buffer
    const RequestAnswer answer = serve(std::move(read));
    EXPECT_EQ(answer.value, 8);
    EXPECT_EQ(answer.payload.bytes().size(), 8u);
}

TEST_F(Requests, ClosedEventIsNoLongerServed) {
    const RequestAnswer opened = serve(open_request(task_clock()));
    state_.close_event(opened.event);
    EXPECT_EQ(serve(request(RequestKind::poll, opened.event)).value, -EBADF);
}

}  // namespace
}  // namespace anyperf::broker
