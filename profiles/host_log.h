#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiles/hot_spots.h"
#include "profiles/line_reader.h"

namespace opbench {

/// A tensor of a logged call. Numbers as the host writes them: aclDataType, aclFormat, aclMemType;
/// extents of -1 and -2 are dynamic. The shape is logical, the storage shape that of the device.
struct LoggedTensor {
  int dtype = 0, format = 0, storage_format = 0, memory = 0;
  bool is_const = false;
  std::vector<std::int64_t> shape, storage_shape;
  /// Of a constant such as axes and sizes, one for each element; empty where the log does not say.
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

/// The call that "Conv2D, InputDesc[0]: ..." describes. Tensors behind the first damage are left
/// out, and the call is truncated. `is_cut`: the last character is lost, as in
/// ascend_op_info_summary.txt.
LoggedCall parse_call(std::string_view op, std::string_view descriptor, bool is_cut);

/// Operators that were compiled behind one mark of the log.
struct CompileBlock {
  std::string mark;              ///< "iter3"; empty in front of the first
  std::vector<std::string> ops;  ///< each once, in order
  std::int64_t compiles = 0;
  double milliseconds = 0;  ///< where the log tells
};

/// What the logs of one run say: which operators were called, how, and when they were compiled.
class HostLogs {
 public:
  /// Reads a log to its end. Returns the number of lines that told something.
  std::int64_t read(LineReader& log);

  /// Different calls, in the order of the first of each.
  const std::vector<LoggedCall>& calls() const { return calls_; }
  /// Each call that was made, by its place in `calls`; several logs are in order of time.
  std::vector<std::size_t> sequence() const;
  /// In the order of the files; the first has no mark.
  const std::vector<CompileBlock>& blocks() const { return blocks_; }
  /// Operators that were compiled behind the mark after `steps` marks, with the number of marks.
  std::vector<std::pair<std::string, std::int64_t>> compiled_after(std::int64_t steps) const;

 private:
  bool read_call(LineReader& log);
  bool read_summary_line(LineReader& log);
  bool read_compile(std::string_view text);
  bool read_mark(std::string_view text);
  void add_call(std::string_view op, std::string_view descriptor, bool is_cut, LineReader& log);

  struct MadeCall {
    std::int64_t time = 0;  ///< digits of the log's, without the century; 0: none
    std::size_t call = 0;
  };
  std::vector<LoggedCall> calls_;
  std::unordered_map<std::string, std::size_t> by_text_;
  std::vector<MadeCall> made_;
  std::vector<CompileBlock> blocks_;
};

/// True if the beginning of a file shows lines that `HostLogs` reads.
bool is_host_log(std::string_view beginning);

/// One line for each call that was made, "Conv2D InputDesc[0]: ...", as get_ascend_op_info.py of
/// the tuning guides writes ascend_op_info_summary.txt, V2 calls and the last character included.
void write_op_info(std::ostream& out, const HostLogs& logs);

/// Lines "iter: 0" and "Cast,ZerosLike" as recompiled_op.py of the tuning guides writes
/// recompile_op_list.txt: block 0 stands before the first mark. Names alone, each once.
void write_recompiles(std::ostream& out, const HostLogs& logs);

}  // namespace opbench
