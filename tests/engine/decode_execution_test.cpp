// decode_execution_test.cpp: the decoder's statements about registers, flags and memory hold; the oracle is the CPU
// that runs this test. Each instruction form runs natively twice: with random registers and flags, then with every
// value changed that the decoder says is not read. What it says is overwritten must be equal after both runs, and what
// it says is not touched must keep its value.
#include <Zydis/Zydis.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/x86_64/decode/decode.h"

namespace anyperf::engine::x86_64 {
namespace {

constexpr unsigned kRsp = 4;
constexpr unsigned kRsi = 6;
constexpr unsigned kRdi = 7;
constexpr std::uint64_t kAlwaysSet = 0x202;  // bit 1 and IF, as user mode has them

struct State {
    std::array<std::uint64_t, 16> registers{};
    std::uint64_t flags = 0;
    std::array<std::uint64_t, 2048> memory{};  ///< rsi and rdi point into the middle of it
};

/// One page of code that loads every register and flag, runs one instruction and stores them again. The values follow
/// the page and are addressed relative to rip, so that the code needs no register of its own.
class InstructionRunner {
  public:
    InstructionRunner()
        : page_(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
    ~InstructionRunner() {
        if (usable()) munmap(page_, kBytes);
    }
    InstructionRunner(const InstructionRunner&) = delete;
    InstructionRunner& operator=(const InstructionRunner&) = delete;

    bool usable() const { return page_ != MAP_FAILED; }
    /// The address of the middle of State::memory while the instruction runs.
    std::uint64_t memory_address() const {
        return reinterpret_cast<std::uint64_t>(values()) + offsetof(State, memory) + sizeof State{}.memory / 2;
    }

    /// Writes the code that runs this instruction.
    void load(std::span<const std::uint8_t> instruction) {
        at_ = 0;
        write(instruction);
    }

    /// Runs the instruction. False if it faults: a missing extension, a division by zero, an unmapped address.
    bool run(State& state) {
        std::memcpy(values(), &state, sizeof state);
        if (sigsetjmp(escape_, 0) != 0) return false;  // SA_NODEFER: no mask to restore
        reinterpret_cast<void (*)()>(page_)();
        std::memcpy(&state, values(), sizeof state);
        return true;
    }

    static void on_fault(int) { siglongjmp(escape_, 1); }

  private:
    static constexpr std::size_t kCode = 4096;
    static constexpr std::size_t kBytes = kCode + sizeof(State);

    std::uint8_t* code() const { return static_cast<std::uint8_t*>(page_); }
    std::uint8_t* values() const { return code() + kCode; }

    void put(std::initializer_list<unsigned> bytes) {
        for (const unsigned byte : bytes) code()[at_++] = static_cast<std::uint8_t>(byte);
    }

    /// Appends the displacement of a rip-relative operand that ends the instruction.
    void put_value(std::size_t offset) {
        at_ += 4;
        const auto displacement = static_cast<std::int32_t>(kCode + offset - at_);
        std::memcpy(code() + at_ - 4, &displacement, 4);
    }

    /// A mov between each register but rsp and its value; `opcode` 8b loads, 89 stores.
    void move_registers(unsigned opcode) {
        for (unsigned n = 0; n < 16; ++n) {
            if (n == kRsp) continue;
            put({0x48 | (n >> 3) << 2, opcode, 5 | (n & 7) << 3});
            put_value(std::size_t{8} * n);
        }
    }

    void write(std::span<const std::uint8_t> instruction) {
        put({0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57});  // push rbx, rbp, r12 … r15
        put({0x48, 0x8d, 0x64, 0x24, 0x80});                                // lea rsp, [rsp-128]
        put({0xff, 0x35});                                                  // push [flags]
        put_value(offsetof(State, flags));
        put({0x9d});  // popf
        for (unsigned n = 0; n < 8; ++n) {
            put({0x0f, 0x10, 5 | n << 3});  // movups xmm, [memory]
            put_value(offsetof(State, memory) + sizeof State{}.memory / 2 + std::size_t{16} * n);
            put({0x0f, 0x6f, 5 | n << 3});  // movq mm, [memory]
            put_value(offsetof(State, memory) + sizeof State{}.memory / 2 + std::size_t{8} * n);
        }
        move_registers(0x8b);
        for (const std::uint8_t byte : instruction) put({byte});
        move_registers(0x89);
        put({0x9c, 0x8f, 0x05});  // pushf; pop [flags]
        put_value(offsetof(State, flags));
        put({0xfc, 0xdb, 0xe3});                                                  // cld; fninit
        put({0x48, 0x83, 0xec, 0x80});                                            // sub rsp, -128
        put({0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3});  // pop r15 … r12, rbp, rbx; ret
    }

    static inline sigjmp_buf escape_;
    void* page_;
    std::size_t at_ = 0;
};

class FaultHandlers {
  public:
    FaultHandlers() {
        struct sigaction action{};
        action.sa_handler = InstructionRunner::on_fault;
        action.sa_flags = SA_NODEFER;
        for (std::size_t n = 0; n < kSignals.size(); ++n) sigaction(kSignals[n], &action, &before_[n]);
    }
    ~FaultHandlers() {
        for (std::size_t n = 0; n < kSignals.size(); ++n) sigaction(kSignals[n], &before_[n], nullptr);
    }
    FaultHandlers(const FaultHandlers&) = delete;
    FaultHandlers& operator=(const FaultHandlers&) = delete;

