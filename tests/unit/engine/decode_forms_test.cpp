// decode_forms_test.cpp: every opcode of every map decodes as by Zydis, with every prefix that can distinguish two
// instructions.
#include <array>
#include <random>

#include "unit/engine/decode_sweep.h"

namespace anyperf::engine::x86_64 {
namespace {

using Bytes = std::array<std::uint8_t, 15>;

class Writer {
  public:
    explicit Writer(std::mt19937_64& random) {
        for (auto& byte : bytes_) byte = static_cast<std::uint8_t>(random());
    }
    Writer& put(unsigned byte) {
        bytes_[count_++] = static_cast<std::uint8_t>(byte);
        return *this;
    }
    const Bytes& bytes() const { return bytes_; }

  private:
    Bytes bytes_;
    std::size_t count_ = 0;
};

constexpr std::array kLegacyPrefixes{"",         "\x66", "\xf3", "\xf2", "\x66\xf3",
                                     "\xf2\x66", "\xf0", "\x67", "\x64", "\x3e"};
constexpr std::array kRex{0x00, 0x40, 0x48, 0x45, 0x4f};
constexpr std::array kEscapes{"", "\x0f", "\x0f\x38", "\x0f\x3a"};

TEST(EveryLegacyForm, DecodesAsByZydis) {
    Sweep sweep;
    std::mt19937_64 random{1};
    unsigned n = 0;
    for (const char* prefixes : kLegacyPrefixes)
        for (const int rex : kRex)
            for (const char* escape : kEscapes)
                for (unsigned opcode_and_modrm = 0; opcode_and_modrm < 0x10000; ++opcode_and_modrm) {
                    if (n++ % kThinning != random() % kThinning) continue;
                    Writer writer{random};
                    for (const char* p = prefixes; *p; ++p) writer.put(static_cast<unsigned char>(*p));
                    if (rex) writer.put(static_cast<unsigned>(rex));
                    for (const char* p = escape; *p; ++p) writer.put(static_cast<unsigned char>(*p));
                    sweep.at(writer.put(opcode_and_modrm >> 8).put(opcode_and_modrm).bytes());
                }
    EXPECT_EQ(sweep.faults(), 0) << sweep.shown();
    EXPECT_GT(sweep.decoded(), 3'000'000u / kThinning);
}

/// Each (map, opcode, pp, W, L) with random ModRM, register extensions and vvvv; half of them leave vvvv unused.
void sweep_vex(Sweep& sweep, unsigned first, unsigned lowest_map, unsigned highest_map) {
    std::mt19937_64 random{first};
    for (unsigned map = lowest_map; map <= highest_map; ++map)
        for (unsigned opcode_and_p = 0; opcode_and_p < 0x1000; ++opcode_and_p)
            for (unsigned repeat = 0; repeat < 96; ++repeat) {
                if (random() % kThinning) continue;
                const unsigned p = (opcode_and_p & 8) << 4 | (opcode_and_p & 7);
                const unsigned vvvv = repeat % 2 ? 0x78 : static_cast<unsigned>(random()) & 0x78;
                Writer writer{random};
                writer.put(first).put((static_cast<unsigned>(random()) & 0xe0) | map).put(p | vvvv);
                sweep.at(writer.put(opcode_and_p >> 4).bytes());
            }
}

TEST(EveryVexForm, DecodesAsByZydis) {
    Sweep sweep;
    sweep_vex(sweep, 0xc4, 0, 4);
    EXPECT_EQ(sweep.faults(), 0) << sweep.shown();
    EXPECT_GT(sweep.decoded(), 90'000u / kThinning);
}

TEST(EveryXopForm, DecodesAsByZydis) {
    Sweep sweep;
    sweep_vex(sweep, 0x8f, 8, 11);
    EXPECT_EQ(sweep.faults(), 0) << sweep.shown();
    EXPECT_GT(sweep.decoded(), 5'000u / kThinning);
}

TEST(EveryEvexForm, DecodesAsByZydis) {
    Sweep sweep;
    std::mt19937_64 random{62};
    for (unsigned map = 0; map < 8; ++map)
        for (unsigned opcode_and_p = 0; opcode_and_p < 0x800; ++opcode_and_p)
            for (unsigned repeat = 0; repeat < 512; ++repeat) {
                if (random() % kThinning) continue;
                const unsigned p = (opcode_and_p & 4) << 5 | (opcode_and_p & 3) | 4;
                const bool used = repeat % 2;
                Writer writer{random};
                writer.put(0x62).put((static_cast<unsigned>(random()) & 0xf0) | map);
                writer.put(p | (used ? static_cast<unsigned>(random()) & 0x78 : 0x78));
                writer.put((static_cast<unsigned>(random()) & 0xff) | (used ? 0 : 8)).put(opcode_and_p >> 3);
                sweep.at(writer.bytes());
            }
    EXPECT_EQ(sweep.faults(), 0) << sweep.shown();
    EXPECT_GT(sweep.decoded(), 120'000u / kThinning);
}

TEST(Every3dNowSuffix, DecodesAsByZydis) {
    Sweep sweep;
    std::mt19937_64 random{3};
    for (unsigned suffix = 0; suffix < 256; ++suffix)
        for (const unsigned modrm : {0xc1u, 0x00u})
            sweep.at(Writer{random}.put(0x0f).put(0x0f).put(modrm).put(suffix).bytes());
    EXPECT_EQ(sweep.faults(), 0) << sweep.shown();
    EXPECT_EQ(sweep.decoded(), 48u);
}

TEST(EveryDifferenceFromZydis, OccursAmongTheForms) {
    const auto before = difference_uses();
    std::mt19937_64 random{7};
    for (const char* escape : kEscapes)
        for (const int prefix : {0x90, 0x66, 0x67, 0xf3, 0x41})
            for (unsigned opcode_and_modrm = 0; opcode_and_modrm < 0x10000; ++opcode_and_modrm) {
                Writer writer{random};
                if (prefix == 0x41) writer.put(0xf3);
                if (prefix != 0x90) writer.put(static_cast<unsigned>(prefix));
                for (const char* p = escape; *p; ++p) writer.put(static_cast<unsigned char>(*p));
                compare(writer.put(opcode_and_modrm >> 8).put(opcode_and_modrm).bytes());
            }
    compare(Writer{random}.put(0x67).put(0x45).put(0x8b).put(0x04).put(0x25).bytes());
    for (std::size_t n = 0; n < before.size(); ++n)
        EXPECT_GT(difference_uses()[n], 0u) << differences()[n].what << ": no instruction needs this row";
}

}  // namespace
}  // namespace anyperf::engine::x86_64
