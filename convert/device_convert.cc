#include "convert/device_convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "convert/device_tensors.h"
#include "convert/file_workers.h"
#include "dump/device/device_names.h"
#include "dump/device/device_types.h"
#include "tensor/error.h"
#include "text/output_file.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

// One dump to convert.
struct Source {
  fs::path file;
  std::string dump_name;  // the file's, or what mapping.csv says it stands for
  fs::path out;           // directory
};

std::vector<fs::path> files_below(const fs::path& directory) {
  std::vector<fs::path> files;
  try {
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  } catch (const fs::filesystem_error& error) {
    throw Error(fmt::format("cannot read {}: {}", error.path1().string(), error.code().message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

class Sources {
 public:
  explicit Sources(const DeviceConversion& conversion) : conversion_(conversion) {
    for (const std::string& source : conversion.sources) {
      std::error_code ignored;
      if (fs::is_directory(source, ignored)) {
        add_directory(source);
      } else {
        add(source, conversion.out);
      }
    }
  }

  std::vector<Source> list;
  std::vector<std::string> remarks;

 private:
  void add(const fs::path& file, const fs::path& out) {
    const std::string name = file.filename().string();
    const NameMapping& mapping = mapping_of(file.parent_path());
    const auto found = mapping.find(name);
    list.push_back({file, found == mapping.end() ? name : found->second, out});
  }

  void add_directory(const fs::path& directory) {
    std::size_t left_out = 0;
    for (const fs::path& file : files_below(directory)) {
      const std::string name = file.filename().string();
      if (is_device_dump_name(name) || mapping_of(file.parent_path()).contains(name)) {
        add(file, conversion_.out / file.parent_path().lexically_relative(directory));
      } else {
        left_out += name != "mapping.csv";
      }
    }
    if (left_out == 0) return;
    remarks.push_back(fmt::format(
        "{}: {} files are left out, whose names are not {{type}}.{{name}}.{{task}}.{{time}}",
        directory.string(), left_out));
  }

  const NameMapping& mapping_of(const fs::path& directory) {
    const auto [place, is_new] = mappings_.try_emplace(directory);
    if (is_new) place->second = read_name_mapping(directory);
    return place->second;
  }

  const DeviceConversion& conversion_;
  std::map<fs::path, NameMapping> mappings_;
};

void write_mappings(const std::vector<Source>& sources, const std::vector<NameMapping>& mappings,
                    ConvertOutcome& outcome) {
  std::map<fs::path, NameMapping> by_directory;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (mappings[i].empty()) continue;
    by_directory[sources[i].out].insert(mappings[i].begin(), mappings[i].end());
  }
  for (const auto& [directory, mapping] : by_directory) {
    outcome.attempt((directory / "mapping.csv").string(),
                    [&] { add_to_name_mapping(directory, mapping); });
  }
}

}  // namespace

ConvertOutcome convert_device_dumps(const DeviceConversion& conversion,
                                    const std::function<bool()>& stop) {
  std::optional<std::int64_t> format;
  if (conversion.format) format = device_format_number(*conversion.format);
  const Sources sources(conversion);
  std::set<fs::path> directories = {conversion.out};
  for (const Source& source : sources.list) directories.insert(source.out);
  for (const fs::path& directory : directories) make_directory(directory);
  std::vector<ConvertOutcome> outcomes(sources.list.size());
  std::vector<NameMapping> mappings(sources.list.size());
  MemoryBudget budget;
  for_each_file(
      sources.list.size(),
      [&](std::size_t i) {
        const Source& source = sources.list[i];
        DeviceTensors(conversion, format, source.out, source.dump_name, budget, mappings[i])
            .convert(source.file, outcomes[i]);
      },
      stop);
  ConvertOutcome outcome;
  outcome.remarks = sources.remarks;
  for (ConvertOutcome& one : outcomes) outcome.add(std::move(one));
  write_mappings(sources.list, mappings, outcome);
  return outcome;
}

}  // namespace opbench
