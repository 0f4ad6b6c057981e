// dwarf_units.cpp: from DWARF to arrays that a lookup can search.
//
// libdw can answer "which functions are active at this address" itself (dwarf_getscopes()), but it walks the tree of
// the unit for each question, and a profile asks for every different address. So the tree of a unit is walked once,
// when the first address in it is looked up (code_table.h).
//
// What a tree looks like: below the unit are functions (DW_TAG_subprogram), directly or within namespaces and classes.
// An entry with an address range has code; one without is a declaration, or the abstract description of a function that
// was inlined. Below a function with code are blocks, and below these the inlined calls (DW_TAG_inlined_subroutine),
// nested as the calls were. Each refers to the abstract function, where its name and its declaration are:
// dwarf_attr_integrate() follows that reference.
#include "symbols/dwarf/dwarf_units.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <unordered_map>
#include <utility>

namespace anyperf::symbols {

namespace {

constexpr unsigned kDeepest = 200;  // of nested blocks: no compiler nests deeper, and each level uses stack

struct Unit {
    Dwarf_Die die{};
    Dwarf_Files* files = nullptr;
    bool has_files = false;  // `files` was read, or cannot be
};

// Code that was split has several ranges (DW_AT_ranges), most code has one (DW_AT_low_pc, DW_AT_high_pc).
// dwarf_ranges() hides the difference. Empty ranges are left out.
template <class Visit>
void for_each_range(Dwarf_Die& die, Visit&& visit) {
    Dwarf_Addr base = 0, begin = 0, end = 0;
    for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0;)
        if (begin < end) visit(CodeRange{begin, end});
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

FileLine line_of(Dwarf_Die& die, unsigned file, unsigned line) {
    return {static_cast<std::uint32_t>(number_of(die, file)), static_cast<std::uint32_t>(number_of(die, line))};
}

/// Walks the entries of a unit, and keeps functions with code and the calls inlined into them.
class Gatherer {
  public:
    GatheredCode gather(Dwarf_Die& unit) {
        walk_scope(unit, 0);
        // Functions within functions come last: the calls of one function must be neighbours in the array, and
        // walk_code() is still adding calls of the outer function when it meets an inner one.
        for (std::size_t i = 0; i < nested_.size(); ++i) {
            Dwarf_Die die = nested_[i];  // a copy: nested_ may grow
            add_function(die);
        }
        std::ranges::stable_sort(code_.ranges, {}, [](const FunctionRange& each) { return each.range.begin; });
        return std::move(code_);
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
        const std::size_t number = code_.functions.size(), before = code_.ranges.size();
        for_each_range(die, [&](CodeRange range) { code_.ranges.push_back({range, number}); });
        if (code_.ranges.size() == before) return;  // a declaration, or only ever inlined
        CodeFunction function{.name = name(name_of(die)),
                              .first = static_cast<std::uint32_t>(code_.calls.size()),
                              .declared = line_of(die, DW_AT_decl_file, DW_AT_decl_line)};
        walk_code(die, 0, 0);
        function.count = static_cast<std::uint32_t>(code_.calls.size()) - function.first;
        code_.functions.push_back(function);
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
                         .name = name(name_of(die)),
                         .call = line_of(die, DW_AT_call_file, DW_AT_call_line),
                         .declared = line_of(die, DW_AT_decl_file, DW_AT_decl_line)};
        for_each_range(die, [&](CodeRange range) {
            call.range = range;
            code_.calls.push_back(call);
        });
    }

    /// The place of a name in the texts. Many calls are of one function, so names repeat.
    std::uint32_t name(std::string_view text) {
        const auto [at, fresh] = names_.try_emplace(text, static_cast<std::uint32_t>(code_.texts.size()));
        if (fresh) code_.texts.append(text).push_back('\0');
        return at->second;
    }

    GatheredCode code_;
    std::unordered_map<std::string_view, std::uint32_t> names_;  // views of libdw's memory
    std::vector<Dwarf_Die> nested_;  // functions within functions, after whose calls theirs are gathered
};

struct CloseDwarf {
    void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};

}  // namespace

struct DwarfUnits::State {
    int fd = -1;
    std::unique_ptr<Dwarf, CloseDwarf> dwarf{};
    std::vector<UnitRange> ranges{};
    std::vector<Unit> units{};
    bool split = false;

    explicit State(int opened) : fd(opened) {}
    ~State() {
        dwarf.reset();
        if (fd >= 0) ::close(fd);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    void find_units();
};

void DwarfUnits::State::find_units() {
    Dwarf_CU* unit = nullptr;
    std::uint8_t type = 0;
    Dwarf_Die die, split_die;
    while (dwarf_get_units(dwarf.get(), unit, &unit, nullptr, &type, &die, &split_die) == 0) {
        if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
        // A split unit has its ranges in the skeleton, and its functions in the .dwo file.
        for_each_range(die, [&](CodeRange range) { ranges.push_back({range, units.size()}); });
        split |= type == DW_UT_skeleton;
        units.push_back(
            {.die = type == DW_UT_skeleton && dwarf_tag(&split_die) == DW_TAG_compile_unit ? split_die : die});
    }
    std::ranges::stable_sort(ranges, {}, [](const UnitRange& each) { return each.range.begin; });
}

DwarfUnits::DwarfUnits(std::unique_ptr<State> state) : state_(std::move(state)) {}
DwarfUnits::~DwarfUnits() = default;

std::unique_ptr<DwarfUnits> DwarfUnits::open(const std::string& path) {
    if (path.empty() || elf_version(EV_CURRENT) == EV_NONE) return nullptr;
    auto state = std::make_unique<State>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (state->fd >= 0) state->dwarf.reset(dwarf_begin(state->fd, DWARF_C_READ));
    if (!state->dwarf) return nullptr;
    state->find_units();
    return std::unique_ptr<DwarfUnits>{new DwarfUnits{std::move(state)}};
}

std::size_t DwarfUnits::size() const {
    return state_->units.size();
}

const std::vector<UnitRange>& DwarfUnits::ranges() const {
    return state_->ranges;
}

bool DwarfUnits::is_split() const {
    return state_->split;
}

GatheredCode DwarfUnits::gather(std::uint64_t unit) {
    return Gatherer{}.gather(state_->units[unit].die);
}

SourceLine DwarfUnits::resolved(std::uint64_t number, FileLine at) {
    Unit& unit = state_->units[number];
    std::size_t count = 0;
    if (!std::exchange(unit.has_files, true) && dwarf_getsrcfiles(&unit.die, &unit.files, &count) != 0)
        unit.files = nullptr;
    const char* name = unit.files ? dwarf_filesrc(unit.files, at.file, nullptr, nullptr) : nullptr;
    return {name ? std::string_view{name} : std::string_view{}, at.line};
}

// The line table of the unit, apart from the tree of functions: it also covers code that no function has.
SourceLine DwarfUnits::line(std::uint64_t unit, std::uint64_t address) {
    Dwarf_Line* const found = dwarf_getsrc_die(&state_->units[unit].die, address);
    const char* file = found ? dwarf_linesrc(found, nullptr, nullptr) : nullptr;
    int number = 0;
    if (!file || dwarf_lineno(found, &number) != 0) return {};
    return {file, static_cast<std::uint32_t>(number)};
}

}  // namespace anyperf::symbols
