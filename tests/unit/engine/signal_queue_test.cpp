// The queue of a thread's signals while its handler adds to it.
#include "engine/signals/signal_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace anyperf::engine {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

QueuedSignal signal_of(int number) {
    QueuedSignal signal{};
    signal.info.signo = number;
    return signal;
}

int any(const QueuedSignal&) {
    return 0;
}

std::vector<int> taken_from(SignalQueue& queue) {
    std::vector<int> numbers;
    for (QueuedSignal signal; queue.take(any, signal);) numbers.push_back(signal.info.signo);
    return numbers;
}

TEST(SignalQueue, GivesSignalsInTheOrderOfTheirArrival) {
    SignalQueue queue;
    for (const int number : {11, 7, 5}) queue.add(signal_of(number));
    QueuedSignal first;
    ASSERT_TRUE(queue.take([](const QueuedSignal& signal) { return signal.info.signo == 7 ? 0 : -1; }, first));
    queue.add(signal_of(10));
    EXPECT_THAT(taken_from(queue), ElementsAre(11, 5, 10));
}

TEST(SignalQueue, GivesTheLowestRankFirst) {
    SignalQueue queue;
    for (const int number : {11, 7, 5}) queue.add(signal_of(number));
    QueuedSignal signal;
    ASSERT_TRUE(queue.take([](const QueuedSignal& each) { return each.info.signo; }, signal));
    EXPECT_EQ(signal.info.signo, 5);
}

TEST(SignalQueue, KeepsASignalThatComesWhileAnotherOneIsTaken) {
    // The handler may interrupt at each look at a signal, before the taken one's place is free and after.
    for (int interrupted = 0; interrupted < 3; ++interrupted) {
        SignalQueue queue;
        for (const int number : {11, 7, 5}) queue.add(signal_of(number));
        int looks = 0;
        QueuedSignal taken;
        ASSERT_TRUE(queue.take(
            [&](const QueuedSignal&) {
                if (looks++ == interrupted) queue.add(signal_of(10));
                return 0;
            },
            taken));
        std::vector<int> numbers = taken_from(queue);
        numbers.push_back(taken.info.signo);
        EXPECT_THAT(numbers, UnorderedElementsAre(5, 7, 10, 11));
    }
}

TEST(SignalQueue, RefusesASignalWhenAllPlacesAreTaken) {
    SignalQueue queue;
    int added = 0;
    while (queue.add(signal_of(11))) ++added;
    EXPECT_EQ(added, 8);
    queue.drop([](const QueuedSignal& signal) { return signal.info.signo == 11; });
    EXPECT_TRUE(queue.empty());
    EXPECT_TRUE(queue.add(signal_of(5)));
}

}  // namespace
}  // namespace anyperf::engine
