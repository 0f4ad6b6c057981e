// Our samples beside the kernel's: what is in one of the kernel's is taken out by the order that the manual gives, made
// facts, and written again by us. The two must be the same, byte for byte.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "abi/sample_bits.h"
#include "host/subsystem/fault_event.h"
#include "subsystem/shared/sample.h"

namespace anyperf::subsystem {
namespace {

/// One of the kernel's samples, and what we need to make the same.
class Taken {
  public:
    Taken(const perf_event_attr& attr, const std::byte* record) : attr_(attr) {
        std::memcpy(&header_, record, sizeof header_);
        bytes_.assign(record, record + header_.size);
        page.shape.sample_type = attr.sample_type;
        page.shape.read_format = attr.read_format;
        page.shape.sample_regs_user = attr.sample_regs_user;
        page.shape.sample_regs_intr = attr.sample_regs_intr;
        page.shape.sample_stack_user = attr.sample_stack_user;
        facts.misc = header_.misc;
        take_all();
    }

    EventPage page;
    SampleFacts facts;
    const std::vector<std::byte>& bytes() const { return bytes_; }
    bool whole() const { return at_ == bytes_.size(); }

  private:
    std::uint64_t word() {
        std::uint64_t value = 0;
        if (at_ + sizeof value <= bytes_.size()) std::memcpy(&value, bytes_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    void take_if(std::uint64_t bit, std::uint64_t& to) {
        if (attr_.sample_type & bit) to = word();
    }

    void take_all() {
        take_if(PERF_SAMPLE_IDENTIFIER, page.id);
        take_if(PERF_SAMPLE_IP, facts.ip);
        if (attr_.sample_type & PERF_SAMPLE_TID) take_tid();
        take_if(PERF_SAMPLE_TIME, facts.moment.time);
        take_if(PERF_SAMPLE_ADDR, facts.addr);
        take_if(PERF_SAMPLE_ID, page.id);
        take_if(PERF_SAMPLE_STREAM_ID, page.stream_id);
        if (attr_.sample_type & PERF_SAMPLE_CPU) facts.moment.cpu = static_cast<std::uint32_t>(word());
        take_if(PERF_SAMPLE_PERIOD, facts.period);
        if (attr_.sample_type & PERF_SAMPLE_READ) take_read();
        if (attr_.sample_type & PERF_SAMPLE_CALLCHAIN) take_callchain();
        if (attr_.sample_type & PERF_SAMPLE_RAW) word();  // a size of 4, and 4 zeros
        if (attr_.sample_type & PERF_SAMPLE_REGS_USER)
            facts.user_registers = take_registers(user_, attr_.sample_regs_user);
        if (attr_.sample_type & PERF_SAMPLE_STACK_USER) take_stack();
        take_if(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, facts.weight);
        take_if(PERF_SAMPLE_DATA_SRC, facts.data_source);
        take_if(PERF_SAMPLE_TRANSACTION, facts.transaction);
        if (attr_.sample_type & PERF_SAMPLE_REGS_INTR)
            facts.interrupted_registers = take_registers(interrupted_, attr_.sample_regs_intr);
        take_if(PERF_SAMPLE_PHYS_ADDR, facts.physical_address);
        take_if(PERF_SAMPLE_CGROUP, facts.cgroup);
        take_if(PERF_SAMPLE_DATA_PAGE_SIZE, facts.data_page_size);
        take_if(PERF_SAMPLE_CODE_PAGE_SIZE, facts.code_page_size);
    }

    void take_tid() {
        const std::uint64_t both = word();
        facts.moment.pid = static_cast<std::int32_t>(both);
        facts.moment.tid = static_cast<std::int32_t>(both >> 32);
    }

    /// The event is alone, so a group has one member.
    void take_read() {
        const bool group = attr_.read_format & PERF_FORMAT_GROUP;
        const std::uint64_t first = word();  // a group's number of members, else the value
        if (!group) member_.value = first;
        if (attr_.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) facts.read.enabled = word();
        if (attr_.read_format & PERF_FORMAT_TOTAL_TIME_RUNNING) facts.read.running = word();
        if (group) member_.value = word();
        if (attr_.read_format & PERF_FORMAT_ID) member_.id = word();
        if (attr_.read_format & PERF_FORMAT_LOST) member_.lost = word();
        facts.read.members = {&member_, 1};
    }

    void take_callchain() {
        chain_.resize(std::min<std::uint64_t>(word(), 1000));
        for (std::uint64_t& address : chain_) address = word();
        facts.callchain = chain_;
    }

    const std::uint64_t* take_registers(std::uint64_t (&registers)[24], std::uint64_t mask) {
        if (word() == 0) return nullptr;
        for (unsigned bit = 0; bit < 24; ++bit)
            if (mask >> bit & 1) registers[bit] = word();
        return registers;
    }

    void take_stack() {
        stack_ = at_ + 8;
        const std::uint64_t size = std::min<std::uint64_t>(word(), bytes_.size() - at_);
        at_ += size;
        valid_ = word();
        facts.stack = {.pointer = kStack, .context = this, .copy = copy};
    }

    static std::size_t copy(void* context, void* to, std::uint64_t address, std::size_t bytes) {
        const Taken& taken = *static_cast<Taken*>(context);
        const std::size_t from = address - kStack;
        const std::size_t part = from < taken.valid_ ? std::min(bytes, taken.valid_ - from) : 0;
        std::memcpy(to, taken.bytes_.data() + taken.stack_ + from, part);
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

/// Any fields but those that a page fault has none of (branches), and AUX. A stack of 0 bytes, and one that fills the
/// record with fields behind it, the kernel writes wrongly: docs/compatibility.md.
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

TEST(SampleBesideTheKernels, OfTheSameFactsIsTheSame) {
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
        Taken taken{attr, event.data()};
        ASSERT_TRUE(taken.whole()) << "sample_type " << attr.sample_type;

        RingPage page;
        page.pages = 32;
        const Ring ring{&page, reinterpret_cast<std::byte*>(memory.data())};
        start_ring(ring, {.pages = 32});
        ASSERT_TRUE(write_sample(ring, taken.page, taken.facts).written);
        EXPECT_EQ(std::memcmp(ring.data(), taken.bytes().data(), taken.bytes().size()), 0)
            << "sample_type " << attr.sample_type << " read_format " << attr.read_format;
    }
}

}  // namespace
}  // namespace anyperf::subsystem
