#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/judge_dump.h"
#include "compare/witness.h"

namespace opbench {

/// Where a witness comes from, and what it was before anything was cut.
struct WitnessOrigin {
  std::string file;     ///< as it was given
  JudgedRecord record;  ///< what the judge said of it
  OutputFinding finding;
  std::vector<TensorDesc> inputs;
  TensorDesc output;
  std::int64_t elements = 0;  ///< of all of them
};

/// A guilty record's worst output.
struct GuiltyCall {
  WitnessOrigin origin;
  Witness witness;
};

/// Judges a record of a dump. Of a guilty one it gives the call that left the output with the most
/// wrong elements; of others nothing. Errors: those of DumpSource.
std::optional<GuiltyCall> guilty_call(DumpSource& file, const DumpRecord& record,
                                      const OpTable& table, const JudgeOptions& options,
                                      JudgedRecord& judged);

/// Texts from outside for comments and strings of programs: one line, without quotes and
/// backslashes.
std::string without_escapes(std::string_view text);

/// "/softplus/2 as softplus, fp32, of npu.h5, NPU: cut from 8192 to 2 elements"
std::string headline(const WitnessOrigin& origin, const Witness& witness);

/// What an element of the output is held to, in words.
std::string bound_text(const Witness& witness);

}  // namespace opbench
