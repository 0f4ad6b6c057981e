// debug_info.cpp: from DWARF to arrays that a lookup can search.
//
// libdw can answer "which functions are active at this address" itself (dwarf_getscopes()), but it walks the tree of
// the unit for each question, and a profile asks for every different address. So the tree of a unit is walked once,
// when the first address in it is looked up. Three arrays are left: ranges of functions sorted by address, functions,
// and the calls inlined into each. A lookup is then a binary search for the unit, another for the function, and a pass
// over the function's own inlined calls.
//
// What a tree looks like: below the unit are functions (DW_TAG_subprogram), directly or within namespaces and classes.
// An entry with an address range has code; one without is a declaration, or the abstract description of a function that
// was inlined. Below a function with code are blocks, and below these the inlined calls (DW_TAG_inlined_subroutine),
// nested as the calls were. Each refers to the abstract function, where its name and its declaration are:
// dwarf_attr_integrate() follows that reference.
//
// All texts are views into the memory of libdw, which lives as long as the DebugInfo.
#include "symbols/debug_info.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>

namespace anyperf::symbols {

namespace {

constexpr unsigned kDeepest = 200;  // of nested blocks: no compiler nests deeper, and each level uses stack

struct Range {
    std::uint64_t begin = 0, end = 0;
    bool contains(std::uint64_t address) const { return address >= begin && address < end; }
};

/// One range of an inlined call. A call with several ranges has as many entries.
struct InlinedCall {
    Range range;
    unsigned depth = 0;  // 1: inlined into the function itself
    std::string_view name;
    SourceLine call, declared;
};

/// A function with code. Its inlined calls are `count` entries from `first` on.
struct CodeFunction {
    std::string_view name;
    SourceLine declared;
    std::size_t first = 0, count = 0;
};

/// A range of a function; a function split into hot and cold parts has several.
struct FunctionRange {
    Range range;
    std::size_t function = 0;
};

struct Unit {
    Dwarf_Die die{};
    Dwarf_Files* files = nullptr;
    bool gathered = false;
    std::vector<FunctionRange> ranges{};  // by begin
    std::vector<CodeFunction> functions{};
    std::vector<InlinedCall> calls{};
};

struct UnitRange {
    Range range;
    std::size_t unit = 0;
};

// Code that was split has several ranges (DW_AT_ranges), most code has one (DW_AT_low_pc, DW_AT_high_pc).
// dwarf_ranges() hides the difference. Empty ranges are left out.
template <class Visit>
void for_each_range(Dwarf_Die& die, Visit&& visit) {
    Dwarf_Addr base = 0, begin = 0, end = 0;
    for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0;)
        if (begin < end) visit(Range{begin, end});
}

std::string_view text_of(Dwarf_Die& die, unsigned attribute) {
    Dwarf_Attribute found;
    const char* text = dwarf_formstring(dwarf_attr_integrate(&die, attribute, &found));
    return text ? std::string_view{text} : std::string_view{};
}

/// Of an inlined call the name is at the abstract function that it refers to.
std::string_view name_of(Dwarf_Die& die) {
    for (const unsigned attribute : std::array<unsigned, 3>{DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name})
        if (const std::string_view name = text_of(die, attribute); !name.empty()) return name;
    return {};
}

// The value of a numeric attribute; 0 if the entry lacks it.
std::uint64_t number_of(Dwarf_Die& die, unsigned attribute) {
    Dwarf_Attribute found;
    Dwarf_Word value = 0;
    return dwarf_formudata(dwarf_attr_integrate(&die, attribute, &found), &value) == 0 ? value : 0;
}

// The file of an attribute is a number in the unit's own table of files, so an entry is only readable with its unit.
SourceLine line_of(Unit& unit, Dwarf_Die& die, unsigned file, unsigned line) {
    const char* name = unit.files ? dwarf_filesrc(unit.files, number_of(die, file), nullptr, nullptr) : nullptr;
    return {name ? std::string_view{name} : std::string_view{}, static_cast<std::uint32_t>(number_of(die, line))};
}

/// Walks the entries of a unit, and keeps functions with code and the calls inlined into them.
class Gatherer {
  public:
    explicit Gatherer(Unit& unit) : unit_(unit) {}

