#include "compare/msaccucmp/msaccucmp_files.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include "dump/arrays/numpy_writer.h"
#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/output_file.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

void write_private(const fs::path& path, const std::function<void(std::ostream&)>& content) {
  OutputFile(path.string()).write(content);
  std::error_code ignored;  // file systems without permissions have none to lose
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write, ignored);
}

// "my_dump3_output_result0.npy": tensors of one operator need different names.
fs::path npy_name(const char* side, const MsaccucmpRow& row, const DumpEntry& entry) {
  std::string name =
      fmt::format("{}{}_{}_{}", side, row.index, opbench::name(entry.side), entry.name);
  std::replace_if(
      name.begin(), name.end(),
      [](char letter) {
        return std::string_view("/\\:*?\"<>|").find(letter) != std::string_view::npos;
      },
      '_');
  return printable(name) + ".npy";
}

void save(DumpSource& file, const DumpEntry& entry, const fs::path& path) {
  constexpr std::int64_t kPieceElements = 256 * 1024;
  NpyWriter writer(path, entry.stored, entry.desc.shape);
  std::vector<std::byte> piece;
  const std::int64_t elements = entry.desc.elements();
  for (std::int64_t done = 0; done < elements; done += kPieceElements) {
    const std::int64_t count = std::min(elements - done, kPieceElements);
    piece.resize(static_cast<std::size_t>(count) * size_of(entry.stored));
    file.read(entry, {done, count}, piece.data());
    writer.write(piece.data(), piece.size());
  }
  writer.finish();
}

}  // namespace

MsaccucmpFiles::MsaccucmpFiles(const fs::path& directory, std::time_t now) {
  make_directory(directory);
  std::error_code ignored;
  do {
    result_ = directory / fmt::format("result_{:%Y%m%d%H%M%S}.csv", fmt::localtime(now++));
  } while (fs::exists(result_, ignored));
}

void MsaccucmpFiles::write(std::span<const Metric> metrics, const MsaccucmpLines& lines,
                           const MsaccucmpExtras& extras, DumpSource& actual,
                           DumpSource& golden) const {
  write_private(result_, [&](std::ostream& out) { write_msaccucmp_csv(out, metrics, lines); });
  if (extras.filter) write_filtered(metrics, lines, actual, golden);
  if (extras.advice) {
    write_private(result_.parent_path() / "advisor_summary.txt",
                  [&](std::ostream& out) { out << msaccucmp_advice(lines, metrics); });
  }
}

void MsaccucmpFiles::write_filtered(std::span<const Metric> metrics, const MsaccucmpLines& lines,
                                    DumpSource& actual, DumpSource& golden) const {
  const fs::path folder = result_.parent_path() / (result_.stem().string() + "_filtered");
  make_directory(folder);
  const MsaccucmpLines kept = [&](const std::function<void(const MsaccucmpLine&)>& use) {
    lines([&](const MsaccucmpLine& line) {
      if (line.is_to_look_at()) use(line);
    });
  };
  write_private(folder / "filtered_result.csv",
                [&](std::ostream& out) { write_msaccucmp_csv(out, metrics, kept); });
  kept([&](const MsaccucmpLine& line) {
    const TensorMatch& tensors = line.row.tensors;
    if (tensors.actual == nullptr || line.dtype == kMsaccucmpNone) return;
    save(actual, *tensors.actual, folder / npy_name("my_dump", line.row, *tensors.actual));
    save(golden, *tensors.expected, folder / npy_name("gold_dump", line.row, *tensors.expected));
  });
}

}  // namespace opbench
