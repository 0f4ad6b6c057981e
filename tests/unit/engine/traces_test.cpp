// traces_test.cpp: the code of a trace, byte by byte, what its host addresses mean, and which changes of code remove
// it. tests/engine runs such code.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "code_text.h"
#include "engine/cache/packed_marks.h"
#include "engine/x86_64/traces/trace_heads.h"
#include "engine/x86_64/traces/trace_stack.h"
#include "engine/x86_64/translate/predict.h"
#include "engine/x86_64/translate/recover.h"
#include "engine/x86_64/translate/routines.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {
namespace traces {
namespace {

// head: nop; call leaf; xor eax, eax; jz more; int3; more: inc eax; jmp head; int3; leaf: nop; ret
const std::vector<std::uint8_t> kLoop{0x90, 0xe8, 10,   0,    0,    0,    0x31, 0xc0, 0x74,
                                      1,    0xcc, 0xff, 0xc0, 0xeb, 0xf1, 0xcc, 0x90, 0xc3};
constexpr std::uint64_t kHead = 0, kAfterCall = 6, kMore = 11, kBetween = 15, kLeaf = 16;
enum { kNop, kCall, kLeafNop, kReturn, kXor, kJz, kInc, kJump, kInstructions };
constexpr std::uint64_t kPlaces[kInstructions] = {0, 1, 16, 17, 6, 8, 11, 13};

class Traces : public testing::TestWithParam<bool> {
  protected:
    void SetUp() override {
        cache_.separate_writes = GetParam();
        ASSERT_TRUE(cache_.reserve());
        arena_ = prepared_arena(cache_, pc_);
        ASSERT_NE(arena_, nullptr);
        ASSERT_TRUE(emit_routines(*arena_, routines_));
        tuples_->begin(&threads_, 0);
        threads_ = thread_.get();
        cache_.executable.add({pc_, pc_ + kLoop.size(), false, false});
        trace_ = translate_loop({});
        ASSERT_NE(trace_, nullptr);
        ASSERT_TRUE(cache_.add_trace(*trace_));
    }

    Block* translate(const TracePath& path, Counting counting = {}) {
        Translation translation{cache_, *arena_, counting, *tuples_, *instrumentation_};
        return translation.run_trace(path, false);
    }

    Block* translate_loop(Counting counting) {
        TracePath path{};
        for (const std::uint64_t step : {kHead, kLeaf, kAfterCall, kMore}) path.pc[path.count++] = pc_ + step;
        return translate(path, counting);
    }

    std::string code(std::size_t index) const { return code_of(*trace_, index); }

    /// The code of an instruction; of kInstructions, what follows the last one.
    static std::string code_of(const Block& trace, std::size_t index) {
        const std::size_t end = index == kInstructions ? trace.host_bytes : Marks{trace}[index + 1].host;
        std::string text;
        for (std::size_t at = Marks{trace}[index].host; at < end; ++at) {
            constexpr const char* kDigits = "0123456789abcdef";
            text += kDigits[trace.host[at] >> 4];
            text += kDigits[trace.host[at] & 15];
        }
        return text;
    }

