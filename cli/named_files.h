#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "text/output_file.h"

namespace opbench {

/// A file and the flag that names it. An empty path: the flag is not given.
struct NamedFile {
  std::string flag, path;
};

/// Compares files by device and inode if they exist, else by their normalised paths.
bool is_same_file(const std::string& a, const std::string& b);

/// Checks that no result replaces an input or another result; "-" is standard output. Call it
/// before anything runs. Errors: throws Error that names both flags.
void require_distinct(std::span<const NamedFile> inputs, std::span<const NamedFile> outputs);

/// Checks that no result replaces an existing file, unless opbench itself wrote it as text
/// (`is_own_result`) or --overwrite is given. Call it before anything runs.
/// Errors: throws Error that names the flag and the file.
void require_replaceable(std::span<const NamedFile> outputs, const CommandContext& context);

/// Makes both checks.
void check_files(std::span<const NamedFile> inputs, std::span<const NamedFile> outputs,
                 const CommandContext& context);

/// True for the name of standard output, "-".
bool is_standard_output(const std::string& path);

/// Refuses "-" for an output that is not text: it would create a file named "-".
/// Errors: throws Error that names `flag`, what it writes ("HDF5"), and what to name ("a file").
void refuse_standard_output(std::string_view flag, const std::string& path, std::string_view writes,
                            std::string_view instead);

/// True if the reader of standard output has ended, as with `| head`. Known after a failed write.
bool has_reader_gone();

/// The file of an output flag, reserved before a long run. "-" is standard output: only the result
/// is written there, and text for users goes to standard error from then on.
/// Errors: as `OutputFile`.
class ResultFile {
 public:
  ResultFile(const std::string& path, CommandContext& context);
  void write(const std::function<void(std::ostream&)>& content);

 private:
  CommandContext& context_;
  std::optional<OutputFile> file_;             // null: standard output
  std::streambuf* standard_output_ = nullptr;  // set without a file
};

}  // namespace opbench
