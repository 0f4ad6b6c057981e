// differential_test.cpp: for every PMU, event and attribute of Debian's libpfm4, which is the oracle, anyperf's library
// returns the same structures, codes, perf_event_attr, canonical strings and errors, except for the rows of
// differences.tsv, each with its reason. A row that explains no difference fails, too.
#include <fmt/format.h>
#include <fnmatch.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "clients/pfm/library.h"

namespace anyperf::clients {
namespace {

constexpr int kDebianPmus = 517;  // PFM_PMU_MAX of 4.13
constexpr pfm_os_t kLayers[] = {PFM_OS_NONE, PFM_OS_PERF_EVENT, PFM_OS_PERF_EVENT_EXT};

std::string owned(char* text) {
    std::string copy = text == nullptr ? "-" : text;
    std::free(text);
    return copy;
}

std::string raw(PfmLibrary& library, const std::string& text, bool moved) {
    char* canonical = nullptr;
    pfm_pmu_encode_arg_t argument{};
    argument.fstr = &canonical;
    const int code = library.get_os_event_encoding(text.c_str(), PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, &argument);
    if (code != PFM_SUCCESS) return std::to_string(code);
    std::string answer = fmt::format("idx {:x} {}", moved ? 0 : argument.idx, owned(canonical));
    for (int i = 0; i < argument.count; ++i) answer += fmt::format(" {:#x}", argument.codes[i]);
    std::free(argument.codes);
    return answer;
}

/// All bytes of the encoded attr. Fields are set before the call, so that the comparison includes what is not written.
std::string perf(PfmLibrary& library, const std::string& text, pfm_os_t os, bool moved) {
    char* canonical = nullptr;
    perf_event_attr attr;
    std::memset(&attr, 0, sizeof attr);
    attr.size = PERF_ATTR_SIZE_VER5;
    attr.config1 = attr.config2 = 0x5555;
    attr.exclude_idle = attr.pinned = attr.exclude_host = attr.exclude_user = 1;
    pfm_perf_encode_arg_t argument{};
    argument.attr = &attr;
    argument.fstr = &canonical;
    const int code = library.get_os_event_encoding(text.c_str(), PFM_PLM0 | PFM_PLM3, os, &argument);
    std::string answer = code == PFM_SUCCESS ? fmt::format("idx {:x} cpu {} {}", moved ? 0 : argument.idx, argument.cpu,
                                                           owned(canonical))
                                             : std::to_string(code);
    std::uint64_t words[PERF_ATTR_SIZE_VER5 / 8];
    std::memcpy(words, &attr, sizeof words);
    for (const std::uint64_t word : words) answer += fmt::format(" {:x}", word);
    return answer;
}

std::string text_or_dash(const char* text) {
    return text == nullptr ? "-" : text;
}

std::string pmu(PfmLibrary& library, int id) {
    pfm_pmu_info_t info{};
    info.size = sizeof info;
    const int code = library.get_pmu_info(static_cast<pfm_pmu_t>(id), &info);
    if (code != PFM_SUCCESS) return std::to_string(code);
    return fmt::format("{} type {} events {} first {:x} codes {} counters {} fixed {} default {}", info.name,
                       static_cast<int>(info.type), info.nevents, info.first_event, info.max_encoding, info.num_cntrs,
                       info.num_fixed_cntrs, static_cast<unsigned>(info.is_dfl));
}

/// `moved`: our table is newer and has other events, so that positions and counts can't be compared.
std::string event(PfmLibrary& library, int index, pfm_os_t os, bool moved) {
    pfm_event_info_t info{};
    const int code = library.get_event_info(index, os, &info);
    if (code != PFM_SUCCESS) return std::to_string(code);
    if (moved)
        return fmt::format("{} equiv {} code {:#x} precise {} spec {}", info.name, text_or_dash(info.equiv), info.code,
                           static_cast<unsigned>(info.is_precise), static_cast<unsigned>(info.is_speculative));
    return fmt::format("{} equiv {} code {:#x} attrs {} precise {} spec {} smpl {} next {:x}", info.name,
                       text_or_dash(info.equiv), info.code, info.nattrs, static_cast<unsigned>(info.is_precise),
                       static_cast<unsigned>(info.is_speculative), static_cast<unsigned>(info.support_hw_smpl),
                       library.get_event_next(index));
}

std::string attribute(PfmLibrary& library, int index, int position, pfm_os_t os, bool moved) {
    pfm_event_attr_info_t info{};
    const int code = library.get_event_attr_info(index, position, os, &info);
    if (code != PFM_SUCCESS) return std::to_string(code);
    return fmt::format("{} equiv {} code {:#x} type {} ctrl {} idx {} default {} precise {} spec {} smpl {}", info.name,
                       text_or_dash(info.equiv), info.code, static_cast<int>(info.type), static_cast<int>(info.ctrl),
                       moved ? 0 : info.idx, static_cast<unsigned>(info.is_dfl), static_cast<unsigned>(info.is_precise),
                       static_cast<unsigned>(info.is_speculative), static_cast<unsigned>(info.support_hw_smpl));
}

struct Difference {
    std::string pmu, what, theirs, ours;
};

class Comparison {
  public:
    Comparison(PfmLibrary& theirs, PfmLibrary& ours) : theirs_(theirs), ours_(ours) {}