    void gather() {
        std::size_t files = 0;
        if (dwarf_getsrcfiles(&unit_.die, &unit_.files, &files) != 0) unit_.files = nullptr;
        walk_scope(unit_.die, 0);
        // Functions within functions come last: the calls of one function must be neighbours in the array, and
        // walk_code() is still adding calls of the outer function when it meets an inner one.
        for (std::size_t i = 0; i < nested_.size(); ++i) {
            Dwarf_Die die = nested_[i];  // a copy: nested_ may grow
            add_function(die);
        }
        std::ranges::stable_sort(unit_.ranges, {}, [](const FunctionRange& each) { return each.range.begin; });
    }

  private:
    template <class Visit>
    static void for_each_child(Dwarf_Die& parent, Visit&& visit) {
        Dwarf_Die child;
        if (dwarf_child(&parent, &child) != 0) return;
        do visit(child);
        while (dwarf_siblingof(&child, &child) == 0);
    }

    /// GCC has all functions with code below the unit, clang within their namespaces.
    void walk_scope(Dwarf_Die& scope, unsigned depth) {
        if (depth > kDeepest) return;
        for_each_child(scope, [&](Dwarf_Die& child) {
            const int tag = dwarf_tag(&child);
            if (tag == DW_TAG_subprogram)
                add_function(child);
            else if (tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
                     tag == DW_TAG_class_type)
                walk_scope(child, depth + 1);
        });
    }

    void add_function(Dwarf_Die& die) {
        const std::size_t number = unit_.functions.size(), before = unit_.ranges.size();
        for_each_range(die, [&](Range range) { unit_.ranges.push_back({range, number}); });
        if (unit_.ranges.size() == before) return;  // a declaration, or only ever inlined
        CodeFunction function{.name = name_of(die),
                              .declared = line_of(unit_, die, DW_AT_decl_file, DW_AT_decl_line),
                              .first = unit_.calls.size()};
        walk_code(die, 0, 0);
        function.count = unit_.calls.size() - function.first;
        unit_.functions.push_back(function);
    }

    // `depth` counts inlined calls and is kept with each of them; `level` counts all nested entries and bounds the
    // recursion.
    void walk_code(Dwarf_Die& block, unsigned depth, unsigned level) {
        if (level > kDeepest) return;
        for_each_child(block, [&](Dwarf_Die& child) {
            const int tag = dwarf_tag(&child);
            if (tag == DW_TAG_inlined_subroutine) {
                add_call(child, depth + 1);
                walk_code(child, depth + 1, level + 1);
            } else if (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block) {
                walk_code(child, depth, level + 1);
            } else if (tag == DW_TAG_subprogram) {
                nested_.push_back(child);
            }
        });
    }

    // DW_AT_call_file and DW_AT_call_line say from where the function was called; the frame outside of it gets that
    // line.
    void add_call(Dwarf_Die& die, unsigned depth) {
        InlinedCall call{.range = {},
                         .depth = depth,
                         .name = name_of(die),
                         .call = line_of(unit_, die, DW_AT_call_file, DW_AT_call_line),
                         .declared = line_of(unit_, die, DW_AT_decl_file, DW_AT_decl_line)};
        for_each_range(die, [&](Range range) {
            call.range = range;
            unit_.calls.push_back(call);
        });
    }

    Unit& unit_;
    std::vector<Dwarf_Die> nested_;  // functions within functions, after whose calls theirs are gathered
};

struct CloseDwarf {
    void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};

}  // namespace

struct DebugInfo::Tables {
    int fd = -1;
    std::unique_ptr<Dwarf, CloseDwarf> dwarf{};
    std::vector<UnitRange> ranges{};  // by begin
    std::vector<Unit> units{};

    explicit Tables(int opened) : fd(opened) {}
    ~Tables() {
        dwarf.reset();
        if (fd >= 0) ::close(fd);
    }
    Tables(const Tables&) = delete;
    Tables& operator=(const Tables&) = delete;

