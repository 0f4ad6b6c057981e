// fuzz_machine_file.cpp: any bytes as the file of a machine give an error or a machine that a core can be made of,
// never a crash. The text of an accepted machine gives the same machine again.
#include <cstdlib>
#include <string_view>
#include <vector>

#include "models/branches/branch_unit.h"
#include "models/caches/core.h"
#include "models/machines/machine_file.h"

namespace {

using namespace anyperf::models;

constexpr std::size_t kMostWords = std::size_t{1} << 24;  // larger machines are valid, but slow to make again and again

void require(bool holds) {
    if (!holds) std::abort();
}

void use(const Machine& machine) {
    const std::size_t core_words = Core::words(machine);
    const std::size_t shared_words = SharedLevel::words(machine);
    const std::size_t branch_words = Branches::words(machine.branches);
    if (core_words + shared_words + branch_words > kMostWords) return;
    std::vector<std::uint64_t> core_memory(core_words);
    std::vector<std::uint64_t> shared_memory(shared_words);
    std::vector<std::uint64_t> branch_memory(branch_words);
    Counts counts;
    SharedLevel shared(machine, shared_memory.data());
    Core core(machine, shared, counts, core_memory.data());
    Branches branches(machine.branches, counts, branch_memory.data());
    require(shared.join(core));
    for (std::uint64_t i = 0; i < 256; ++i) {
        core.fetch(0x400000 + i * 5, 5);
        core.access(0x400000 + i * 5, i * 0x1f3f, 8, static_cast<Access>(i % 3));
        branches.conditional(0x400000 + i % 7, 0x500000, i % 3 == 0);
        branches.indirect_call(0x400000, 0x500000 + i % 5, 0x400005);
        branches.ret(0x400005 + i % 2);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const auto machine = parse_machine({reinterpret_cast<const char*>(data), size}, "machine.json");
    if (!machine) {
        require(!machine.error().what.empty() && !machine.error().cause.empty());
        require(machine.error().what.find('\x1b') == std::string::npos);
        require(machine.error().cause.find('\x1b') == std::string::npos);
        return 0;
    }
    const auto again = parse_machine(machine_text(*machine), "machine.json");
    require(again.has_value() && *again == *machine);
    use(*machine);
    return 0;
}