    /// Compares the PMUs from `first` to `last`, both included.
    std::vector<Difference> compare_pmus(int first, int last) {
        for (int id = first; id <= last; ++id) compare_pmu(id);
        return std::move(found_);
    }
    std::size_t compared() const { return compared_; }

  private:
    void compare(const std::string& what, std::string theirs, std::string ours) {
        ++compared_;
        if (theirs != ours) found_.push_back({name_, what, std::move(theirs), std::move(ours)});
    }

    void compare_pmu(int id) {
        pfm_pmu_info_t info{};
        info.size = sizeof info;
        if (theirs_.get_pmu_info(static_cast<pfm_pmu_t>(id), &info) != PFM_SUCCESS)
            return;  // a PMU of another architecture
        name_ = info.name;
        const std::string of_theirs = pmu(theirs_, id);
        const std::string of_ours = pmu(ours_, id);
        compare("(pmu)", of_theirs, of_ours);
        if (std::string_view{info.name} == "perf_raw") return;
        read_our_events(id, of_theirs != of_ours);
        for (int index = info.first_event; index != -1; index = theirs_.get_event_next(index)) compare_event(index);
    }

    /// If our table is newer (`moved`), its events are looked up by name.
    void read_our_events(int id, bool moved) {
        moved_ = moved;
        our_events_.clear();
        pfm_pmu_info_t info{};
        ours_.get_pmu_info(static_cast<pfm_pmu_t>(id), &info);
        for (int index = info.first_event; moved && index != -1; index = ours_.get_event_next(index)) {
            pfm_event_info_t event_info{};
            ours_.get_event_info(index, PFM_OS_NONE, &event_info);
            our_events_.emplace(event_info.name, index);
        }
    }

    int our_event(int theirs, const std::string& name) const {
        if (!moved_) return theirs;
        const auto found = our_events_.find(name);
        return found == our_events_.end() ? -1 : found->second;
    }

    int our_position(int index, int position, const std::string& name, pfm_os_t os) const {
        if (!moved_) return position;
        pfm_event_attr_info_t info{};
        for (int i = 0; ours_.get_event_attr_info(index, i, os, &info) == PFM_SUCCESS; ++i, info = {})
            if (name == info.name) return i;
        return -1;
    }

    void compare_event(int index) {
        pfm_event_info_t info{};
        theirs_.get_event_info(index, PFM_OS_NONE, &info);
        const int ours = our_event(index, info.name);
        for (const pfm_os_t os : kLayers)
            compare(fmt::format("{} (info {})", info.name, static_cast<int>(os)), event(theirs_, index, os, moved_),
                    event(ours_, ours, os, moved_));
        compare_encoding(info.name);
        for (const pfm_os_t os : kLayers) compare_attributes(index, info.name, os);
    }

    void compare_attributes(int index, const std::string& event_name, pfm_os_t os) {
        pfm_event_info_t info{};
        theirs_.get_event_info(index, os, &info);
        const int ours = our_event(index, event_name);
        for (int position = 0; position < info.nattrs; ++position) {
            pfm_event_attr_info_t attr{};
            theirs_.get_event_attr_info(index, position, os, &attr);
            const std::string text = event_name + ":" + attr.name;
            compare(fmt::format("{} (attribute {})", text, static_cast<int>(os)),
                    attribute(theirs_, index, position, os, moved_),
                    attribute(ours_, ours, our_position(ours, position, attr.name, os), os, moved_));
            // Unit masks are the same in every layer; the modifiers of the second layer are also in the third.
            if (attr.type == PFM_ATTR_UMASK && os == PFM_OS_NONE) compare_encoding(text);
            const char* value = attr.type == PFM_ATTR_MOD_INTEGER ? "=2" : "=1";
            if (attr.type != PFM_ATTR_UMASK && os != PFM_OS_PERF_EVENT) compare_encoding(text + value);
        }
    }

