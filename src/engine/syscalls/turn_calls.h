// turn_calls.h: system calls of threads that take turns (engine/turns/turns.h); the files are in turns/. A call that
// may wait is answered without the kernel, or tried until the kernel would not wait any more; then the row of the table
// makes it as always.
#pragma once

#include "engine/syscalls/call.h"
#include "engine/turns/turns.h"
#include "engine/turns/wakes.h"

namespace anyperf::engine::turn_calls {

/// Before anybody answers the call: waits for the child that it waits for. True: `answer` is the call's answer.
bool before_call(Call& call, long& answer);
/// Before the row of the table: waits until the call would not, or answers it. True: `answer` is the call's answer.
bool answer_call(Call& call, long& answer);
/// After the call: what it has done may let others go on.
void after_call(Call& call, long answer);

/// How a wait ended for the application.
enum class Ended : std::uint8_t { woken, timed_out, interrupted };
/// Waits. If a signal ends the wait, `answer` is that of the call: `restarts` if the call is repeated after handlers
/// with SA_RESTART.
Ended wait_or_interrupt(Thread& thread, const turns::Wait& wait, bool restarts, long& answer);

/// The thread begins to wait with another signal mask, and has ended it: the mask stays until the signal that has ended
/// the wait is delivered.
class OtherMask {
  public:
    OtherMask(Thread& thread, bool given, std::uint64_t mask);
    ~OtherMask();
    OtherMask(const OtherMask&) = delete;
    OtherMask& operator=(const OtherMask&) = delete;

  private:
    Thread& thread_;
    bool given_;
};

// The families.

bool futex(Call& call, long& answer);        ///< futex(2)
bool futex_waitv(Call& call, long& answer);  ///< not there, as before Linux 5.16
/// The thread ends: its robust futexes and its `clear_child_tid` word.
void release_futexes(Thread& thread);
/// The robust futexes alone.
void release_robust_futexes(Thread& thread);
bool set_tid_address(Call& call, long& answer);
bool set_robust_list(Call& call, long& answer);

bool read_like(Call& call, long& answer);
bool write_like(Call& call, long& answer);
bool poll_like(Call& call, long& answer);
bool select_like(Call& call, long& answer);
bool epoll_like(Call& call, long& answer);
bool epoll_control(Call& call, long& answer);
bool file_lock(Call& call, long& answer);
bool record_lock(Call& call, long& answer);
/// Something may have happened to a descriptor.
void after_transfer(Call& call, long answer);
void after_descriptor_change(Call& call, long answer);

bool nanosleep(Call& call, long& answer);
bool clock_nanosleep(Call& call, long& answer);
bool sched_yield(Call& call, long& answer);
bool pause(Call& call, long& answer);
bool rt_sigsuspend(Call& call, long& answer);
bool rt_sigtimedwait(Call& call, long& answer);
bool send_signal(Call& call, long& answer);
void after_signal(Call& call, long answer);

/// A timespec of the application as a deadline of the virtual clock. False: `answer` is the error; a null pointer is no
/// deadline.
bool deadline_after(Thread& thread, std::uint64_t place, std::uint64_t& deadline, long& answer);
/// The clock in units, `ns` from now; never so far that it would overflow.
std::uint64_t units_from_now(Thread& thread, std::int64_t ns);
/// Stores that nothing remains of a timeout, or what does.
void store_remaining(Thread& thread, std::uint64_t place, std::uint64_t deadline, bool microseconds);

// Shared mappings, by which a futex is known in all processes that map it.

void note_mapping(Engine& engine, std::uint64_t start, std::uint64_t bytes, std::uint64_t flags, std::uint64_t fd,
                  std::uint64_t offset);
void note_segment(Engine& engine, std::uint64_t start, std::uint64_t bytes, std::uint64_t id);
void forget_mapping(Engine& engine, std::uint64_t start, std::uint64_t bytes);
void move_mapping(Engine& engine, std::uint64_t from, std::uint64_t bytes, std::uint64_t to, std::uint64_t new_bytes);
run::TurnKey futex_key(const Engine& engine, std::uint64_t address, bool is_private);

}  // namespace anyperf::engine::turn_calls