    void find_units();
    Unit* unit_at(std::uint64_t address);
};

void DebugInfo::Tables::find_units() {
    Dwarf_CU* unit = nullptr;
    std::uint8_t type = 0;
    Dwarf_Die die, split;
    while (dwarf_get_units(dwarf.get(), unit, &unit, nullptr, &type, &die, &split) == 0) {
        if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
        // A split unit has its ranges in the skeleton, and its functions in the .dwo file.
        for_each_range(die, [&](Range range) { ranges.push_back({range, units.size()}); });
        units.push_back({.die = type == DW_UT_skeleton && dwarf_tag(&split) == DW_TAG_compile_unit ? split : die});
    }
    std::ranges::stable_sort(ranges, {}, [](const UnitRange& each) { return each.range.begin; });
}

Unit* DebugInfo::Tables::unit_at(std::uint64_t address) {
    const auto after =
        std::ranges::upper_bound(ranges, address, {}, [](const UnitRange& each) { return each.range.begin; });
    if (after == ranges.begin() || !std::prev(after)->range.contains(address)) return nullptr;
    Unit& unit = units[std::prev(after)->unit];
    if (!std::exchange(unit.gathered, true)) Gatherer{unit}.gather();
    return &unit;
}

DebugInfo::DebugInfo(std::unique_ptr<Tables> tables) : tables_(std::move(tables)) {}
DebugInfo::~DebugInfo() = default;

std::unique_ptr<DebugInfo> DebugInfo::open(const ElfImage& image) {
    if (!has_debug_info(image) || image.path().empty() || elf_version(EV_CURRENT) == EV_NONE) return nullptr;
    // Not the image's own mapping: libelf writes to memory that it is given when it unpacks sections.
    auto tables = std::make_unique<Tables>(::open(image.path().c_str(), O_RDONLY | O_CLOEXEC));
    if (tables->fd >= 0) tables->dwarf.reset(dwarf_begin(tables->fd, DWARF_C_READ));
    if (!tables->dwarf) return nullptr;
    tables->find_units();
    return std::unique_ptr<DebugInfo>{new DebugInfo{std::move(tables)}};
}

std::vector<SourceFrame> DebugInfo::frames(std::uint64_t address) {
    Unit* unit = tables_->unit_at(address);
    if (!unit) return {};
    const auto after =
        std::ranges::upper_bound(unit->ranges, address, {}, [](const FunctionRange& each) { return each.range.begin; });
    if (after == unit->ranges.begin() || !std::prev(after)->range.contains(address)) return {};
    const CodeFunction& function = unit->functions[std::prev(after)->function];
    // The calls whose ranges hold the address are nested in each other, so ordering them by depth orders them from the
    // innermost to the outermost. Each frame shows the line of the call inside of it: the innermost one the line of the
    // address, the others that of DW_AT_call_line.
    std::vector<const InlinedCall*> active;
    for (std::size_t i = function.first; i < function.first + function.count; ++i)
        if (unit->calls[i].range.contains(address)) active.push_back(&unit->calls[i]);
    std::ranges::stable_sort(active, std::greater{}, &InlinedCall::depth);
    std::vector<SourceFrame> frames;
    SourceLine at = line(address);
    for (const InlinedCall* call : active) {
        frames.push_back({call->name, at, call->declared});
        at = call->call;
    }
    frames.push_back({function.name, at, function.declared});
    return frames;
}

// The line table of the unit, apart from the tree of functions: it also covers code that no function has.
SourceLine DebugInfo::line(std::uint64_t address) {
    Unit* unit = tables_->unit_at(address);
    Dwarf_Line* const found = unit ? dwarf_getsrc_die(&unit->die, address) : nullptr;
    const char* file = found ? dwarf_linesrc(found, nullptr, nullptr) : nullptr;
    int number = 0;
    if (!file || dwarf_lineno(found, &number) != 0) return {};
    return {file, static_cast<std::uint32_t>(number)};
}

bool has_debug_info(const ElfImage& image) {
    return image.section(".debug_info") != nullptr || image.section(".zdebug_info") != nullptr;
}

}  // namespace anyperf::symbols