    void compare_encoding(const std::string& event_text) {
        const std::string text = name_ + "::" + event_text;
        compare(event_text + " (raw)", raw(theirs_, text, moved_), raw(ours_, text, moved_));
        for (const pfm_os_t os : {PFM_OS_PERF_EVENT, PFM_OS_PERF_EVENT_EXT})
            compare(fmt::format("{} (perf {})", event_text, static_cast<int>(os)), perf(theirs_, text, os, moved_),
                    perf(ours_, text, os, moved_));
    }

    PfmLibrary& theirs_;
    PfmLibrary& ours_;
    std::vector<Difference> found_;
    std::size_t compared_ = 0;
    std::string name_;
    bool moved_ = false;
    std::map<std::string, int> our_events_;
};

/// A row of differences.tsv. `pmu` and `what` are patterns with * and ?; "-" as an answer matches any answer.
struct Expected {
    std::string pmu, what, theirs, ours, why;

    bool explains(const Difference& difference) const {
        if (::fnmatch(pmu.c_str(), difference.pmu.c_str(), 0) != 0 ||
            ::fnmatch(what.c_str(), difference.what.c_str(), 0) != 0)
            return false;
        if (theirs == "-") return true;
        std::string changed = difference.theirs;
        const std::size_t at = changed.find(theirs);
        return at != std::string::npos && changed.replace(at, theirs.size(), ours) == difference.ours;
    }
};

std::vector<Expected> expected() {
    std::ifstream file{ANYPERF_SOURCE_DIR "/tests/clients/pfm/differences.tsv"};
    std::vector<Expected> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream cells{line};
        Expected row;
        for (std::string* cell : {&row.pmu, &row.what, &row.theirs, &row.ours, &row.why})
            std::getline(cells, *cell, '\t');
        rows.push_back(row);
    }
    return rows;
}

/// Compares with LIBPFM_FORCE_PMU set, so that the answers don't depend on the CPU that runs the test.
std::vector<Difference> compare_forced(const char* pmu_name, int first, int last, std::size_t least) {
    ::setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
    ::setenv("LIBPFM_FORCE_PMU", pmu_name, 1);
    PfmLibrary theirs{kDebian};
    PfmLibrary ours{kOurs};
    EXPECT_EQ(theirs.initialize(), PFM_SUCCESS);
    EXPECT_EQ(ours.initialize(), PFM_SUCCESS);
    Comparison comparison{theirs, ours};
    auto found = comparison.compare_pmus(first, last);
    EXPECT_GT(comparison.compared(), least);
    theirs.terminate();
    ours.terminate();
    return found;
}

/// Whether a file system of that type is mounted.
bool is_mounted(std::string_view type) {
    std::ifstream mounts{"/proc/mounts"};
    for (std::string line; std::getline(mounts, line);)
        if (line.contains(" " + std::string{type} + " ")) return true;
    return false;
}

/// Debian's libpfm4 finds tracepoints by debugfs only, ours also by tracefs: without debugfs they can't be compared.
bool tracepoints_are_comparable() {
    return is_mounted("debugfs") || !is_mounted("tracefs");
}

/// Mounts debugfs where this process alone sees it. Needs root.
bool mount_debugfs() {
    if (is_mounted("debugfs")) return std::filesystem::exists("/sys/kernel/debug/tracing/events");
    return ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount("none", "/sys/kernel/debug", "debugfs", 0, nullptr) == 0 &&
           std::filesystem::exists("/sys/kernel/debug/tracing/events");
}

/// libpfm4 leaves the flags of a system's tracepoints after the eighth uninitialised, "precise" and "smpl" among them.
bool is_uninitialised_flag(Difference difference) {
    for (const std::string& flag : {std::string{"precise 1"}, std::string{"smpl 1"}})
        if (const std::size_t at = difference.theirs.find(flag); at != std::string::npos)
            difference.theirs[at + flag.size() - 1] = '0';
    return difference.theirs == difference.ours;
}

TEST(PfmAgainstDebian, AnswersAreEqualForEveryTracepoint) {
    if (!std::filesystem::exists(kDebian)) GTEST_SKIP() << "Debian's libpfm4 is not installed";
    if (!mount_debugfs()) GTEST_SKIP() << "needs the tracepoints of debugfs: root, and a kernel with tracing";
    std::size_t shown = 0;
    for (const Difference& difference : compare_forced("perf", PFM_PMU_PERF_EVENT, PFM_PMU_PERF_EVENT, 10'000))
        if (!is_uninitialised_flag(difference) && ++shown <= 20)
            ADD_FAILURE() << difference.what << "\ntheirs: " << difference.theirs << "\n  ours: " << difference.ours;
    EXPECT_EQ(shown, 0U);
}

TEST(PfmAgainstDebian, AnswersAreEqualForEveryEventExceptListedDifferences) {
    if (!std::filesystem::exists(kDebian)) GTEST_SKIP() << "Debian's libpfm4 is not installed";
    const std::vector<Expected> rows = expected();
    std::set<const Expected*> used;
    int shown = 0;
    for (const Difference& difference : compare_forced("perf", 0, kDebianPmus - 1, 100'000)) {
        if (difference.pmu == "perf" && (!tracepoints_are_comparable() || is_uninitialised_flag(difference))) continue;
        const auto row = std::ranges::find_if(rows, [&](const Expected& each) { return each.explains(difference); });
        if (row != rows.end())
            used.insert(&*row);
        else if (++shown <= 100)
            ADD_FAILURE() << difference.pmu << "::" << difference.what << "\ntheirs: " << difference.theirs
                          << "\n  ours: " << difference.ours;
    }
    EXPECT_EQ(shown, 0);
    for (const Expected& row : rows)
        EXPECT_TRUE(used.contains(&row)) << "listed in differences.tsv, but equal: " << row.pmu << " " << row.what;
}

TEST(PfmAgainstDebian, AnswersAreEqualForTheForcedArchitecturalPmu) {
    if (!std::filesystem::exists(kDebian)) GTEST_SKIP() << "Debian's libpfm4 is not installed";
    for (const Difference& difference : compare_forced("ix86arch", PFM_PMU_INTEL_X86_ARCH, PFM_PMU_INTEL_X86_ARCH, 100))
        ADD_FAILURE() << difference.what << "\ntheirs: " << difference.theirs << "\n  ours: " << difference.ours;
}

/// The PMUs of 0 to kDebianPmus - 1 that the library supports: their names, "*" after those that are present.
std::map<int, std::string> supported_pmus(PfmLibrary& library, const char* forced) {
    ::setenv("LIBPFM_FORCE_PMU", forced, 1);
    EXPECT_EQ(library.initialize(), PFM_SUCCESS);
    std::map<int, std::string> names;
    for (int id = 0; id < kDebianPmus; ++id) {
        pfm_pmu_info_t info{};
        info.size = sizeof info;
        if (library.get_pmu_info(static_cast<pfm_pmu_t>(id), &info) == PFM_SUCCESS)
            names.emplace(id, std::string{info.name} + (info.is_present != 0 ? "*" : ""));
    }
    library.terminate();
    return names;
}

TEST(PfmAgainstDebian, AForcedPmuHidesTheSamePmus) {
    if (!std::filesystem::exists(kDebian)) GTEST_SKIP() << "Debian's libpfm4 is not installed";
    PfmLibrary ours{kOurs};
    const auto all = [] {
        PfmLibrary debian{kDebian};
        return supported_pmus(debian, "perf_raw");  // the last of the list
    }();
    EXPECT_GT(all.size(), 300U);
    for (const char* forced : {"skl", "core", "amd64", "amd64_fam17h_zen1", "skx_unc_cha0,more", "perf", "SK"}) {
        PfmLibrary debian{kDebian};  // anew: a PMU stays supported in a library that had it before
        const auto theirs = supported_pmus(debian, forced);
        auto of_ours = supported_pmus(ours, forced);
        std::erase_if(of_ours, [&](const auto& each) { return !all.contains(each.first); });  // other architectures
        EXPECT_EQ(of_ours, theirs) << forced;
    }
}

}  // namespace
}  // namespace anyperf::clients
