#include "engine/turns/turn_length.h"

#include <algorithm>

#include "engine/threads/counting.h"
#include "engine/turns/order.h"

namespace anyperf::engine::turns {

using x86_64::TurnLength;

namespace {

constexpr std::int64_t kUnlimitedSteps = std::int64_t{1} << 60;
constexpr std::uint64_t kFirstRate = 16;
constexpr std::uint64_t kHighestRate = 65536;

std::int64_t steps_left(const TurnLength& turn) {
    std::int64_t sum = 0;
    for (const std::int64_t lane : turn.lane) sum += lane;
    return sum;
}

/// Sets the weights to what the lanes have been used since the last time, if that is enough to recognize a loop.
void note_use(TurnLength& turn) {
    constexpr std::int64_t kEnough = 64;
    std::int64_t used[TurnLength::kLanes];
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < TurnLength::kLanes; ++i)
        sum += used[i] = std::max<std::int64_t>(turn.allotted[i] - turn.lane[i], 0);
    if (sum >= kEnough) std::copy(used, used + TurnLength::kLanes, turn.weight);
}

/// Divides `steps` among the lanes: each gets a little, and the rest goes by use. Lane `favoured` gets at least
/// `needed`, if there are so many, and what is left by rounding.
void divide(TurnLength& turn, std::int64_t steps, std::size_t favoured, std::int64_t needed) {
    constexpr std::int64_t kLittle = 256;
    constexpr auto kAll = static_cast<std::int64_t>(TurnLength::kLanes);
    const std::int64_t to_each = steps / kLittle;
    const std::int64_t first = std::min(needed, steps);
    const std::int64_t pool = std::max<std::int64_t>(steps - first - to_each * kAll, 0);
    std::int64_t weights = kAll;
    for (const std::int64_t weight : turn.weight) weights += weight;
    std::int64_t rest = steps;
    for (std::size_t i = 0; i < TurnLength::kLanes; ++i) {
        turn.lane[i] = pool * (turn.weight[i] + 1) / weights + (rest > first ? to_each : 0);
        rest -= turn.lane[i];
    }
    turn.lane[favoured] += rest;
    std::copy(turn.lane, turn.lane + TurnLength::kLanes, turn.allotted);
}

/// Grants the steps that the thread will make until the turn's end, and at least one.
void grant(Thread& thread, std::uint64_t retired) {
    TurnLength& turn = thread.turn;
    const std::uint64_t left = turn.end > retired ? turn.end - retired : 0;
    constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
    turn.granted = static_cast<std::int64_t>(std::clamp<std::uint64_t>(left / turn.rate, 1, kMost));
    turn.retired_before = retired;
    divide(turn, turn.granted, 0, 0);
}

/// How many instructions the thread runs after the last step of its turn.
std::uint64_t draw_last_instructions(Turns& turns) {
    constexpr std::uint64_t kFew = 32;
    constexpr std::uint64_t kMany = 1024;
    const std::uint64_t random = draw(turns) >> 8;
    return random % kFew == 0 ? random / kFew % kMany : random / kFew % kFew;
}

void set_unlimited(TurnLength& turn) {
    std::fill(turn.lane, turn.lane + TurnLength::kLanes, kUnlimitedSteps);
    std::copy(turn.lane, turn.lane + TurnLength::kLanes, turn.allotted);
    turn.granted = kUnlimitedSteps;
}

void at_steps_end(Thread& thread) {
    TurnLength& turn = thread.turn;
    const std::uint64_t retired = x86_64::retired_by(thread);
    const std::uint64_t rate = (retired - turn.retired_before) / static_cast<std::uint64_t>(turn.granted);
    turn.rate = std::clamp<std::uint64_t>(rate, 1, kHighestRate);
    if (retired < turn.end) return grant(thread, retired);
    turn.stop = retired + draw_last_instructions(*thread.engine->turns);
    set_unlimited(turn);
    thread.path.count = 0;
}

}  // namespace

void unlimit_turn(Thread& thread) {
    note_use(thread.turn);
    thread.turn.end = thread.turn.stop = 0;
    set_unlimited(thread.turn);
}

void limit_turn(Thread& thread, std::uint64_t instructions, std::uint64_t retired) {
    TurnLength& turn = thread.turn;
    if (!thread.engine->cache.charges_steps) begin_steps(*thread.engine);
    const std::uint64_t end = std::max<std::uint64_t>(retired + instructions, 1);
    if (turn.end != 0 && turn.end <= end) return;
    turn.end = end;
    if (turn.rate == 0) turn.rate = kFirstRate;
    grant(thread, retired);
}

void make_step(Thread& thread) {
    std::int64_t* const most = std::max_element(thread.turn.lane, thread.turn.lane + TurnLength::kLanes);
    *most > 0 ? static_cast<void>(--*most) : at_steps_end(thread);
}

bool refill_steps(Thread& thread, std::size_t lane, std::int64_t steps) {
    TurnLength& turn = thread.turn;
    turn.lane[lane] += steps;
    const std::int64_t left = steps_left(turn);
    if (left < steps) return false;
    note_use(turn);
    divide(turn, left, lane, steps);
    return true;
}

}  // namespace anyperf::engine::turns
