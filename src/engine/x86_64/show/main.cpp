// main.cpp: `engine-code [LOG [ADDRESS]]` shows a log of ANYPERF_ENGINE_LOG=code, from a file or standard input, as
// instructions: the program's on the left, their translation on the right. With an address it shows only the blocks
// that contain it. A tool for developers of the engine (docs/engine.md).
#include <Zydis/Zydis.h>

#include <charconv>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace {

/// Bytes of code and their address.
struct Code {
    std::uint64_t address = 0;
    std::vector<std::uint8_t> bytes;
};

/// A line of the log: PID TID code ADDRESS BYTES | ADDRESS BYTES.
struct Entry {
    Code original;
    Code translated;
};

/// A hexadecimal number, with or without 0x.
std::optional<std::uint64_t> number(std::string text) {
    if (text.starts_with("0x")) text.erase(0, 2);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// Reads ADDRESS BYTES up to a "|" or the end of the line.
std::optional<Code> read_code(std::istream& words) {
    Code code;
    std::string word;
    if (!(words >> word)) return std::nullopt;
    const auto address = number(word);
    if (!address) return std::nullopt;
    code.address = *address;
    while (words >> word && word != "|") {
        const auto byte = number(word);
        if (!byte) return std::nullopt;
        code.bytes.push_back(static_cast<std::uint8_t>(*byte));
    }
    return code;
}

/// A line for each instruction; a "?" ends the list at bytes that are not valid.
std::vector<std::string> disassemble(const Code& code) {
    std::vector<std::string> out;
    for (std::size_t done = 0; done < code.bytes.size();) {
        ZydisDisassembledInstruction instruction;
        const std::uint64_t address = code.address + done;
        std::ostringstream line;
        line << "0x" << std::hex << address << "  ";
        if (ZYAN_FAILED(ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, address, code.bytes.data() + done,
                                              code.bytes.size() - done, &instruction))) {
            out.push_back(line.str() + "?");
            break;
        }
        out.push_back(line.str() + static_cast<const char*>(instruction.text));
        done += instruction.info.length;
    }
    return out;
}

void print(const Entry& entry) {
    constexpr int kLeft = 58;
    const auto left = disassemble(entry.original);
    const auto right = disassemble(entry.translated);
    for (std::size_t i = 0; i < left.size() || i < right.size(); ++i)
        std::printf("  %-*s | %s\n", kLeft, i < left.size() ? left[i].c_str() : "",
                    i < right.size() ? right[i].c_str() : "");
}

/// A block of the log: its `block` line, and the `code` lines that follow it.
struct Block {
    std::string head;
    std::vector<Entry> entries;

    bool holds(std::uint64_t address) const {
        for (const Entry& entry : entries)
            if (address - entry.original.address < entry.original.bytes.size()) return true;
        return false;
    }
    void show(std::optional<std::uint64_t> address) const {
        if (entries.empty() || (address && !holds(*address))) return;
        std::puts(head.c_str());
        for (const Entry& entry : entries) print(entry);
    }
};

void show_log(std::istream& log, std::optional<std::uint64_t> address) {
    Block block;
    for (std::string line; std::getline(log, line);) {
        std::istringstream words(line);
        std::string pid, tid, kind;
        words >> pid >> tid >> kind;
        if (kind == "block") {
            block.show(address);
            block = {line, {}};
        }
        if (kind != "code") continue;
        const auto original = read_code(words);
        const auto translated = read_code(words);
        if (original && translated) block.entries.push_back({*original, *translated});
    }
    block.show(address);
}

}  // namespace

int main(int argc, char** argv) {
    const auto address = argc > 2 ? number(argv[2]) : std::nullopt;
    if (argc > 3 || (argc > 2 && !address)) {
        std::fputs("usage: engine-code [LOG [ADDRESS]]: shows a log written by ANYPERF_ENGINE_LOG=code:LOG\n", stderr);
        return 2;
    }
    if (argc == 1) {
        show_log(std::cin, address);
        return 0;
    }
    std::ifstream log{argv[1]};
    if (!log) {
        std::fprintf(stderr, "engine-code: cannot read %s\n", argv[1]);
        return 1;
    }
    show_log(log, address);
    return 0;
}
