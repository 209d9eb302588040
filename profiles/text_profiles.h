#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/hot_spots.h"
#include "profiles/line_reader.h"
#include "profiles/trace_profile.h"

namespace opbench {

/// Profiles that are text or JSON but not tables, logs or traces.
enum class TextKind {
  onednn_verbose,  ///< output of a program under ONEDNN_VERBOSE=1, old and new
  benchdnn,        ///< input files of oneDNN's benchdnn: problems, without times
  msprobe,         ///< dump.json of msprobe: calls with shapes, without times
  results,         ///< results.json of opbench
  printed_table,   ///< print(prof) and key_averages().table() of PyTorch's profiler
};

/// "onednn_verbose", ...
std::string_view name(TextKind kind);

/// The kind of a text from its beginning; empty if it is not known.
std::optional<TextKind> recognise_text(std::string_view beginning);

/// Reads each executed primitive of oneDNN as a task; other lines are ignored. Returns the number
/// of primitives. Damaged lines are skipped.
std::int64_t read_onednn_verbose(LineReader& lines, HotSpots& spots);

/// Reads problems, by driver if flags name it. The flags before a problem become its values.
std::int64_t read_benchdnn(LineReader& lines, TraceProfile& calls);

/// Reads calls such as `Tensor.__add__.0.forward` without their numbers, with shapes and dtypes of
/// their inputs. Errors: throws Error for other JSON.
std::int64_t read_msprobe_calls(ByteWindow& bytes, const std::string& file, TraceProfile& calls);

/// Reads the first table that PyTorch's profiler printed: operators of the host with their memory.
/// Their time on a device becomes tasks. Adds to `warnings` what the table does not have.
std::int64_t read_printed_table(LineReader& lines, HotSpots& spots, TraceProfile& calls,
                                std::vector<std::string>& warnings);

/// True if the text has the header of such a table.
bool has_printed_table(std::string_view text);

/// Reads records with a time as tasks. The core of a task is the variant. The count of a case is
/// the number of tasks. Errors: throws Error for other JSON.
std::int64_t read_own_results(ByteWindow& bytes, const std::string& file, HotSpots& spots);

}  // namespace opbench
