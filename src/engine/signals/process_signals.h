// process_signals.h: signals of kEngineSignals that were sent to the process and that the thread which the kernel has
// chosen blocks.
//
// The kernel never blocks these signals (actions.h), so it may choose a thread whose application blocks them. Natively
// it would choose one that does not, or one that waits for them (sigtimedwait(2)), and otherwise keep the signal for
// the process until a thread unblocks it. So the handler of a thread that blocks such a signal puts it into the slot of
// its number, and share_process_signals() (share_signals.h) gives it to a thread that wants it. As in the kernel, a
// second one of the same number is dropped while the first one is pending.
//
// The handler may interrupt its thread anywhere, so a slot is taken and filled without a lock. A thread that unblocks a
// signal changes its mask first and then looks at the slots. A thread that keeps a signal fills a slot first and then
// looks at the masks. So at least one of the two sees what the other has done.
#pragma once

#include <cstdint>

#include "engine/signals/actions.h"
#include "engine/x86_64/cpu/signal_frame.h"

namespace anyperf::engine {

class ProcessSignals {
  public:
    /// Keeps the signal of process `pid`, unless one of its number is kept. For the signal handler.
    void put(const x86_64::SignalInfo& info, std::int32_t pid);
    /// Takes a signal of the set that is kept for process `pid`. False if there is none.
    bool take(std::uint64_t set, std::int32_t pid, x86_64::SignalInfo& out);
    /// The signals that are kept for process `pid`, as a set.
    std::uint64_t kept(std::int32_t pid) const;
    /// In the child of a fork, which begins without pending signals.
    void clear();

  private:
    enum class State : std::uint32_t { empty, changing, full };
    struct Slot {
        State state;
        std::int32_t pid;  ///< the child of a vfork shares this memory
        x86_64::SignalInfo info;
    };
    static constexpr int kNumbers[] = {5, 7, 11};  // kEngineSignals

    Slot slots_[3];
};

/// Moves the real code of a signal of run::kOtherProcessCode or run::kToThreadCode from si_errno to si_code.
inline void restore_code(x86_64::SignalInfo& info) {
    info.code = info.error;
    info.error = 0;
}

/// Whether the signal was sent to the process, not to the thread (SI_TKILL, or run::kToThreadCode).
inline bool is_for_process(const x86_64::SignalInfo& info, bool to_thread) {
    constexpr std::int32_t kByTkill = -6;
    return !to_thread && info.code != kByTkill && (kEngineSignals & signal_bit(info.signo)) != 0;
}

}  // namespace anyperf::engine
