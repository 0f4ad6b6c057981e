// protocol.h: how a program of a run communicates with the broker. There are two ways, for different things:
//
//   - Shared memory (layout.h, run/run_state.h) holds state: what a thread has counted, what it must count, events,
//     rings. Both sides read and write it at any time, and neither waits for the other.
//   - A request asks for what only the broker can do: open an event, read one that other threads contribute to, map a
//     ring, register a child, write into the ring of another user's program. The sender waits for the answer.
//
// A request is one datagram (RequestHead, then a payload, perhaps with a descriptor) on a SOCK_SEQPACKET socket that
// all processes of the run share. So a program needs no descriptor for each thread, and the broker sees end of file
// when the last process has ended. A shared socket cannot return an answer to its sender. Therefore the broker writes
// the answer to the mailbox of the sending thread, in shared memory:
//
//   1. The thread picks a sequence number: its id in the upper bits, and in the lower 10 bits those of `answered` in
//      its mailbox plus 1. It sends the request.
//   2. The broker first serves the closes of descriptors and deaths of processes that it knows of, then the request.
//   3. The broker writes the answer and its payload, and last the sequence number, to `answered`.
//   4. The thread polls `answered` for a short time, then sets `waiting` and sleeps on `answered` (futex(2)).
//
// Races:
// - The thread stores `waiting` before it reads `answered`; the broker stores `answered` before it reads `waiting`.
//   Both stores are sequentially consistent, hence full barriers on x86. So either the broker sees the sleeper and
//   wakes it, or the thread sees the answer.
// - A mailbox may get an answer for the previous thread of its page, which was killed. The futex wait ends, the number
//   does not match, and the thread waits again.
// - If the broker has ended, sendmsg(2) fails; while a thread sleeps, it checks each 200 ms whether the socket has hung
//   up. Then requests fail with EIO. They also fail after 20 s without an answer.
//
// Each request carries the thread's CPU and CPU time, which events of a CPU and clock events need, and its context
// switches, if it is an open or if an event of the run counts them (subsystem::kWantsSwitchCounts).
//
// Trust: a program can write to the engine's memory and to all shared memory, so the broker treats a request as hostile
// input. It checks the length, version, kind and page. The kernel names the process that has sent it (SO_PASSCRED,
// unix(7)); the thread must belong to that process, and the page must not be another thread's. A request that fails
// these checks is dropped without an answer, since no mailbox can be trusted. The rights to an event are those of that
// process, and the subsystem checks them, never the program. Layout and numbers may change with kProtocolVersion: both
// sides come from the same build.
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/layout.h"

