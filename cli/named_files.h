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

/// Files are told apart by device and inode where they exist, by their normalised paths where not.
bool is_same_file(const std::string& a, const std::string& b);

/// Nothing that is read, and no other result, is lost to a result; "-" is standard output. To be
/// called before anything runs.
/// Errors: throws Error that names both flags.
void require_distinct(std::span<const NamedFile> inputs, std::span<const NamedFile> outputs);

/// A file that is there already stays, unless opbench itself wrote it as text (`is_own_result`) or
/// --overwrite is given. To be called before anything runs.
/// Errors: throws Error that names the flag and the file.
void require_replaceable(std::span<const NamedFile> outputs, const CommandContext& context);

/// Both of them.
void check_files(std::span<const NamedFile> inputs, std::span<const NamedFile> outputs,
                 const CommandContext& context);

/// Is it the name of standard output, "-"?
bool is_standard_output(const std::string& path);

/// Refuses "-" for an output that is more than text: a file of that name would be made.
/// Errors: throws Error that names `flag`, what it writes ("HDF5"), and what to name ("a file").
void refuse_standard_output(std::string_view flag, const std::string& path, std::string_view writes,
                            std::string_view instead);

/// Has the reader of standard output ended, as with `| head`? Known after a write has failed.
bool has_reader_gone();

/// The file of an output flag, reserved before a long run. "-" is standard output: the result has
/// it for itself, and what people read goes to standard error from then on.
/// Errors: as `OutputFile`.
class ResultFile {
 public:
  ResultFile(const std::string& path, CommandContext& context);
  void write(const std::function<void(std::ostream&)>& content);

 private:
  CommandContext& context_;
  std::optional<OutputFile> file_;             // none: standard output
  std::streambuf* standard_output_ = nullptr;  // then
};

}  // namespace opbench
