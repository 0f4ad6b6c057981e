// dso.h: a piece of code that processes map (a file, the kernel, the vDSO, a JIT's memory) and the names in it. Its
// file is read when the first address in it is looked up.
//
// From an address to a symbol there are three numbers. The *address* in the process depends on where the loader has put
// the file. The *file offset* follows from the map: address - start + offset of the map. The *symbol address* is what
// the symbol table has: in an ELF file the address that the linker gave, found by the segment with the file offset. In
// shared libraries it often equals the offset, in executables that are not position-independent it equals the address,
// and for code in a second segment it is neither. Kernels and JITs have their symbols by the address itself.
//
// Where names come from, in this order: the mapped file's .symtab; a separate debug file, by build id, then by
// .gnu_debuglink (gdb's manual, "Debugging Information in Separate Files"); the .dynsym of the mapped file. If the
// mapped file is missing or has another build id than the recording says, perf's build-id cache is tried, and
// debuginfod servers if the user asks for them. A file of another build id is never used: wrong names are worse than
// none. A recording may have names itself (recorded_names.h): they are used unless the mapped file is there and has the
// recorded build id.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "symbols/debuginfod.h"
#include "symbols/demangle.h"
#include "symbols/dwarf/debug_info.h"
#include "symbols/elf_image.h"
#include "symbols/jit/jit_dump.h"
#include "symbols/kallsyms.h"
#include "symbols/recorded_names.h"
#include "symbols/symbol_table.h"

namespace anyperf::symbols {

enum class DsoKind : std::uint8_t {
    unknown,
    file,
    kernel,
    kernel_module,
    vdso,
    jit,       ///< memory without a file: /tmp/perf-PID.map may name its code
    jit_dump,  ///< a JIT's code by its offset in jit-PID.dump (jit_dump.h), not by where it is in memory
    script,    ///< a function of a Python program. Its addresses are lines of the file (python/function_range.h)
};

/// Where names are looked for.
struct SymbolPaths {
    std::string root;            ///< before every path of a file, for another machine's files; "" is this machine
    std::string build_id_cache;  ///< perf's: ~/.debug; empty: none
    std::string code_cache;      ///< ours, of functions of DWARF (code_cache.h); empty: none
    std::string debug_directory = "/usr/lib/debug";
    std::string kallsyms = "/proc/kallsyms";
    std::string kernel_notes = "/sys/kernel/notes";
    bool data_symbols = false;                 ///< also the names of variables
    bool linkage_names = false;                ///< functions are shown by the names of the symbol table
    std::shared_ptr<Debuginfod> debuginfod{};  ///< asked for files that are not here; null: no server is asked
};

/// What an MMAP record says of the code that it maps.
struct DsoKey {
    std::string path;
    std::string build_id;   ///< hexadecimal; empty: unknown
    std::uint32_t pid = 0;  ///< kKernelPid for the kernel's maps; of a JIT its own, of a file one that has mapped it
    bool executable = true;
};
inline constexpr std::uint32_t kKernelPid = 0xffff'ffffu;

/// One dso. Made without reading anything; load() reads its names.
class Dso {
  public:
    explicit Dso(const DsoKey& key);

    const std::string& path() const { return path_; }
    /// As reports show it: the last part of the path, or a name in brackets.
    const std::string& name() const { return name_; }
    const std::string& build_id() const { return build_id_; }
    DsoKind kind() const { return kind_; }
    /// Of a script: the line that an address stands for, and the first line of the function.
    static std::uint32_t script_line(std::uint64_t symbol_address) {
        return static_cast<std::uint32_t>(symbol_address - 1);
    }
    std::uint32_t first_script_line() const { return static_cast<std::uint32_t>(first_offset_); }
    bool is_kernel() const { return kind_ == DsoKind::kernel || kind_ == DsoKind::kernel_module; }

    /// Opens the mapped file, without its names, once: unwinding needs no more. Not thread-safe.
    void open(const SymbolPaths& paths);
    /// Gives it its file. From then on open() opens none.
    void open_as(ElfImage image);

    /// Gives it the names that the recording has. They must outlive it.
    void use_recorded(const RecordedNames& names) { recorded_ = &names; }
    /// Says that the file was mapped from this offset on, as code.
    void mapped_at(std::uint64_t offset) { first_offset_ = std::min(first_offset_, offset); }

    /// Reads the file and its names, once. A file that can't be read leaves the tables empty, and why_no_symbols() says
    /// what was found. Not thread-safe.
    void load(const SymbolPaths& paths, KernelSymbols& kernel);

