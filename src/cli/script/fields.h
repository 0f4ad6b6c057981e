// fields.h: what `anyperf script` prints of a sample, by perf's names (perf script -F).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/attr.h"
#include "anyperf/error.h"
#include "perfdata/reader.h"

namespace anyperf::cli {

enum class Field : std::uint8_t {
    comm,
    pid,
    tid,
    cpu,
    time,
    period,
    event,
    ip,
    sym,
    symoff,
    dso,
    addr,
    srcline,
    weight,
    brstack,
    phys_addr,
    trace,
    data_src,
    data_page_size,
    code_page_size,
    misc,
    ins_lat,
    uregs,
    iregs,
    brstacksym,
    brstackoff,
    flags,
    tod,
    insn,
    insnlen,
    nothing  ///< what samples of no recording here have
};

struct FieldName {
    std::string_view name;
    Field field;
};
inline constexpr std::array kFieldNames{
    FieldName{"comm", Field::comm},
    FieldName{"pid", Field::pid},
    FieldName{"tid", Field::tid},
    FieldName{"cpu", Field::cpu},
    FieldName{"time", Field::time},
    FieldName{"period", Field::period},
    FieldName{"event", Field::event},
    FieldName{"ip", Field::ip},
    FieldName{"sym", Field::sym},
    FieldName{"symoff", Field::symoff},
    FieldName{"dso", Field::dso},
    FieldName{"addr", Field::addr},
    FieldName{"srcline", Field::srcline},
    FieldName{"weight", Field::weight},
    FieldName{"brstack", Field::brstack},
    FieldName{"phys_addr", Field::phys_addr},
    FieldName{"trace", Field::trace},
    FieldName{"data_src", Field::data_src},
    FieldName{"data_page_size", Field::data_page_size},
    FieldName{"code_page_size", Field::code_page_size},
    FieldName{"misc", Field::misc},
    FieldName{"ins_lat", Field::ins_lat},
    FieldName{"uregs", Field::uregs},
    FieldName{"iregs", Field::iregs},
    FieldName{"brstacksym", Field::brstacksym},
    FieldName{"brstackoff", Field::brstackoff},
    FieldName{"flags", Field::flags},
    FieldName{"tod", Field::tod},
    FieldName{"insn", Field::insn},
    FieldName{"insnlen", Field::insnlen},
    FieldName{"synth", Field::nothing},
    FieldName{"callindent", Field::nothing},
    FieldName{"metric", Field::nothing},
    FieldName{"bpf-output", Field::nothing},
    FieldName{"ipc", Field::nothing},
    FieldName{"machine_pid", Field::nothing},
    FieldName{"vcpu", Field::nothing},
};

/// A set of fields. Their order in the line is fixed.
class Fields {
  public:
    bool has(Field field) const { return (bits_ >> static_cast<unsigned>(field) & 1) != 0; }
    void add(Field field) { bits_ |= 1u << static_cast<unsigned>(field); }
    void remove(Field field) { bits_ &= ~(1u << static_cast<unsigned>(field)); }
    bool empty() const { return bits_ == 0; }
    bool operator==(const Fields&) const = default;

  private:
    unsigned bits_ = 0;
};

/// What -F asks for.
class ChosenFields {
  public:
    /// "comm,ip" are the fields; "+srcline,-dso" are changes of the default ones. "sw:comm,ip" is for events of the
    /// type sw only; hw, trace and raw are the others. "trace:" prints nothing of tracepoints. Error: a name is
    /// unknown, and the known ones are listed; or the first two forms are mixed.
    static Result<ChosenFields> parse(const std::vector<std::string>& texts);

    /// Error: a field that was named is in no sample of the recording.
    Result<void> check(const perfdata::Reader& reader) const;

    /// The fields to print for the samples of an event with this attr.
    Fields of(const abi::Attr& attr) const;

  private:
    struct Choice {
        bool changes = true;  ///< `added` and `removed` change default_fields(); false: `added` are the fields
        Fields added, removed;
    };
    static Result<Choice> choice_of(std::string_view list);
    bool names(Field field) const;

    Choice all_;                               // of types without a choice of their own
    std::map<std::uint32_t, Choice> by_type_;  // by attr.type
};

/// The fields that perf prints without -F: all of its default fields that the event's samples have. Tracepoints have no
/// code address of interest, unless they have a call chain.
Fields default_fields(const abi::Attr& attr);

}  // namespace anyperf::cli
