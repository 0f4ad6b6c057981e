// pmu_details.h: the files of one PMU: the named fields of its config words (format/), the events that the kernel names
// (events/) and its properties (caps/). Callers get them from Pmu::details().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"
#include "host/root.h"

namespace anyperf::host {

/// Bits of a config word, both ends included, as in "config:0-7".
struct BitRange {
    unsigned first = 0;
    unsigned last = 0;
    unsigned width() const { return last - first + 1; }
    bool operator==(const BitRange&) const = default;
};

/// A file of format/: the bits of one config word that a named field occupies. "config:0-7,32-35" is a field of 12
/// bits; its low 8 bits are bits 0-7 of config, the other 4 are bits 32-35.
struct Format {
    std::string name;
    unsigned word = 0;           ///< 0 config, 1 config1, … 4 config4
    std::vector<BitRange> bits;  ///< lowest part of the field first

    /// Bits of the field.
    unsigned width() const;
    /// All bits of the word that belong to the field, set.
    std::uint64_t mask() const;
    /// `value` moved to the field's bits. Bits beyond width() are dropped.
    std::uint64_t spread(std::uint64_t value) const;

    bool operator==(const Format&) const = default;
};

/// An event that the kernel names: a file of events/, with its side files .scale, .unit, .per-pkg and .snapshot.
struct Alias {
    std::string name;
    std::string terms;         ///< "event=0x3c,umask=0x1"; the user must give a value in place of "?"
    std::string unit;          ///< of the scaled count: "Joules"; empty: a plain count
    double scale = 1;          ///< count × scale is in `unit`
    bool per_package = false;  ///< all CPUs of a package show the same count: don't add them up
    bool snapshot = false;     ///< the value is a state, not a count: an interval shows the value itself
    bool operator==(const Alias&) const = default;
};

/// A file of caps/: a property of the PMU, such as max_precise.
struct PmuCapability {
    std::string name;
    std::string value;
    bool operator==(const PmuCapability&) const = default;
};

/// The files of one PMU.
struct PmuDetails {
    std::vector<Format> formats;      ///< sorted by name
    std::vector<Alias> aliases;       ///< sorted by name
    std::vector<PmuCapability> caps;  ///< sorted by name
    std::vector<Error> faults;        ///< files that could not be read or parsed; the rest is usable
};

/// Parses the text of a file of format/, "config1:0-7,32-35". Error: not in that syntax.
Result<Format> parse_format(std::string_view name, std::string_view text);

/// format/, events/ and caps/ of the PMU in `directory` ("/sys/bus/event_source/devices/cpu"). Folders that don't exist
/// give empty lists; files that can't be read or parsed are `faults`.
PmuDetails read_details(const Root& root, const std::string& directory);

}  // namespace anyperf::host
