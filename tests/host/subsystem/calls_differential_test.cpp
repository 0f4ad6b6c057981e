// calls_differential_test.cpp: random sequences of calls on a few events get the same answers from the subsystem as
// from the running kernel, which is the oracle: the same errno, the same results of poll and read, the same records in
// rings. The events are dummies of this thread: they count 0 on both sides, so that only the interface is compared.
//
// Left out, because the kernel's answers depend on the scheduler: events that are exchanged with those of a child at a
// context switch (inherit), and siblings that start when their disabled leader is closed.
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <functional>
#include <span>

#include "abi/mmap_page.h"
#include "host/subsystem/kernel_twin.h"

namespace anyperf::subsystem::testing {
namespace {

constexpr std::size_t kPage = 4096;

struct TwinMapping {
    std::byte* kernels = nullptr;
    std::size_t bytes = 0;
    Mapping ours;
    bool readable = false;
};

/// The same event in the kernel and in the subsystem.
struct Twin {
    int descriptor = -1;
    EventIndex event = 0;
    Attr attr;
    std::uint64_t kernels_id = 0;
    std::uint64_t our_id = 0;
    std::vector<TwinMapping> mappings = {};
};

class RandomCalls : public SubsystemTest, public ::testing::WithParamInterface<unsigned> {
  protected:
    void SetUp() override {
        if (const std::string why = why_not_linux_618(); !why.empty()) GTEST_SKIP() << why;
        copy_rights(host);
        me.name.pid = me.name.tid = ::getpid();
        cpu_set_t before;
        ::sched_getaffinity(0, sizeof before, &before);
        affinity = before;
        cpu_set_t first;
        CPU_ZERO(&first);
        CPU_SET(0, &first);
        if (::sched_setaffinity(0, sizeof first, &first) != 0) GTEST_SKIP() << "this process may not run on CPU 0";
    }
    void TearDown() override {
        for (Twin& twin : twins) {
            for (TwinMapping& mapping : twin.mappings) ::munmap(mapping.kernels, mapping.bytes);
            ::close(twin.descriptor);
        }
        if (affinity) ::sched_setaffinity(0, sizeof *affinity, &*affinity);
    }

    std::uint64_t below(std::uint64_t limit) { return engine() % limit; }
    std::uint64_t choose(std::initializer_list<std::uint64_t> values) {
        return *(values.begin() + below(values.size()));
    }
    bool one_in(std::uint64_t times) { return below(times) == 0; }
    Twin& any_twin() { return twins[below(twins.size())]; }

    template <class T>
    static bool same_answer(const char* call, long kernel, const Answer<T>& ours) {
        const int theirs = kernel < 0 ? errno : 0;
        EXPECT_EQ(theirs, ours ? 0 : ours.error().error) << call << ": " << (ours ? "" : ours.error().reason);
        return theirs == 0 && ours;
    }