    std::uint64_t pc_ = address_of(kLoop.data());
    Cache cache_;
    Routines routines_;
    std::unique_ptr<Thread> thread_ = std::make_unique<Thread>();
    Thread* threads_ = nullptr;
    std::unique_ptr<TupleTable> tuples_ = std::make_unique<TupleTable>();
    std::unique_ptr<ProcessInstrumentation> instrumentation_ = std::make_unique<ProcessInstrumentation>();
    Arena* arena_ = nullptr;
    Block* trace_ = nullptr;
};

std::string spill_of(Register reg) {
    return little_endian(offsetof(Thread, spill) + std::size_t{8} * reg);
}

TEST_P(Traces, HaveThisCode) {
    const std::string distance = "........";
    ASSERT_EQ(trace_->instructions, std::size_t{kInstructions});
    EXPECT_EQ(code(kNop), "90");
    EXPECT_TRUE(is_code(code(kCall), "ff35" + distance));
    EXPECT_EQ(code(kLeafNop), "90");
    EXPECT_EQ(code(kReturn), "488d642408");  // lea 8(rsp), rsp
    EXPECT_EQ(code(kXor), "31c0");
    const std::string jnz = code(kJz);  // a nop may align its operand
    EXPECT_TRUE(is_code(jnz.substr(jnz.size() - 12), "0f85" + distance));
    EXPECT_EQ(code(kInc), "ffc0");
    const std::string jump = code(kJump);
    EXPECT_TRUE(is_code(jump.substr(jump.size() - 10), "e9" + distance));
}

TEST_P(Traces, CheckWhereAReturnLeads) {
    // head: call 1f; nop; ret; 1: mov eax, (rdi); ret: what is stored may be the return address
    const std::vector<std::uint8_t> stores{0xe8, 2, 0, 0, 0, 0x90, 0xc3, 0x89, 0x07, 0xc3};
    const std::uint64_t at = address_of(stores.data());
    cache_.executable.add({at, at + stores.size(), false, false});
    TracePath path{};
    for (const std::uint64_t step : {0, 7, 5}) path.pc[path.count++] = at + step;
    const Block* const trace = translate(path);
    ASSERT_NE(trace, nullptr);
    ASSERT_EQ(trace->instructions, 5u);
    const std::string spills = "6548890c25" + spill_of(rcx) + "654c891c25" + spill_of(r11);
    const std::string unspills = "65488b0c25" + spill_of(rcx) + "654c8b1c25" + spill_of(r11);
    // mov (rsp), rcx; mov $-RETURN, r11; lea (rcx,r11), rcx; jrcxz OK; jmp EXIT; OK: lea 8(rsp), rsp
    const std::string text = code_of(*trace, 2);
    const std::string check = spills + "488b4c2400" + "49bb" + little_endian(-(at + 5), 8) + "4a8d4c1900" + "e3";
    EXPECT_EQ(text.substr(0, check.size()), check);
    EXPECT_EQ(text.substr(check.size() + 2, unspills.size()), unspills);
    EXPECT_EQ(text.substr(text.size() - unspills.size() - 10), unspills + "488d642408");
    EXPECT_EQ(cache_.exits[trace->first_exit].target(), at + 9) << "a block that begins with the return";
}

TEST_P(Traces, AreCountedAsOneSegment) {
    Block* const trace = translate_loop({.open = bit(Class::instructions) | bit(Class::taken)});
    ASSERT_NE(trace, nullptr);
    ASSERT_EQ(trace->instructions, std::size_t{kInstructions});
    for (std::size_t i = 0; i < kInstructions; ++i) EXPECT_EQ(Marks{*trace}[i].begins_segment != 0, i == 0);
    const BlockPosition place = locate(*trace, address_of(trace->host) + Marks{*trace}[kJz].host);
    uncount_rest(*thread_, place);
    EXPECT_EQ(thread_->tuples.word[static_cast<std::size_t>(Class::instructions)], -std::uint64_t{3});
    EXPECT_EQ(thread_->tuples.word[static_cast<std::size_t>(Class::taken)], -std::uint64_t{2}) << "jz and jmp";
}

TEST_P(Traces, TakeBackWhatHasNotRunAtAnExit) {
    const Block* const trace = translate_loop({.open = bit(Class::instructions)});
    ASSERT_NE(trace, nullptr);
    const std::string jnz = code_of(*trace, kJz);
    ASSERT_EQ(jnz.substr(0, 4), "0f85");
    const std::size_t end = Marks{*trace}[kJz + 1].host;
    std::int32_t distance = 0;
    std::memcpy(&distance, trace->host + end - sizeof distance, sizeof distance);
    std::string exit = code_of(*trace, kInstructions);
    exit = exit.substr(2 * (end + static_cast<std::size_t>(distance) - Marks{*trace}[kInstructions].host));
    // inc and jmp have not run. What follows at the exit's target, an int3, shows the flags.
    const std::string word = "........";  // of the tuple of two instructions
    // Registers are borrowed in turn: mov r9, SPILL; mov WORD, r9; lea -1(r9), r9; mov r9, WORD; mov SPILL, r9
    const std::string subtraction = "654c890c25" + spill_of(r9) + "654c8b0c25" + word + "4d8d49ff" + "654c890c25" +
                                    word + "654c8b0c25" + spill_of(r9);
    EXPECT_TRUE(is_code(exit.substr(0, subtraction.size()), subtraction));
}

TEST_P(Traces, ChargeTheBudgetOnceAndGiveBackToAnotherLane) {
    const Block* const trace = translate_loop({.open = bit(Class::instructions), .budgeted = true});
    ASSERT_NE(trace, nullptr);
    ASSERT_TRUE(trace->budgeted);
    // Flags may be alive at the start: mov rcx, SPILL; mov LANE, rcx; lea -8(rcx), rcx; mov rcx, LANE
    std::string start;
    for (std::size_t at = 0; at < 31; ++at) start += little_endian(trace->host[at], 1);
    const std::string lane = little_endian(lane_offset(trace->lane));
    EXPECT_EQ(start, "6548890c25" + spill_of(rcx) + "65488b0c25" + lane + "488d49f8" + "6548890c25" + lane);
    const std::string exits = code_of(*trace, kInstructions);
    const std::string other = little_endian(lane_offset((trace->lane + 1u) % run::kLanes));
    // inc and jmp have not run. The next register in turn: mov LANE, rdx; lea 2(rdx), rdx; mov rdx, LANE
    EXPECT_NE(exits.find("65488b1425" + other + "488d5202" + "6548891425" + other), std::string::npos) << exits;
}

TEST_P(Traces, NoteTheirOpenCalls) {
    instrumentation_->branches = branch::kOpenCalls;
    const Block* const trace = translate_loop({});
    ASSERT_NE(trace, nullptr);
    ASSERT_EQ(trace->instructions, std::size_t{kInstructions});
    // mov rdx, SPILL; mov TOP, edx
    const std::string load = "658b1425" + little_endian(offsetof(Thread, open_calls) + offsetof(OpenCallsState, top));
    const std::string spill = "6548891425" + spill_of(rdx);
    EXPECT_EQ(code_of(*trace, kCall).substr(0, spill.size() + load.size()), spill + load);
    // The return has its call in the trace, so it neither compares nor takes it from the list: lea 8(rsp), rsp
    EXPECT_EQ(code_of(*trace, kReturn), "488d642408");
}

TEST_P(Traces, EndBeforeACallThatHasNoReturn) {
    // call next; next: nop; ret
    const std::vector<std::uint8_t> code{0xe8, 0, 0, 0, 0, 0x90, 0xc3};
    const std::uint64_t at = address_of(code.data());
    cache_.executable.add({at, at + code.size(), false, false});
    TracePath path{};
    for (const std::uint64_t leg : {0, 5}) path.pc[path.count++] = at + leg;
    EXPECT_EQ(translate(path)->instructions, 3u);
    instrumentation_->branches = branch::kOpenCalls;
    EXPECT_EQ(translate(path)->instructions, 1u) << "it is in no list of calls, so its return must not remove one";
}

TEST_P(Traces, KeepTheHistoryOfBranchesInARegister) {
    cache_.remove(*trace_);
    trace_ = translate_loop({.predicting = true});
    ASSERT_NE(trace_, nullptr);
    ASSERT_TRUE(cache_.add_trace(*trace_));
    EXPECT_EQ(history_register(trace_->lane), r11);
    const std::string lent = little_endian(offsetof(Thread, lent_to_history));
    const std::string history = little_endian(offsetof(Thread, predictors));
    std::string start;
    for (std::size_t i = 0; i < kHistoryBytes; ++i) start += little_endian(trace_->host[i], 1);
    EXPECT_EQ(start, "654c891c25" + lent + "65440fb71c25" + history);
    // jmp LOOP; mov r11w, %gs:HISTORY; mov %gs:LENT, r11; jmp HEAD
    const std::string jump = code(kJump);
    const std::string end = "666544891c25" + history + "654c8b1c25" + lent;
    EXPECT_NE(jump.find(end), std::string::npos) << jump;
    unsigned loops = 0;
    for (ExitId id = trace_->first_exit; id < trace_->first_exit + trace_->exits; ++id) {
        if (!cache_.exits[id].is_loop()) continue;
        ++loops;
        const std::uint8_t* const operand = cache_.operand_of(cache_.exits[id]);
        std::int32_t distance = 0;
        std::memcpy(&distance, operand, sizeof distance);
        EXPECT_EQ(operand + sizeof distance + distance, trace_->host + kHistoryBytes);
        cache_.remove(*trace_);
        std::memcpy(&distance, operand, sizeof distance);
        EXPECT_EQ(distance, 0) << "what follows gives the register its value back";
    }
    EXPECT_EQ(loops, 1u);
}

TEST_P(Traces, GiveTheHistoryBackWhereAThreadIsStopped) {
    trace_ = translate_loop({.predicting = true});
    ASSERT_NE(trace_, nullptr);
    for (std::size_t i = 0; i <= kInstructions; ++i) {
        const BlockPosition place = locate(*trace_, address_of(trace_->host) + Marks{*trace_}[i].host);
        Registers registers{};
        registers.r[r11] = 0x1234;
        thread_->lent_to_history = 77;
        thread_->predictors[0] = 0;
        leave_history(*thread_, place, registers);
        EXPECT_EQ(registers.r[r11], i < kInstructions ? 77u : 0x1234u) << i;
        EXPECT_EQ(thread_->predictors[0], i < kInstructions ? 0x1234u : 0u) << i;
    }
    BlockPosition start = locate(*trace_, address_of(trace_->host));
    Registers registers{};
    registers.r[r11] = 5;
    leave_history(*thread_, start, registers);
    EXPECT_EQ(registers.r[r11], 5u) << "the trace has not begun";
}

TEST_P(Traces, LeadToTheWaysThatTheyDoNotTake) {
    ASSERT_EQ(trace_->exits, 2u);
    EXPECT_EQ(cache_.exits[trace_->first_exit].target(), pc_ + 10);
    EXPECT_EQ(cache_.exits[trace_->first_exit + 1].target(), pc_ + kHead);
}

TEST_P(Traces, HostAddressesAreInTheRightPieces) {
    for (std::size_t i = 0; i < kInstructions; ++i) {
        const BlockPosition start = locate(*trace_, address_of(trace_->host) + Marks{*trace_}[i].host);
        EXPECT_TRUE(start.exact);
        EXPECT_EQ(start.index, i);
        EXPECT_EQ(start.pc, pc_ + kPlaces[i]);
    }
}

TEST_P(Traces, GoWithTheCodeOfEachPiece) {
    cache_.remove_range(pc_ + kBetween, pc_ + kLeaf);
    EXPECT_FALSE(trace_->dead) << "no instruction of the trace";
    EXPECT_EQ(cache_.find(pc_), trace_);
    cache_.remove_range(pc_ + kLeaf, pc_ + kLeaf + 1);
    EXPECT_TRUE(trace_->dead);
    EXPECT_EQ(cache_.find(pc_), nullptr);
}

TEST_P(Traces, TakeThePlaceOfTheBlock) {
    cache_.remove(*trace_);
    Translation translation{cache_, *arena_, {}, *tuples_, *instrumentation_};
    Block* const block = translation.run({pc_, kLoop.data(), kLoop.size()}, 0, true);
    ASSERT_NE(block, nullptr);
    ASSERT_TRUE(cache_.add(*block));
    TracePath path{};
    path.pc[path.count++] = pc_ + kHead;
    Block* const trace = translate(path);
    ASSERT_NE(trace, nullptr);
    ASSERT_TRUE(cache_.add_trace(*trace));
    EXPECT_TRUE(block->dead);
    EXPECT_EQ(cache_.find(pc_), trace);
    EXPECT_EQ(trace->instructions, 2u);
}

TEST_P(Traces, EndWhereThePathIsNotThatOfTheCode) {
    TracePath path{};
    for (const std::uint64_t step : {kHead, kLeaf, kMore}) path.pc[path.count++] = pc_ + step;
    const Block* const trace = translate(path);  // the return does not lead to where the call was
    ASSERT_NE(trace, nullptr);
    EXPECT_EQ(trace->instructions, std::size_t{kReturn} + 1);
}

TEST_P(Traces, EndBeforeABreakpoint) {
    ASSERT_TRUE(instrumentation_->code.add(pc_ + kMore));
    TracePath path{};
    for (const std::uint64_t step : {kHead, kLeaf, kAfterCall, kMore}) path.pc[path.count++] = pc_ + step;
    const Block* const trace = translate(path);
    ASSERT_NE(trace, nullptr);
    EXPECT_EQ(trace->instructions, std::size_t{kJz} + 1);
}

TEST_P(Traces, BeginWithBlocksThatCountTheirExecutions) {
    cache_.remove(*trace_);
    const auto prologue = [&](bool may_be_head = true) {
        Translation translation{cache_, *arena_, {}, *tuples_, *instrumentation_};
        if (may_be_head) translation.count_executions();
        const Block* const block = translation.run({pc_ + kAfterCall, kLoop.data() + kAfterCall, 12}, 0, false);
        return block == nullptr ? ~0u : unsigned{Marks{*block}[0].host};
    };
    EXPECT_EQ(prologue(), 0u);
    cache_.heat = 64;
    EXPECT_EQ(prologue(), 16u);
    EXPECT_EQ(prologue(false), 0u);
    cache_.heat = -1;
    EXPECT_EQ(prologue(false), 16u);
    cache_.pairs_returns = true;
    EXPECT_EQ(prologue(), 0u);
}

TEST_P(Traces, CountOnlyBranchesThatGoBackFromAnotherBlock) {
    // nop; jmp loop; loop: xor eax, eax; jnz loop; nop; jmp loop
    const std::vector<std::uint8_t> code{0x90, 0xeb, 0, 0x31, 0xc0, 0x75, 0xfc, 0x90, 0xeb, 0xf9};
    const std::uint64_t pc = address_of(code.data());
    cache_.executable.add({pc, pc + code.size(), false, false});
    const auto skipped_by_exits = [&](std::int8_t heat) {
        cache_.heat = heat;
        const auto block_at = [&](std::size_t place) {
            Translation translation{cache_, *arena_, {}, *tuples_, *instrumentation_};
            translation.count_executions();
            return translation.run({pc + place, code.data() + place, code.size() - place}, 0, false);
        };
        const std::vector<Block*> from{block_at(0), block_at(3), block_at(7)};
        std::string skipped;
        for (Block* const block : from) {
            cache_.link(block->first_exit, *from[1]);
            const std::uint8_t* const operand = cache_.operand_of(cache_.exits[block->first_exit]);
            std::int32_t distance = 0;
            std::memcpy(&distance, operand, sizeof distance);
            skipped += std::to_string(operand + sizeof distance + distance - from[1]->host) + " ";
        }
        return skipped;
    };
    EXPECT_EQ(skipped_by_exits(5), "16 16 0 ");
    EXPECT_EQ(skipped_by_exits(-1), "0 0 0 ") << "each block that runs twice becomes a trace";
}

TEST_P(Traces, CountHowOftenTheyAreLeftForABlockThatDoesNotCount) {
    // nop; jmp loop; loop: xor eax, eax; jnz loop; nop; jmp loop
    const std::vector<std::uint8_t> code{0x90, 0xeb, 0, 0x31, 0xc0, 0x75, 0xfc, 0x90, 0xeb, 0xf9};
    const std::uint64_t pc = address_of(code.data());
    cache_.executable.add({pc, pc + code.size(), false, false});
    cache_.heat = 5;
    const auto place_of_exit = [&](bool counts) -> std::pair<Block*, const std::uint8_t*> {
        TracePath path{};
        path.pc[path.count++] = pc;
        Block* const trace = translate(path);
        Translation translation{cache_, *arena_, {}, *tuples_, *instrumentation_};
        if (counts) translation.count_executions();
        Block* const block = translation.run({pc + 3, code.data() + 3, code.size() - 3}, 0, false);
        if (trace == nullptr || block == nullptr) return {};
        cache_.link(trace->first_exit, *block);
        count_exit_of_trace(cache_, trace->first_exit, *block);
        const std::uint8_t* const operand = cache_.operand_of(cache_.exits[trace->first_exit]);
        std::int32_t distance = 0;
        std::memcpy(&distance, operand, sizeof distance);
        return {block, operand + sizeof distance + distance};
    };
    const auto [block, counter] = place_of_exit(false);
    ASSERT_NE(block, nullptr);
    ASSERT_NE(counter, block->host);
    std::string text;
    for (std::size_t at = 0; at < 21; ++at) text += little_endian(counter[at], 1);
    const std::string word =
        little_endian(offsetof(Thread, heat) + sizeof(std::uint16_t) * (cache_.id_of(*block) % kHeatWords));
    const std::string to_block = little_endian(static_cast<std::uint64_t>(block->host - (counter + 21)));
    EXPECT_TRUE(is_code(text, "6665830425" + word + "05" + "0f82........" + "e9" + to_block));
    const auto [counting, entered] = place_of_exit(true);
    ASSERT_NE(counting, nullptr);
    EXPECT_EQ(entered, counting->host) << "the block has a counter";
}

INSTANTIATE_TEST_SUITE_P(SeparateWrites, Traces, testing::Bool());

/// Whether the return after a call in a trace needs no check, if `between` is what runs between the two.
bool is_safe(std::vector<std::uint8_t> between) {
    std::vector<std::uint8_t> code{0xe8, 0, 0, 0, 0};
    code.insert(code.end(), between.begin(), between.end());
    code.push_back(0xc3);
    TraceStack stack;
    bool safe = false;
    for (std::size_t at = 0; at < code.size();) {
        Instruction instruction;
        if (decode(&code[at], code.size() - at, instruction) != DecodeStatus::ok) return false;
        safe = stack.follow(instruction, &code[at]);
        at += instruction.length;
    }
    return safe;
}

TEST(TraceStack, NeedsNoCheckIfTheReturnAddressCanNotHaveChanged) {
    EXPECT_TRUE(is_safe({}));
    EXPECT_TRUE(is_safe({0x48, 0x8b, 0x07}));                    // mov (rdi), rax
    EXPECT_TRUE(is_safe({0x55, 0x41, 0x54, 0x41, 0x5c, 0x5d}));  // push rbp, r12; pop r12, rbp
    EXPECT_TRUE(is_safe({0x48, 0x83, 0xec, 8, 0x48, 0x89, 4, 0x24, 0x48, 0x83, 0xc4, 8}));           // mov rax, (rsp)
    EXPECT_TRUE(is_safe({0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0x89, 0x45, 0xfc, 0xc9}));  // -4(rbp); leave
    EXPECT_TRUE(is_safe({0x48, 0x89, 0x44, 0x24, 0xf8}));                                            // mov rax, -8(rsp)
    EXPECT_TRUE(is_safe({0x6a, 1, 0x48, 0x8d, 0x64, 0x24, 8}));  // push $1; lea 8(rsp), rsp
    EXPECT_TRUE(is_safe({0xe8, 0, 0, 0, 0, 0xc2, 0, 0}));        // a call and its return
}

TEST(TraceStack, NeedsACheckIfItMayHaveChanged) {
    EXPECT_FALSE(is_safe({0x48, 0x89, 0x07}));              // mov rax, (rdi)
    EXPECT_FALSE(is_safe({0x48, 0x89, 0x05, 0, 0, 0, 0}));  // mov rax, 0(rip)
    EXPECT_FALSE(is_safe({0x48, 0x89, 0x04, 0x24}));        // mov rax, (rsp)
    EXPECT_FALSE(is_safe({0x89, 0x44, 0x24, 0xfd}));        // mov eax, -3(rsp)
    EXPECT_FALSE(is_safe({0x48, 0x89, 0x44, 0x0c, 0xf8}));  // mov rax, -8(rsp,rcx)
    EXPECT_FALSE(is_safe({0x89, 0x45, 0xfc}));              // mov eax, -4(rbp): rbp is not known
    EXPECT_FALSE(is_safe({0x48, 0x89, 0xe5, 0x48, 0xff, 0xc5, 0x89, 0x45, 0xf0}));  // mov rsp, rbp; inc rbp; …
    EXPECT_FALSE(is_safe({0x48, 0x89, 0xe5, 0x89, 0x45, 0}));                       // mov eax, 0(rbp)
    EXPECT_FALSE(is_safe({0x58, 0x50}));                                            // pop rax; push rax
    EXPECT_FALSE(is_safe({0x48, 0x83, 0xc4, 8}));                                   // add $8, rsp
    EXPECT_FALSE(is_safe({0x48, 0x83, 0xe4, 0xf0}));                                // and $-16, rsp
    EXPECT_FALSE(is_safe({0x48, 0x89, 0xc4}));                                      // mov rax, rsp
    EXPECT_FALSE(is_safe({0x5c}));                                                  // pop rsp
    EXPECT_FALSE(is_safe({0xf3, 0x48, 0xab}));                                      // rep stosq
    EXPECT_FALSE(is_safe({0x48, 0x0f, 0xab, 0x44, 0x24, 0xf0}));                    // bts rax, -16(rsp): any bit
    EXPECT_FALSE(is_safe({0x66, 0x50, 0x66, 0x58}));                                // push ax; pop ax
    EXPECT_FALSE(is_safe({0x0f, 0xae, 0xf0}));                                      // mfence
    EXPECT_FALSE(is_safe({0xf0, 0x48, 0x83, 0x44, 0x24, 0xf0, 1}));                 // lock addq $1, -16(rsp)
}

}  // namespace
}  // namespace traces
}  // namespace anyperf::engine::x86_64
