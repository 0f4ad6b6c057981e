// cost_test.cpp: the static cost of segments whose limit is known: chains, units, renaming, the divider.
#include "engine/x86_64/translate/cost.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace anyperf::engine::x86_64 {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// A core of which the figures below follow: four wide, four integer units, two loads and one store in a cycle.
models::Machine four_wide() {
    return {};
}

/// The cost of each instruction of a block that is one segment, and how long it keeps the core busy.
std::vector<InstructionCost> all_costs_of(const Bytes& code, const models::Machine& machine) {
    DecodedBlock block;
    decode_block({0x1000, code.data(), code.size()}, kLongestBlock, block);
    InstructionCosts costs;
    cost_segment(block, 0, block.segment_end(0), code.data(), machine, costs);
    return {costs.data(), costs.data() + block.count};
}

std::vector<unsigned> costs_of(const Bytes& code, const models::Machine& machine) {
    std::vector<unsigned> costs;
    for (const InstructionCost& each : all_costs_of(code, machine)) costs.push_back(each.cost);
    return costs;
}

/// How long the segment keeps the core busy, in eighths of a cycle.
unsigned busy_of(const Bytes& code, const models::Machine& machine = four_wide()) {
    unsigned sum = 0;
    for (const InstructionCost& each : all_costs_of(code, machine)) sum += each.busy;
    return sum;
}

/// The cost of the segment, in eighths of a cycle.
unsigned cost_of(const Bytes& code, const models::Machine& machine = four_wide()) {
    const std::vector<unsigned> costs = costs_of(code, machine);
    return std::accumulate(costs.begin(), costs.end(), 0u);
}

Bytes times(unsigned n, const Bytes& code) {
    Bytes all;
    for (unsigned i = 0; i < n; ++i) all.insert(all.end(), code.begin(), code.end());
    return all;
}

const Bytes kAddRbx{0x48, 0x01, 0xd8};           // add rax, rbx
const Bytes kMultiply{0x48, 0x0f, 0xaf, 0xc3};   // imul rax, rbx
const Bytes kAddDouble{0xf2, 0x0f, 0x58, 0xc1};  // addsd xmm0, xmm1

TEST(SegmentCost, OfAChainIsItsLatency) {
    EXPECT_EQ(cost_of(times(4, kAddRbx)), 4 * kCostUnits);
    EXPECT_EQ(cost_of(times(2, kMultiply)), 6 * kCostUnits);
    EXPECT_EQ(cost_of(kAddDouble), 4 * kCostUnits);
}

TEST(SegmentCost, OfDivisionsAndAdditionsOfFloatsIsThatOfTheMachine) {
    models::Machine quick = four_wide();
    quick.pipeline.division = 12;
    quick.pipeline.float_addition = 2;
    EXPECT_EQ(cost_of(times(3, kAddDouble), quick), 6 * kCostUnits);
    const Bytes divide{0xf7, 0xf3};  // div ebx
    EXPECT_EQ(cost_of(divide), 26 * kCostUnits);
    EXPECT_EQ(cost_of(divide, quick), 12 * kCostUnits);
}

TEST(SegmentCost, OfIndependentInstructionsIsTheirShareOfTheCore) {
    // mov rax, 1; mov rcx, 1; mov rdx, 1; mov rbx, 1
    EXPECT_EQ(cost_of({0xb8, 1, 0, 0, 0, 0xb9, 1, 0, 0, 0, 0xba, 1, 0, 0, 0, 0xbb, 1, 0, 0, 0}), kCostUnits);
    models::Machine wide = four_wide();
    wide.pipeline.width = wide.pipeline.integer_units = 8;
    EXPECT_EQ(cost_of({0xb8, 1, 0, 0, 0, 0xb9, 1, 0, 0, 0, 0xba, 1, 0, 0, 0, 0xbb, 1, 0, 0, 0}, wide), kCostUnits / 2);
}

TEST(SegmentCost, IsBusyForTheSharesOfTheWidth) {
    EXPECT_EQ(busy_of(times(8, kAddRbx)), 2 * kCostUnits) << "eight of four a cycle, whatever they wait for";
    models::Machine wide = four_wide();
    wide.pipeline.width = 8;
    EXPECT_EQ(busy_of(times(8, kAddRbx), wide), kCostUnits);
}

TEST(SegmentCost, IsNotBusyForLongerThanItTakesSoFar) {
    for (const Bytes& code : {times(9, kAddRbx), times(5, kMultiply), Bytes{0x48, 0xf7, 0xf3}, Bytes{0x0f, 0xa2}}) {
        unsigned cost = 0;
        unsigned busy = 0;
        for (const InstructionCost& each : all_costs_of(code, four_wide())) {
            cost += each.cost;
            busy += each.busy;
            EXPECT_LE(each.busy, kMostBusy);
            EXPECT_LE(busy, cost);
        }
    }
}

TEST(SegmentCost, OfAPointerChaseIsTheLatencyOfL1) {
    EXPECT_EQ(cost_of({0x48, 0x8b, 0x00}), 4 * kCostUnits);  // mov rax, [rax]
    models::Machine slow = four_wide();
    slow.latencies.l1 = 5;
    EXPECT_EQ(cost_of({0x48, 0x8b, 0x00}, slow), 5 * kCostUnits);
    EXPECT_EQ(cost_of({0x48, 0x8b, 0x03}), kCostUnits / 2) << "mov rax, [rbx] waits for nothing";
}

