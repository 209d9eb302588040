#include "harness/plan/context_id.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "harness/plan/case_places.h"
#include "ops/op.h"
#include "tensor/dtype.h"
#include "tensor/error.h"

namespace opbench {
namespace {

std::optional<DType> dtype_of(std::string_view text) {
  const auto found = std::find_if(kAllDTypes.begin(), kAllDTypes.end(),
                                  [&](DType dtype) { return name(dtype) == text; });
  return found == kAllDTypes.end() ? std::nullopt : std::optional(*found);
}

// Parses NAME=NUMBER.
bool read_symbol(std::string_view text, Symbols& symbols) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data() + equals + 1, end, value);
  if (status != std::errc{} || stop != end) return false;
  symbols[std::string(text.substr(0, equals))] = value;
  return true;
}

bool is_operator(std::string_view name) {
  const auto& all = RegisteredOp::all();
  return std::any_of(all.begin(), all.end(), [&](const Op* op) { return op->name == name; });
}

}  // namespace

std::optional<ContextId> parse_context_id(std::string_view id) {
  const std::size_t open = id.find('[');
  if (open == std::string_view::npos || open == 0 || !id.ends_with("]")) return std::nullopt;
  ContextId result;
  result.name = id.substr(0, open);
  if (is_operator(result.name)) return std::nullopt;
  std::string_view rest = id.substr(open + 1, id.size() - open - 2);
  for (std::size_t comma; (comma = rest.find(',')) != std::string_view::npos;
       rest.remove_prefix(comma + 1)) {
    if (!read_symbol(rest.substr(0, comma), result.symbols)) return std::nullopt;
  }
  const std::optional<DType> dtype = dtype_of(rest);
  if (!dtype) return std::nullopt;
  result.dtype = *dtype;
  return result;
}

namespace {

const Context* find_context(const CaseFile& file, const std::string& name) {
  const auto found = std::find_if(file.contexts.begin(), file.contexts.end(),
                                  [&](const Context& context) { return context.name == name; });
  return found == file.contexts.end() ? nullptr : &*found;
}

// The file was read before without the id's symbols, so an error here is caused by them.
Context with_symbols(const std::string& path, const ContextId& id, const std::string& text) {
  try {
    CaseFiles files(id.symbols);
    return *find_context(files.file(path), id.name);
  } catch (const Error& error) {
    throw Error(fmt::format("--case '{}': {}", text, error.what()));
  }
}

// The context of the first file that has it.
Context context_of(const ContextId& id, const std::string& text, CaseFiles& files,
                   const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const CaseFile* file : files_named(words, files)) {
    for (const Context& context : file->contexts) names.push_back(context.name);
    if (find_context(*file, id.name) == nullptr) continue;
    return with_symbols(file->path, id, text);
  }
  throw Error(fmt::format("--case '{}': unknown operator or context '{}'{}", text, id.name,
                          names.empty() ? "" : suggestion(id.name, names)));
}

}  // namespace

std::vector<NamedContext> contexts_by_id(const CaseSelection& selection) {
  std::vector<NamedContext> named;
  std::optional<CaseFiles> files;
  for (const std::string& text : selection.case_ids) {
    const std::optional<ContextId> id = parse_context_id(text);
    if (!id) continue;
    if (!files) files.emplace(Symbols{});
    const bool is_anywhere = selection.case_files.empty();
    named.push_back(
        {context_of(*id, text, *files,
                    is_anywhere ? std::vector<std::string>{"cases"} : selection.case_files),
         id->dtype});
  }
  return named;
}

}  // namespace opbench
