#include "harness/plan/contexts_by_id.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/plan/case_places.h"
#include "harness/plan/context_id.h"
#include "tensor/error.h"
#include "tensor/nearest.h"

namespace opbench {
namespace {

const Context* find_context(const CaseFile& file, const std::string& name) {
  const auto found = std::find_if(file.contexts.begin(), file.contexts.end(),
                                  [&](const Context& context) { return context.name == name; });
  return found == file.contexts.end() ? nullptr : &*found;
}

// The file was read without the id's symbols: what is wrong now is theirs.
Context with_symbols(const std::string& path, const ContextId& id, const std::string& text) {
  try {
    CaseFiles files(id.symbols);
    return *find_context(files.file(path), id.name);
  } catch (const Error& error) {
    throw Error(fmt::format("--case '{}': {}", text, error.what()));
  }
}

// In the first of the files that has it.
Context context_of(const ContextId& id, const std::string& text, CaseFiles& files,
                   const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const CaseFile* file : files_named(words, files)) {
    for (const Context& context : file->contexts) names.push_back(context.name);
    if (find_context(*file, id.name) == nullptr) continue;
    return with_symbols(file->path, id, text);
  }
  throw Error(fmt::format("--case '{}': there is no operator and no context '{}'{}", text, id.name,
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
