#include "compare/witness_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <limits>
#include <optional>
#include <ostream>
#include <system_error>

#include "compare/call_texts.h"
#include "dump/dump_writer.h"
#include "harness/run/run_dump.h"
#include "tensor/error.h"
#include "text/output_file.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& folder, int error) {
  throw RunError(fmt::format("cannot make the folder {}: {}", folder.string(),
                             std::generic_category().message(error)));
}

// Removes the slash of "out/" and resolves a link.
fs::path place_of(const std::string& path) {
  fs::path place = fs::path(path).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();
  return behind_links(place);
}

void require_free(const fs::path& place) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(place, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status)) {
    throw Error(fmt::format("{} is not a folder", place.string()));
  }
  if (!fs::is_empty(place, error) || error) {
    throw Error(fmt::format("the folder {} is there already and is not empty; name another with -o",
                            place.string()));
  }
}

void write_text(const fs::path& path, const std::string& text) {
  OutputFile(path.string()).write([&](std::ostream& out) { out << text; });
}

// Operators in folders can have names of several parts.
std::string group_name(const std::string& op) { return op.substr(op.rfind('/') + 1); }

std::optional<int> sequence_number(const std::string& text) {
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  constexpr std::size_t kDigits = std::numeric_limits<int>::digits10;
  if (!is_number || text.size() > kDigits) return std::nullopt;
  return std::atoi(text.c_str());
}

void write_dump(const fs::path& path, const WitnessOrigin& origin, const Witness& witness) {
  const Problem& problem = witness.problem();
  const Op& op = *problem.op;
  DumpWriter writer(path);
  writer.begin_record(group_name(origin.record.op), witness.call->outputs[witness.output]->device,
                      {call_note(problem)}, sequence_number(origin.record.seq));
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    writer.write_input(op.input_path(i), problem.inputs[i], witness.loaded.inputs[i].data());
  }
  write_attributes(writer, problem.attrs);
  writer.write_output(op.output_path(problem, witness.output), problem.outputs[witness.output],
                      witness.recorded().data());
  writer.finish();
}

void require_guilty(const fs::path& path, const Witness& witness, JudgeOptions options) {
  options.implementations = NameImplementations::none;
  DumpSource file(path);
  if (file.records().size() != 1) throw RunError("call.h5 does not read back as one record");
  const JudgedRecord judged =
      judge_record(file, file.records().front(), OpTable::builtin(), options);
  const OutputFinding* found = judged.worst();
  if (found != nullptr && found->reason == witness.finding.reason) return;
  throw RunError(fmt::format(
      "call.h5 as it reads back is {}{}, not GUILTY: {}", name(judged.ruling),
      found != nullptr ? ": " + found->reason : ", " + judged.reason, witness.finding.reason));
}

}  // namespace

NewFolder::NewFolder(const std::string& path) : target_(place_of(path)) {
  require_free(target_);
  if (target_.has_parent_path()) make_directory(target_.parent_path());
  std::string hidden = (target_.parent_path() / ".opbench-XXXXXX").string();
  if (mkdtemp(hidden.data()) == nullptr) fail(target_, errno);
  hidden_ = hidden;
  const mode_t mask = umask(0);
  umask(mask);
  chmod(hidden_.c_str(), 0777 & ~mask);
}

NewFolder::~NewFolder() {
  std::error_code ignored;
  if (!hidden_.empty()) fs::remove_all(hidden_, ignored);
}

std::string NewFolder::with_real_name(std::string message) const {
  const std::string hidden = hidden_.string();
  const std::size_t at = message.find(hidden);
  return at == message.npos ? message : message.replace(at, hidden.size(), target_.string());
}

void NewFolder::commit() {
  require_free(target_);
  if (std::rename(hidden_.c_str(), target_.c_str()) != 0) fail(target_, errno);
  hidden_.clear();
}

void write_witness(const NewFolder& folder, const WitnessOrigin& origin, const Witness& witness,
                   const JudgeOptions& options) {
  try {
    write_dump(folder.file("call.h5"), origin, witness);
    require_guilty(folder.file("call.h5"), witness, options);
    write_text(folder.file("call.py"), torch_script(origin, witness));
    write_text(folder.file("call_test.cc"), googletest_file(origin, witness));
    write_text(folder.file("README.md"), readme(origin, witness));
  } catch (const RunError& error) {
    throw RunError(folder.with_real_name(error.what()));
  }
}

}  // namespace opbench
