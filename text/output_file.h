#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>

#include "text/temporary_file.h"

namespace opbench {

/// A result file: reserved before a long run, written as a whole after it. A temporary file beside
/// `path` takes its place when complete, so no half file appears and what stood there stays until
/// then. Errors: throws RunError "cannot write ...: reason"; devices and directories are refused.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path) : path_(path), temporary_(path) {}
  void write(const std::function<void(std::ostream&)>& content);

 private:
  std::string path_;
  TemporaryFile temporary_;
};

/// Makes a directory for results, and those above it. Errors: throws RunError "cannot make
/// directory 'out': reason".
void make_directory(const std::filesystem::path& directory);

/// May a result take the place of this file? Only of an empty one, and of a text that opbench
/// itself wrote, known by its beginning. A dump is data and never an own result. True also where
/// there is no regular file: opening it tells what is wrong.
bool is_own_result(const std::filesystem::path& path);

}  // namespace opbench
