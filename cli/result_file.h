#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "text/output_file.h"

namespace opbench {

/// Is it the name of standard output, "-"?
bool is_standard_output(const std::string& path);

/// What writes more than text has no use for "-", and would make a file of that name.
/// Errors: throws Error that names `flag`, what it writes ("HDF5"), and what to name ("a file").
void refuse_standard_output(std::string_view flag, const std::string& path, std::string_view writes,
                            std::string_view instead);

/// Does nobody read standard output any more, as behind `| head`? Told after a write has failed.
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
