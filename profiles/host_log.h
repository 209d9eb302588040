#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiles/hot_spots.h"
#include "profiles/line_reader.h"

namespace opbench {

/// A tensor of a logged call. Numbers are those of the host: aclDataType, aclFormat, aclMemType.
/// Extents of -1 and -2 are dynamic. The shape is logical; the storage shape is that on the device.
struct LoggedTensor {
  int dtype = 0, format = 0, storage_format = 0, memory = 0;
  bool is_const = false;
  std::vector<std::int64_t> shape, storage_shape;
  /// The values of a constant such as axes and sizes; empty if the log does not have them.
  std::vector<double> values;
};

/// A call of aclopCompileAndExecute.
struct LoggedCall {
  std::string op;
  std::string descriptor;  ///< as logged, from "InputDesc[0]" on
  std::vector<LoggedTensor> inputs, outputs;
  std::optional<std::string> attrs;  ///< "{axis = 1}"
  bool is_truncated = false;         ///< the log cut the line: tensors or attributes may be missing
  SourceRow first;
  std::int64_t count = 0;
};

/// Parses "Conv2D, InputDesc[0]: ...". Tensors after the first damage are skipped, and the call is
/// marked truncated. `is_cut`: the last character is missing, as in ascend_op_info_summary.txt.
LoggedCall parse_call(std::string_view op, std::string_view descriptor, bool is_cut);

/// Operators that were compiled after one mark of the log.
struct CompileBlock {
  std::string mark;              ///< "iter3"; empty before the first mark
  std::vector<std::string> ops;  ///< each operator once, in order
  std::int64_t compiles = 0;
  double milliseconds = 0;  ///< 0 if the log has no times
};

/// Equal messages of a log: errors, or misses of the cache of compiled operators.
struct LogProblem {
  bool is_error = false;  ///< false: the cache has no operator with these shapes
  std::string op;         ///< empty: the message does not name it
  std::string text;       ///< the first message, without time and place
  SourceRow first;
  std::map<std::size_t, std::int64_t> counts;  ///< by place in `blocks`
};

/// The error or the miss that a line of a log states; empty for other lines.
std::optional<LogProblem> parse_problem(std::string_view line);

/// True if a line of the text states one.
bool has_log_problem(std::string_view text);

/// The called operators, their arguments and their compilations, from the logs of one run.
class HostLogs {
 public:
  /// Reads a log to its end. Returns the number of lines that were used.
  std::int64_t read(LineReader& log);

  /// Different calls, ordered by their first occurrence.
  const std::vector<LoggedCall>& calls() const { return calls_; }
  /// All calls as places in `calls`; calls of several logs are ordered by time.
  std::vector<std::size_t> sequence() const;
  /// In the order of the files; the first block has no mark.
  const std::vector<CompileBlock>& blocks() const { return blocks_; }
  /// In the order of their first lines. Numbers in messages do not distinguish them, nor shapes the
  /// misses of one operator.
  const std::vector<LogProblem>& problems() const { return problems_; }
  /// Operators that were compiled after more than `steps` marks, with their number of such blocks.
  std::vector<std::pair<std::string, std::int64_t>> compiled_after(std::int64_t steps) const;

 private:
  bool read_call(LineReader& log);
  bool read_summary_line(LineReader& log);
  bool read_compile(std::string_view text);
  bool read_mark(std::string_view text);
  bool read_problem(LineReader& log);
  void add_call(std::string_view op, std::string_view descriptor, bool is_cut, LineReader& log);

  struct MadeCall {
    std::int64_t time = 0;  ///< digits of the logged time, without the century; 0: no time
    std::size_t call = 0;
  };
  std::vector<LoggedCall> calls_;
  std::unordered_map<std::string, std::size_t> by_text_;
  std::vector<MadeCall> made_;
  std::vector<CompileBlock> blocks_;
  std::vector<LogProblem> problems_;
  std::unordered_map<std::string, std::size_t> problems_by_text_;
};

/// True for the names of host logs that the script reads in a folder: *.log and *.out.
bool is_host_log_name(std::string_view name);

/// True if the beginning of a file contains lines that `HostLogs` reads.
bool is_host_log(std::string_view beginning);

/// Writes a line for each different call, "Conv2D InputDesc[0]: ...", type by type, in the format
/// of get_ascend_op_info.py, which writes ascend_op_info_summary.txt. V2 calls and the last
/// character are included.
void write_op_info(std::ostream& out, const HostLogs& logs);

/// Writes lines "iter: 0" and "Cast,ZerosLike" in the format of recompiled_op.py, which writes
/// recompile_op_list.txt. Block 0 is before the first mark. Each name appears once.
void write_recompiles(std::ostream& out, const HostLogs& logs);

}  // namespace opbench
