// read.cpp: read(2) of an event. What counts the thread that reads, and nobody else, it reads by itself from the shared
// pages; the rest is asked of the broker.
#include <errno.h>
#include <sys/uio.h>

#include <array>

#include "abi/sample_bits.h"
#include "engine/x86_64/guarded_copy.h"
#include "resident/calls.h"
#include "resident/own_values.h"
#include "resident/request.h"
#include "subsystem/shared/page_count.h"
#include "subsystem/shared/read_layout.h"

namespace anyperf::resident {

using engine::at_address;
using engine::x86_64::guarded_copy;
using subsystem::MemberValue;

namespace {

constexpr std::size_t kOwnMembers = 64;  ///< of a group that is read without asking
constexpr std::size_t kOwnBytes = 2048;  ///< a power of two that holds their answer
constexpr std::uint64_t kGroup = abi::read_format("PERF_FORMAT_GROUP");
constexpr std::uint64_t kTimes =
    abi::read_format("PERF_FORMAT_TOTAL_TIME_ENABLED") | abi::read_format("PERF_FORMAT_TOTAL_TIME_RUNNING");

std::size_t gather(const Thread& thread, const Process& process, const EventPage& event,
                   std::array<MemberValue, kOwnMembers>& members) {
    const bool group = (event.shape.read_format & kGroup) != 0;
    const EventPage* member = group ? &process.events[event.leader] : &event;
    const std::size_t count = group ? member->group_size : 1;
    for (std::size_t i = 0; i < count; ++i) {
        members[i] = {count_at(*member, own_value(thread, member->source)), member->id, member->lost};
        member = &process.events[member->next_in_group];
    }
    return count;
}

/// Bytes read, or an errno, negated. Precondition: is_own, with at most kOwnMembers of a group.
long read_own(Thread& thread, const Process& process, const EventPage& event, std::uint64_t buffer,
              std::uint64_t bytes) {
    const std::uint64_t format = event.shape.read_format;
    std::array<MemberValue, kOwnMembers> members;
    const std::size_t count = gather(thread, process, event, members);
    const std::size_t needed = subsystem::read_bytes(format, count);
    if (bytes < needed) return -ENOSPC;
    subsystem::ReadValues values{0, 0, {members.data(), count}};
    if ((format & kTimes) != 0) {
        const EventPage& timed = (format & kGroup) != 0 ? process.events[event.leader] : event;
        const std::uint64_t clock = task_clock();
        values.enabled = enabled_at(timed, clock);
        values.running = running_at(timed, clock);
    }
    alignas(8) std::array<std::byte, kOwnBytes> room;
    subsystem::Sink sink{room.data(), room.size(), 0};
    put_read(sink, format, values);
    return guarded_copy(at_address<void>(buffer), room.data(), needed) ? static_cast<long>(needed) : -EFAULT;
}

long read_into(Thread& thread, EventIndex index, std::uint64_t buffer, std::uint64_t bytes) {
    const Process& process = *known_process(*thread.engine);
    const EventPage& event = process.events[index];
    if (closes_are_known(process) && is_own(thread, process, event) &&
        process.events[event.leader].group_size <= kOwnMembers)
        return read_own(thread, process, event, buffer, bytes);
    Ask ask{thread, RequestKind::read, index};
    const long answer = ask.with(0, bytes).send();
    if (answer <= 0) return answer;
    return guarded_copy(at_address<void>(buffer), ask.mailbox().payload, static_cast<std::size_t>(answer)) ? answer
                                                                                                           : -EFAULT;
}

/// access_ok() of Linux 6.18: whether so much could be memory of a program.
bool may_hold(std::uint64_t buffer, std::uint64_t bytes) {
    constexpr std::uint64_t kEndOfUserSpace = 0x7ffffffff000;  // TASK_SIZE_MAX
    return bytes <= kEndOfUserSpace && buffer <= kEndOfUserSpace - bytes;
}

}  // namespace

long read_event(Call& call, EventIndex event) {
    if (!may_hold(call.argument[1], call.argument[2])) return -EFAULT;
    return read_into(call.thread, event, call.argument[1], call.argument[2]);
}

namespace {

/// import_iovec() of Linux 6.18, before anything is read.
long check_vector(const Call& call) {
    constexpr std::uint64_t kMostParts = 1024;  // UIO_MAXIOV
    const std::uint64_t count = call.argument[2];
    if (count > kMostParts) return -EINVAL;
    for (std::uint64_t i = 0; i < count; ++i) {
        iovec part{};
        if (!guarded_copy(&part, at_address<const void>(call.argument[1] + i * sizeof part), sizeof part))
            return -EFAULT;
        if (static_cast<std::int64_t>(part.iov_len) < 0) return -EINVAL;
        if (!may_hold(engine::address_of(part.iov_base), part.iov_len)) return -EFAULT;
    }
    return 0;
}

}  // namespace

long readv_event(Call& call, EventIndex event) {
    if (const long wrong = check_vector(call); wrong != 0) return wrong;
    // A file without a vector read gets one read a buffer, until one is short or fails (do_loop_readv_writev).
    long total = 0;
    for (std::uint64_t i = 0; i < call.argument[2]; ++i) {
        iovec part{};
        const std::uint64_t at = call.argument[1] + i * sizeof part;
        if (!guarded_copy(&part, at_address<const void>(at), sizeof part)) return -EFAULT;
        const long got = read_into(call.thread, event, engine::address_of(part.iov_base), part.iov_len);
        if (got < 0) return total != 0 ? total : got;
        total += got;
        if (static_cast<std::size_t>(got) != part.iov_len) break;
    }
    return total;
}

long preadv2_event(Call& call, EventIndex event) {
    const auto position = static_cast<std::int64_t>(call.argument[3]);
    if (position != -1) return position < 0 ? -EINVAL : -ESPIPE;
    // do_loop_readv_writev() knows no other flag.
    if ((call.argument[5] & ~std::uint64_t{RWF_HIPRI}) != 0) return -EOPNOTSUPP;
    return readv_event(call, event);
}

}  // namespace anyperf::resident
