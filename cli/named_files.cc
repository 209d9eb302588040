#include "cli/named_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "tensor/error.h"
#include "text/own_result.h"
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
  std::error_code ignored;  // one that does not exist is compared by its path
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
    throw Error(fmt::format("{}: {} exists; choose another name, or say --overwrite", output.flag,
                            output.path));
  }
}

void check_files(std::span<const NamedFile> inputs, std::span<const NamedFile> outputs,
                 const CommandContext& context) {
  require_distinct(inputs, outputs);
  require_replaceable(outputs, context);
}

}  // namespace opbench
