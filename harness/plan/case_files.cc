#include "harness/plan/case_files.h"

#include "harness/plan/case_places.h"

namespace opbench {

const CaseFile& CaseFiles::file(const std::string& path) {
  const auto known = files_.find(path);
  if (known != files_.end()) return known->second;
  return files_.emplace(path, load_case_file(find_case_file(path), overrides_)).first->second;
}

}  // namespace opbench
