// read.cpp: reads PMU::EVENT:ATTRIBUTE[=VALUE]… in one pass over the string. request.h lists the steps.
//
// Which refusal a string gets, and which attribute wins where names collide, follows libpfm4 (pfmlib_common.c):
// programs that are built with libpfm.so.4 compare its error codes. Aliases are followed in place. What they expand to
// is recorded at the place of the word that the user typed, so a message never points into a text that is not there.
#include <algorithm>
#include <bit>
#include <optional>

#include "events/catalog/encoding/delimiter_index.h"
#include "events/catalog/encoding/request.h"
#include "events/catalog/text.h"

namespace anyperf::catalog {

namespace {

constexpr int kDeepestAlias = 4;  // limits aliases of aliases; the tables have one level

/// The characters of a word in the string of the user, to point at in messages.
struct Place {
    std::uint16_t at = 0, length = 0;
};

Refusal refuse(ErrorCode code, Place place, const char* reason) {
    return {code, place.at, place.length, reason};
}

/// An attribute as written: NAME or NAME=VALUE.
struct Word {
    std::string_view name;
    std::optional<std::string_view> value;
};

Word split(std::string_view text, std::size_t equals) {
    if (equals == text.size()) return {text, std::nullopt};
    return {text.substr(0, equals), text.substr(equals + 1)};
}

bool is_called(const MaskRow& mask, std::string_view name) {
    return mask.name_length == name.size() && same_name(name_of(mask), name);
}

/// The position of the mask of that name. Compares sixteen one-byte hashes at a time. The last step may read hashes
/// that belong to the next event, or the padding of the image; they are masked out.
std::optional<std::uint16_t> find_mask(const Request& request, std::string_view name) {
    const auto all = masks(*request.event);
    const auto hashes = mask_hashes(*request.event);
    const auto wanted = static_cast<char>(mask_hash(name));
    for (std::size_t first = 0; first < all.size(); first += kPiece) {
        std::uint32_t alike = bits_of(piece_at(hashes.data() + first) == wanted);
        if (all.size() - first < kPiece) alike &= (1U << (all.size() - first)) - 1;
        for (; alike != 0; alike &= alike - 1) {
            const std::size_t index = first + static_cast<std::size_t>(std::countr_zero(alike));
            if (is_called(all[index], name) && model_has(*request.pmu, all[index]))
                return static_cast<std::uint16_t>(index);
        }
    }
    return std::nullopt;
}

std::optional<ModifierRow> find_modifier(Modset set, std::uint32_t possible, std::string_view name) {
    for (const ModifierRow& modifier : modifiers(set))
        if (((possible >> modifier.index) & 1) != 0 && same_name(text(modifier.name), name)) return modifier;
    return std::nullopt;
}

/// A flag's value as libpfm4 writes it: one of the letters y, t, 1 or n, f, 0.
std::optional<std::uint64_t> boolean(std::string_view value) {
    if (value.size() != 1) return std::nullopt;
    if (std::string_view{"yYtT1"}.contains(value[0])) return 1;
    if (std::string_view{"nNfF0"}.contains(value[0])) return 0;
    return std::nullopt;
}

Refusal add(Request& request, Attribute given) {
    if (request.count == Request::kMaxAttributes)
        return {ErrorCode::too_many, given.at, given.length, "an event takes at most 64 attributes"};
    request.given[request.count++] = given;
    return kAccepted;
}

/// Checks the value of a modifier: a number, or for a flag y/t/1, n/f/0 or nothing.
Refusal add_modifier(Request& request, const ModifierRow& modifier, Attribute::Kind kind, const Word& word,
                     Place place) {
    std::optional<std::uint64_t> value;
    if (modifier.integer)
        value = word.value ? number(*word.value) : std::nullopt;
    else
        value = word.value ? boolean(*word.value) : 1;
    if (!value && modifier.integer && !word.value)
        return refuse(ErrorCode::attribute_value, place, "this modifier needs =NUMBER");
    if (!value)
        return refuse(ErrorCode::attribute_value, place,
                      modifier.integer ? "not a number" : "a flag is y, t or 1 (on), or n, f or 0 (off)");
    return add(request, {kind, 0, modifier.index, place.at, place.length, *value});
}

bool is_raw(std::string_view name) {
    return name.size() >= 2 && name[0] == '0' && upper(name[1]) == 'X';
}

/// "0x1f" in place of the names of unit masks, for PMUs that have the flag. It is the mask's bits as the CPU takes
/// them.
Refusal add_raw_mask(Request& request, const Word& word, Place place) {
    if ((request.pmu->flags & pmu_flag::raw_umask) == 0)
        return refuse(ErrorCode::attribute, place, "this PMU takes no raw unit masks");
    if (word.value) return refuse(ErrorCode::attribute_value, place, "a raw unit mask takes no value");
    bool overflow = false;
    const auto value = hexadecimal(word.name.substr(2), overflow);
    if (!value) return refuse(ErrorCode::attribute, place, "a raw unit mask is 0x followed by hexadecimal digits");
    return add(request, {Attribute::Kind::raw_mask, 0, 0, place.at, place.length, *value});
}

Refusal read_attributes(Request& request, std::string_view text, const DelimiterIndex& delimiters, std::size_t from,
                        std::optional<Place> alias, int depth);

/// A unit mask. One that is an alias means the attributes in its text, which are read in its place.
Refusal add_mask(Request& request, std::uint16_t index, const Word& word, Place place, int depth) {
    const MaskRow& mask = masks(*request.event)[index];
    const Text equivalent = rule(mask).equivalent;
    if (equivalent != 0 && depth < kDeepestAlias) {
        if (word.value)
            return refuse(ErrorCode::attribute_value, place, "this unit mask is an alias and takes no value");
        const std::string_view others = text(equivalent);
        return read_attributes(request, others, DelimiterIndex{others}, 0, place, depth + 1);
    }
    if (word.value) return refuse(ErrorCode::attribute, place, "a unit mask takes no value");
    return add(request, {Attribute::Kind::mask, 0, index, place.at, place.length, 1});
}

Refusal read_attribute(Request& request, const Word& word, Place place, int depth) {
    if (word.name.empty()) return refuse(ErrorCode::attribute, place, "an attribute is missing between the separators");
    if (is_raw(word.name)) return add_raw_mask(request, word, place);
    // A name with a value is a modifier before it is a mask: an event may have both under one name.
    const auto mask = find_mask(request, word.name);
    if (mask && !word.value) return add_mask(request, *mask, word, place, depth);
    if (const auto own = find_modifier(request.pmu->modset, request.allowed.pmu, word.name))
        return add_modifier(request, *own, Attribute::Kind::modifier, word, place);
    if (const auto perf = find_modifier(Modset::perf, request.allowed.perf, word.name))
        return add_modifier(request, *perf, Attribute::Kind::perf, word, place);
    if (mask) return add_mask(request, *mask, word, place, depth);
    return refuse(ErrorCode::attribute, place, "this event has no such unit mask or modifier");
}

/// Reads the attributes of `text` from `from` on, which is after a separator. `alias` is the word of the user that
/// has them as its meaning; messages point at it.
Refusal read_attributes(Request& request, std::string_view text, const DelimiterIndex& delimiters, std::size_t from,
                        std::optional<Place> alias, int depth) {
    for (;;) {
        const std::size_t end = delimiters.separator(from);
        const Word word = split(text.substr(from, end - from), delimiters.equals(from, end) - from);
        const Place own{static_cast<std::uint16_t>(from), static_cast<std::uint16_t>(end - from)};
        RETURN_IF_REFUSED(read_attribute(request, word, alias.value_or(own), depth));
        if (end == text.size()) return kAccepted;
        from = end + 1;
    }
}

/// The events of perf_raw are r0 to rfffffffffffffffe.
bool find_raw_event(Request& request, const PmuRow& pmu, std::string_view name) {
    if (!name.starts_with('r')) return false;
    bool overflow = false;
    const auto code = hexadecimal(name.substr(1), overflow);
    if (!code || overflow || *code == ~std::uint64_t{0}) return false;
    request.raw_code = *code;
    request.pmu = &pmu;
    request.event = event_at(request.machine, pmu, 0);
    request.private_index = 0;
    return true;
}

/// Looks for the event in one PMU, and sets pmu, event and private_index of the request.
bool find_in(Request& request, const PmuRow& pmu, std::string_view name, std::uint32_t hash) {
    if (pmu.encoder == Encoder::perf_raw) return find_raw_event(request, pmu, name);
    const Found found = find_event(request.machine, pmu, name, hash);
    if (found.event == nullptr) return false;
    request.pmu = &pmu;
    request.event = found.event;
    request.private_index = found.private_index;
    return true;
}

/// "PMU::EVENT". A PMU that the machine lacks is refused, unless the machine was read with encode_inactive.
Refusal find_prefixed(Request& request, std::string_view prefix, std::string_view name, Place event) {
    const Place place{0, static_cast<std::uint16_t>(prefix.size())};
    const PmuRow* pmu = find_pmu(prefix);
    if (pmu == nullptr || !request.machine.is_enabled(*pmu))
        return refuse(ErrorCode::not_found, place, "no PMU has this name");
    if (!request.machine.is_active(*pmu) && !request.machine.encode_inactive())
        return refuse(ErrorCode::not_found, place, "this machine does not have this PMU");
    if (find_in(request, *pmu, name, name_hash(name))) return kAccepted;
    request.pmu = pmu;  // so that the message can name similar events of it
    return refuse(ErrorCode::not_found, event, "this PMU has no event of this name");
}

/// The first active PMU that has the event, in the order of the catalog. Deprecated PMUs are found by prefix only. The
/// name is hashed once for all PMUs.
Refusal find_unprefixed(Request& request, std::string_view name, Place event) {
    const std::uint32_t hash = name_hash(name);
    for (const std::uint16_t index : request.machine.active_pmus()) {
        const PmuRow& pmu = pmus()[index];
        if ((pmu.flags & pmu_flag::deprecated) == 0 && find_in(request, pmu, name, hash)) return kAccepted;
    }
    return refuse(ErrorCode::not_found, event, "no PMU of this machine has an event of this name");
}

/// The event is an alias: reads the string that it is an alias of, in the same PMU. The attributes of the user come
/// after it.
Refusal follow_alias(Request& request, Place place) {
    const std::string_view target = text(request.event->equivalent);
    const DelimiterIndex delimiters{target};
    const std::size_t end = delimiters.separator(0);
    const std::string_view name = target.substr(0, end);
    if (!find_in(request, *request.pmu, name, name_hash(name)))
        return refuse(ErrorCode::not_found, place, "this name is an alias of an event that this machine does not have");
    request.allowed = allowed_modifiers(request.machine, *request.pmu, *request.event, request.os);
    if (end == target.size()) return kAccepted;
    return read_attributes(request, target, delimiters, end + 1, place, 0);
}

/// Drops attributes that are given twice; refuses them if their values differ. An alias and the user may give the same
/// attribute; then the user's comes later and must agree.
Refusal drop_repeated(Request& request) {
    std::size_t kept = 0;
    std::uint64_t seen = 0;  // a filter: one bit for each kind and index, since attributes rarely repeat
    for (std::size_t i = 0; i < request.count; ++i) {
        const Attribute& next = request.given[i];
        const std::uint64_t mark = std::uint64_t{1} << ((static_cast<unsigned>(next.kind) * 16U + next.index) & 63U);
        const Attribute* begin = request.given.data();
        const Attribute* end = begin + kept;
        const Attribute* same = (seen & mark) == 0 ? end : std::find_if(begin, end, [&](const Attribute& other) {
            return other.kind == next.kind && other.index == next.index;
        });
        if (same != end && same->value != next.value)
            return {ErrorCode::attribute_set, next.at, next.length, "given twice, with different values"};
        if (same == end) request.given[kept++] = next;
        seen |= mark;
    }
    request.count = kept;
    return kAccepted;
}

/// A raw mask replaces all masks of the event, so no other mask may be given. Masks that the alias of an event brought
/// are not given: libpfm checks the typed attributes only, and the raw mask replaces those of the alias.
Refusal check_raw_mask(const Request& request) {
    std::size_t raw = 0;
    std::size_t named = 0;
    for (const Attribute& given : request.attributes()) {
        const bool typed = given.at != request.event_at;
        raw += given.kind == Attribute::Kind::raw_mask;
        named += given.kind == Attribute::Kind::mask && typed;
        if (raw > 1 || (raw > 0 && named > 0))
            return {ErrorCode::attribute, given.at, given.length,
                    "a raw unit mask can't be combined with another mask"};
    }
    return kAccepted;
}

}  // namespace

Refusal read(std::string_view text, Os os, Request& request) {
    request.os = os;
    request.count = 0;
    const DelimiterIndex delimiters{text};
    if (const std::size_t bad = delimiters.forbidden(); bad != text.size())
        return {ErrorCode::invalid, static_cast<std::uint16_t>(bad), 1, "an event name has no blanks and no commas"};
    const std::size_t colons = delimiters.double_colon();
    const bool prefixed = colons != text.size();
    const std::size_t start = prefixed ? colons + 2 : 0;
    const std::size_t end = delimiters.separator(start);
    const std::string_view name = text.substr(start, end - start);
    const Place event{static_cast<std::uint16_t>(start), static_cast<std::uint16_t>(name.size())};
    request.event_at = event.at;
    request.event_length = event.length;
    RETURN_IF_REFUSED(prefixed ? find_prefixed(request, text.substr(0, colons), name, event)
                               : find_unprefixed(request, name, event));
    if (request.event->equivalent != 0)
        RETURN_IF_REFUSED(follow_alias(request, event));
    else
        request.allowed = allowed_modifiers(request.machine, *request.pmu, *request.event, os);
    if (end < text.size()) RETURN_IF_REFUSED(read_attributes(request, text, delimiters, end + 1, std::nullopt, 0));
    RETURN_IF_REFUSED(check_raw_mask(request));
    return drop_repeated(request);
}

}  // namespace anyperf::catalog