TEST(SegmentCost, OfACounterInMemoryIncludesForwarding) {
    // add qword [rdi], 1: the load waits for the store of the last round
    EXPECT_EQ(cost_of({0x48, 0x83, 0x07, 0x01}), 6 * kCostUnits);
}

TEST(SegmentCost, OfMovesFromAndToMemoryIsThatOfTheAccessesAlone) {
    EXPECT_EQ(cost_of(times(2, {0xf2, 0x0f, 0x10, 0x07})), kCostUnits) << "movsd xmm0, [rdi]: two loads in a cycle";
    EXPECT_EQ(cost_of(times(2, {0xf2, 0x0f, 0x11, 0x07})), 2 * kCostUnits) << "movsd [rdi], xmm0: one store";
    EXPECT_EQ(cost_of(times(2, {0x0f, 0xb6, 0x07})), kCostUnits) << "movzx eax, byte [rdi]";
}

TEST(SegmentCost, OfMovesBetweenRegistersIsThatOfRenaming) {
    // mov rax, rbx; add rax, 1; mov rbx, rax: a chain of one addition
    EXPECT_EQ(cost_of({0x48, 0x89, 0xd8, 0x48, 0x83, 0xc0, 0x01, 0x48, 0x89, 0xc3}), kCostUnits);
}

TEST(SegmentCost, OfMultiplicationsOfFloatsIsThatOfTheMachine) {
    models::Machine quick = four_wide();
    quick.pipeline.float_multiplication = 3;
    const Bytes multiply{0xf2, 0x0f, 0x59, 0xc1};  // mulsd xmm0, xmm1
    EXPECT_EQ(cost_of(multiply), 4 * kCostUnits);
    EXPECT_EQ(cost_of(multiply, quick), 3 * kCostUnits);
}

TEST(SegmentCost, ABranchIsKnownToBeMispredictedOnceItHasWhatItDependsOn) {
    // movzx eax, byte [rdi]; cmp eax, 10; jne: a load, a comparison and the branch, in a segment of about a cycle
    const std::uint8_t after_load =
        all_costs_of({0x0f, 0xb6, 0x07, 0x83, 0xf8, 0x0a, 0x75, 0}, four_wide()).back().resolving;
    EXPECT_GE(after_load, 4);
    EXPECT_LE(after_load, 6);
    // cmp eax, 10; jne
    EXPECT_LE(all_costs_of({0x83, 0xf8, 0x0a, 0x75, 0}, four_wide()).back().resolving, 1);
}

TEST(SegmentCost, OfALoopIsItsChainAndOfASegmentOfALoopOneCycleLess) {
    const Bytes chain = times(4, kAddRbx);
    Bytes loop = chain;
    loop.insert(loop.end(), {0x75, 0xf2});  // jne to the start
    EXPECT_EQ(cost_of(loop), 4 * kCostUnits);
    Bytes elsewhere = chain;
    elsewhere.insert(elsewhere.end(), {0x75, 0x10});
    EXPECT_EQ(cost_of(elsewhere), 3 * kCostUnits);
}

TEST(SegmentCost, OfADispatchDoesNotWaitForItsTarget) {
    // movzx eax, byte [r9 + rax]; movsxd rax, [rcx + 4 * rax]; add rax, rcx; jmp rax
    EXPECT_EQ(cost_of({0x41, 0x0f, 0xb6, 0x04, 0x01, 0x48, 0x63, 0x04, 0x81, 0x48, 0x01, 0xc8, 0xff, 0xe0}),
              kCostUnits);
}

TEST(SegmentCost, OfAPieceOfLongCodeIsItsLongestChain) {
    // add rax, rbx; add rbx, rax: each piece goes on with both registers
    EXPECT_EQ(cost_of(times(kLongestBlock / 2, {0x48, 0x01, 0xd8, 0x48, 0x01, 0xc3})), 64 * kCostUnits);
}

TEST(SegmentCost, OfDivisionsIsThatOfTheDivider) {
    EXPECT_GE(cost_of({0xf7, 0xf3}), 20 * kCostUnits);        // div ebx
    EXPECT_GE(cost_of({0x48, 0xf7, 0xf3}), 30 * kCostUnits);  // div rbx
}

TEST(SegmentCost, OfZeroingWaitsForNothing) {
    // pxor xmm0, xmm0; addsd xmm0, xmm1
    EXPECT_LE(cost_of({0x66, 0x0f, 0xef, 0xc0, 0xf2, 0x0f, 0x58, 0xc1}), kCostUnits);
}

TEST(SegmentCost, IsDividedAmongItsInstructions) {
    const std::vector<unsigned> costs = costs_of({0x31, 0xd2, 0xf7, 0xf3, 0x90, 0x90}, four_wide());
    EXPECT_GT(costs[1], costs[0] + costs[2] + costs[3]) << "the division has most of it";
}

TEST(SegmentCost, HasFourSignificantBits) {
    Bytes code = times(37, kAddRbx);
    EXPECT_EQ(cost_of(code), 288u) << "37 cycles are 296 eighths; the step is 32";
}

TEST(SegmentCost, OfOneInstructionIsBounded) {
    for (const std::uint16_t cost : costs_of(times(30, {0x48, 0xf7, 0xf3}), four_wide())) EXPECT_LE(cost, kMostCost);
}

}  // namespace
}  // namespace anyperf::engine::x86_64
