// protocol.h: how a program of a run talks to the broker. Two ways lead there, and they are used for different things:
//
//   - Shared memory (layout.h, run/run_state.h) holds state: what a thread has counted, what it is to count, events,
//     rings. Both sides read and write it at any time; neither waits for the other.
//   - A message asks for what only the broker can do: open an event, read one that others contribute to, map a ring,
//     register a child. The sender waits for the answer.
//
// A request is one datagram (RequestHead, then a payload, perhaps with a descriptor) on a SOCK_SEQPACKET socket that
// all processes of the run share; so a program needs no descriptor for each thread, and the broker sees end of file
// when the last process has ended. A shared socket cannot carry answers to their senders. The answer is therefore put
// into the mailbox of the thread that asked, in shared memory:
//
//   1. The thread picks a sequence number: its id, and one more than the lower bits of `answered` in its mailbox. It
//      sends.
//   2. The broker serves the closes of descriptors and deaths of processes that it knows of, then the request.
//   3. The broker writes the answer and its payload, and last `answered`, which becomes the sequence number.
//   4. The thread looks at `answered` for a while, then sets `waiting` and sleeps in a futex on that word.
//
// Races: the thread stores `waiting` before it reads `answered`, the broker stores `answered` before it reads
// `waiting`, all sequentially consistent: either the broker sees the sleeper and wakes it, or the thread sees the
// answer. A mailbox may still get an answer for a thread that had the page before and was killed; the futex wait
// returns, the number does not match, and the thread waits on. A broker that has ended is noticed by sendmsg(2), or
// each 200 ms by the hang-up of the socket; then requests fail with EIO.
//
// Each request also carries the thread's CPU time, its context switches and its CPU, which events of a CPU and clocks
// need.
//
// Trust: a program can write to the engine's memory and to all shared memory, so the broker treats a request as hostile
// input. It checks the length, version, kind and page. The process that has sent it is the one that the kernel names
// (SO_PASSCRED, unix(7)); the thread must be one of that process, and the page must not be another thread's. A request
// that fails is dropped without an answer, because there is no mailbox to trust. Rights to an event are those of that
// process, and are checked by the subsystem, never by the program. Layout and numbers may change with kProtocolVersion:
// both sides come from the same build.
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/layout.h"

namespace anyperf::run {

inline constexpr std::uint32_t kProtocolVersion = 5;

/// The name of a mapping that a program reports: what /proc/PID/maps says; that of a ring; that of anonymous memory.
enum class MappingName : std::uint8_t { as_listed, ring, none };

/// What is asked for. Arguments are listed in the order of RequestHead::argument. Answers are 0 or a negated errno
/// unless something else is said.
enum class RequestKind : std::uint32_t {
    open,            ///< argument: pid, cpu, group leader's event, flags, inode of the descriptor; payload: the attr.
                     ///< With the broker's end of the event's socket pair. Mailbox::event gets the new event
    read,            ///< event; argument: size of the buffer. Answer: bytes; payload: what read(2) returns
    ioctl,           ///< event; argument: ioctl request, its argument, event of a descriptor that it names, 1 if that
                     ///< is open; payload: what the argument points to
    map,             ///< event; argument: length, prot, flags, offset. Answer: the ring's offset in the memfd
    unmap,           ///< event; argument: length, the ring's offset in the memfd
    identify,        ///< argument: inode of a socket. Answer: the index of the event that has it, or 0
    before_clone,    ///< argument: clone flags, the child's page. Answer: a number for the child, 0: not needed
    clone_failed,    ///< argument: that number
    cloned,          ///< argument: that number, the child's id
    begin,           ///< sent by the child. Argument: that number, 1 for a new process
    executing,       ///< the process is about to execute another program; payload: its name. Without: the exec failed
    executed,        ///< sent by the new program; payload: its name
    end,             ///< the thread ends. Argument: 1: with all threads of its process
    renamed,         ///< payload: the thread's new name
    mapped,          ///< argument: address, bytes, protection, flags of a new mapping, MappingName
    new_namespaces,  ///< the process has entered other namespaces
    switch_events,   ///< prctl(2). Argument: 1 enables, 0 disables the events that the thread has opened
    files,           ///< the thread is about to open a file of this part; argument: which (kFileParts)
    poll,            ///< event. Answer, bits: 1 a wake-up, which is thereby consumed; 2 hung up
    wake,            ///< event: its ring has been written so far that its reader is to be woken
    ran_out,         ///< event: its REFRESH limit was reached, and the thread has switched it off. Not answered
    reaping,         ///< argument: a child that was killed, and that the sender is about to reap
    define_probes,   ///< payload: lines of uprobe_events. Argument: 1: remove all first. Answer: bytes consumed
    switched,        ///< argument: voluntary and involuntary context switches of the thread, ns since the first one;
                     ///< fourth: 1: the task gets a CPU for the first time
    made_cgroup,     ///< with a descriptor: the new cgroup's directory
    moved_tasks,     ///< a task has been moved to another cgroup: its number was written to cgroup.procs
    loaded_bpf,      ///< with a descriptor: the BPF program
    count,
};

inline constexpr std::size_t kRequestPayload = 8192;  ///< in bytes, at most: an attr, a filter, a path

struct RequestHead {
    std::uint32_t version = kProtocolVersion;
    RequestKind kind = RequestKind::count;
    std::uint32_t page = 0;  ///< the thread's page number; its mailbox gets the answer
    std::int32_t tid = 0;    ///< as the thread's own pid namespace has it. Its process is named by the kernel
    std::int32_t cpu = 0;
    std::uint32_t event = 0;       ///< index of the event that is meant, where the kind has one
    std::uint32_t sequence = 0;    ///< what Mailbox::answered becomes
    std::uint64_t task_clock = 0;  ///< ns of CPU time that the thread had used when it asked
    std::uint64_t switches = 0;    ///< context switches of the program in that thread, when it asked
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
