#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "profiles/hot_spots.h"
#include "profiles/line_reader.h"
#include "profiles/trace_profile.h"

namespace opbench {

/// Texts that are no table, log or trace.
enum class TextKind {
  onednn_verbose,  ///< output of a program under ONEDNN_VERBOSE=1, old and new
  benchdnn,        ///< input files of oneDNN's benchdnn: problems, without times
  msprobe,         ///< dump.json of msprobe: calls with shapes, without times
  results,         ///< results.json of opbench
};

/// "onednn_verbose", ...
std::string_view name(TextKind kind);

/// What a text is, by its beginning.
std::optional<TextKind> recognise_text(std::string_view beginning);

/// What one primitive of oneDNN took, a task; other lines are other output. Returns how many there
/// were; damaged ones are skipped.
std::int64_t read_onednn_verbose(LineReader& lines, HotSpots& spots);

/// Problems, by driver where flags tell it, with the flags before them as values.
std::int64_t read_benchdnn(LineReader& lines, TraceProfile& calls);

/// Calls of `Tensor.__add__.0.forward`, numbers left out, with shapes and dtypes of their inputs.
/// Errors: throws Error for what is no such JSON.
std::int64_t read_msprobe_calls(ByteWindow& bytes, const std::string& file, TraceProfile& calls);

/// Records that have a time, as tasks: the variant stands as core, and counts of cases count.
/// Errors: throws Error for what is no such JSON.
std::int64_t read_own_results(ByteWindow& bytes, const std::string& file, HotSpots& spots);

}  // namespace opbench
