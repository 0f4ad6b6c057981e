#include "engine/signals/process_signals.h"

#include <cstddef>
#include <iterator>

namespace anyperf::engine {

using x86_64::SignalInfo;

void ProcessSignals::put(const SignalInfo& info, std::int32_t pid) {
    for (std::size_t i = 0; i < std::size(kNumbers); ++i) {
        State expected = State::empty;
        if (kNumbers[i] != info.signo || !__atomic_compare_exchange_n(&slots_[i].state, &expected, State::changing,
                                                                      false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            continue;
        slots_[i].pid = pid;
        slots_[i].info = info;
        __atomic_store_n(&slots_[i].state, State::full, __ATOMIC_SEQ_CST);
    }
}

bool ProcessSignals::take(std::uint64_t set, std::int32_t pid, SignalInfo& out) {
    for (std::size_t i = 0; i < std::size(kNumbers); ++i) {
        State expected = State::full;
        if ((set & signal_bit(kNumbers[i])) == 0 || slots_[i].pid != pid ||
            !__atomic_compare_exchange_n(&slots_[i].state, &expected, State::changing, false, __ATOMIC_SEQ_CST,
                                         __ATOMIC_SEQ_CST))
            continue;
        out = slots_[i].info;
        __atomic_store_n(&slots_[i].state, State::empty, __ATOMIC_SEQ_CST);
        return true;
    }
    return false;
}

std::uint64_t ProcessSignals::kept(std::int32_t pid) const {
    std::uint64_t set = 0;
    for (std::size_t i = 0; i < std::size(kNumbers); ++i)
        if (__atomic_load_n(&slots_[i].state, __ATOMIC_SEQ_CST) == State::full && slots_[i].pid == pid)
            set |= signal_bit(kNumbers[i]);
    return set;
}

void ProcessSignals::clear() {
    for (Slot& slot : slots_) slot.state = State::empty;
}

}  // namespace anyperf::engine
