// canonical.cpp: the order of the canonical string is libpfm's, because programs compare such strings: the prefix and
// the event, the masks as in the table, the PMU's modifiers by index, then those of perf by index.
//
// Encoding a string takes some hundred nanoseconds, of which this is a large part. Hence the copies of a fixed size,
// which need no loop over letters: they may read a few bytes past a name, where the string pool goes on, and write a
// few past the end, where the next piece follows. Writer checks the room for all of it.
#include "events/catalog/encoding/canonical.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <string_view>

namespace anyperf::catalog {

namespace {

constexpr std::size_t kSettingNameBytes = 16;  // ":fe_thres="; tools/catalog/pack.py refuses longer ones
constexpr std::size_t kMaxSettingBytes = kSettingNameBytes + 20;  // digits of 2^64-1

/// Writes ":name=value" at `at` and returns its end. It copies the name with one copy of a fixed size, which may read
/// past the name: the string pool continues there.
char* put_setting(char* at, const char* pool, const ModifierRow& modifier, std::uint64_t value) {
    std::memcpy(at, pool + modifier.setting, kSettingNameBytes);
    at += modifier.setting_length;
    if (value >= 10) return std::to_chars(at, at + (kMaxSettingBytes - kSettingNameBytes), value).ptr;
    *at = static_cast<char>('0' + value);
    return at + 1;
}

/// Appends to a buffer. If something did not fit, length() is 0.
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
    /// Writes the name of a row, in copies of a fixed size. A copy may read past the name, where other names or padding
    /// are, and may write past it, where the next piece will be.
    void put_name(std::string_view name) {
        constexpr std::size_t kStep = 16;
        if (name.size() + kStep > out_.size() - length_) return put(name);
        char* const to = out_.data() + length_;
        for (std::size_t at = 0; at < name.size(); at += kStep) std::memcpy(to + at, name.data() + at, kStep);
        length_ += name.size();
    }
    void put(char letter) {
        if (length_ == out_.size())
            full_ = true;
        else
            out_[length_++] = letter;
    }
    void put(std::uint64_t value, int base) {
        if (value < 10) return put(static_cast<char>('0' + value));
        char digits[24];
        const auto end = std::to_chars(std::begin(digits), std::end(digits), value, base).ptr;
        put({digits, static_cast<std::size_t>(end - digits)});
    }
    /// Where `count` settings can be written; nullptr if they do not fit.
    char* room_for_settings(std::size_t count) {
        full_ = full_ || count * kMaxSettingBytes > out_.size() - length_;
        return full_ ? nullptr : out_.data() + length_;
    }
    /// After writing to room_for_settings(): the end of what was written.
    void written_to(const char* end) { length_ = static_cast<std::size_t>(end - out_.data()); }
    std::size_t length() const { return full_ ? 0 : length_; }

  private:
    std::span<char> out_;
    std::size_t length_ = 0;
    bool full_ = false;
};

void put_masks(const Request& request, Codes& codes, Writer& writer) {
    const std::span used{codes.masks.data(), codes.mask_count};
    if (used.size() > 1) std::ranges::sort(used);
    const auto all = masks(*request.event);
    for (const std::uint16_t index : used) {
        writer.put(':');
        writer.put_name(name_of(all[index]));
    }
    if (!codes.raw_mask) return;
    writer.put(":0x");
    writer.put(request.short_raw_masks ? *codes.raw_mask & 0xffffffff : *codes.raw_mask, 16);
}

/// The modifiers of P4 are printed in an order of their own, all of them in every layer.
void put_p4_modifiers(const Codes& codes, Writer& writer) {
    const auto names = modifiers(Modset::netburst);
    constexpr std::array kOrder{P4Mod::k, P4Mod::u, P4Mod::e, P4Mod::cmpl, P4Mod::thr};
    char* at = writer.room_for_settings(kOrder.size());
    if (at == nullptr) return;
    for (const P4Mod modifier : kOrder) {
        const auto index = static_cast<std::size_t>(modifier);
        at = put_setting(at, c_text(0), names[index], codes.values[index]);
    }
    writer.written_to(at);
}

/// The modifiers `which` of a set, in index order. Most modifiers of a set do not belong to an event, so the loop goes
/// over set bits.
void put_settings(Modset set, std::uint32_t which, const std::uint64_t* values, Writer& writer) {
    const auto all = modifiers(set);
    char* at = writer.room_for_settings(all.size());
    if (at == nullptr) return;
    const char* const pool = c_text(0);
    for (; which != 0; which &= which - 1) {
        const auto index = static_cast<std::size_t>(std::countr_zero(which));
        at = put_setting(at, pool, all[index], values[index]);
    }
    writer.written_to(at);
}

void put_modifiers(const Request& request, const Codes& codes, Writer& writer) {
    const Modset set = request.pmu->modset;
    if (set == Modset::netburst) return put_p4_modifiers(codes, writer);
    const std::uint32_t wanted = codes.shown & request.allowed.pmu;
    // `addr` is printed in hexadecimal, at its place in index order.
    const std::uint32_t address = set == Modset::snbep_unc ? wanted & bit(BoxMod::addr) : 0;
    put_settings(set, wanted & (address - 1) & ~address, codes.values.data(), writer);  // all, or those before `addr`
    if (address == 0) return;
    writer.put(":addr=0x");
    writer.put(codes.values[static_cast<std::size_t>(BoxMod::addr)], 16);
    put_settings(set, wanted & ~(address | (address - 1)), codes.values.data(), writer);
}

/// By PerfMod: the value to print, and a bit for each that is printed.
struct PerfValues {
    std::array<std::uint64_t, 12> values;
    std::uint32_t shown = 0;

    void show(PerfMod modifier, std::uint64_t value) {
        values[static_cast<std::size_t>(modifier)] = value;
        shown |= bit(modifier);
    }
};

/// libpfm never prints cpu and pinned, and prints period and freq only if one is set. Bits of attr.flags: precise_ip is
/// 15-16, exclusive is 3.
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
    put_settings(Modset::perf, all.shown & request.allowed.perf, all.values.data(), writer);
}

}  // namespace

// The masks are those that were used, defaults included: this makes the string independent of the defaults of a
// version.
std::size_t write_canonical(const Request& request, Codes& codes, const PerfFields& perf, const abi::Attr* attr,
                            std::span<char> out) {
    Writer writer{out};
    writer.put_name({c_text(request.pmu->name), request.pmu->name_length});
    writer.put("::");
    if (request.pmu->encoder == Encoder::perf_raw) {
        writer.put("r");
        writer.put(request.raw_code, 16);
    } else {
        writer.put_name(name_of(*request.event));
    }
    put_masks(request, codes, writer);
    if (!codes.takes_no_modifiers) {
        put_modifiers(request, codes, writer);
        if (attr != nullptr) put_perf(request, perf, *attr, writer);
    }
    return writer.length();
}

}  // namespace anyperf::catalog
