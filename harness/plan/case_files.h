#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/plan/case.h"
#include "harness/plan/case_values.h"
#include "harness/plan/context.h"
#include "harness/plan/context_template.h"

namespace opbench {

/// A shape of the list `shapes:`, used with --op.
struct NamedShape {
  Dims shape;
  std::string name;  ///< may be empty
  int count = 1;
  std::string origin;  ///< "file:line"
};

/// One entry of `cases:`, before dtypes and formats are crossed.
struct CaseTemplate {
  Case base;
  std::optional<std::vector<DType>> dtypes;
  std::optional<std::vector<Format>> formats;
};

/// A case file with its symbols substituted and its contexts unrolled.
struct CaseFile {
  std::string path;
  std::vector<DType> dtypes;    ///< empty: not stated
  std::vector<Format> formats;  ///< empty: not stated
  std::vector<NamedShape> shapes;
  std::vector<CaseTemplate> cases;
  std::vector<Context> contexts;
};

/// Reads a YAML case file. `overrides` replace values of its `symbols:`.
/// Errors: throws Error "file:line: found; allowed" on unknown keys, wrong types, unknown names,
/// shapes that are negative or overflow, and overrides of symbols that the file does not declare.
CaseFile load_case_file(const std::string& path, const Symbols& overrides);

/// Like `load_case_file`, from text. `path` is for messages. `limits` are those of the contexts.
CaseFile parse_case_file(const std::string& text, const std::string& path, const Symbols& overrides,
                         const ContextLimits& limits = {});

/// Case files of one run. Each is read at its first use and then kept.
class CaseFiles {
 public:
  /// `overrides` replace symbols of every file.
  explicit CaseFiles(Symbols overrides) : overrides_(std::move(overrides)) {}

  /// Returns a reference that stays valid.
  /// Errors: throws Error like `load_case_file`.
  const CaseFile& file(const std::string& path);

 private:
  Symbols overrides_;
  std::map<std::string, CaseFile> files_;
};

}  // namespace opbench