  private:
    static constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    std::array<struct sigaction, kSignals.size()> before_{};
};

/// Categories of instructions that do nothing but compute.
constexpr std::array kComputing{
    ZYDIS_CATEGORY_BINARY,    ZYDIS_CATEGORY_LOGICAL, ZYDIS_CATEGORY_SHIFT,      ZYDIS_CATEGORY_ROTATE,
    ZYDIS_CATEGORY_BITBYTE,   ZYDIS_CATEGORY_BMI1,    ZYDIS_CATEGORY_BMI2,       ZYDIS_CATEGORY_CMOV,
    ZYDIS_CATEGORY_SETCC,     ZYDIS_CATEGORY_CONVERT, ZYDIS_CATEGORY_DATAXFER,   ZYDIS_CATEGORY_FLAGOP,
    ZYDIS_CATEGORY_SEMAPHORE, ZYDIS_CATEGORY_LZCNT,   ZYDIS_CATEGORY_STRINGOP,   ZYDIS_CATEGORY_TBM,
    ZYDIS_CATEGORY_ADOX_ADCX, ZYDIS_CATEGORY_SSE,     ZYDIS_CATEGORY_LOGICAL_FP, ZYDIS_CATEGORY_STTNI,
    ZYDIS_CATEGORY_NOP,       ZYDIS_CATEGORY_WIDENOP, ZYDIS_CATEGORY_AVX,        ZYDIS_CATEGORY_X87_ALU,
    ZYDIS_CATEGORY_FCMOV,     ZYDIS_CATEGORY_KMASK,   ZYDIS_CATEGORY_MISC,
};

/// Instructions of those categories that change more than registers, flags and the memory they name.
constexpr std::array kOtherEffects{
    ZYDIS_MNEMONIC_FLDCW,  ZYDIS_MNEMONIC_FLDENV,    ZYDIS_MNEMONIC_FRSTOR,   ZYDIS_MNEMONIC_LDMXCSR,
    ZYDIS_MNEMONIC_MWAITX, ZYDIS_MNEMONIC_MONITORX,  ZYDIS_MNEMONIC_VLDMXCSR, ZYDIS_MNEMONIC_PTWRITE,
    ZYDIS_MNEMONIC_RDPRU,  ZYDIS_MNEMONIC_SERIALIZE,
};

/// bt, bts, btr, btc of memory with the bit number in a register: may access half a gigabyte around the operand.
bool accesses_bit_string(const ZydisDecodedInstruction& instruction) {
    return instruction.meta.category == ZYDIS_CATEGORY_BITBYTE && instruction.raw.modrm.mod != 3 &&
           instruction.raw.imm[0].size == 0;
}

bool only_computes(const ZydisDecodedInstruction& instruction, std::span<const ZydisDecodedOperand> operands) {
    if (std::ranges::find(kComputing, instruction.meta.category) == kComputing.end()) return false;
    if (std::ranges::find(kOtherEffects, instruction.mnemonic) != kOtherEffects.end()) return false;
    if (accesses_bit_string(instruction)) return false;
    return std::ranges::none_of(operands, [](const ZydisDecodedOperand& operand) {
        return operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
               ZydisRegisterGetClass(operand.reg.value) == ZYDIS_REGCLASS_SEGMENT;
    });
}

class DecoderStatements : public testing::Test {
  protected:
    using Bytes = std::array<std::uint8_t, 15>;

