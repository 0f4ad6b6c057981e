// signal_descriptors.h: descriptors of signalfd(2) that show signals of kEngineSignals.
//
// The problem: such a descriptor shows what is pending in the kernel. The kernel never blocks kEngineSignals, so they
// are pending in the engine (signal_queue.h, process_signals.h), and the descriptor would read nothing for ever.
//
// The mechanism: while a process may have such a descriptor, each call that it makes finds the pending signals in the
// kernel. The thread blocks them, sends them to itself, makes the call, and unblocks them; the handler keeps what the
// call has not read (SignalsInKernel). No code of the application runs meanwhile and the engine reads none of its
// memory, so that no fault finds its signal blocked. A signal that comes while the call waits interrupts it; it is
// kept, and the call is made again with the signal in the kernel. If another thread has got the signal, it sends it to
// one that is in a call (share_signals.h).
//
// What it can't do: two threads that wait at the same time: the kernel shows the signal to both, and this to one of
// them. A descriptor that came by SCM_RIGHTS is not known. io_uring sees no kept signal.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/x86_64/cpu/thread.h"

namespace anyperf::engine {

/// While it exists, the kernel has the signals of `which` that are kept for the thread or its process and that the
/// thread blocks. The application's mask may change meanwhile.
class SignalsInKernel {
  public:
    SignalsInKernel(x86_64::Thread& thread, std::uint64_t which);
    ~SignalsInKernel();
    SignalsInKernel(const SignalsInKernel&) = delete;
    SignalsInKernel& operator=(const SignalsInKernel&) = delete;

    /// Those signals. The kernel must block them unless the application's mask for the call does not.
    std::uint64_t set() const { return set_; }

  private:
    std::uint64_t set_;
};

/// The thread begins a call: what it blocks and a descriptor may show is sent to it from here on. To be called before
/// the kept signals are looked at, and again when the application's mask has changed.
void begin_showing(x86_64::Thread& thread);
/// The call has been made, and is not made again.
void end_showing(x86_64::Thread& thread);

/// While it exists, calls that do not wait see the thread's kept signals in the kernel, as those of
/// interruptible_call_with_signals() do: threads that take turns try a call before they wait (syscalls/turns/).
class ShownSignals {
  public:
    explicit ShownSignals(x86_64::Thread& thread);
    ~ShownSignals();
    ShownSignals(const ShownSignals&) = delete;
    ShownSignals& operator=(const ShownSignals&) = delete;

  private:
    x86_64::Thread& thread_;
    std::optional<SignalsInKernel> in_kernel_;  ///< empty: the process has no such descriptor
};

/// The same as interruptible_call(), with the kept signals in the kernel.
long interruptible_call_with_signals(x86_64::Thread& thread, std::uint64_t number, const std::uint64_t (&argument)[6]);

}  // namespace anyperf::engine
