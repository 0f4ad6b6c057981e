// open_differential_test.cpp: random opens get the same errno and the same attr.size written back from the subsystem as
// from the running kernel, which is the oracle. The events are software dummies, which every machine has, with random
// changes of all other fields.
#include "host/subsystem/kernel_twin.h"

namespace anyperf::subsystem::testing {
namespace {

using abi::sample;

class Random {
  public:
    explicit Random(unsigned seed) : engine_(seed) {}
    std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
    std::uint64_t choose(std::initializer_list<std::uint64_t> values) {
        return *(values.begin() + below(values.size()));
    }

  private:
    std::mt19937_64 engine_;
};

using Mutation = void (*)(Attr&, Random&);

constexpr std::array<Mutation, 28> kMutations{
    [](Attr& a, Random& r) { a.type = static_cast<std::uint32_t>(r.choose({0x7ffffff0, 77777})); },
    [](Attr& a, Random& r) {
        a.size = static_cast<std::uint32_t>(r.choose({0, 1, 63, 64, 65, 72, 100, 120, 135, 137, 144, 4096, 4097}));
    },
    [](Attr& a, Random& r) { a.config = r.choose({9, 10, 11, 12, 1ull << 32, ~0ull}); },
    [](Attr& a, Random& r) { a.sample_period = r.choose({1, 1000, 100'000, 100'001, 1ull << 62, 1ull << 63, ~0ull}); },
    [](Attr& a, Random& r) { a.sample_type |= 1ull << r.below(27); },
    [](Attr& a, Random& r) { a.sample_type |= 1ull << r.below(25); },
    [](Attr& a, Random& r) { a.read_format = r.below(40); },
    [](Attr& a, Random& r) { a.flags |= 1ull << r.below(38); },
    [](Attr& a, Random& r) { a.flags |= 1ull << r.below(38); },
    [](Attr& a, Random& r) { a.flags |= 1ull << r.below(64); },
    [](Attr& a, Random& r) { a.branch_sample_type = r.choose({0, 1, 2, 4, 7, 8, 9, 10, 12, 1u << 19, 9 | 1u << 20}); },
    [](Attr& a, Random&) { a.sample_type |= sample("PERF_SAMPLE_BRANCH_STACK"); },
    [](Attr& a, Random& r) {
        a.sample_type |= sample("PERF_SAMPLE_REGS_USER");
        a.sample_regs_user = r.choose({0, 1, 0xff, 1 << 12, 1 << 15, 1 << 16, 1 << 24, 1ull << 32, 1ull << 63});
    },
    [](Attr& a, Random& r) {
        a.sample_type |= sample("PERF_SAMPLE_REGS_INTR");
        a.sample_regs_intr = r.choose({0, 1, 0xff, 1 << 12, 1 << 24, 1ull << 32});
    },
    [](Attr& a, Random& r) { a.sample_regs_user = 1ull << r.below(64); },
    [](Attr& a, Random& r) {
        a.sample_type |= sample("PERF_SAMPLE_STACK_USER");
        a.sample_stack_user = static_cast<std::uint32_t>(r.choose({0, 8, 12, 65528, 65535, 65536, 1u << 31}));
    },
    [](Attr& a, Random& r) { a.clockid = static_cast<std::int32_t>(r.below(14)) - 1; },
    [](Attr& a, Random&) { a.flags |= flag("use_clockid"); },
    [](Attr& a, Random& r) {
        a.sample_type |= sample("PERF_SAMPLE_CALLCHAIN");
        a.sample_max_stack = static_cast<std::uint16_t>(r.choose({0, 1, 127, 128, 65535}));
    },
    [](Attr& a, Random& r) { a.reserved_2 = static_cast<std::uint16_t>(r.below(2)); },
    [](Attr& a, Random& r) { a.aux_action = static_cast<std::uint32_t>(r.below(9)); },
    [](Attr& a, Random& r) { a.aux_sample_size = static_cast<std::uint32_t>(r.choose({0, 64})); },
    [](Attr& a, Random& r) { a.flags |= flag("inherit") | r.choose({0, flag("inherit_thread")}); },
    [](Attr& a, Random& r) {
        a.flags |= flag("remove_on_exec") | r.choose({0, flag("sigtrap"), flag("enable_on_exec")});
    },
    [](Attr& a, Random&) { a.flags |= flag("freq"); },
    [](Attr& a, Random& r) { a.sample_type |= sample("PERF_SAMPLE_READ") | r.choose({0, sample("PERF_SAMPLE_TID")}); },
    [](Attr& a, Random& r) { a.flags |= r.choose({flag("pinned"), flag("exclusive")}); },
    [](Attr& a, Random& r) { a.config4 = r.below(2); },
};

class RandomOpens : public SubsystemTest, public ::testing::WithParamInterface<unsigned> {
  protected:
    struct Opened {
        int descriptor;
        EventIndex event;
        Attr attr;
    };

