#include "profile/valid_text.h"

#include <array>
#include <cstdint>

namespace anyperf::profile {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

/// The bytes of well-formed UTF-8 (The Unicode Standard 15, table 3-7). The ranges of the second byte exclude overlong
/// forms, surrogates and numbers beyond U+10FFFF; all further bytes are 80 to bf.
struct Form {
    std::uint8_t first_low, first_high, second_low, second_high;
    std::size_t length;
};
constexpr std::array kForms{
    Form{0xc2, 0xdf, 0x80, 0xbf, 2}, Form{0xe0, 0xe0, 0xa0, 0xbf, 3}, Form{0xe1, 0xec, 0x80, 0xbf, 3},
    Form{0xed, 0xed, 0x80, 0x9f, 3}, Form{0xee, 0xef, 0x80, 0xbf, 3}, Form{0xf0, 0xf0, 0x90, 0xbf, 4},
    Form{0xf1, 0xf3, 0x80, 0xbf, 4}, Form{0xf4, 0xf4, 0x80, 0x8f, 4},
};

/// How many bytes at the start of a text belong together, and whether they are a character that may stay.
struct Piece {
    std::size_t length = 1;
    bool valid = false;
};

bool is_between(char byte, std::uint8_t low, std::uint8_t high) {
    const auto value = static_cast<std::uint8_t>(byte);
    return value >= low && value <= high;
}

Piece first_piece(std::string_view text) {
    const auto first = static_cast<std::uint8_t>(text.front());
    if (first < 0x80) {
        const bool is_control = (first < 0x20 && first != '\t' && first != '\n' && first != '\r') || first == 0x7f;
        return {1, !is_control};
    }
    for (const Form& form : kForms) {
        if (first < form.first_low || first > form.first_high) continue;
        std::size_t length = 1;
        while (length < form.length && length < text.size() &&
               is_between(text[length], length == 1 ? form.second_low : std::uint8_t{0x80},
                          length == 1 ? form.second_high : std::uint8_t{0xbf}))
            ++length;
        return {length, length == form.length};
    }
    return {1, false};
}

bool is_valid(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const Piece piece = first_piece(text.substr(at));
        if (!piece.valid) return false;
        at += piece.length;
    }
    return true;
}

}  // namespace

std::string valid_text(std::string_view text) {
    std::string valid;
    for (std::size_t at = 0; at < text.size();) {
        const Piece piece = first_piece(text.substr(at));
        valid += piece.valid ? text.substr(at, piece.length) : kReplacement;
        at += piece.length;
    }
    return valid;
}

void make_texts_valid(Profile& profile) {
    for (std::uint32_t id = 0; id < profile.strings.size(); ++id)
        if (!is_valid(profile.strings[{id}])) profile.strings.replace({id}, valid_text(profile.strings[{id}]));
    for (std::uint32_t id = 0; id < profile.events.size(); ++id) {
        profile.events[{id}].name = valid_text(profile.events[{id}].name);
        profile.events[{id}].unit = valid_text(profile.events[{id}].unit);
    }
    Recording& recording = profile.recording;
    for (std::string* text : {&recording.path, &recording.host, &recording.release, &recording.version, &recording.arch,
                              &recording.cpu, &recording.cpu_id, &recording.command_line})
        *text = valid_text(*text);
}

}  // namespace anyperf::profile
