// turn_calls.h: system calls of threads that take turns (engine/turns/turns.h); the files are in turns/. A call that
// may wait is answered without the kernel, or tried until the kernel would not wait any more; then the row of the table
// makes it as always.
#pragma once

#include <string_view>

#include "engine/syscalls/call.h"
#include "engine/turns/turns.h"
#include "engine/turns/wakes.h"

namespace anyperf::engine::turn_calls {

/// Called before the agent or the table answers the call. wait4 and waitid wait here until the kernel would not wait.
/// True: `answer` is the call's answer.
bool before_call(Call& call, long& answer);
/// Called before the row of the table. Waits until the kernel would not wait, or answers the call. True: `answer` is
/// the call's answer.
bool answer_call(Call& call, long& answer);
/// Called after the call. Wakes the threads that wait for what it has done.
void after_call(Call& call, long answer);

/// Ids of processes and threads in a call of a program that sees ids of the run (engine/shown_ids.h). From here to
/// answer_of() the arguments have the kernel's ids.
class IdTranslation {
  public:
    explicit IdTranslation(Call& call);
    IdTranslation(const IdTranslation&) = delete;
    IdTranslation& operator=(const IdTranslation&) = delete;

    /// The arguments are the program's again. Returns what the program gets for `answer`.
    long answer_of(long answer);

  private:
    void translate_memory();
    void translate_path(unsigned index);

    Call& call_;
    bool on_;
    // Set only where something is translated.
    std::uint64_t given_[6];
    std::uint64_t credentials_ = 0;  ///< where a message has the sender's id; 0: nowhere
    std::int32_t credentials_id_ = 0;
    char path_[64];       ///< the translated path
    char structure_[64];  ///< the translated structure
};

/// Logs the call in the schedule, with the path that it names.
void log_call(const Call& call, std::string_view name, long answer);

/// How a wait ended for the application.
enum class Ended : std::uint8_t { woken, timed_out, interrupted };
/// Waits. If a signal ends the wait, `answer` becomes the call's answer: EINTR, or kRestartSyscall. `restarts`: the
/// call is one that is repeated after a handler with SA_RESTART (signal(7)).
Ended wait_or_interrupt(Thread& thread, const turns::Wait& wait, bool restarts, long& answer);

/// Replaces the thread's signal mask while it waits. If a signal ends the wait, the old mask returns only when that
/// signal has been delivered.
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

bool futex(Call& call, long& answer);             ///< futex(2)
bool futex_waitv(Call& call, long& answer);       ///< futex_waitv(2)
bool later_futex_call(Call& call, long& answer);  ///< ENOSYS, as in Linux 6.1, which the run shows
/// Called when the thread ends. Releases its robust futexes and wakes the waiters on its `clear_child_tid` word.
void release_futexes(Thread& thread);
/// The same for the robust futexes alone.
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
/// Wake the threads that wait for a descriptor: the call may have made it ready.
void after_transfer(Call& call, long answer);
void after_descriptor_change(Call& call, long answer);
void after_close(Call& call, long answer);
/// The same after a message, which may have descriptors.
void after_message(Call& call, long answer);
/// After pidfd_getfd(2).
void after_descriptor_taken(Call& call, long answer);

bool alarm(Call& call, long& answer);
bool setitimer(Call& call, long& answer);
bool getitimer(Call& call, long& answer);
void after_timer_create(Call& call, long answer);
bool timer_settime(Call& call, long& answer);
bool timer_gettime(Call& call, long& answer);
bool timer_delete(Call& call, long& answer);
void after_timerfd_create(Call& call, long answer);
bool timerfd_settime(Call& call, long& answer);
bool timerfd_gettime(Call& call, long& answer);
/// A read of a timer descriptor that has expired.
bool read_timer(Call& call, long& answer);
void forget_timer_descriptor(const Thread& thread, std::int32_t fd);

bool nanosleep(Call& call, long& answer);
bool clock_nanosleep(Call& call, long& answer);
bool sched_yield(Call& call, long& answer);
bool pause(Call& call, long& answer);
bool rt_sigsuspend(Call& call, long& answer);
bool rt_sigtimedwait(Call& call, long& answer);
bool send_signal(Call& call, long& answer);
bool rt_sigprocmask(Call& call, long& answer);
void after_signal(Call& call, long answer);

/// Computes a deadline of the virtual clock from a timespec of the application: now plus that time; kNoDeadline from a
/// null pointer. False: the timespec is not valid, and `answer` is the error.
bool deadline_after(Thread& thread, std::uint64_t place, std::uint64_t& deadline, long& answer);
/// The virtual clock `ns` from now, in its units; 50 years from now at most, so that it does not overflow.
std::uint64_t units_from_now(Thread& thread, std::int64_t ns);
/// Stores what remains until the deadline, at least 0, as a timespec; `microseconds`: as a timeval.
void store_remaining(Thread& thread, std::uint64_t place, std::uint64_t deadline, bool microseconds);

// Shared mappings: all processes that map an object know a futex in it by the same key.

void note_mapping(Engine& engine, std::uint64_t start, std::uint64_t bytes, std::uint64_t flags, std::uint64_t fd,
                  std::uint64_t offset);
void note_segment(Engine& engine, std::uint64_t start, std::uint64_t bytes, std::uint64_t id);
void forget_mapping(Engine& engine, std::uint64_t start, std::uint64_t bytes);
/// shmdt(2): forgets what is left of the segment that was attached at `start`.
void forget_segment(Engine& engine, std::uint64_t start);
void move_mapping(Engine& engine, std::uint64_t from, std::uint64_t bytes, std::uint64_t to, std::uint64_t new_bytes);
run::TurnKey futex_key(const Engine& engine, std::uint64_t address, bool is_private);

}  // namespace anyperf::engine::turn_calls
