#include "engine/streams/generator.h"

#include <Zydis/Zydis.h>

#include <array>
#include <cstring>

#include "engine/streams/blob.h"
#include "engine/streams/instructions.h"

namespace anyperf::engine_test {

namespace {

class Builder {
  public:
    explicit Builder(std::uint64_t seed) : random_(seed) { stream_.seed = random_() | 1; }

    Stream build(unsigned instructions) {
        while (stream_.boundaries.size() < instructions) add_piece();
        return std::move(stream_);
    }

  private:
    using Label = std::size_t;  ///< offset of a 32-bit displacement that is still to be filled in

    void add_piece() {
        switch (random_() % 24) {
            case 0: return add_conditional_skip();
            case 1: return add_jump_over_garbage();
            case 2: return add_call(random_() % 2);
            case 3: return add_jump_through_register();
            case 4: return add_return_to_pushed();
            case 5: return add_loop();
            case 6: return add_use_of_flags();
            default: return add_random();
        }
    }

    void add(const Bytes& bytes) {
        stream_.boundaries.push_back(here());
        stream_.code.insert(stream_.code.end(), bytes.begin(), bytes.end());
    }

    void add_random() { add(random_instruction(random_, kCodeAt + here())); }

    void add_some(unsigned most) {
        for (std::uint64_t n = random_() % most + 1; n > 0; --n) add_random();
    }

    [[nodiscard]] std::uint32_t here() const { return static_cast<std::uint32_t>(stream_.code.size()); }

    /// Adds an instruction that ends with a forward displacement, to be resolved by bind().
    Label forward(Bytes bytes) {
        bytes.insert(bytes.end(), 4, 0);
        add(bytes);
        return here() - 4;
    }

    void bind(Label label) {
        const std::uint32_t distance = here() - static_cast<std::uint32_t>(label) - 4;
        std::memcpy(&stream_.code[label], &distance, 4);
    }

    std::uint8_t condition() { return static_cast<std::uint8_t>(random_() % 16); }

    void add_conditional_skip() {
        const Label end = forward({0x0f, static_cast<std::uint8_t>(0x80 | condition())});
        add_some(3);
        bind(end);
    }

    void add_jump_over_garbage() {
        const Label end = forward({0xe9});
        for (std::uint64_t n = random_() % 9; n > 0; --n) stream_.code.push_back(static_cast<std::uint8_t>(random_()));
        bind(end);
    }

    /// A call, direct or through r15, of a function that adds with carry.
    void add_call(bool indirect) {
        Label function = 0;
        if (indirect) {
            function = forward({0x4c, 0x8d, 0x3d});  // lea r15, [rip + …]
            add({0x41, 0xff, 0xd7});
        } else {
            function = forward({0xe8});
        }
        const Label end = forward({0xe9});
        bind(function);
        add({0x48, 0x11, 0xd8});                                     // adc rax, rbx
        add({0x0f, 0x92, 0xc1});                                     // setc cl
        add({static_cast<std::uint8_t>(0x70 | condition()), 0x03});  // jcc over the next 3 bytes
        add({0x48, 0x8d, 0x36});                                     // lea rsi, [rsi]
        add({0xc3});
        bind(end);
    }

    void add_jump_through_register() {
        const Label target = forward({0x4c, 0x8d, 0x3d});
        add({0x41, 0xff, 0xe7});  // jmp r15
        bind(target);
    }

    void add_return_to_pushed() {
        const Label target = forward({0x4c, 0x8d, 0x3d});
        add({0x41, 0x57});  // push r15
        add({0xc3});
        bind(target);
    }

    void add_loop() {
        add({0x41, 0xbd, static_cast<std::uint8_t>(2 + random_() % 4), 0, 0, 0});  // mov r13d, n
        const std::uint32_t top = here();
        add_some(4);
        add({0x41, 0xff, 0xcd});  // dec r13d
        add({0x0f, 0x85, 0, 0, 0, 0});
        const std::uint32_t distance = top - here();
        std::memcpy(&stream_.code[here() - 4], &distance, 4);
    }

    void add_use_of_flags() {
        constexpr std::array<std::array<std::uint8_t, 3>, 6> kUses{{{0x0f, 0x90, 0xc0},    // seto al
                                                                    {0x4d, 0x11, 0xc1},    // adc r9, r8
                                                                    {0x0f, 0x9a, 0xc2},    // setp dl
                                                                    {0x90, 0x9f, 0x90},    // lahf
                                                                    {0x48, 0xd1, 0xd3},    // rcl rbx, 1
                                                                    {0x9c, 0x41, 0x5a}}};  // pushf; pop r10
        const auto& use = kUses[random_() % kUses.size()];
        add({use.begin(), use.end()});
    }

    Random random_;
    Stream stream_;
};

bool changes_flags(const Stream& stream, std::uint32_t at) {
    constexpr std::uint32_t kStatus = 0x8d5;
    ZydisDisassembledInstruction instruction;
    if (!ZYAN_SUCCESS(ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, kCodeAt + at, &stream.code[at],
                                            stream.code.size() - at, &instruction)))
        return false;
    const ZydisAccessedFlags* const flags = instruction.info.cpu_flags;
    return flags != nullptr && ((flags->modified | flags->set_0 | flags->set_1 | flags->undefined) & kStatus) != 0;
}

template <class T>
void append(std::string& out, const T& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

Stream generate(std::uint64_t seed, unsigned instructions) {
    return Builder(seed).build(instructions);
}

std::string blob_of(const std::vector<Stream>& streams) {
    std::string out;
    append(out, BlobHeader{kBlobMagic, static_cast<std::uint32_t>(streams.size())});
    for (const Stream& stream : streams) {
        auto boundaries = stream.boundaries;
        if (boundaries.size() % 2)
            boundaries.push_back(static_cast<std::uint32_t>(stream.code.size()));  // keeps headers aligned
        append(out, StreamHeader{stream.seed, static_cast<std::uint32_t>(stream.code.size()),
                                 static_cast<std::uint32_t>(boundaries.size())});
        for (const std::uint32_t boundary : boundaries)
            append(out, boundary < stream.code.size() && changes_flags(stream, boundary) ? boundary | kChangesFlags
                                                                                         : boundary);
        out.append(stream.code.begin(), stream.code.end());
        out.resize((out.size() + 7) / 8 * 8);
    }
    return out;
}

std::string listing(const Stream& stream) {
    std::string out;
    for (std::size_t i = 0; i < stream.boundaries.size(); ++i) {
        const std::uint32_t at = stream.boundaries[i];
        ZydisDisassembledInstruction instruction;
        const bool known = ZYAN_SUCCESS(ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, kCodeAt + at,
                                                              &stream.code[at], stream.code.size() - at, &instruction));
        out += std::to_string(i) + ": " + (known ? instruction.text : "?") + "\n";
    }
    return out;
}

}  // namespace anyperf::engine_test
