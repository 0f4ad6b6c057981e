// code_store.h: the directory in which the programs of runs keep their translations (engine/store).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "run/facts.h"

namespace anyperf::broker {

inline constexpr char kStoreVariable[] = "ANYPERF_CACHE_DIR";

struct CodeStorePlace {
    std::string path;     ///< absolute; empty: nowhere
    bool chosen = false;  ///< by the user: that it can't be used is an error
};

/// ANYPERF_CACHE_DIR, or `translations` in the user's cache. Nowhere if the variable is empty.
CodeStorePlace code_store_place();

/// Why translations can't be kept in the directory; empty: they can, or it does not exist.
std::string code_store_defect(const std::string& path);

/// Makes the directory if it does not exist, and writes its path and what its files depend on into the header. Nothing
/// is stored if the real and effective ids differ, or if the user's cache can't be used. Error: only this user must be
/// able to use a directory that he has chosen.
Result<void> use_code_store(run::RunHeader& header);

/// A file of the directory.
struct CodeStoreFile {
    std::string name;
    std::uint64_t bytes = 0;
    std::string program;  ///< the file whose translations it has; empty: unknown
    std::uint32_t blocks = 0;
    std::uint32_t classes = 0;  ///< how many classes its code counts
};

/// The files of translations in the directory, the largest first. Error: the directory can't be read.
Result<std::vector<CodeStoreFile>> files_of_code_store(const std::string& path);
/// Removes the files of translations, and no others. Returns them. Error: as above, or one can't be removed.
Result<std::vector<CodeStoreFile>> clear_code_store(const std::string& path);

/// The most that the directory has after a run that has added to it.
inline constexpr std::uint64_t kMostCodeStoreBytes = std::uint64_t{256} << 20;

/// Removes the files that have not been used for the longest time, to the day, until at most `bytes` are left, and
/// files that were never finished. Errors are ignored: another process may remove the same files.
void trim_code_store(const std::string& path, std::uint64_t bytes);

/// Trims the directory at the end of a run that has changed it.
class CodeStoreTrimmer {
  public:
    /// `path`: as RunHeader::store_path; empty: nothing is done.
    explicit CodeStoreTrimmer(std::string path);
    ~CodeStoreTrimmer();
    CodeStoreTrimmer(const CodeStoreTrimmer&) = delete;
    CodeStoreTrimmer& operator=(const CodeStoreTrimmer&) = delete;

  private:
    std::string path_;
    std::int64_t changed_ns_ = 0;
};

}  // namespace anyperf::broker
