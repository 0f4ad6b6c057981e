// user_memory.cpp: replaces the mappings of the run memory by those of another file, at the same addresses. So pointers
// into it stay valid. What lies there is the thread's own: the broker has copied its page, its counts and its events
// (broker/requests/user_memory.cpp).
//
// The answer comes by a socket of the process, because the mailbox is in the memory that the process is about to lose,
// and because it brings a descriptor.
#include "agent/lifecycle/user_memory.h"

#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "agent/agent_state.h"
#include "agent/broker_request.h"
#include "agent/process.h"
#include "engine/fail.h"
#include "engine/freestanding/pages.h"
#include "engine/own_descriptors.h"
#include "engine/threads/run_records.h"

extern "C" void* memcpy(void* to, const void* from, std::size_t count);

namespace anyperf::agent {

using engine::address_of;
using engine::is_error;
using engine::kernel_call;
using engine::Thread;
using run::UserAnswer;

namespace {

struct Answer {
    UserAnswer what = UserAnswer::refused;
    int memory = -1;
};

/// Takes the broker's answer from the socket. `refused` if none comes.
Answer receive(engine::Engine& engine, int socket) {
    Answer answer;
    iovec part{&answer.what, sizeof answer.what};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    pollfd ready{socket, POLLIN, 0};
    while (kernel_call(__NR_ppoll, address_of(&ready), 1, 0, 0, 0) == -EINTR) {
    }
    const engine::DescriptorRoom room{engine};  // the descriptor comes whatever the program's limit is
    const long got =
        kernel_call(__NR_recvmsg, static_cast<unsigned>(socket), address_of(&message), MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got != static_cast<long>(sizeof answer.what)) return {};
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_type == SCM_RIGHTS)
        memcpy(&answer.memory, CMSG_DATA(header), sizeof answer.memory);
    return answer;
}

/// Asks the broker. If it has ended, no end of the pair is left but the process's own, and the answer is `refused`.
Answer ask(Thread& thread) {
    engine::Engine& engine = *thread.engine;
    if (!has_broker(engine) || thread.page_number == run::kNoPage) return {};
    int pair[2] = {-1, -1};
    engine::free_spares(engine);  // numbers for the pair, if the table is full
    {
        const engine::DescriptorRoom room{engine};
        if (is_error(kernel_call(__NR_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, address_of(pair))))
            return {};
    }
    BrokerRequest{thread, run::RequestKind::change_user}.descriptor(pair[1]).post();
    kernel_call(__NR_close, static_cast<unsigned>(pair[1]));
    const Answer answer = receive(engine, pair[0]);
    kernel_call(__NR_close, static_cast<unsigned>(pair[0]));
    engine::make_spares(engine);
    return answer;
}

/// A memory that only this process has. It asks the broker for nothing from here on: the broker does not know it.
int make_own_memory(Thread& thread) {
    engine::Engine& engine = *thread.engine;
    const engine::DescriptorRoom room{engine};
    const long fd = kernel_call(__NR_memfd_create, address_of("anyperf-own"), 1 /* MFD_CLOEXEC */);
    if (is_error(fd) || is_error(kernel_call(__NR_ftruncate, static_cast<std::uint64_t>(fd), run::kRingsOffset)))
        return -1;
    if (engine.broker_fd >= 0) kernel_call(__NR_close, static_cast<unsigned>(engine.broker_fd));
    engine.broker_fd = -1;
    return static_cast<int>(fd);
}

/// Maps an array of the new memory in place of the old one's.
template <class T>
bool replace(const engine::Engine& engine, const run::SharedArray<T>& array, std::uint64_t offset) {
    const std::uint64_t bytes = engine::page_up(sizeof(T) * array.size());
    return !is_error(engine::map_pages(address_of(array.data()), bytes, PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_FIXED | MAP_NORESERVE, engine.run_fd, offset));
}

/// Unmaps what the agent has mapped of the old memory and does not need at the same address. The application keeps its
/// own mappings of rings.
void drop_mappings(Thread& thread) {
    drop_mailbox(thread);
    for (Thread* lost = thread.engine->lost_threads; lost != nullptr; lost = lost->next_thread) drop_mailbox(*lost);
    Process* const process = existing_process(*thread.engine);
    if (process == nullptr) return;
    for (RingView& view : process->ring_views) {
        const std::uint64_t bytes = (1 + std::uint64_t{view.pages}) * engine::kPageBytes;
        if (view.address != 0) engine::release_pages(engine::at_address<void>(view.address), bytes);
        view = {};
    }
}

/// Maps the arrays that all threads' pointers lead to from the new memory.
bool replace_arrays(const Thread& thread) {
    const Process* const process = existing_process(*thread.engine);
    return process == nullptr || (replace(*thread.engine, process->events, run::kEventsOffset) &&
                                  replace(*thread.engine, process->rings, run::kRingPagesOffset));
}

}  // namespace

void change_user_memory(Thread& thread) {
    const Answer answer = ask(thread);
    thread.engine->user_by_capability = answer.what == UserAnswer::stays_by_capability;
    if (answer.what == UserAnswer::stays || answer.what == UserAnswer::stays_by_capability) return;
    int memory = answer.what == UserAnswer::moved ? answer.memory : -1;
    if (memory < 0) {
        engine::count_privately(thread);
        memory = make_own_memory(thread);
    }
    drop_mappings(thread);
    if (memory < 0 || !engine::adopt_run_memory(thread, memory) || !replace_arrays(thread))
        engine::fail("no memory of the run for another user", thread.registers.rip);
}

}  // namespace anyperf::agent