    Attr random_attr() {
        Attr attr = software(FakeSoftwarePmu::kDummy, one_in(2) ? kDisabled : 0);
        attr.read_format = below(32);
        attr.sample_period = choose({0, 0, 1, 1000});
        attr.sample_type = choose({0, 2, 0x1c2, 0x10146});
        if (one_in(6)) attr.flags |= flag("write_backward");
        if (one_in(6)) attr.flags |= flag("use_clockid"), attr.clockid = 1;
        if (one_in(2)) attr.flags |= flag("comm") | flag("task") | choose({0, flag("sample_id_all")});
        if (one_in(4))
            attr.flags |= flag("watermark"), attr.wakeup_events = static_cast<std::uint32_t>(choose({0, 1, 40, 100}));
        if (one_in(8)) attr.flags |= flag("remove_on_exec");
        return attr;
    }
    void open_one() {
        Attr attr = random_attr();
        const Twin* leader = !twins.empty() && one_in(2) ? &any_twin() : nullptr;
        if (leader != nullptr && !one_in(4)) attr.flags ^= (attr.flags ^ leader->attr.flags) & flag("use_clockid");
        if (attr.flags & flag("use_clockid")) attr.clockid = 1;
        const std::uint64_t flags = choose({0, 0, 0, 1, 2, 3});
        const long kernel = ::syscall(SYS_perf_event_open, &attr, 0, -1, leader ? leader->descriptor : -1, flags);
        const auto ours =
            try_open(attr, {.group = leader ? std::optional(leader->event) : std::nullopt, .flags = flags});
        if (!same_answer("open", kernel, ours)) return;
        Twin twin{.descriptor = static_cast<int>(kernel), .event = *ours, .attr = attr};
        ::ioctl(twin.descriptor, PERF_EVENT_IOC_ID, &twin.kernels_id);
        twin.our_id = page(*ours).id;
        twins.push_back(twin);
    }
    /// Does not close a leader with siblings: what its siblings do then depends on the scheduler.
    void close_one() {
        const auto chosen = twins.begin() + static_cast<std::ptrdiff_t>(below(twins.size()));
        if (!chosen->mappings.empty() || page(chosen->event).group_size > 1) return;
        ::close(chosen->descriptor);
        subsystem.close(chosen->event);
        twins.erase(chosen);
    }
    void map_one() {
        Twin& twin = any_twin();
        // Linux 6.18 never uncharges a user for a second mapping of a ring: without CAP_IPC_LOCK the test makes none.
        if (!host.caller.ipc_lock && !twin.mappings.empty()) return;
        const std::size_t pages = choose({1, 2, 2, 2, 2, 3, 4, 5, 9});
        const auto prot =
            static_cast<int>(choose({PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, PROT_NONE}));
        const int flags = one_in(8) ? MAP_PRIVATE : MAP_SHARED;
        const auto offset = static_cast<std::int64_t>(choose({0, 0, 0, 0, 0, kPage, 2 * kPage}));
        void* at = ::mmap(nullptr, pages * kPage, prot, flags, twin.descriptor, offset);
        const auto ours = subsystem.map(twin.event, {.caller = me.name,
                                                     .length = pages * kPage,
                                                     .offset = static_cast<std::uint64_t>(offset),
                                                     .prot = prot,
                                                     .flags = flags});
        if (same_answer("mmap", at == MAP_FAILED ? -1 : 0, ours))
            twin.mappings.push_back({static_cast<std::byte*>(at), pages * kPage, *ours, (prot & PROT_READ) != 0});
    }
    void unmap_one() {
        Twin& twin = any_twin();
        if (twin.mappings.empty()) return;
        const TwinMapping mapping = twin.mappings.back();
        twin.mappings.pop_back();
        ::munmap(mapping.kernels, mapping.bytes);
        subsystem.unmap(twin.event, mapping.ours);
    }
    void poll_one() {
        const Twin& twin = any_twin();
        pollfd kernel{twin.descriptor, POLLIN, 0};
        ::poll(&kernel, 1, 0);
        const PollState ours = subsystem.poll(twin.event);
        EXPECT_EQ(kernel.revents, (ours.in ? POLLIN : 0) | (ours.hang_up ? POLLHUP : 0)) << "poll";
    }
    void redirect_one() {
        const Twin& twin = any_twin();
        const Twin& target = any_twin();
        const bool none = one_in(5);
        const int kernel = ::ioctl(twin.descriptor, PERF_EVENT_IOC_SET_OUTPUT, none ? -1L : long{target.descriptor});
        same_answer("SET_OUTPUT", kernel,
                    ioctl(twin.event, "PERF_EVENT_IOC_SET_OUTPUT",
                          IoctlArgument{.descriptor = {.none = none,
                                                       .event = none ? std::nullopt : std::optional(target.event),
                                                       .open = true}}));
    }
    void toggle_one() {
        const Twin& twin = any_twin();
        static constexpr std::array kToggles{"PERF_EVENT_IOC_ENABLE", "PERF_EVENT_IOC_DISABLE", "PERF_EVENT_IOC_RESET",
                                             "PERF_EVENT_IOC_REFRESH", "PERF_EVENT_IOC_PAUSE_OUTPUT"};
        const char* name = kToggles.at(below(kToggles.size()));
        const std::uint64_t word = choose({0, 1, 1, 3});
        const auto row = std::ranges::find(abi::kIoctls, std::string_view(name), &abi::Ioctl::name);
        same_answer(name, ::ioctl(twin.descriptor, row->request, word), ioctl(twin.event, name, word));
    }
    void period_one() {
        const Twin& twin = any_twin();
        std::uint64_t period = choose({0, 1, 5, 200'000, 1ull << 63});
        same_answer("PERIOD", ::ioctl(twin.descriptor, PERF_EVENT_IOC_PERIOD, &period),
                    ioctl_u64(twin.event, "PERF_EVENT_IOC_PERIOD", period));
    }
    void read_one() {
        const Twin& twin = any_twin();
        std::array<std::uint64_t, 600> kernel{};
        const std::size_t bytes = one_in(4) ? below(40) : sizeof kernel;
        const ssize_t length = ::read(twin.descriptor, kernel.data(), bytes);
        const auto ours = subsystem.read(twin.event, bytes);
        if (!same_answer("read", length, ours)) return;
        ASSERT_EQ(static_cast<std::size_t>(length), ours->size() * sizeof(std::uint64_t));
        const std::span<const std::uint64_t> theirs = std::span(kernel).first(ours->size());
        EXPECT_EQ(shown_words(theirs, twin.attr.read_format), shown_words(*ours, twin.attr.read_format));
    }
    /// The words of a read as text. A time is only shown as 0 or not, and an id as the place of its event in `twins`:
    /// these differ on the two sides. Which word is what follows from its place alone (perf_event_open(2), "Reading
    /// results"): a time may by chance equal an id.
    std::vector<std::string> shown_words(std::span<const std::uint64_t> words, std::uint64_t format) const {
        std::vector<std::string> shown;
        const auto next = [&](const std::function<std::string(std::uint64_t)>& show) {
            if (shown.size() < words.size()) shown.push_back(show(words[shown.size()]));
        };
        const auto number = [](std::uint64_t word) { return std::to_string(word); };
        const auto time = [](std::uint64_t word) { return std::string(word == 0 ? "no time" : "time"); };
        const auto id = [this](std::uint64_t word) { return event_of_id(word); };
        const auto event = [&] {
            next(number);
            if ((format & PERF_FORMAT_GROUP) == 0) {
                if (format & PERF_FORMAT_TOTAL_TIME_ENABLED) next(time);
                if (format & PERF_FORMAT_TOTAL_TIME_RUNNING) next(time);
            }
            if (format & PERF_FORMAT_ID) next(id);
            if (format & PERF_FORMAT_LOST) next(number);
        };
        if ((format & PERF_FORMAT_GROUP) == 0) {
            event();
        } else if (!words.empty()) {
            next(number);
            if (format & PERF_FORMAT_TOTAL_TIME_ENABLED) next(time);
            if (format & PERF_FORMAT_TOTAL_TIME_RUNNING) next(time);
            for (std::uint64_t i = 0; i < words[0]; ++i) event();
        }
        return shown;
    }
    std::string event_of_id(std::uint64_t word) const {
        for (std::size_t i = 0; i < twins.size(); ++i)
            if (word == twins[i].kernels_id || word == twins[i].our_id) return "id of event " + std::to_string(i);
        return "id " + std::to_string(word);
    }
    void rename() {
        ::prctl(PR_SET_NAME, "a name of ours");
        subsystem.task_comm(me.name, "a name of ours", false);
    }
    void prctl_all() {
        const bool on = one_in(2);
        ::prctl(on ? PR_TASK_PERF_EVENTS_ENABLE : PR_TASK_PERF_EVENTS_DISABLE);
        subsystem.prctl(me.name, on);
    }

    void compare_rings() {
        for (const Twin& twin : twins)
            for (const TwinMapping& mapping : twin.mappings)
                if (mapping.readable) compare_ring(mapping);
    }
    void compare_ring(const TwinMapping& mapping) {
        const auto& kernel = *reinterpret_cast<const abi::MmapPage*>(mapping.kernels);
        const std::byte* ours = host.ring_memory(mapping.ours.ring).data();
        const auto& header = *reinterpret_cast<const abi::MmapPage*>(ours);
        ASSERT_EQ(kernel.data_head, header.data_head);
        ASSERT_EQ(kernel.data_size, header.data_size);
        ASSERT_EQ(kernel.data_offset, header.data_offset);
        ASSERT_EQ(kernel.size, header.size);
        ASSERT_EQ(kernel.capabilities, header.capabilities);
        if (kernel.data_head >= kernel.data_size) return;  // full, or written backward
        for (std::size_t at = kPage; at < kPage + kernel.data_head;) {
            RecordHeader theirs;
            std::memcpy(&theirs, mapping.kernels + at, sizeof theirs);
            ASSERT_EQ(std::memcmp(mapping.kernels + at, ours + at, sizeof theirs), 0) << "record at " << at - kPage;
            ASSERT_NE(theirs.size, 0);
            at += theirs.size;
        }
    }

    void step() {
        me.ran_ns += 1000;
        host.time_ns += 1000;
        if (twins.size() < 2) return open_one();
        switch (below(13)) {
            case 0: return twins.size() < 12 ? open_one() : close_one();
            case 1: return close_one();
            case 2:
            case 3: return map_one();
            case 4: return unmap_one();
            case 5: return poll_one();
            case 6: return redirect_one();
            case 7: return period_one();
            case 8: return read_one();
            case 9: return prctl_all();
            case 10: return rename();
            default: return toggle_one();
        }
    }

    std::mt19937_64 engine{GetParam()};
    std::vector<Twin> twins;
    std::optional<cpu_set_t> affinity;
};

TEST_P(RandomCalls, AreAnsweredAsByTheKernel) {
    for (int i = 0; i < 400 && !HasFailure(); ++i) {
        step();
        compare_rings();
    }
    EXPECT_FALSE(HasFailure()) << "seed " << GetParam();
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomCalls, ::testing::Range(0u, 20u));

}  // namespace
}  // namespace anyperf::subsystem::testing
