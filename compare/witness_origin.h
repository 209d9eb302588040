#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/judge_dump.h"
#include "compare/witness.h"

namespace opbench {

/// The source of a witness, and the call before any cut.
struct WitnessOrigin {
  std::string file;     ///< as it was given
  JudgedRecord record;  ///< what the judge said of it
  OutputFinding finding;
  std::vector<TensorDesc> inputs;
  TensorDesc output;
  std::int64_t elements = 0;  ///< of all of them
};

/// The worst output of a GUILTY record.
struct GuiltyCall {
  WitnessOrigin origin;
  Witness witness;
};

/// Judges a record of a dump. For a GUILTY record it returns the call whose output has the most
/// wrong elements; otherwise empty. Errors: those of DumpSource.
std::optional<GuiltyCall> guilty_call(DumpSource& file, const DumpRecord& record,
                                      const OpTable& table, const JudgeOptions& options,
                                      JudgedRecord& judged);

/// "/softplus/2 as softplus, fp32, of npu.h5, NPU: cut from 8192 to 2 elements"
std::string headline(const WitnessOrigin& origin, const Witness& witness);

/// The bound of an element of the output, in words.
std::string bound_text(const Witness& witness);

}  // namespace opbench
