// build_id_note.h: finds the build id in a sequence of ELF notes: a section of type SHT_NOTE, or /sys/kernel/notes.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace anyperf::symbols {

/// The value of the note NT_GNU_BUILD_ID, hexadecimal; empty if `notes` has none or is damaged before it.
std::string build_id_in_notes(std::span<const std::byte> notes, bool little_endian);

}  // namespace anyperf::symbols
