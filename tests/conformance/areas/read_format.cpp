// read_format.cpp: the result of read(2) on an event or a group, for each read_format: "Reading results" of the manual.
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/sample.h"
#include "suite/workload.h"

namespace conformance {

namespace {

using Words = std::vector<std::uint64_t>;

constexpr std::uint64_t kTimes = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

Attr faults_with(std::uint64_t format) {
    return changed(page_faults(), [&](Attr& a) { a.read_format = format; });
}

/// Checks enabled and running if the format has them; returns the position after them.
std::size_t check_times(const Words& words, std::uint64_t format, std::size_t at) {
    if (format & PERF_FORMAT_TOTAL_TIME_ENABLED) want_at_least("enabled", words.at(at++), 1U);
    if (format & PERF_FORMAT_TOTAL_TIME_RUNNING) want_at_least("running", words.at(at++), 1U);
    if ((format & kTimes) == kTimes) want_equal("running of a software event", words[at - 1], words[at - 2]);
    return at;
}

/// Checks the words of one event from position `at` on; returns the position after them.
std::size_t check_member(const Words& words, std::uint64_t format, std::size_t at, const Event& event,
                         std::uint64_t count) {
    want_equal("value", words.at(at++), count);
    if (format & PERF_FORMAT_ID) want_equal("id", words.at(at++), event.id());
    if (format & PERF_FORMAT_LOST) want_equal("lost", words.at(at++), 0U);
    return at;
}

void single(std::uint64_t format) {
    Faults faults;
    const Event event{faults_with(format)};
    event.enable();
    faults.cause(3);
    event.disable();
    const Words words = event.words();
    want_equal("words", words.size(), read_words(format, 1));
    std::size_t at = check_member(words, 0, 0, event, 3);
    at = check_times(words, format, at);
    if (format & PERF_FORMAT_ID) want_equal("id", words.at(at++), event.id());
    if (format & PERF_FORMAT_LOST) want_equal("lost", words.at(at++), 0U);
}

void group(std::uint64_t format) {
    Faults faults;
    const Event leader{faults_with(format | PERF_FORMAT_GROUP)};
    const Attr counting = changed(faults_with(format), [](Attr& a) { a.disabled = 0; });
    const Event second = sibling(counting, leader);
    const Event third = sibling(changed(dummy(), [](Attr& a) { a.disabled = 0; }), leader);
    leader.enable();
    faults.cause(4);
    leader.disable();
    const Words words = leader.words();
    want_equal("words", words.size(), read_words(format | PERF_FORMAT_GROUP, 3));
    want_equal("nr", words[0], 3U);
    std::size_t at = check_times(words, format, 1);
    at = check_member(words, format, at, leader, 4);
    at = check_member(words, format, at, second, 4);
    check_member(words, format, at, third, 0);
}

void group_read_by_sibling() {
    const Event leader{faults_with(0)};
    const Event member = sibling(faults_with(PERF_FORMAT_GROUP | PERF_FORMAT_ID), leader);
    want_equal("words", member.words(), Words{2, 0, leader.id(), 0, member.id()});
    want_equal("words of the leader", leader.words(), Words{0});
}

void member_without_group() {
    const Event leader{faults_with(PERF_FORMAT_GROUP)};
    const Event member = sibling(faults_with(PERF_FORMAT_ID), leader);
    want_equal("words", member.words(), Words{0, member.id()});
}

void order_of_creation() {
    const Event leader{faults_with(PERF_FORMAT_GROUP | PERF_FORMAT_ID)};
    std::vector<Event> members;
    Words expected{5, 0, leader.id()};
    for (int i = 0; i < 4; ++i) {
        members.push_back(sibling(i % 2 != 0 ? dummy() : task_clock(), leader));
        expected.insert(expected.end(), {0, members.back().id()});
    }
    want_equal("words", leader.words(), expected);
}

void closed_sibling() {
    const Event leader{faults_with(PERF_FORMAT_GROUP | PERF_FORMAT_ID)};
    Event first = sibling(dummy(), leader);
    const Event second = sibling(dummy(), leader);
    first.close();
    want_equal("words", leader.words(), Words{2, 0, leader.id(), 0, second.id()});
}

void ids_increase() {
    const Event first{dummy()};
    const Event second{dummy()};
    want_at_least("id", first.id(), 1U);
    want_at_least("the next id", second.id(), first.id() + 1);
}

void short_buffer(std::size_t bytes) {
    const Event event{faults_with(kTimes)};
    want_result("read of " + std::to_string(bytes) + " bytes", event.read_result(bytes), ENOSPC);
    want_equal("read of 24 bytes afterwards", event.read_result(24), 24);
}

void long_buffer() {
    const Event event{faults_with(0)};
    want_equal("read of 100 bytes", event.read_result(100), 8);
}

void unmapped_buffer() {
    const Event event{dummy()};
    void* unreadable = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    want_result("read", or_errno(::read(event.fd(), unreadable, 8)), EFAULT);
}

void read_again() {
    Faults faults;
    const Event event{page_faults()};
    event.enable();
    faults.cause(2);
    event.disable();
    want_equal("the first read", event.count(), 2U);
    want_equal("the second read", event.count(), 2U);
}

void readv_into_two_buffers() {
    const Event event{faults_with(PERF_FORMAT_ID)};
    std::array<std::uint64_t, 2> words{};
    const std::array<iovec, 2> parts{iovec{words.data(), 8}, iovec{&words[1], 8}};
    want_result("readv", or_errno(::readv(event.fd(), parts.data(), 2)), ENOSPC);
}

std::string format_name(std::uint64_t format) {
    std::string name;
    for (const auto& [bit, word] : {std::pair{1, "enabled"}, {2, "running"}, {4, "id"}, {16, "lost"}})
        if (format & static_cast<std::uint64_t>(bit)) name += (name.empty() ? "" : "_") + std::string{word};
    return name.empty() ? "value" : name;
}

}  // namespace

std::vector<Case> read_format_cases() {
    std::vector<Case> cases{
        {"sibling_with_group", "a sibling whose read_format has GROUP reads the whole group", kNothing,
         group_read_by_sibling},
        {"sibling_without_group", "a sibling whose read_format does not have GROUP reads only itself", kNothing,
         member_without_group},
        {"order", "a group's read has its members in the order of their creation", kNothing, order_of_creation},
        {"closed_sibling", "a closed sibling is no longer in the group's read", kNothing, closed_sibling},
        {"ids", "ids are above 0 and increase", kNothing, ids_increase},
        {"short", "a buffer that is too small is ENOSPC, and a later read succeeds", kNothing,
         [] { short_buffer(16); }},
        {"short_by_one", "a buffer that is too small by one byte is ENOSPC", kNothing, [] { short_buffer(23); }},
        {"empty", "a buffer of 0 bytes is ENOSPC", kNothing, [] { short_buffer(0); }},
        {"long", "a read into a larger buffer returns the size of the result", kNothing, long_buffer},
        {"unmapped", "an unmapped buffer is EFAULT", kNothing, unmapped_buffer},
        {"again", "a read does not change the count", kNothing, read_again},
        {"readv", "readv with buffers smaller than the result is ENOSPC", kNothing, readv_into_two_buffers},
    };
    for (const std::uint64_t format : {0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23}) {
        cases.push_back(
            {"single." + format_name(format),
             "the read of one event has value, enabled, running, id and lost, as far as read_format requests them: " +
                 in_words(format_name(format)),
             kNothing, [format] { single(format); }});
        cases.push_back(
            {"group." + format_name(format),
             "with FORMAT_GROUP a read has nr, enabled, running, then value, id and lost of each event, as far as "
             "read_format requests them: " +
                 in_words(format_name(format)),
             kNothing, [format] { group(format); }});
    }
    return cases;
}

}  // namespace conformance
