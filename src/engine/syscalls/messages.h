// messages.h: sendmmsg(2) and recvmmsg(2) in a deterministic run. Each of their messages is sent or received by a call
// of its own (sendmsg(2), recvmsg(2)). So what a deterministic run does with those, it does with these: waits let other
// threads have their turns, and ports and ids are translated.
#pragma once

#include "engine/syscalls/call.h"

namespace anyperf::engine {

/// Whether the call is one of the two.
bool has_many_messages(std::uint64_t number);

/// Makes the call. `answer_one` makes that of one message.
long answer_messages(Call& call, long (*answer_one)(Call&));

}  // namespace anyperf::engine
