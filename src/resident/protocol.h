// protocol.h: what a program under the engine and the broker say to each other. A request is one datagram on a socket
// that all processes of the run share; its answer is put into the mailbox of the thread that asked, which waits there.
// Everything in a request is taken as if it came from an enemy: the program can write to the engine's memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "resident/layout.h"

namespace anyperf::resident {

inline constexpr std::uint32_t kProtocolVersion = 4;

/// What a mapping that a program tells of is called.
enum class MappingName : std::uint8_t { as_listed, ring, none };

enum class RequestKind : std::uint32_t {
    open,            ///< argument: pid, cpu, group's event, flags, inode of the descriptor; payload: attr; + descriptor
    read,            ///< event; argument: bytes of the buffer. Payload of the answer: what read(2) gives
    control,         ///< event; argument: request, argument, descriptor's event; payload: what the argument points to
    map,             ///< event; argument: length, prot, flags, offset. Answer: offset in the run's memory
    unmap,           ///< event; argument: length
    identify,        ///< argument: inode. Answer: the event's index, or 0
    before_clone,    ///< argument: clone flags, the child's page. Answer: a number for the child
    clone_failed,    ///< argument: that number
    cloned,          ///< argument: that number, the child's id
    begin,           ///< argument: that number, 1 for a new process. The thread that sends it is the child
    executing,       ///< the process is about to run another program; payload: its name; without: it could not be
    executed,        ///< it does; payload: the name
    end,             ///< argument: 1: with all threads of its process
    renamed,         ///< payload: the new name
    mapped,          ///< argument: address, bytes, protection, flags of a new mapping, MappingName
    new_namespaces,  ///< the process has other namespaces
    switch_events,   ///< argument: 1 enables, 0 disables the events that the thread has opened (prctl)
    files,           ///< argument: which part (engine::kFileParts); the thread is about to open a file of it
    poll,            ///< event. Answer: 1 a wake-up, which is taken by it; 2 hung up
    wake,            ///< event: its ring has been written so far that its reader is to be woken
    ran_out,         ///< event: switched off in place, its REFRESH has run out. Not answered
    reaping,         ///< argument: a child that was killed, and is about to be waited for
    define_probes,   ///< payload: lines of uprobe_events. Argument: 1: all go before. Answer: bytes that were taken
    switched,        ///< argument: voluntary, involuntary switches of the thread, and how long ago the first was, ns;
                     ///< 1: the task begins
    made_cgroup,     ///< + descriptor: its directory
    loaded_bpf,      ///< + descriptor: the BPF program
    count,
};

inline constexpr std::size_t kRequestPayload = 8192;  ///< an attr, a filter, a path

struct RequestHead {
    std::uint32_t version = kProtocolVersion;
    RequestKind kind = RequestKind::count;
    std::uint32_t page = 0;  ///< the thread's page, whose mailbox gets the answer
    std::int32_t pid = 0;
    std::int32_t tid = 0;
    std::int32_t cpu = 0;
    std::uint32_t event = 0;
    std::uint32_t sequence = 0;    ///< what the mailbox's `answered` becomes
    std::uint64_t task_clock = 0;  ///< ns the thread has run, when it asked
    std::uint64_t argument[6] = {};
    std::uint32_t payload_bytes = 0;
    std::int32_t group = -1;          ///< an open's group_fd
    std::uint64_t cgroup = 0;         ///< an open's with PERF_FLAG_PID_CGROUP: inode of the directory; 0: it is none
    subsystem::ProbedFile file = {};  ///< an open's of a uprobe
};

struct Request {
    RequestHead head;
    std::uint8_t payload[kRequestPayload];
};

/// One a thread page. The broker writes the answer, then `answered`, and wakes who waits for that word.
struct Mailbox {
    std::uint32_t answered;
    std::uint32_t waiting;  ///< the thread sleeps in the kernel
    std::int64_t answer;    ///< below 0: an errno, negated
    std::uint32_t payload_bytes;
    std::uint32_t event;     ///< an open's: the new event's index
    std::uint32_t host_cpu;  ///< the CPU on which the answer was written, plus 1; 0: there has been none
    std::uint8_t payload[kMailboxBytes - 28];
};
static_assert(sizeof(Mailbox) == kMailboxBytes);

}  // namespace anyperf::resident
