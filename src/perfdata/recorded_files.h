// recorded_files.h: names of functions in the recording itself. Android's simpleperf writes those that samples were in
// (record_file_format.h and record_file.proto in system/extras/simpleperf of the Android sources), because a recording
// is read on another machine than the phone, which does not have the phone's files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "perfdata/cursor.h"

namespace anyperf::perfdata {

/// The names of a file's code that the recording itself has: those that samples were in.
struct RecordedFile {
    enum class Kind : std::uint8_t { kernel, kernel_module, elf, dex, symbol_map, unknown };
    struct Symbol {
        std::uint64_t start = 0, size = 0;
        std::string name;
    };

    std::string path;
    Kind kind = Kind::unknown;
    std::uint64_t address = 0;            ///< the lowest of its code, as symbols have it,
    std::optional<std::uint64_t> offset;  ///< and its offset in the file; unknown in files of old simpleperfs
    std::vector<Symbol> symbols;
};

/// By its number in the file.
RecordedFile::Kind recorded_kind(std::uint64_t number);

/// The sections FILE, and FILE2 with messages of Protocol Buffers. A file that is cut is left out, and the cursor
/// fails.
void read_recorded_files(Cursor& cursor, std::vector<RecordedFile>& files);
void read_recorded_messages(Cursor& cursor, std::vector<RecordedFile>& files);

}  // namespace anyperf::perfdata
