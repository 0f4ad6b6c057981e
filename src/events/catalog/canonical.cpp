// canonical.cpp: see canonical.h.
#include "events/catalog/canonical.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

namespace anyperf::catalog {

namespace {

class Writer {
  public:
    explicit Writer(std::span<char> out) : out_(out) {}

    void put(std::string_view piece) {
        if (piece.size() > out_.size() - length_) {
            full_ = true;
            return;
        }
        std::copy_n(piece.data(), piece.size(), out_.data() + length_);
        length_ += piece.size();
    }
    void put(char letter) {
        if (length_ == out_.size())
            full_ = true;
        else
            out_[length_++] = letter;
    }
    void put(std::uint64_t value, int base) {
        if (value < 10) return put(static_cast<char>('0' + value));  // nearly always
        char digits[24];
        const auto end = std::to_chars(std::begin(digits), std::end(digits), value, base).ptr;
        put({digits, static_cast<std::size_t>(end - digits)});
    }
    void setting(const ModifierRow& modifier, std::uint64_t value) {
        // One copy of a fixed size: the pool has bytes behind every text, and longer names don't exist.
        constexpr std::size_t kLongest = 16;
        if (modifier.setting_length <= kLongest && out_.size() - length_ > kLongest) {
            std::memcpy(out_.data() + length_, c_text(modifier.setting), kLongest);
            length_ += modifier.setting_length;
        } else {
            put(text(modifier.setting));
        }
        put(value, 10);
    }
    std::size_t length() const { return full_ ? 0 : length_; }

  private:
    std::span<char> out_;
    std::size_t length_ = 0;
    bool full_ = false;
};

void put_masks(const Request& request, Codes& codes, Writer& writer) {
    const std::span used{codes.masks.data(), codes.mask_count};
    std::ranges::sort(used);
    const auto all = masks(*request.event);
    for (const std::uint16_t index : used) {
        writer.put(':');
        writer.put({c_text(all[index].name), all[index].name_length});
    }
    if (!codes.raw_mask) return;
    writer.put(":0x");
    writer.put(*codes.raw_mask, 16);
}

/// P4's are printed in an order of their own, and all of them in every layer.
void put_p4_modifiers(const Codes& codes, Writer& writer) {
    const auto names = modifiers(Modset::netburst);
    for (const P4Mod modifier : {P4Mod::k, P4Mod::u, P4Mod::e, P4Mod::cmpl, P4Mod::thr}) {
        const auto index = static_cast<std::size_t>(modifier);
        writer.setting(names[index], codes.values[index]);
    }
}

void put_modifiers(const Request& request, const Codes& codes, Writer& writer) {
    if (request.pmu->modset == Modset::netburst) return put_p4_modifiers(codes, writer);
    for (const ModifierRow& modifier : modifiers(request.pmu->modset)) {
        if (((codes.shown >> modifier.index) & 1) == 0 || ((request.possible.pmu >> modifier.index) & 1) == 0) continue;
        if (request.pmu->modset != Modset::snbep_unc || modifier.index != static_cast<unsigned>(BoxMod::addr)) {
            writer.setting(modifier, codes.values[modifier.index]);
            continue;
        }
        writer.put(":addr=0x");
        writer.put(codes.values[modifier.index], 16);
    }
}

/// By PerfMod: what is printed, and whether.
struct PerfValues {
    std::array<std::uint64_t, 12> values;
    std::uint32_t shown = 0;

    void show(PerfMod modifier, std::uint64_t value) {
        values[static_cast<std::size_t>(modifier)] = value;
        shown |= bit(modifier);
    }
};

/// cpu and pinned are not printed, period and freq only where there is one.
PerfValues perf_values(const PerfFields& perf, const abi::Attr& attr) {
    PerfValues all;
    all.show(PerfMod::u, (perf.levels & kPlmUser) != 0);
    all.show(PerfMod::k, (perf.levels & kPlmKernel) != 0);
    all.show(PerfMod::h, (perf.levels & kPlmHypervisor) != 0);
    all.show(PerfMod::precise, (attr.flags >> 15) & 3);
    all.show(PerfMod::hw_smpl, (attr.flags >> 15) & 3);
    all.show(PerfMod::excl, (attr.flags >> 3) & 1);
    all.show(PerfMod::mg, (perf.guest_levels & kPlmUser) != 0);
    all.show(PerfMod::mh, (perf.guest_levels & kPlmKernel) != 0);
    if (attr.sample_period == 0) return all;
    all.show(PerfMod::period, attr.sample_period);
    all.show(PerfMod::freq, attr.sample_period);
    return all;
}

void put_perf(const Request& request, const PerfFields& perf, const abi::Attr& attr, Writer& writer) {
    const PerfValues all = perf_values(perf, attr);
    const std::uint32_t wanted = all.shown & request.possible.perf;
    for (const ModifierRow& modifier : modifiers(Modset::perf))
        if (((wanted >> modifier.index) & 1) != 0) writer.setting(modifier, all.values[modifier.index]);
}

}  // namespace

std::size_t write_canonical(const Request& request, Codes& codes, const PerfFields& perf, const abi::Attr* attr,
                            std::span<char> out) {
    Writer writer{out};
    writer.put({c_text(request.pmu->name), request.pmu->name_length});
    writer.put("::");
    if (request.pmu->encoder == Encoder::perf_raw) {
        writer.put("r");
        writer.put(request.raw_code, 16);
    } else {
        writer.put(name_of(*request.event));
    }
    put_masks(request, codes, writer);
    if (!codes.bare) {
        put_modifiers(request, codes, writer);
        if (attr != nullptr) put_perf(request, perf, *attr, writer);
    }
    return writer.length();
}

}  // namespace anyperf::catalog
