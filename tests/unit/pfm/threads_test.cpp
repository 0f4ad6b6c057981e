// threads_test.cpp: eight threads make random calls to the library, among them initialisation and termination. Made for
// the thread sanitizer. The seeds are fixed, so each thread repeats its calls in the next run.
#include <gtest/gtest.h>
#include <perfmon/pfmlib_perf_event.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 8;
constexpr int kCalls = 20'000;

constexpr std::array kTexts{
    "cycles",
    "perf::PERF_COUNT_HW_CACHE_L1D:READ:MISS",
    "skl::INST_RETIRED:ANY_P:u:c=2",
    "skx_unc_cha0::UNC_C_TOR_INSERTS",
    "amd64_fam19h_zen4::RETIRED_INSTRUCTIONS",
    "arm_n1::CPU_CYCLES:k",
    "netburst::ITLB_reference:HIT",
    "nothing::AT_ALL",
    "skl::INST_RETIRED:ANY_P:period=0",
    "perf_raw::r1c2",
};

class Caller {
  public:
    explicit Caller(unsigned seed) : random_(seed) {}

    void call_all(bool with_lifetime) {
        for (int i = 0; i < kCalls; ++i) call(with_lifetime);
    }

  private:
    int below(int limit) { return std::uniform_int_distribution{0, limit - 1}(random_); }

    void call(bool with_lifetime) {
        switch (below(with_lifetime ? 8 : 6)) {
            case 0: encode_raw(); break;
            case 1: encode_perf(); break;
            case 2: look_at_pmu(); break;
            case 3: look_at_event(); break;
            case 4: pfm_find_event(kTexts[static_cast<std::size_t>(below(kTexts.size()))]); break;
            case 5: pfm_strerror(below(40) - 20); break;
            case 6: pfm_initialize(); break;
            case 7:
                if (below(50) == 0) pfm_terminate();
                break;
        }
    }

    void encode_raw() {
        char* canonical = nullptr;
        pfm_pmu_encode_arg_t argument{};
        argument.fstr = below(2) == 0 ? nullptr : &canonical;
        if (pfm_get_os_event_encoding(kTexts[static_cast<std::size_t>(below(kTexts.size()))], PFM_PLM3, PFM_OS_NONE,
                                      &argument) == PFM_SUCCESS)
            std::free(argument.codes);
        std::free(canonical);
    }

    void encode_perf() {
        char* canonical = nullptr;
        perf_event_attr attr;
        std::memset(&attr, 0, sizeof attr);
        pfm_perf_encode_arg_t argument{};
        argument.attr = &attr;
        argument.fstr = &canonical;
        pfm_get_os_event_encoding(kTexts[static_cast<std::size_t>(below(kTexts.size()))], PFM_PLM0,
                                  PFM_OS_PERF_EVENT_EXT, &argument);
        std::free(canonical);
    }

    void look_at_pmu() {
        pfm_pmu_info_t info{};
        pfm_get_pmu_info(static_cast<pfm_pmu_t>(below(800)), &info);
        if (info.name != nullptr) pfm_get_event_next(info.first_event);
    }

    void look_at_event() {
        const int index = below(700) << 21 | below(600);
        pfm_event_info_t info{};
        pfm_get_event_info(index, static_cast<pfm_os_t>(below(4)), &info);
        pfm_event_attr_info_t attr{};
        pfm_get_event_attr_info(index, below(200), static_cast<pfm_os_t>(below(4)), &attr);
    }

    std::mt19937 random_;
};

void run(bool with_lifetime) {
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (unsigned seed = 0; seed < kThreads; ++seed)
        threads.emplace_back([seed, with_lifetime] { Caller{seed}.call_all(with_lifetime); });
    for (std::thread& thread : threads) thread.join();
}

TEST(PfmThreads, EncodeConcurrently) {
    ::setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
    ASSERT_EQ(pfm_initialize(), PFM_SUCCESS);
    run(false);
    pfm_terminate();
}

TEST(PfmThreads, InitialiseAndTerminateWhileOthersEncode) {
    ::setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
    run(true);
    pfm_terminate();
    pfm_terminate();
    EXPECT_EQ(pfm_find_event("cycles"), PFM_ERR_NOINIT);
}

}  // namespace
