#include "cli/named_files.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <filesystem>
#include <ostream>
#include <system_error>

#include "tensor/error.h"
#include "text/output_file.h"
#include "text/temporary_file.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

fs::path normalised(const std::string& path) {
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(behind_links(path), ignored), ignored);
}

bool is_same(const NamedFile& a, const NamedFile& b) {
  return !a.path.empty() && !b.path.empty() && is_same_file(a.path, b.path);
}

}  // namespace

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;  // a missing file is compared by its path
  return fs::equivalent(a, b, ignored) || normalised(a) == normalised(b);
}

void require_distinct(std::span<const NamedFile> inputs, std::span<const NamedFile> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const NamedFile& output = outputs[i];
    for (const NamedFile& input : inputs) {
      if (output.path == "-" || !is_same(output, input)) continue;
      throw Error(fmt::format("{} '{}' would replace what is read, {} '{}'; name another file",
                              output.flag, output.path, input.flag, input.path));
    }
    for (const NamedFile& other : outputs.first(i)) {
      if (!is_same(output, other)) continue;
      throw Error(fmt::format("two results cannot go to the same file: {} '{}' and {} '{}'",
                              other.flag, other.path, output.flag, output.path));
    }
  }
}

void require_replaceable(std::span<const NamedFile> outputs, const CommandContext& context) {
  if (context.overwrite) return;
  for (const NamedFile& output : outputs) {
    if (output.path.empty() || output.path == "-" || is_own_result(output.path)) continue;
    throw Error(fmt::format("{}: {} exists; choose another name, or pass --overwrite", output.flag,
                            output.path));
  }
}

void check_files(std::span<const NamedFile> inputs, std::span<const NamedFile> outputs,
                 const CommandContext& context) {
  require_distinct(inputs, outputs);
  require_replaceable(outputs, context);
}

bool is_standard_output(const std::string& path) { return path == "-"; }

void refuse_standard_output(std::string_view flag, const std::string& path, std::string_view writes,
                            std::string_view instead) {
  if (!is_standard_output(path)) return;
  throw Error(fmt::format("{} writes {}, which cannot go to standard output; name {}", flag, writes,
                          instead));
}

bool has_reader_gone() {
  pollfd stream{STDOUT_FILENO, 0, 0};
  return poll(&stream, 1, 0) == 1 && (stream.revents & POLLERR) != 0;
}

ResultFile::ResultFile(const std::string& path, CommandContext& context) : context_(context) {
  if (is_standard_output(path)) {
    standard_output_ = context_.out.rdbuf(context_.err.rdbuf());
  } else {
    file_.emplace(path);
  }
}

void ResultFile::write(const std::function<void(std::ostream&)>& content) {
  if (file_) return file_->write(content);
  std::ostream out(standard_output_);
  content(out);
  out.flush();
  if (out) return;
  if (!has_reader_gone()) throw RunError("cannot write to standard output");
  context_.out.setstate(std::ios::badbit);  // the program checks this state at its end
}

}  // namespace opbench
