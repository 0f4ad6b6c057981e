// mailbox.cpp: the broker's half of the handshake in run/protocol.h.
#include "broker/transport/mailbox.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace anyperf::broker {

int write_answer(run::Mailbox& mailbox, const run::RequestHead& head, const RequestAnswer& answer) {
    const std::span<const std::byte> payload = answer.payload.bytes();
    const std::size_t bytes = std::min(payload.size(), sizeof mailbox.payload);
    if (bytes != 0) std::memcpy(mailbox.payload, payload.data(), bytes);  // an empty span may have no address
    mailbox.payload_bytes = static_cast<std::uint32_t>(bytes);
    mailbox.event = answer.event;
    // The client reads `host_cpu` to decide whether polling its mailbox is worth while.
    const int here = ::sched_getcpu();
    __atomic_store_n(&mailbox.host_cpu, static_cast<std::uint32_t>(here + 1), __ATOMIC_RELAXED);
    mailbox.answer = answer.value;
    // Last of all: a client that sees the number reads the rest of the mailbox at once.
    __atomic_store_n(&mailbox.answered, head.sequence, __ATOMIC_SEQ_CST);
    // The client sets `waiting`, then reads `answered`. Here `answered` is set before `waiting` is read, so at least
    // one side sees the other's store, and no wake-up is lost.
    if (__atomic_load_n(&mailbox.waiting, __ATOMIC_SEQ_CST) != 0)
        ::syscall(SYS_futex, &mailbox.answered, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    return here;
}

}  // namespace anyperf::broker
