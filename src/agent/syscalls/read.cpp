// read.cpp: read(2) of an event and its variants. An event that counts only the reading thread is read locally, from
// the shared pages (local_read.h). For any other event the thread asks the broker.
#include <errno.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>

#include "abi/sample_bits.h"
#include "agent/broker_request.h"
#include "agent/clocks.h"
#include "agent/sampling/local_read.h"
#include "agent/syscalls/event_syscalls.h"
#include "engine/x86_64/cpu/guarded_copy.h"
#include "subsystem/shared/page_values.h"
#include "subsystem/shared/read_layout.h"

namespace anyperf::agent {

using engine::at_address;
using engine::x86_64::guarded_copy;
using subsystem::MemberValue;

namespace {

constexpr std::size_t kLocalMembers = 64;  ///< a larger group is not read locally
constexpr std::size_t kLocalBytes = 2048;  ///< enough for the result of that many members
constexpr std::uint64_t kGroup = abi::read_format("PERF_FORMAT_GROUP");
constexpr std::uint64_t kTimes =
    abi::read_format("PERF_FORMAT_TOTAL_TIME_ENABLED") | abi::read_format("PERF_FORMAT_TOTAL_TIME_RUNNING");

/// Stores the values of the event, or of its group's members if it has PERF_FORMAT_GROUP. Returns how many. The group's
/// size is in shared memory, so it may have changed since the caller read it.
std::size_t gather(const Thread& thread, const Process& process, const EventPage& event,
                   std::array<MemberValue, kLocalMembers>& members) {
    const bool group = (event.shape.read_format & kGroup) != 0;
    if (!group) {
        members[0] = {count_at(event, local_value(thread, event.source)), event.id, event.lost};
        return 1;
    }
    const EventPage* member = &process.events[event.leader];
    const std::size_t count = std::min<std::size_t>(member->group_size, kLocalMembers);
    run::CountsOfMoment counts{counts_of(thread)};
    for (std::size_t i = 0; i < count; ++i) {
        members[i] = {count_at(*member, local_value(thread, member->source, counts)), member->id, member->lost};
        member = &process.events[member->next_in_group];
    }
    return count;
}

/// Returns the bytes read, or a negated errno. The times are those of the leader if the group is read, else the event's
/// own (perf_event_open(2), "Reading results"). Precondition: is_locally_readable(), and the group has kLocalMembers
/// members at most.
long read_locally(Thread& thread, const Process& process, const EventPage& event, std::uint64_t buffer,
                  std::uint64_t bytes) {
    const std::uint64_t format = event.shape.read_format;
    std::array<MemberValue, kLocalMembers> members;
    const std::size_t count = gather(thread, process, event, members);
    const std::size_t needed = subsystem::read_bytes(format, count);
    if (bytes < needed) return -ENOSPC;
    subsystem::ReadValues values{0, 0, {members.data(), count}};
    if ((format & kTimes) != 0) {
        const EventPage& timed = (format & kGroup) != 0 ? process.events[event.leader] : event;
        const std::uint64_t clock = task_clock(thread);
        values.enabled = enabled_at(timed, clock);
        values.running = running_at(timed, clock);
    }
    alignas(8) std::array<std::byte, kLocalBytes> room;
    subsystem::Sink sink{room.data(), room.size(), 0};
    put_read(sink, format, values);
    return guarded_copy(at_address<void>(buffer), room.data(), needed) ? static_cast<long>(needed) : -EFAULT;
}

/// Reads the event into the application's buffer. Returns the bytes read, or a negated errno.
long read_into(Thread& thread, EventIndex index, std::uint64_t buffer, std::uint64_t bytes) {
    const Process& process = *existing_process(*thread.engine);
    const EventPage& event = process.events[index];
    if (broker_has_seen_closes(process) && is_locally_readable(thread, process, event) &&
        process.events[event.leader].group_size <= kLocalMembers)
        return read_locally(thread, process, event, buffer, bytes);
    BrokerRequest ask{thread, run::RequestKind::read, index};
    const long answer = ask.argument(0, bytes).send();
    // 0 is end of file: the event is in error state.
    if (answer <= 0) return answer;
    const auto got = std::min<std::size_t>(static_cast<std::size_t>(answer), sizeof ask.mailbox().payload);
    return guarded_copy(at_address<void>(buffer), ask.mailbox().payload, got) ? static_cast<long>(got) : -EFAULT;
}

/// Whether the buffer is in user space, mapped or not: access_ok() of Linux 6.18.
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

/// The checks of import_iovec() of Linux 6.18, which come before anything is read. 0, or a negated errno.
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
    // A file without a vectored read gets one read for each buffer, until one is short or fails
    // (do_loop_readv_writev()).
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
    // do_loop_readv_writev() accepts no other flag.
    if ((call.argument[5] & ~std::uint64_t{RWF_HIPRI}) != 0) return -EOPNOTSUPP;
    return readv_event(call, event);
}

}  // namespace anyperf::agent
