#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.h"

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

}  // namespace opbench