    void SetUp() override {
        if (const std::string why = why_not_linux_618(); !why.empty()) GTEST_SKIP() << why;
        copy_rights(host);
        me.name.pid = me.name.tid = ::getpid();
    }
    void TearDown() override {
        for (const Opened& both : opened) ::close(both.descriptor);
    }

    Attr random_attr() {
        Attr attr = software(FakeSoftwarePmu::kDummy, kDisabled);
        if (random.below(4) == 0) attr.flags &= ~kUserOnly;
        for (auto n = random.below(5); n > 0; --n) kMutations.at(random.below(kMutations.size()))(attr, random);
        return attr;
    }

    /// Opens a random attr for a random process, CPU and group on both sides. In half of the cases the member gets its
    /// leader's `inherit`, so that some groups are joined.
    void open_on_both() {
        Attr attr = random_attr();
        const Opened* leader = !opened.empty() && random.below(2) == 0 ? &opened[random.below(opened.size())] : nullptr;
        if (leader != nullptr && random.below(2) == 0)
            attr.flags ^= (attr.flags ^ leader->attr.flags) & flag("inherit");
        const auto pid =
            static_cast<int>(random.choose({0, 0, 0, static_cast<std::uint64_t>(::getpid()), ~0ull, ~1ull}));
        const auto target_cpu = static_cast<int>(random.choose({~0ull, ~0ull, ~0ull, 0, 1023, ~1ull}));
        const std::uint64_t flags = random.choose({0, 0, 0, 1, 2, 3, 8, 16, 1ull << 40});

        std::array<std::byte, 4096> bytes{};
        std::memcpy(bytes.data(), &attr, sizeof attr);
        std::array<std::byte, 4096> kernels = bytes;
        const KernelAnswer theirs = kernel_open(kernels, pid, target_cpu, leader ? leader->descriptor : -1, flags);
        const auto ours = subsystem.open(
            {.caller = me.name,
             .attr = bytes,
             .pid = pid,
             .cpu = target_cpu,
             .group = {.none = !leader, .event = leader ? std::optional(leader->event) : std::nullopt, .open = true},
             .flags = flags});
        compare(theirs, ours, attr);
        if (theirs.error == 0 && ours) keep({theirs.descriptor, *ours, attr});
    }
    static void compare(const KernelAnswer& theirs, const Answer<EventIndex>& ours, const Attr& attr) {
        const int error = ours ? 0 : ours.error().error;
        const std::uint32_t size = !ours && ours.error().attr_size != 0 ? ours.error().attr_size : attr.size;
        ASSERT_EQ(theirs.error, error) << (ours ? "" : ours.error().reason);
        ASSERT_EQ(theirs.attr_size, size);
    }
    void keep(const Opened& both) {
        opened.push_back(both);
        if (opened.size() <= 8) return;
        const auto chosen = opened.begin() + static_cast<std::ptrdiff_t>(random.below(opened.size()));
        ::close(chosen->descriptor);
        subsystem.close(chosen->event);
        opened.erase(chosen);
    }

    Random random{GetParam()};
    std::vector<Opened> opened;
};

TEST_P(RandomOpens, AreAnsweredAsByTheKernel) {
    for (int i = 0; i < 5000 && !HasFatalFailure(); ++i) open_on_both();
    EXPECT_FALSE(opened.empty());
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomOpens, ::testing::Range(0u, 8u));

}  // namespace
}  // namespace anyperf::subsystem::testing
