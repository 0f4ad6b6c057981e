// tuple_table_test.cpp: whatever a segment adds, the words that the table gives it add just that, also when the table
// is full, after an execve and in each thread.
#include "engine/x86_64/translate/tuple_table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>

namespace anyperf::engine::x86_64 {
namespace {

class Tuples : public testing::Test {
  protected:
    void begin(std::size_t limit) {
        table_->begin(&threads_, limit);
        threads_ = thread_.get();
        table_->attach(*thread_, true);
    }

    /// Runs a segment that adds `tuple`, and expects that it adds just that to the counts.
    void run_and_check(TupleTable& table, const run::Tuple& tuple) {
        std::uint64_t before[run::kCounters] = {};
        thread_->tuples.add_all_to(before);
        const Additions additions = table.additions_of(tuple);
        for (std::size_t i = 0; i < additions.count; ++i)
            thread_->tuples.word[additions.part[i].word] += additions.part[i].amount;
        for (std::size_t row = 0; row < run::kCounters; ++row)
            ASSERT_EQ(thread_->tuples.count(row) - before[row], tuple.amount[row]) << "row " << row;
    }

    run::Tuple any_tuple() {
        run::Tuple tuple{};
        const unsigned most = 1 + static_cast<unsigned>(random_()) % 64;
        tuple.amount[0] = static_cast<std::uint8_t>(most);
        for (std::size_t row = 1; row < run::kCounters; ++row)
            if (random_() % 3 == 0) tuple.amount[row] = static_cast<std::uint8_t>(random_() % (most + 1));
        return tuple;
    }

    std::mt19937 random_{11};
    std::unique_ptr<Thread> thread_ = std::make_unique<Thread>();
    Thread* threads_ = nullptr;
    std::unique_ptr<TupleTable> table_ = std::make_unique<TupleTable>();
};

TEST_F(Tuples, AddWhatTheSegmentAddsWithAnyNumberOfWords) {
    for (const std::size_t limit : {std::size_t{0}, std::size_t{1}, std::size_t{8}}) {
        thread_ = std::make_unique<Thread>();
        table_ = std::make_unique<TupleTable>();
        begin(limit);
        for (int i = 0; i < 5000; ++i) run_and_check(*table_, any_tuple());
        EXPECT_LE(thread_->tuples.words(), limit == 0 ? run::kTupleWords : run::kCounters + limit);
    }
}

TEST_F(Tuples, OfNothingHaveNoWords) {
    begin(0);
    EXPECT_EQ(table_->additions_of({}).count, 0u);
}

TEST_F(Tuples, ThatAreFrequentUseSeveralWordsInTurn) {
    begin(0);
    const run::Tuple tuple = any_tuple();
    const auto first = table_->additions_of(tuple);
    const auto second = table_->additions_of(tuple);
    ASSERT_EQ(first.count, 1u);
    EXPECT_NE(first.part[0].word, second.part[0].word);
    for (int i = 0; i < 100; ++i) run_and_check(*table_, tuple);
    EXPECT_LE(thread_->tuples.words(), run::kCounters + TupleTable::kTurns);
}

TEST_F(Tuples, ThatWereComposedGetAWordOnceThereIsRoom) {
    begin(64);
    table_->reserve_for_traces();
    run::Tuple tuple{};
    for (std::uint8_t amount = 1; amount <= 60; ++amount) {
        tuple.amount[0] = amount;
        run_and_check(*table_, tuple);
    }
    EXPECT_GT(table_->additions_of(tuple).count, 1u);
    table_->release_reserve();
    EXPECT_EQ(table_->additions_of(tuple).count, 1u);
    run_and_check(*table_, tuple);
}

TEST_F(Tuples, KeepTheirMeaningOverAnExecve) {
    begin(100);
    for (int i = 0; i < 500; ++i) run_and_check(*table_, any_tuple());
    std::uint64_t before[run::kCounters] = {};
    thread_->tuples.add_all_to(before);
    table_->detach(*thread_);
    auto next = std::make_unique<TupleTable>();
    next->begin(&threads_, 300);
    next->adopt(thread_->tuples);
    next->attach(*thread_, false);
    for (std::size_t row = 0; row < run::kCounters; ++row) EXPECT_EQ(thread_->tuples.count(row), before[row]);
    for (int i = 0; i < 500; ++i) run_and_check(*next, any_tuple());
}

TEST_F(Tuples, AreNotAddedToWordsWhoseMeaningAProgramHasOverwritten) {
    begin(50);
    for (int i = 0; i < 200; ++i) run_and_check(*table_, any_tuple());
    for (auto& amounts : thread_->tuples.amount) amounts[40] = 0xff, amounts[50] = 0;
    auto next = std::make_unique<TupleTable>();
    next->begin(&threads_, 50);
    next->adopt(thread_->tuples);
    for (int i = 0; i < 1000; ++i) run_and_check(*next, any_tuple());
    thread_->tuples.used = ~0u;
    EXPECT_EQ(thread_->tuples.words(), run::kTupleWords);
}

TEST_F(Tuples, GetTheirMeaningInEachAttachedThread) {
    begin(0);
    auto other = std::make_unique<Thread>();
    other->next_thread = threads_;
    threads_ = other.get();
    for (int i = 0; i < 50; ++i) table_->additions_of(any_tuple());
    EXPECT_EQ(other->tuples.words(), 0u) << "it is not attached";
    table_->attach(*other, true);
    for (int i = 0; i < 50; ++i) table_->additions_of(any_tuple());
    ASSERT_EQ(other->tuples.words(), thread_->tuples.words());
    EXPECT_EQ(std::memcmp(other->tuples.amount, thread_->tuples.amount, sizeof other->tuples.amount), 0);
}

TEST_F(Tuples, AreSummedUpOnceForSeveralReadsOfOneMoment) {
    begin(0);
    for (int i = 0; i < 1000; ++i) run_and_check(*table_, any_tuple());
    run::CountsOfMoment moment{counts_of(*thread_)};
    for (const std::size_t row : {std::size_t{2}, std::size_t{0}, run::kCounters - 1})
        EXPECT_EQ(moment.count(row), counts_of(*thread_).count(row));
    const std::uint64_t before = moment.count(2);
    thread_->tuples.add(2, 5);
    EXPECT_EQ(moment.count(2), before);
}

/// As a thread does when it gets its first limited budget: what follows is charged and is in no tuple.
TEST_F(Tuples, AreNotSummedUpForInstructionsOnceTheBudgetCountsThem) {
    begin(0);
    for (int i = 0; i < 1000; ++i) run_and_check(*table_, any_tuple());
    const std::uint64_t before = counts_of(*thread_).count(0);
    settle_instructions(*thread_);
    thread_->page.counters.add_budget(100);
    for (int i = 0; i < 7; ++i) thread_->page.counters.count_instruction();
    run::Tuple loads{};
    loads.amount[2] = 3;
    run_and_check(*table_, loads);
    EXPECT_EQ(counts_of(*thread_).count(0), before + 7);
    EXPECT_EQ(thread_->tuples.count(0) + 7, before + 7);
    table_->attach(*thread_, true);  // as the only thread of a forked process
    EXPECT_EQ(counts_of(*thread_).count(0), 7u);
}

}  // namespace
}  // namespace anyperf::engine::x86_64
