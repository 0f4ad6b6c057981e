// formats_differential_test.cpp: tracepoints have the formats of the running kernel, and their filters are accepted and
// refused as by the kernel, which is the oracle.
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "pmu/tracing/trace_filter.h"
#include "pmu/tracing/tracepoint_table.h"

namespace anyperf::pmu {
namespace {

std::string kernel_file(const std::string& system, const std::string& name, const char* file) {
    std::ifstream in{"/sys/kernel/tracing/events/" + system + "/" + name + "/" + file};
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::vector<Tracepoint> tracepoints_with_local_ids() {
    return tracepoints([](std::string_view system, std::string_view name) -> std::optional<std::uint32_t> {
        const std::string id = kernel_file(std::string{system}, std::string{name}, "id");
        return id.empty() ? std::nullopt : std::optional{static_cast<std::uint32_t>(std::stoul(id))};
    });
}

TEST(TracepointFormats, EqualTheKernels) {
    std::size_t compared = 0;
    for (const Tracepoint& tracepoint : tracepoints_with_local_ids()) {
        // Some tracepoints of sched have other fields in older kernels; these are not compared.
        const std::string theirs = kernel_file(tracepoint.system, tracepoint.name, "format");
        if (theirs.empty() ||
            (tracepoint.system == "sched" && theirs.find("__data_loc char[] parent_comm") == theirs.npos &&
             theirs.find("group_dead") == theirs.npos && theirs.find("old_pid") == theirs.npos))
            continue;
        if (theirs.find("_val") != std::string::npos) continue;  // newer kernels copy the data that arguments point to
        EXPECT_EQ(format_text(tracepoint), theirs);
        ++compared;
    }
    if (compared == 0) GTEST_SKIP() << "tracefs can't be read";
}

/// The errno of the kernel for a filter, 0 if it accepts it; -1 if the event can't be opened.
int kernel_filter_error(std::uint32_t id, const std::string& text) {
    perf_event_attr attr{};
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_TRACEPOINT;
    attr.config = id;
    attr.disabled = 1;
    attr.exclude_kernel = 1;
    const long fd = ::syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
    if (fd < 0) return -1;
    const int answer = ::ioctl(static_cast<int>(fd), PERF_EVENT_IOC_SET_FILTER, text.c_str());
    const int error = answer == 0 ? 0 : errno;
    ::close(static_cast<int>(fd));
    return error;
}

std::string random_filter(std::mt19937& random) {
    static constexpr std::array kPieces{
        "dfd", "filename", "mode", "common_pid", "CPU", "comm", "nothere", "==",       "!=",  "~",
        "<",   "&",        ">=",   "1",          "-1",  "0x10", "09",      "\"a*\"",   "'b'", "\"",
        "(",   ")",        "!",    "&&",         "||",  "&",    " ",       ".ustring", "=="};
    static constexpr std::array kValid{"dfd == 1", "comm ~ \"x*\"", "filename.ustring == \"a\"", "mode & 2", "CPU<3"};
    std::string text;
    const std::size_t length = 1 + random() % 7;
    for (std::size_t i = 0; i < length; ++i) {
        const bool whole = random() % 2 == 0;
        text += whole ? kValid[random() % kValid.size()] : kPieces[random() % kPieces.size()];
        if (random() % 2 == 0) text += ' ';
    }
    return text;
}

TEST(TracepointFilters, AreAcceptedAndRefusedAsByTheKernel) {
    const auto all = tracepoints_with_local_ids();
    const auto openat = std::ranges::find(all, "sys_enter_openat", &Tracepoint::name);
    if (kernel_filter_error(openat->id, "dfd == 1") != 0)
        GTEST_SKIP() << "the kernel's tracepoints can't be opened here";
    std::mt19937 random{18};
    // The kernel takes some milliseconds to close an event with a filter, which limits the number of cases.
    for (int i = 0; i < 500; ++i) {
        const std::string text = random_filter(random);
        const auto ours = parse_filter(text, openat->fields);
        ASSERT_EQ(ours ? 0 : ours.error().error, kernel_filter_error(openat->id, text)) << '"' << text << '"';
    }
}

}  // namespace
}  // namespace anyperf::pmu
