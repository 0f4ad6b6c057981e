// sample_differential_test.cpp: the subsystem's samples equal those of the running kernel, which is the oracle, byte
// for byte. The test parses a sample of the kernel in the order that perf_event_open(2) gives, and lets the subsystem
// write a sample with the same facts.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "abi/sample_bits.h"
#include "host/subsystem/fault_event.h"
#include "subsystem/shared/sample.h"

namespace anyperf::subsystem {
namespace {

/// A sample of the kernel, and the facts that the subsystem needs to write the same one.
class ParsedSample {
  public:
    ParsedSample(const perf_event_attr& attr, const std::byte* record) : attr_(attr) {
        std::memcpy(&header_, record, sizeof header_);
        bytes_.assign(record, record + header_.size);
        page.shape.sample_type = attr.sample_type;
        page.shape.read_format = attr.read_format;
        page.shape.sample_regs_user = attr.sample_regs_user;
        page.shape.sample_regs_intr = attr.sample_regs_intr;
        page.shape.sample_stack_user = attr.sample_stack_user;
        facts.misc = header_.misc;
        parse();
    }

    EventPage page;
    SampleFacts facts;
    const std::vector<std::byte>& bytes() const { return bytes_; }
    bool complete() const { return at_ == bytes_.size(); }

  private:
    std::uint64_t word() {
        std::uint64_t value = 0;
        if (at_ + sizeof value <= bytes_.size()) std::memcpy(&value, bytes_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    void parse_if(std::uint64_t bit, std::uint64_t& to) {
        if (attr_.sample_type & bit) to = word();
    }

    void parse() {
        parse_if(PERF_SAMPLE_IDENTIFIER, page.id);
        parse_if(PERF_SAMPLE_IP, facts.ip);
        if (attr_.sample_type & PERF_SAMPLE_TID) parse_tid();
        parse_if(PERF_SAMPLE_TIME, facts.origin.time);
        parse_if(PERF_SAMPLE_ADDR, facts.addr);
        parse_if(PERF_SAMPLE_ID, page.id);
        parse_if(PERF_SAMPLE_STREAM_ID, page.stream_id);
        if (attr_.sample_type & PERF_SAMPLE_CPU) facts.origin.cpu = static_cast<std::uint32_t>(word());
        parse_if(PERF_SAMPLE_PERIOD, facts.period);
        if (attr_.sample_type & PERF_SAMPLE_READ) parse_read();
        if (attr_.sample_type & PERF_SAMPLE_CALLCHAIN) parse_callchain();
        if (attr_.sample_type & PERF_SAMPLE_RAW) word();  // a size of 4, and 4 zeros
        if (attr_.sample_type & PERF_SAMPLE_REGS_USER)
            facts.user_registers = parse_registers(user_, attr_.sample_regs_user);
        if (attr_.sample_type & PERF_SAMPLE_STACK_USER) parse_stack();
        parse_if(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, facts.weight);
        parse_if(PERF_SAMPLE_DATA_SRC, facts.data_source);
        parse_if(PERF_SAMPLE_TRANSACTION, facts.transaction);
        if (attr_.sample_type & PERF_SAMPLE_REGS_INTR)
            facts.interrupted_registers = parse_registers(interrupted_, attr_.sample_regs_intr);
        parse_if(PERF_SAMPLE_PHYS_ADDR, facts.physical_address);
        parse_if(PERF_SAMPLE_CGROUP, facts.cgroup);
        parse_if(PERF_SAMPLE_DATA_PAGE_SIZE, facts.data_page_size);
        parse_if(PERF_SAMPLE_CODE_PAGE_SIZE, facts.code_page_size);
    }

    void parse_tid() {
        const std::uint64_t both = word();
        facts.origin.pid = static_cast<std::int32_t>(both);
        facts.origin.tid = static_cast<std::int32_t>(both >> 32);
    }

    /// The event has no siblings, so that a group has one member.
    void parse_read() {
        const bool group = attr_.read_format & PERF_FORMAT_GROUP;
        const std::uint64_t first = word();  // the number of members of a group, else the value
        if (!group) member_.value = first;
        if (attr_.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) facts.read.enabled = word();
        if (attr_.read_format & PERF_FORMAT_TOTAL_TIME_RUNNING) facts.read.running = word();
        if (group) member_.value = word();
        if (attr_.read_format & PERF_FORMAT_ID) member_.id = word();
        if (attr_.read_format & PERF_FORMAT_LOST) member_.lost = word();
        facts.read.members = {&member_, 1};
    }

    void parse_callchain() {
        chain_.resize(std::min<std::uint64_t>(word(), 1000));
        for (std::uint64_t& address : chain_) address = word();
        facts.callchain = chain_;
    }

    const std::uint64_t* parse_registers(std::uint64_t (&registers)[24], std::uint64_t mask) {
        if (word() == 0) return nullptr;
        for (unsigned bit = 0; bit < 24; ++bit)
            if (mask >> bit & 1) registers[bit] = word();
        return registers;
    }

    void parse_stack() {
        stack_ = at_ + 8;
        const std::uint64_t size = std::min<std::uint64_t>(word(), bytes_.size() - at_);
        at_ += size;
        valid_ = word();
        facts.stack = {.pointer = kStack, .context = this, .copy = copy};
    }

    static std::size_t copy(void* context, void* to, std::uint64_t address, std::size_t bytes) {
        const ParsedSample& parsed = *static_cast<ParsedSample*>(context);
        const std::size_t from = address - kStack;
        const std::size_t part = from < parsed.valid_ ? std::min(bytes, parsed.valid_ - from) : 0;
        std::memcpy(to, parsed.bytes_.data() + parsed.stack_ + from, part);
        return part;
    }

    static constexpr std::uint64_t kStack = 0x7ffe'0000'0000;
    const perf_event_attr& attr_;
    RecordHeader header_;
    std::vector<std::byte> bytes_;
    std::size_t at_ = sizeof(RecordHeader);
    std::size_t stack_ = 0;
    std::size_t valid_ = 0;
    MemberValue member_;
    std::vector<std::uint64_t> chain_;
    std::uint64_t user_[24] = {};
    std::uint64_t interrupted_[24] = {};
};

/// Random fields except branch stacks, which page faults don't have, and AUX. Stacks of 0 bytes, and stacks that fill
/// the record if fields follow, are left out: the kernel writes them wrongly (docs/compatibility.md).
perf_event_attr random_attr(std::mt19937_64& random, bool privileged) {
    constexpr std::uint32_t kStacks[] = {8, 64, 1024, 8192, 32768};
    perf_event_attr attr = testing::page_faults();
    attr.sample_type = random() & ~abi::kReservedSampleBits & ~(PERF_SAMPLE_AUX | PERF_SAMPLE_BRANCH_STACK);
    if (attr.sample_type & PERF_SAMPLE_WEIGHT) attr.sample_type &= ~std::uint64_t{PERF_SAMPLE_WEIGHT_STRUCT};
    if (!privileged) attr.sample_type &= ~std::uint64_t{PERF_SAMPLE_PHYS_ADDR};
    attr.read_format = random() & 0x1f;
    attr.sample_regs_user = (random() & 0xff0fff) | 1;
    attr.sample_regs_intr = (random() & 0xff0fff) | 1;
    attr.sample_stack_user = kStacks[random() % std::size(kStacks)];
    attr.sample_max_stack = static_cast<std::uint16_t>(random() % 20);
    attr.exclude_callchain_kernel = 1;
    return attr;
}

TEST(Sample, OfTheSameFactsEqualsTheKernels) {
    std::mt19937_64 random{1};
    testing::FreshPages pages;
    std::vector<std::uint64_t> memory(std::size_t{512} * 33);
    for (int samples = 0; samples < 500 && !HasFailure(); ++samples) {
        const perf_event_attr attr = random_attr(random, ::geteuid() == 0);
        testing::FaultEvent event{attr};
        if (!event.open() || !event.map(32, true))
            GTEST_SKIP() << "no page-fault events with such samples here: " << std::strerror(errno);
        event.enable();
        pages.touch();
        event.disable();
        ASSERT_GT(event.header().data_head, 0u);
        ParsedSample parsed{attr, event.data()};
        ASSERT_TRUE(parsed.complete()) << "sample_type " << attr.sample_type;

        RingPage page;
        page.pages = 32;
        const Ring ring{&page, reinterpret_cast<std::byte*>(memory.data()), std::uint64_t{page.pages} * 4096};
        start_ring(ring, {.pages = 32});
        ASSERT_TRUE(write_sample(ring, parsed.page, parsed.facts).written);
        EXPECT_EQ(std::memcmp(ring.data(), parsed.bytes().data(), parsed.bytes().size()), 0)
            << "sample_type " << attr.sample_type << " read_format " << attr.read_format;
    }
}

}  // namespace
}  // namespace anyperf::subsystem