    /// The mapped ELF file, for unwind tables and DWARF; null if there is none, or before open() and load().
    const ElfImage* image() const { return image_ ? &*image_ : nullptr; }
    /// The separate file with the names and DWARF; null if the names come from the image itself.
    const ElfImage* debug_image() const { return debug_image_ ? &*debug_image_ : nullptr; }

    /// The DWARF of the file, or of its separate debug file; null if there is none. Reads it at the first call, after
    /// load(). Not thread-safe.
    DebugInfo* debug_info(const SymbolPaths& paths);

    /// Of a jit_dump, after load(): the code that it has; null if it could not be read.
    const JitDump* jit_dump() const { return jit_dump_ ? &*jit_dump_ : nullptr; }
    /// The line that it has for an address in the function; nothing if it has none, or of another kind of dso.
    std::optional<SourceLine> line_in_dump(std::uint64_t symbol_address, const Symbol& function) const;

    /// The address in the symbol table that `address` in a process is, given its offset in the file. Kernels and JITs
    /// are looked up by the address itself.
    std::uint64_t symbol_address(std::uint64_t address, std::uint64_t file_offset) const;

    /// The symbol that contains an address of the symbol table, or null.
    const Symbol* find(std::uint64_t symbol_address) const { return table_ ? table_->find(symbol_address) : nullptr; }
    /// As the symbol table has it: not demangled. Valid as long as the dso.
    std::string_view linkage_name(const Symbol& symbol) const { return table_->name(symbol); }

    /// Why load() found no symbols, for people; empty if it found some.
    const std::string& why_no_symbols() const { return why_; }
    /// After load(): the mapped file is not at its place any more, or another one is. why_no_symbols() says which.
    bool lost_its_file() const { return loaded_ && kind_ == DsoKind::file && !image_ && !uses_recorded(); }

  private:
    bool uses_recorded() const { return recorded_ && table_ == &recorded_->table; }
    void load_own(const SymbolPaths& paths, KernelSymbols& kernel);
    void load_file(const SymbolPaths& paths);
    void load_vdso(const SymbolPaths& paths);
    void open_file(const SymbolPaths& paths);
    bool open_in_root_of_process();
    void load_kernel(const SymbolPaths& paths, KernelSymbols& kernel);
    void load_perf_map();
    void load_jit_dump(const SymbolPaths& paths);
    void load_script();
    bool open_image(const std::string& path);
    std::optional<ElfImage> debug_file(const SymbolPaths& paths, bool (*has_contents)(const ElfImage&)) const;
    void use(SymbolTable table);

    std::string path_;
    std::string name_;
    std::string function_;  // of a script
    std::string build_id_;
    std::string why_;
    std::uint32_t pid_ = 0;
    DsoKind kind_ = DsoKind::unknown;
    std::uint64_t first_offset_ = ~std::uint64_t{0};
    const RecordedNames* recorded_ = nullptr;
    bool opened_ = false;
    bool loaded_ = false;
    std::optional<ElfImage> image_;
    std::optional<ElfImage> debug_image_;
    std::optional<JitDump> jit_dump_;
    std::unique_ptr<DebugInfo> debug_info_;
    bool debug_info_sought_ = false;
    SymbolTable own_;
    const SymbolTable* table_ = nullptr;  // own_, the kernel's, or recorded_
};

/// All dsos of a recording. One file that several processes map is one dso; a JIT's memory is one for each process.
class Dsos {
  public:
    explicit Dsos(SymbolPaths paths) : paths_(std::move(paths)) {}

    /// Lives as long as this object.
    Dso& find_or_add(const DsoKey& key);

    /// The names that the recording has of the file at `path`; and of the kernel.
    void use_recorded(const std::string& path, RecordedNames names);
    void use_kernel_symbols(SymbolTable table) { kernel_.use(std::move(table)); }

    /// A name of the symbol table or of DWARF as it is shown: demangled, unless SymbolPaths::linkage_names.
    std::string shown(std::string_view linkage_name) const {
        return paths_.linkage_names ? std::string{linkage_name} : demangle(linkage_name);
    }

    /// `dso` with its names.
    Dso& loaded(Dso& dso) {
        dso.load(paths_, kernel_);
        return dso;
    }

    /// The DWARF of a dso, whose file is loaded first; null if there is none.
    DebugInfo* debug_info(Dso& dso) { return loaded(dso).debug_info(paths_); }

    const auto& all() const { return dsos_; }

  private:
    using Key = std::tuple<std::string, std::string, std::uint32_t, bool>;

    SymbolPaths paths_;
    KernelSymbols kernel_;
    std::map<Key, std::unique_ptr<Dso>> dsos_;
    std::map<std::string, RecordedNames> recorded_;  // by path
};

}  // namespace anyperf::symbols
