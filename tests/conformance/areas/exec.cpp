// exec.cpp: enable_on_exec, remove_on_exec, and events that keep counting across exec.
#include <poll.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/ring.h"
#include "suite/workload.h"

namespace conformance {

namespace {

/// A step that executes this program again to perform a helper's action.
std::function<void()> exec_step(std::vector<std::string> action) {
    return [action = std::move(action)] { exec_helper(action); };
}

void enable_on_exec() {
    Faults faults;
    Child child{{[&] { faults.cause(20); }, exec_step({"faults", "50"})}};
    const Event event{changed(page_faults(), [](Attr& a) { a.enable_on_exec = 1; }), child.pid()};
    child.step();
    want_equal("before exec", event.count(), 0U);
    child.last_step();
    child.join();
    want_at_least("faults of the new program", event.count(), 50U);
    want_at_most("faults of the new program, and not of its loading", event.count(), 300U);
}

void disabled_beforehand() {
    Child child{{exec_step({"faults", "10"})}};
    const Event event{changed(page_faults(), [](Attr& a) { a.enable_on_exec = 1; }), child.pid()};
    event.disable();
    child.last_step();
    child.join();
    want_at_least("count after exec", event.count(), 10U);
}

void group_on_exec(bool member_disabled) {
    Child child{{exec_step({"faults", "10"})}};
    const Event leader{changed(page_faults(), [](Attr& a) { a.enable_on_exec = 1; }), child.pid()};
    const Event member{changed(page_faults(), [&](Attr& a) { a.disabled = member_disabled; }), child.pid(), -1,
                       leader.fd()};
    child.last_step();
    child.join();
    want_at_least("leader", leader.count(), 10U);
    if (member_disabled) want_equal("a disabled sibling", member.count(), 0U);
    if (!member_disabled) want_at_least("a sibling that isn't disabled", member.count(), 10U);
}

void failed_exec() {
    Faults faults;
    Child child{{[] {
                     char* const none[] = {nullptr};
                     ::execve("/nonexistent", none, none);
                 },
                 [&] { faults.cause(10); }}};
    const Event event{changed(page_faults(), [](Attr& a) { a.enable_on_exec = 1; }), child.pid()};
    child.step();
    child.step();
    want_equal("faults after an exec that failed", event.count(), 0U);
}

void own_records() {
    Child child{{exec_step({"nothing"})}};
    const Event event{changed(dummy(), [](Attr& a) { a.enable_on_exec = a.comm = a.mmap = 1; }), child.pid()};
    Ring ring{event, 16};
    child.last_step();
    child.join();
    const auto records = ring.drain();
    want_equal("COMM of the exec itself", only(records, PERF_RECORD_COMM).size(), 1U);
    want_at_least("MMAPs of the exec itself", only(records, PERF_RECORD_MMAP).size(), 1U);
}

void record_at_tracer_stop() {
    Child child{{[] { ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); }, exec_step({"nothing"})}};
    const Event event{changed(dummy(),
                              [](Attr& a) {
                                  a.disabled = 0;
                                  a.comm = a.comm_exec = 1;
                              }),
                      child.pid()};
    Ring ring{event};
    child.step();
    child.last_step();
    int status = 0;
    ::waitpid(child.pid(), &status, 0);
    want_equal("the stop at the end of execve", WIFSTOPPED(status) ? WSTOPSIG(status) : 0, SIGTRAP);
    const Record record = the_only(ring.drain(), PERF_RECORD_COMM);
    want_equal("misc", record.misc & PERF_RECORD_MISC_COMM_EXEC, PERF_RECORD_MISC_COMM_EXEC);
    ::ptrace(PTRACE_CONT, child.pid(), nullptr, nullptr);
    child.join();
    want_equal("COMM records later", only(ring.drain(), PERF_RECORD_COMM).size(), 0U);
}

void counts_across_exec() {
    Child child{{exec_step({"faults", "30"})}};
    const Event event{changed(page_faults(), [](Attr& a) { a.disabled = 0; }), child.pid()};
    child.last_step();
    child.join();
    want_at_least("faults", event.count(), 30U);
}

void inherited_on_exec() {
    Child child{{[] { in_child(exec_step({"faults", "40"})); }}};
    const Event event{changed(page_faults(), [](Attr& a) { a.enable_on_exec = a.inherit = 1; }), child.pid()};
    child.step();
    child.join();
    want_at_least("faults of a grandchild's new program", event.count(), 40U);
}

void removed() {
    Faults faults;
    Child child{{[&] { faults.cause(5); }, exec_step({"faults", "500"})}};
    const Event event{changed(page_faults(),
                              [](Attr& a) {
                                  a.remove_on_exec = 1;
                                  a.disabled = 0;
                              }),
                      child.pid()};
    const Ring ring{event};
    child.step();
    child.last_step();
    child.join();
    want_at_least("count, with the faults before exec", event.count(), 5U);
    want_at_most("count, without the faults of the new program", event.count(), 500U);
    want_equal("poll", poll_now(event) & POLLHUP, POLLHUP);
}

void removed_inherited() {
    Faults faults;
    Child child{{[&] {
        in_child([&] {
            faults.cause(20);
            exec_helper({"faults", "2000"});
        });
    }}};
    const Event event{changed(page_faults(),
                              [](Attr& a) {
                                  a.remove_on_exec = a.inherit = 1;
                                  a.disabled = 0;
                              }),
                      child.pid()};
    child.step();
    want_at_least("count, with a child's faults before exec", event.count(), 20U);
    want_at_most("count, without the faults of its new program", event.count(), 1500U);
}

void closed_by_cloexec() {
    Child child{{exec_step({"nothing"})}};
    const Event event{changed(page_faults(), [](Attr& a) { a.disabled = 0; }), child.pid(), -1, -1,
                      PERF_FLAG_FD_CLOEXEC};
    child.last_step();
    child.join();
    want_at_least("count by the opener's descriptor", event.count(), 1U);
}

}  // namespace

std::vector<Case> exec_cases() {
    return {
        {"enable_on_exec", "an event with enable_on_exec is disabled before exec and enabled after it", kNothing,
         enable_on_exec},
        {"disabled_beforehand", "DISABLE before exec does not cancel enable_on_exec", kNothing, disabled_beforehand},
        {"group", "enable_on_exec of the leader starts siblings that are not disabled", kNothing,
         [] { group_on_exec(false); }},
        {"group_disabled", "enable_on_exec of the leader does not start siblings that are disabled", kNothing,
         [] { group_on_exec(true); }},
        {"failed", "an exec that fails enables nothing", kNothing, failed_exec},
        {"records", "the COMM and MMAP records of the exec itself are recorded", kNothing, own_records},
        {"traced", "at a tracer's exec stop, the COMM record of the exec is in the ring", kNothing,
         record_at_tracer_stop},
        {"goes_on", "without these bits counting continues across exec", kNothing, counts_across_exec},
        {"inherited", "an inherited event is enabled by the exec of its own task", kNothing, inherited_on_exec},
        {"remove_on_exec", "remove_on_exec keeps the count, and poll reports POLLHUP", kNothing, removed},
        {"remove_inherited", "an inherited event with remove_on_exec is removed by the exec of its own task", kNothing,
         removed_inherited},
        {"cloexec", "FD_CLOEXEC in the opener does not affect an event on a task that executes a program", kNothing,
         closed_by_cloexec},
    };
}

}  // namespace conformance
