// calls_test.cpp: the calls of libpfm.so.4 with common mistakes of programs: no initialisation, NULL, structures of
// other sizes, too little room, too many attributes. Where Debian's library crashes, anyperf's returns an error.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "clients/pfm/library.h"

namespace anyperf::clients {
namespace {

class PfmCalls : public testing::Test {
  protected:
    void SetUp() override {
        for (const char* name : {"LIBPFM_FORCE_PMU", "LIBPFM_DISABLED_PMUS", "LIBPFM_PROC_CPUINFO"}) ::unsetenv(name);
        ::setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
        ASSERT_EQ(pfm.initialize(), PFM_SUCCESS);
    }
    void TearDown() override { pfm.terminate(); }

    int raw(const char* text, std::uint64_t* codes, int count, char** canonical = nullptr) {
        pfm_pmu_encode_arg_t argument{codes, canonical, 0, count, 0};
        return pfm.get_os_event_encoding(text, PFM_PLM3, PFM_OS_NONE, &argument);
    }

    PfmLibrary pfm{kOurs};
};

TEST_F(PfmCalls, BeforeInitialisationAreRefused) {
    pfm.terminate();
    pfm_pmu_info_t pmu{};
    pfm_event_info_t event{};
    pfm_event_attr_info_t attr{};
    pfm_pmu_encode_arg_t raw_argument{};
    EXPECT_EQ(pfm.get_pmu_info(PFM_PMU_PERF_EVENT, &pmu), PFM_ERR_NOINIT);
    EXPECT_EQ(pfm.get_event_info(0, PFM_OS_NONE, &event), PFM_ERR_NOINIT);
    EXPECT_EQ(pfm.get_event_attr_info(0, 0, PFM_OS_NONE, &attr), PFM_ERR_NOINIT);
    EXPECT_EQ(pfm.find_event("cycles"), PFM_ERR_NOINIT);
    EXPECT_EQ(pfm.get_event_next(0), -1);
    EXPECT_EQ(pfm.get_os_event_encoding("cycles", 0, PFM_OS_NONE, &raw_argument), PFM_ERR_NOINIT);
    EXPECT_EQ(pfm.pmu_validate(PFM_PMU_PERF_EVENT, stderr), PFM_ERR_INVAL);
    EXPECT_STREQ(pfm.strerror(PFM_ERR_NOINIT), "pfmlib not initialized");
    EXPECT_EQ(pfm.get_version(), 4 << 16);
}

TEST_F(PfmCalls, RefuseNull) {
    pfm_pmu_encode_arg_t argument{};
    EXPECT_EQ(pfm.get_os_event_encoding(nullptr, 0, PFM_OS_NONE, &argument), PFM_ERR_INVAL);
    EXPECT_EQ(pfm.get_os_event_encoding("perf::cycles", 0, PFM_OS_NONE, nullptr), PFM_ERR_INVAL);
    EXPECT_EQ(pfm.get_pmu_info(PFM_PMU_PERF_EVENT, nullptr), PFM_ERR_INVAL);
    EXPECT_EQ(pfm.get_perf_event_encoding("perf::cycles", 0, nullptr, nullptr, nullptr), PFM_ERR_INVAL);
    EXPECT_EQ(pfm.find_event(nullptr), PFM_ERR_INVAL);
    EXPECT_EQ(pfm.pmu_validate(PFM_PMU_PERF_EVENT, nullptr), PFM_ERR_INVAL);
}

TEST_F(PfmCalls, RefuseANullAttr) {
    pfm_perf_encode_arg_t argument{};
    EXPECT_EQ(pfm.get_os_event_encoding("perf::cycles", 0, PFM_OS_PERF_EVENT, &argument), PFM_ERR_INVAL);
}

TEST_F(PfmCalls, RefuseUnknownLevelsAndLayers) {
    pfm_pmu_encode_arg_t argument{};
    EXPECT_EQ(pfm.get_os_event_encoding("perf::cycles", 0x20, PFM_OS_NONE, &argument), PFM_ERR_INVAL);
    EXPECT_EQ(pfm.get_os_event_encoding("perf::cycles", 0, static_cast<pfm_os_t>(3), &argument), PFM_ERR_NOTSUPP);
}

TEST_F(PfmCalls, LeaveTheCallersStringAloneIfTheCodesDoNotFit) {
    std::uint64_t code = 7;
    char mine[] = "mine";
    char* canonical = mine;
    EXPECT_EQ(raw("skl::OFFCORE_RESPONSE_0", &code, 1, &canonical), PFM_ERR_TOOSMALL);
    EXPECT_EQ(canonical, mine);
    EXPECT_EQ(code, 7U);
}

TEST_F(PfmCalls, RefuseMoreThan64Attributes) {
    std::string text = "skx_unc_cha0::UNC_C_TOR_INSERTS";
    for (int i = 0; i < 200; ++i) text += ":e";
    std::array<std::uint64_t, 8> codes{};
    EXPECT_EQ(raw(text.c_str(), codes.data(), 8), PFM_ERR_TOOMANY);
}

TEST_F(PfmCalls, IgnoreAStaleErrnoForRawEvents) {
    std::array<std::uint64_t, 8> codes{};
    errno = ERANGE;
    EXPECT_EQ(raw("perf_raw::r1a2", codes.data(), 8), PFM_SUCCESS);
    EXPECT_EQ(codes[0], 0x1a2U);
}

TEST_F(PfmCalls, AcceptStructuresOfANewerHeaderIfTheRestIsZero) {
    struct Newer {
        pfm_pmu_info_t known;
        std::uint64_t unknown;
    } newer{};
    newer.known.size = sizeof newer;
    EXPECT_EQ(pfm.get_pmu_info(PFM_PMU_PERF_EVENT, &newer.known), PFM_SUCCESS);
    EXPECT_EQ(newer.known.size, sizeof newer.known);
    newer.known.size = sizeof newer;
    newer.unknown = 1;
    EXPECT_EQ(pfm.get_pmu_info(PFM_PMU_PERF_EVENT, &newer.known), PFM_ERR_INVAL);
    newer.known.size = 8;
    EXPECT_EQ(pfm.get_pmu_info(PFM_PMU_PERF_EVENT, &newer.known), PFM_ERR_INVAL);
}

TEST_F(PfmCalls, TreatAttrSizeZeroAsTheFirstVersion) {
    perf_event_attr attr;
    std::memset(&attr, 0, sizeof attr);
    attr.config2 = 0x5555;
    pfm_perf_encode_arg_t argument{};
    argument.attr = &attr;
    EXPECT_EQ(pfm.get_os_event_encoding("perf::cycles", PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &argument), PFM_SUCCESS);
    EXPECT_EQ(attr.size, 0U);
    EXPECT_EQ(attr.config2, 0x5555U);
    EXPECT_EQ(argument.cpu, -1);
}

TEST_F(PfmCalls, AllocateCodesIfTheCallerHasNone) {
    char* canonical = nullptr;
    pfm_pmu_encode_arg_t argument{nullptr, &canonical, 0, 0, 0};
    ASSERT_EQ(pfm.get_os_event_encoding("skl::OFFCORE_RESPONSE_0", PFM_PLM3, PFM_OS_NONE, &argument), PFM_SUCCESS);
    EXPECT_EQ(argument.count, 2);
    std::free(argument.codes);
    std::free(canonical);
}

TEST_F(PfmCalls, ShowTheLow32BitsOfARawMaskAsLibpfmDoes) {
    char* canonical = nullptr;
    pfm_pmu_encode_arg_t argument{nullptr, &canonical, 0, 0, 0};
    ASSERT_EQ(pfm.get_os_event_encoding("glm::OFFCORE_RESPONSE_1:0x1234567890", PFM_PLM3, PFM_OS_NONE, &argument),
              PFM_SUCCESS);
    EXPECT_STREQ(canonical, "glm::OFFCORE_RESPONSE_1:0x34567890:k=0:u=1:e=0:i=0:c=0");
    EXPECT_EQ(argument.codes[1], 0x1234567890U) << "the code has all bits";
    std::free(argument.codes);
    std::free(canonical);
}

TEST_F(PfmCalls, HaveAnErrorTextForAnyNumber) {
    for (const int code : {1, 100, -13, INT_MAX, INT_MIN}) EXPECT_STREQ(pfm.strerror(code), "unknown error code");
}

TEST_F(PfmCalls, ReadTheEnvironmentAtEachInitialisation) {
    std::array<std::uint64_t, 8> codes{};
    pfm.terminate();
    ::setenv("LIBPFM_FORCE_PMU", "SK,more", 1);
    ASSERT_EQ(pfm.initialize(), PFM_SUCCESS);
    EXPECT_EQ(raw("INST_RETIRED", codes.data(), 8), PFM_SUCCESS) << "needs no prefix: skl is active";
    EXPECT_EQ(raw("cycles", codes.data(), 8), PFM_ERR_NOTFOUND) << "perf is not active";
    pfm.terminate();
    ::unsetenv("LIBPFM_FORCE_PMU");
    ::setenv("LIBPFM_DISABLED_PMUS", "kl,zen", 1);
    ASSERT_EQ(pfm.initialize(), PFM_SUCCESS);
    EXPECT_EQ(raw("skl::INST_RETIRED", codes.data(), 8), PFM_ERR_NOTFOUND);
    pfm_pmu_info_t info{};
    EXPECT_EQ(pfm.get_pmu_info(PFM_PMU_INTEL_SKL, &info), PFM_ERR_NOTSUPP);
}

TEST_F(PfmCalls, ValidateEveryPmuOfTheCatalog) {
    int pmus = 0;
    for (int id = 0; id < 2048; ++id) {
        pfm_pmu_info_t info{};
        if (pfm.get_pmu_info(static_cast<pfm_pmu_t>(id), &info) != PFM_SUCCESS) continue;
        ++pmus;
        EXPECT_EQ(pfm.pmu_validate(static_cast<pfm_pmu_t>(id), stderr), PFM_SUCCESS) << info.name;
    }
    EXPECT_GE(pmus, 667);
}

}  // namespace
}  // namespace anyperf::clients
