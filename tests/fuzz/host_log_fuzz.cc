#include <cstdint>
#include <sstream>

#include "profiles/host_log.h"
#include "tests/fuzz/fuzz.h"

// The written form of a log can be read again, with equal content.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  opbench::HostLogs logs;
  opbench::LineReader lines(opbench::ByteWindow(opbench::bytes_of(text)), "f.log");
  logs.read(lines);
  for (const std::size_t call : logs.sequence()) {
    opbench::require(call < logs.calls().size(), "a call that was made is known", text);
  }
  for (const opbench::LoggedCall& call : logs.calls()) {
    const opbench::LoggedCall again = opbench::parse_call(call.op, call.descriptor, false);
    opbench::require(
        again.inputs.size() == call.inputs.size() && again.outputs.size() == call.outputs.size(),
        "a descriptor is read the same again", call.descriptor);
  }
  std::ostringstream out;
  opbench::write_op_info(out, logs);
  opbench::write_recompiles(out, logs);
  return 0;
}