namespace anyperf::run {

inline constexpr std::uint32_t kProtocolVersion = 8;

/// The name of a mapping that a program reports: the one in /proc/PID/maps, that of a ring, or that of anonymous
/// memory. `given`: the payload is the name, and the program has mapped nothing. It reports a range of addresses that
/// it gives to something that runs without machine code of its own.
enum class MappingName : std::uint8_t { as_listed, ring, none, given };

/// What a request asks for. Arguments are listed in the order of RequestHead::argument. Answers are 0 or a negated
/// errno unless the row says something else.
enum class RequestKind : std::uint32_t {
    open,            ///< argument: pid, cpu, group leader's event, flags, inode of the descriptor; payload: the attr.
                     ///< With the broker's end of the event's socket pair. Mailbox::event gets the new event
    read,            ///< event; argument: size of the buffer. Answer: bytes; payload: what read(2) returns
    ioctl,           ///< event; argument: ioctl request, its argument, event of the descriptor that the argument names,
                     ///< 1 if that descriptor is open; payload: what the argument points to
    map,             ///< event; argument: length, prot, flags, offset. Answer: the ring's offset in the memfd
    unmap,           ///< event; argument: length, the ring's offset in the memfd
    identify,        ///< argument: inode of a socket. Answer: the index of the event that has it, or 0
    before_clone,    ///< argument: clone flags, the child's page. Answer: a number for the child; 0: no report needed
    clone_failed,    ///< argument: that number
    cloned,          ///< argument: that number, the child's id
    begin,           ///< sent by the child. Argument: that number, 1 for a new process
    executing,       ///< the process is about to execute another program; payload: its name. Without: the exec failed
    executed,        ///< sent by the new program; payload: its name
    end,             ///< the thread ends. Argument: 1: with all threads of its process
    renamed,         ///< payload: a thread's new name. Argument: 0, or another thread of the process
    mapped,          ///< argument: address, bytes, protection, flags of a new mapping, MappingName, offset in the file
                     ///< if the name is given; payload: that name
    new_namespaces,  ///< the process has entered other namespaces
    switch_events,   ///< prctl(2). Argument: 1 enables, 0 disables what the thread has opened, and the host
                     ///< (programs_switch)
    files,           ///< the thread is about to open a virtual file; argument: the part it belongs to (kFileParts)
    poll,            ///< event. Answer, bits: 1: a wake-up, which this consumes; 2: hung up
    wake,            ///< event: its ring has reached the watermark, so the broker must wake its reader
    ran_out,         ///< event: its REFRESH limit was reached, and the thread has switched it off. Not answered
    reaping,         ///< argument: a killed child that the sender is about to reap
    define_probes,   ///< payload: lines of uprobe_events. Argument: 1: remove all first. Answer: bytes consumed
    allow_rdpmc,     ///< payload: what is written to the PMU's file `rdpmc`. Answer: bytes consumed
    switched,        ///< argument: voluntary and involuntary context switches of the thread, ns since the first one, 1
                     ///< if the task gets a CPU for the first time
    made_cgroup,     ///< with a descriptor: the new cgroup's directory
    moved_tasks,     ///< a task has been moved to another cgroup: its number was written to cgroup.procs
    loaded_bpf,      ///< with a descriptor: the BPF program
    change_user,     ///< the ids of the process have changed. With one end of a socket pair; the answer comes there
                     ///< (UserAnswer), not in the mailbox
    write_record,    ///< event; payload: a whole record for its ring, which is in another user's memory. Answer: 1 if
                     ///< the record was written
    count,
};

/// The answer to change_user.
enum class UserAnswer : std::uint32_t {
    stays,                ///< the process keeps its run memory
    stays_by_capability,  ///< it does, until it loses a capability (capset(2))
    moved,    ///< the process and its thread page now have the memory whose descriptor comes with the answer
    refused,  ///< the process must not use its run memory any more, and there is no other
};

inline constexpr std::size_t kRequestPayload = 65536;  ///< in bytes, at most: an attr, a filter, a path, a record

struct RequestHead {
    std::uint32_t version = kProtocolVersion;
    RequestKind kind = RequestKind::count;
    std::uint32_t page = 0;  ///< the thread's page number; its mailbox gets the answer
    std::int32_t tid = 0;    ///< in the thread's own pid namespace. The kernel names its process
    std::int32_t cpu = 0;
    std::uint32_t event = 0;       ///< index of the event, for the kinds that have one
    std::uint32_t sequence = 0;    ///< the broker copies it to Mailbox::answered
    std::uint64_t task_clock = 0;  ///< ns of CPU time of the thread when it sent the request (agent/clocks.h)
    std::uint64_t switches = 0;    ///< context switches of the program in that thread at that moment; 0: not counted
    std::uint64_t argument[6] = {};
    std::uint32_t payload_bytes = 0;
    std::int32_t group = -1;          ///< open: group_fd
    std::uint64_t cgroup = 0;         ///< open with PERF_FLAG_PID_CGROUP: inode of the directory; 0: not a cgroup
    subsystem::ProbedFile file = {};  ///< open of a uprobe
};

struct Request {
    RequestHead head;
    std::uint8_t payload[kRequestPayload];
};

/// Where a thread gets its answers; one for each thread page. The thread writes `waiting` only, the broker all else.
struct Mailbox {
    std::uint32_t answered;  ///< sequence number of the last answer. Written last, and a futex
    std::uint32_t waiting;   ///< 1: the thread sleeps on `answered`, or is about to
    std::int64_t answer;     ///< below 0: a negated errno
    std::uint32_t payload_bytes;
    std::uint32_t event;     ///< open: the new event's index
    std::uint32_t host_cpu;  ///< the CPU on which the answer was written, plus 1; 0: there has been no answer
    std::uint8_t payload[kMailboxBytes - 28];
};
static_assert(sizeof(Mailbox) == kMailboxBytes);

}  // namespace anyperf::run
