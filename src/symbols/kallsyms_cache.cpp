// kallsyms_cache.cpp: the file is a header, the state as a text, the symbols as they are in memory, and their names. A
// file of another byte order or layout has another size or magic number.
#include "symbols/kallsyms_cache.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <string_view>
#include <vector>

#include "cache_directory.h"
#include "symbols/cache_file.h"

namespace anyperf::symbols {

namespace {

struct Header {
    std::array<char, 8> magic;
    std::uint64_t state_bytes, symbols, text_bytes;
};
constexpr std::array<char, 8> kMagic{'a', 'n', 'y', 'k', 's', 'y', 'm', '3'};

constexpr std::size_t aligned(std::size_t size) {
    return (size + 7) & ~std::size_t{7};
}

}  // namespace

// A line of /proc/modules: name, size, users, their names, state, address. A kernel without modules has no such file.
std::string kernel_state(const std::string& boot_id_path, const std::string& modules_path) {
    std::ifstream boot{boot_id_path}, modules{modules_path};
    std::string state;
    if (!std::getline(boot, state) || state.empty()) return {};
    for (std::string line; std::getline(modules, line);) {
        std::istringstream words{line};
        const std::vector<std::string> row{std::istream_iterator<std::string>{words}, {}};
        if (row.size() < 6) return {};
        state += '\n' + row[0] + ' ' + row[1] + ' ' + row[5];
    }
    return state;
}

std::string kallsyms_cache_path() {
    const std::string directory = cache_directory();
    return directory.empty() ? std::string{} : directory + "/kallsyms";
}

std::optional<SymbolTable> read_kallsyms_cache(const std::string& path, const std::string& state) {
    const auto file = map_cache_file(path);
    if (!file || file->bytes.size() < sizeof(Header)) return {};
    Header header{};
    std::memcpy(&header, file->bytes.data(), sizeof header);
    const std::size_t size = file->bytes.size(), begin = sizeof header + aligned(state.size());
    if (header.magic != kMagic || header.state_bytes != state.size() || header.symbols > size / sizeof(Symbol) ||
        header.text_bytes > size || size != begin + header.symbols * sizeof(Symbol) + header.text_bytes)
        return {};
    const auto* bytes = reinterpret_cast<const char*>(file->bytes.data());
    if (std::string_view{bytes + sizeof header, state.size()} != state) return {};
    const auto* first = reinterpret_cast<const Symbol*>(bytes + begin);
    auto table = SymbolTable::of({first, header.symbols},
                                 {reinterpret_cast<const char*>(first + header.symbols), header.text_bytes},
                                 file->owner, [file = *file] { give_back(file); });
    give_back(*file);
    return table;
}

void write_kallsyms_cache(const std::string& path, const std::string& state, const SymbolTable& table) {
    const Header header{kMagic, state.size(), table.size(), table.texts().size()};
    std::string padded = state;
    padded.resize(aligned(padded.size()));
    write_cache_file(path, {std::as_bytes(std::span{&header, 1}), std::as_bytes(std::span{padded}),
                            std::as_bytes(table.symbols()), std::as_bytes(table.texts())});
}

}  // namespace anyperf::symbols
