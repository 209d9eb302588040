#include "harness/plan/case_places.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "tensor/error.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) || error;  // reading reports a path that cannot be examined
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_pattern(const std::string& word) {
  return word.find_first_of("*?[") != std::string::npos && !is_there(word);
}

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const fs::path extension = entry.path().extension();
    if (extension == ".yaml" || extension == ".yml") files.push_back(entry.path());
  }
  if (error) {
    throw Error(fmt::format("cannot read the folder '{}': {}", folder.string(), error.message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> matches_of(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> files;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return files;
}

// Places that a relative path may refer to; the path as given is the first.
std::vector<std::string> places_of(const std::string& path) {
  if (fs::path(path).is_absolute()) return {path};
  const fs::path cases = installed_cases();
  return {path, cases / path, cases.parent_path() / path};
}

}  // namespace

std::string installed_cases() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  return program.parent_path().parent_path() / "share/opbench/cases";
}

std::string find_case_file(const std::string& path) {
  for (const std::string& place : places_of(path)) {
    if (is_there(place)) return place;
  }
  return path;
}

namespace {

bool is_folder_or_pattern(const std::string& word) {
  return is_pattern(word) || is_folder(find_case_file(word));
}

}  // namespace

std::vector<std::string> case_files_of(const std::string& word) {
  if (!is_folder_or_pattern(word)) return {find_case_file(word)};
  std::vector<std::string> files;
  if (is_pattern(word)) {
    for (const std::string& place : places_of(word)) {
      files = matches_of(place);
      if (!files.empty()) break;
    }
  } else {
    files = files_in(find_case_file(word));
  }
  if (!files.empty()) return files;
  throw Error(is_pattern(word) ? fmt::format("no case file matches '{}'", word)
                               : fmt::format("the folder '{}' has no case file (*.yaml)", word));
}

std::vector<const CaseFile*> files_named(const std::vector<std::string>& words, CaseFiles& files) {
  std::vector<const CaseFile*> found;
  for (const std::string& word : words) {
    const bool is_choosy = is_folder_or_pattern(word);
    for (const std::string& path : case_files_of(word)) {
      const CaseFile& file = files.file(path);
      if (is_choosy && file.cases.empty() && file.contexts.empty()) continue;
      found.push_back(&file);
    }
  }
  return found;
}

}  // namespace opbench
