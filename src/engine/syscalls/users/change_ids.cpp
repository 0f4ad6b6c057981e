// change_ids.cpp: calls that change the user of a process (setuid, setgid, capset …). The kernel does them.
// Afterwards the process may be one that must not write the run memory that it has, because programs of its former user
// rely on it: then the agent replaces it, before the program runs on (hooks::change_user_memory).
//
// The memory of a process with several threads, or of a vfork's child, cannot be replaced, since others use it at that
// moment. It is replaced in the next process with one thread: the child of a fork, or after an exec.
//
// Runs whose programs share one clock, one order of turns or one set of exact counts keep one memory for all users.
#include <asm/unistd.h>

#include "engine/hooks.h"
#include "engine/syscalls/handlers.h"
#include "engine/threads/run_records.h"
#include "engine/threads/thread_list.h"

namespace anyperf::engine::handlers {

namespace {

bool has_memory_of_users(const Engine& engine) {
    return engine.run != nullptr && engine.run->deterministic == 0 && engine.run->exact == 0;
}

}  // namespace

long change_ids(Call& call) {
    const long answer = call.pass_to_kernel();
    if (answer != 0 || !has_memory_of_users(call.engine)) return answer;
    if (call.number == __NR_capset && !call.engine.user_by_capability) return answer;
    call.engine.user_may_differ = true;
    const bool is_only_thread = call.engine.threads != nullptr && call.engine.threads->next_thread == nullptr;
    if (is_only_thread) catch_up_with_ids(call.thread);
    return answer;
}

void catch_up_with_ids(Thread& thread) {
    if (!thread.engine->user_may_differ) return;
    thread.engine->user_may_differ = false;
    hooks::change_user_memory(thread);
}

}  // namespace anyperf::engine::handlers