    DecoderStatements() { ZydisDecoderInit(&zydis_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64); }

    void SetUp() override {
        if (!runner_.usable()) GTEST_SKIP() << "this system maps no memory that is writable and executable";
    }

    /// Runs all opcodes that follow the bytes `before`, each with two registers, one register twice, and a memory
    /// operand.
    void run_map(std::initializer_list<unsigned> before, std::initializer_list<unsigned> after_opcode = {}) {
        for (unsigned opcode = 0; opcode < 256; ++opcode)
            for (unsigned reg = 0; reg < 8; ++reg)
                for (const unsigned operand : {0xc1u, 0xc0u | reg, 0x06u}) {  // rcx, reg, [rsi]
                    Bytes bytes;
                    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random_());
                    std::size_t at = 0;
                    for (const unsigned byte : before) bytes[at++] = static_cast<std::uint8_t>(byte);
                    bytes[at++] = static_cast<std::uint8_t>(opcode);
                    bytes[at++] = static_cast<std::uint8_t>(operand | reg << 3);
                    for (const unsigned byte : after_opcode) bytes[at++] = static_cast<std::uint8_t>(byte);
                    run_form(bytes);
                }
    }

    void expect_at_least(std::size_t mnemonics) const {
        EXPECT_EQ(mismatches_, 0) << listing_;
        EXPECT_GE(ran_.size(), mnemonics) << "too few instructions could run to mean anything";
    }

