// tasks.cpp: what the broker is told of the life of processes and threads, before they go on. Only once an event has
// been opened in the run: until then nobody asks.
#include <algorithm>

#include "engine/attached.h"
#include "engine/watch.h"
#include "resident/armed.h"
#include "resident/clocks.h"
#include "resident/descriptors.h"
#include "resident/happenings.h"
#include "resident/probes.h"
#include "resident/request.h"
#include "resident/side_band.h"
#include "resident/switches.h"

namespace anyperf::engine::attached {

using resident::Ask;
using resident::is_traced;
using resident::RequestKind;
using resident::tell;
using Happening = subsystem::Source::Happening;

namespace {

bool in_use(const Thread& thread) {
    return resident::hosted(*thread.engine) && __atomic_load_n(&thread.engine->run->events_used, __ATOMIC_ACQUIRE) != 0;
}

/// The call that made it ends in the new task, too.
void tell_call_left(Thread& thread, std::uint32_t call) {
    if (is_traced(thread, Happening::call_left)) tell(thread, {.what = Happening::call_left, .call = call});
}

}  // namespace

void begin_process(Thread& thread, bool executed) {
    thread.mailbox = nullptr;  // a fork's child has a page of its own, and so another one
    thread.alarm = 0;          // nor does it have timers
    thread.alarmed = false;
    if (!in_use(thread) || resident::process_of(*thread.engine) == nullptr) return;
    if (executed) {
        resident::find_descriptors(thread);
        Ask{thread, RequestKind::executed}.payload(thread.page.comm, sizeof thread.page.comm).send();
        resident::tell_image(thread);
    } else {
        forget_watches(thread);
        resident::forget_probed(thread);
        thread.tells_switches = false;
        thread.engine->attached->lock.reset();       // its holder may have been another thread, which is not here
        thread.engine->attached->mapping_count = 0;  // rings are not inherited
        Ask{thread, RequestKind::begin}.with(0, thread.inheritance).with(1, 1).send();
    }
    resident::settle(thread);
    if (!executed) return resident::begin_on_cpu(thread);
    if (is_traced(thread, Happening::program_executed)) tell(thread, {.what = Happening::program_executed});
    tell_call_left(thread, __NR_execve);
}

void executing(Thread& thread, std::string_view name) {
    if (!in_use(thread) || thread.tid != thread.page.pid)
        return;  // another thread of its process becomes the first one
    char comm[sizeof thread.page.comm] = {};
    const std::size_t length = std::min(name.size(), sizeof comm - 1);
    std::ranges::copy_n(name.begin(), static_cast<std::ptrdiff_t>(length), comm);
    Ask{thread, RequestKind::executing}.payload(comm, length == 0 ? 0 : sizeof comm).send();
}

void begin_thread(Thread& thread) {
    if (!in_use(thread)) return;
    const bool own_process = thread.owned_by_parent;  // a vfork's child
    Ask{thread, RequestKind::begin}.with(0, thread.inheritance).with(1, own_process ? 1 : 0).send();
    resident::settle(thread);
    resident::begin_on_cpu(thread);
    tell_call_left(thread, thread.made_by);
}

std::uint32_t before_clone(Call& call, std::uint64_t clone_flags, std::uint32_t page) {
    if (!in_use(call.thread)) return 0;
    const long number = Ask{call.thread, RequestKind::before_clone}.with(0, clone_flags).with(1, page).send();
    return number > 0 ? static_cast<std::uint32_t>(number) : 0;
}

void cloned(Call& call, std::uint32_t inheritance, long tid) {
    if (!is_error(tid) && is_traced(call.thread, Happening::process_forked))
        tell(call.thread, {.what = Happening::process_forked, .child = static_cast<std::int32_t>(tid)});
    if (inheritance == 0) return;
    const RequestKind kind = is_error(tid) ? RequestKind::clone_failed : RequestKind::cloned;
    Ask{call.thread, kind}.with(0, inheritance).with(1, static_cast<std::uint64_t>(tid)).send();
}

void end_thread(Thread& thread, bool whole_process) {
    if (is_traced(thread, Happening::task_ended))
        tell(thread, {.what = Happening::task_ended, .whole_process = whole_process});
    if (in_use(thread)) Ask{thread, RequestKind::end}.with(0, whole_process ? 1 : 0).send();
    if (!whole_process) stop_watching(thread);
    if (!whole_process) resident::drop_probed(thread);
    resident::drop_alarm(thread);
    resident::drop_mailbox(thread);
}

void drop_thread(Thread& thread) {
    resident::drop_probed(thread);
}

void attend(Thread& thread) {
    resident::settle(thread);
}

void budget_ended(Thread& thread) {
    resident::next_grant(thread);
}

}  // namespace anyperf::engine::attached
