// ioctl_basic.cpp: ENABLE, DISABLE, RESET and ID of single events, and unknown requests: "perf_event ioctl calls" of
// the manual.
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <array>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/workload.h"

namespace conformance {

namespace {

using Words = std::vector<std::uint64_t>;

struct Request {
    const char* name;
    unsigned long request;
};

constexpr std::array kUnknown{
    Request{"number_12", _IO('$', 12)},
    Request{"number_255", _IO('$', 255)},
    Request{"enable_with_a_size", _IOW('$', 0, std::uint64_t)},
    Request{"period_without_a_size", _IO('$', 4)},
    Request{"period_of_32_bits", _IOW('$', 4, std::uint32_t)},
    Request{"period_read", _IOR('$', 4, std::uint64_t)},
    Request{"id_written", _IOW('$', 7, std::uint64_t)},
    Request{"id_of_32_bits", _IOR('$', 7, std::uint32_t)},
    Request{"another_letter", _IO('%', 0)},
    Request{"tcgets", 0x5401},
    Request{"fionread", FIONREAD},
};

constexpr std::array kFlagRequests{
    Request{"enable", PERF_EVENT_IOC_ENABLE},
    Request{"disable", PERF_EVENT_IOC_DISABLE},
    Request{"reset", PERF_EVENT_IOC_RESET},
};

void other_bits(unsigned long request) {
    const Event event{dummy()};
    for (const unsigned long argument : {2UL, 3UL, 0x80000000UL, ~0UL})
        want_result("argument " + std::to_string(argument), event.ioctl(request, argument), 0);
}

void enable_disable() {
    Faults faults;
    const Event event{page_faults()};
    faults.cause(1);
    want_equal("before enable", event.count(), 0U);
    event.enable();
    faults.cause(5);
    event.disable();
    faults.cause(2);
    want_equal("after disable", event.count(), 5U);
    event.enable();
    faults.cause(3);
    event.disable();
    want_equal("after the second ENABLE and DISABLE", event.count(), 8U);
}

void enabled_from_the_start() {
    Faults faults;
    const Event event{changed(page_faults(), [](Attr& a) { a.disabled = 0; })};
    const std::uint64_t before = event.count();
    faults.cause(4);
    want_equal("faults", event.count() - before, 4U);
}

void idempotent() {
    Faults faults;
    const Event event{page_faults()};
    event.enable();
    event.enable();
    faults.cause(2);
    event.disable();
    faults.cause(1);
    event.disable();
    want_equal("count", event.count(), 2U);
}

void reset() {
    Faults faults;
    const Event event{page_faults()};
    event.enable();
    faults.cause(3);
    event.reset();
    faults.cause(2);
    event.disable();
    want_equal("count", event.count(), 2U);
    event.reset();
    want_equal("count after reset", event.count(), 0U);
}

void bad_pointer(unsigned long request, int expected) {
    const Event event{page_faults(100)};
    void* hole = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    want_result("an unmapped argument", event.ioctl(request, hole), expected);
    want_result("argument NULL", event.ioctl(request, 0UL), expected);
}

void same_id_as_read() {
    const Event event{changed(dummy(), [](Attr& a) { a.read_format = PERF_FORMAT_ID; })};
    want_equal("PERF_EVENT_IOC_ID", event.id(), event.words()[1]);
}

void after_exit() {
    Faults faults;
    Child child{{[&] { faults.cause(5); }}};
    const Event event{changed(page_faults(1000), [](Attr& a) { a.disabled = 0; }), child.pid()};
    child.step();
    child.join();
    want_at_least("count", event.count(), 5U);
    std::uint64_t period = 10;
    want_result("DISABLE", event.ioctl(PERF_EVENT_IOC_DISABLE), 0);
    want_result("ENABLE", event.ioctl(PERF_EVENT_IOC_ENABLE), 0);
    want_result("REFRESH", event.ioctl(PERF_EVENT_IOC_REFRESH, 1UL), 0);
    want_result("PERIOD", event.ioctl(PERF_EVENT_IOC_PERIOD, &period), 0);
    event.id();
    want_at_least("count", event.count(), 5U);
    want_result("RESET", event.ioctl(PERF_EVENT_IOC_RESET), 0);
    want_equal("count after RESET", event.count(), 0U);
}

void remote() {
    Faults faults;
    Child child{{[&] { faults.cause(1); }, [&] { faults.cause(8); }, [&] { faults.cause(8); }}};
    const Event event{page_faults(), child.pid()};
    child.step();
    event.enable();
    child.step();
    event.disable();
    const std::uint64_t count = event.count();
    want_at_least("count", count, 8U);
    child.step();
    want_equal("count after disable", event.count(), count);
    event.reset();
    want_equal("count after reset", event.count(), 0U);
}

}  // namespace

std::vector<Case> ioctl_basic_cases() {
    std::vector<Case> cases{
        {"enable_disable", "ENABLE starts the event, DISABLE stops it and keeps the count", kNothing, enable_disable},
        {"not_disabled", "an event opened without disabled counts from the start", kNothing, enabled_from_the_start},
        {"idempotent", "a second ENABLE or DISABLE has no effect", kNothing, idempotent},
        {"reset", "RESET sets the count to 0 and does not stop the event", kNothing, reset},
        {"id", "ID returns the same id as read", kNothing, same_id_as_read},
        {"id_bad_pointer", "ID with a bad pointer is EFAULT", kNothing, [] { bad_pointer(PERF_EVENT_IOC_ID, EFAULT); }},
        {"period_bad_pointer", "PERIOD with a bad pointer is EFAULT", kNothing,
         [] { bad_pointer(PERF_EVENT_IOC_PERIOD, EFAULT); }},
        {"after_exit", "after the task's exit the requests still succeed, and RESET sets the count to 0", kNothing,
         after_exit},
        {"remote", "ENABLE, DISABLE and RESET work on another task's event", kNothing, remote},
    };
    for (const Request& row : kUnknown)
        cases.push_back({std::string{"unknown."} + row.name,
                         "a request with an unknown number, size or direction is ENOTTY: " + in_words(row.name),
                         kNothing, [&row] {
                             const Event event{dummy()};
                             std::uint64_t word = 0;
                             want_result("ioctl", event.ioctl(row.request, &word), ENOTTY);
                         }});
    for (const Request& row : kFlagRequests)
        cases.push_back({std::string{"other_bits."} + row.name,
                         "bits other than PERF_IOC_FLAG_GROUP are ignored by " + in_words(row.name), kNothing,
                         [&row] { other_bits(row.request); }});
    return cases;
}

}  // namespace conformance