  private:
    void run_form(const Bytes& bytes) {
        Instruction instruction;
        if (decode(bytes.data(), bytes.size(), instruction) != DecodeStatus::ok) return;
        if (instruction.control != Control::none || instruction.touched & 1u << kRsp) return;
        if (instruction.segment != Segment::none) return;  // not the memory that this test prepares
        ZydisDecodedInstruction known;
        std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&zydis_, bytes.data(), bytes.size(), &known, operands.data()))) return;
        if (!only_computes(known, std::span{operands}.first(known.operand_count))) return;
        const std::span<const std::uint8_t> code{bytes.data(), instruction.length};
        if (!forms_tried_
                 .insert(
                     {code.begin(), code.begin() + std::max(instruction.opcode_offset, instruction.modrm_offset) + 1})
                 .second)
            return;
        runner_.load(code);
        for (unsigned repeat = 0; repeat < 6; ++repeat) {
            const std::string mismatch = run_once(instruction);
            if (mismatch == "not run" && repeat > 1) return;
            if (mismatch == "not run") continue;
            ++ran_[known.mnemonic];
            if (!mismatch.empty()) return report(code, known, mismatch);
        }
    }

    void report(std::span<const std::uint8_t> code, const ZydisDecodedInstruction& known, const std::string& mismatch) {
        if (mismatches_++ > 30) return;
        listing_ += "\n" + std::string{ZydisMnemonicGetString(known.mnemonic)};
        for (const std::uint8_t byte : code) {
            char hex[4];
            std::snprintf(hex, sizeof hex, " %02x", byte);
            listing_ += hex;
        }
        listing_ += ": " + mismatch;
    }

    std::uint64_t random_value() {
        switch (random_() % 4) {
            case 0: return random_() % 3;
            case 1: return ~(random_() % 3);
            default: return random_();
        }
    }

    State random_state(const Instruction& instruction) {
        State state;
        for (auto& value : state.registers) value = random_value();
        for (unsigned n = 0; n < 64; ++n) state.memory[state.memory.size() / 2 - 32 + n] = random_value();
        if (instruction.rep) state.registers[1] = random_() % 4;
        state.registers[kRsi] = runner_.memory_address();
        state.registers[kRdi] = runner_.memory_address() + 64;
        state.flags = kAlwaysSet | (random_() & kStatusFlags);
        return state;
    }

    /// The same state with every value changed that the decoder says is not read.
    State changed(State state, const Instruction& instruction) {
        for (unsigned n = 0; n < 16; ++n)
            if (!(instruction.read >> n & 1)) state.registers[n] = random_value();
        state.flags ^= random_() & kStatusFlags & ~unsigned{instruction.flags_read};
        return state;
    }

    std::string run_once(const Instruction& instruction) {
        const State before = random_state(instruction);
        const State before_changed = changed(before, instruction);
        State after = before;
        State after_changed = before_changed;
        if (!runner_.run(after) || !runner_.run(after_changed)) return "not run";
        for (unsigned n = 0; n < 16; ++n) {
            const bool touched = instruction.touched >> n & 1;
            if (!touched && n != kRsp && after.registers[n] != before.registers[n])
                return "changed register " + std::to_string(n) + ", which the decoder says is not touched";
            if (touched && after.registers[n] != after_changed.registers[n])
                return "register " + std::to_string(n) + " depends on a value that the decoder says is not read";
        }
        if ((after.flags ^ after_changed.flags) & instruction.flags_overwritten)
            return "flags " + std::to_string((after.flags ^ after_changed.flags) & instruction.flags_overwritten) +
                   " aren't overwritten";
        if (!instruction.writes_memory && after.memory != before.memory)
            return "wrote memory, which the decoder does not say";
        if (after.memory != after_changed.memory) return "memory depends on a value that the decoder says is not read";
        return {};
    }

    FaultHandlers handlers_;
    InstructionRunner runner_;
    ZydisDecoder zydis_;
    std::mt19937_64 random_{2026};
    std::set<std::vector<std::uint8_t>>
        forms_tried_;  ///< bytes up to the opcode or ModRM; displacements and immediates don't matter
    std::map<ZydisMnemonic, unsigned> ran_;
    unsigned mismatches_ = 0;
    std::string listing_;
};

TEST_F(DecoderStatements, HoldForOneByteOpcodes) {
    run_map({});
    run_map({0x66});
    run_map({0x48});
    run_map({0x4d});
    run_map({0xf3});
    run_map({0xf2});
    expect_at_least(40);
}

TEST_F(DecoderStatements, HoldForMap0f) {
    for (const unsigned prefix : {0x2eu, 0x66u, 0xf3u, 0xf2u, 0x48u}) run_map({prefix, 0x0f});
    run_map({0xf3, 0x48, 0x0f});
    run_map({0x66, 0xf3, 0x0f});
    expect_at_least(60);
}

TEST_F(DecoderStatements, HoldForMaps0f38And0f3a) {
    for (const unsigned map : {0x38u, 0x3au})
        for (const unsigned prefix : {0x2eu, 0x66u, 0xf3u, 0xf2u, 0x48u}) run_map({prefix, 0x0f, map});
    expect_at_least(20);
}

TEST_F(DecoderStatements, HoldForVexForms) {
    for (const unsigned map : {1u, 2u, 3u})
        for (unsigned w_and_p = 0; w_and_p < 16; ++w_and_p)
            for (const unsigned vvvv : {0x78u, 0x68u}) {  // no register, and rdx or vector register 2
                const unsigned p = (w_and_p & 8) << 4 | vvvv | (w_and_p & 7);
                run_map({0xc4, 0xe0 | map, p});
            }
    expect_at_least(0);
}

}  // namespace
}  // namespace anyperf::engine::x86_64
