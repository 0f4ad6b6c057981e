#include "recording/merged/unwound_samples.h"

#include <gtest/gtest.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "abi/attr_flags.h"
#include "abi/sample_bits.h"
#include "perfdata/sample_layout.h"
#include "perfdata/writer/byte_writer.h"
#include "recording/existing/processes.h"

namespace anyperf::recording {
namespace {

using perfdata::RecordType;
using perfdata::RecordWriter;

constexpr std::size_t kStackBytes = 4096;
constexpr std::uint64_t kRbpRspRip = 7 << 6;  // of enum perf_event_x86_regs

std::vector<perfdata::EventInfo> one_event() {
    abi::Attr attr{};
    attr.sample_type = abi::sample("PERF_SAMPLE_IP") | abi::sample("PERF_SAMPLE_TID") |
                       abi::sample("PERF_SAMPLE_TIME") | abi::sample("PERF_SAMPLE_CALLCHAIN") |
                       abi::sample("PERF_SAMPLE_REGS_USER") | abi::sample("PERF_SAMPLE_STACK_USER");
    attr.sample_regs_user = kRbpRspRip;
    attr.sample_stack_user = kStackBytes;
    attr.flags = abi::flag("sample_id_all");
    return {{.attr = attr, .ids = {1}, .name = "cycles", .unit = {}}};
}

std::uint32_t own_pid() {
    return static_cast<std::uint32_t>(::getpid());
}

std::vector<std::byte> sample_here;  // written by take_sample(), which qsort() calls

/// Takes a sample in a function that libc calls: only unwind tables lead through libc, which keeps no frame pointers.
int take_sample(const void*, const void*) {
    ucontext_t context{};
    ::getcontext(&context);
    const auto reg = [&](int number) { return static_cast<std::uint64_t>(context.uc_mcontext.gregs[number]); };
    RecordWriter record{RecordType::sample, perfdata::kMiscUser};
    record.u64(reg(REG_RIP)).u32(own_pid()).u32(own_pid()).u64(1).u64(0);
    record.u64(2).u64(reg(REG_RBP)).u64(reg(REG_RSP)).u64(reg(REG_RIP));  // 2: PERF_SAMPLE_REGS_ABI_64
    static std::array<std::byte, kStackBytes> stack;
    const iovec own{stack.data(), stack.size()};
    const iovec from{reinterpret_cast<void*>(reg(REG_RSP)), stack.size()};
    // The kernel copies: AddressSanitizer refuses a memcpy() over the frames of callers.
    if (::process_vm_readv(::getpid(), &own, 1, &from, 1, 0) != static_cast<ssize_t>(kStackBytes)) return 0;
    record.u64(kStackBytes).bytes(stack).u64(kStackBytes);
    sample_here = record.finish();
    return 0;
}

std::vector<std::byte> task(RecordType type, std::uint32_t tid, std::uint64_t time) {
    RecordWriter record{type, 0};
    record.u32(own_pid()).u32(own_pid()).u32(tid).u32(own_pid()).u64(time);
    record.u32(own_pid()).u32(tid).u64(time);
    return record.finish();
}

std::size_t callers_of(const Bytes sample) {
    perfdata::Sample read;
    if (!perfdata::SampleLayout{unwound(one_event().front().attr)}.decode(sample, read)) return 0;
    return read.call_chain.size();
}

// The thread was there when the events were opened and had ended when /proc was read: its process is not counted by
// the records that are made from /proc.
TEST(UnwoundSamples, AProcessFromBeforeTheRecordingKeepsItsMapsWhenAThreadEnds) {
    std::array<int, 2> numbers{2, 1};
    std::qsort(numbers.data(), numbers.size(), sizeof numbers[0], take_sample);
    UnwoundSamples samples{one_event()};
    const std::size_t trailer = perfdata::SampleLayout{one_event().front().attr}.trailer_size();
    put_process(host::Root{}, ::getpid(), {.trailer_bytes = trailer}, [&](Bytes record) { samples.follow(record); });
    const std::size_t callers = callers_of(samples.unwind(sample_here));
    EXPECT_GT(callers, 3U);
    samples.follow(task(RecordType::exit, 1, 2));
    samples.end_round();
    EXPECT_EQ(callers_of(samples.unwind(sample_here)), callers);
}

}  // namespace
}  // namespace anyperf::recording
