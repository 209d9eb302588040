#include "dump/device_convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "dump/conversion.h"
#include "dump/device/device_names.h"
#include "tensor/buffer.h"
#include "tensor/error.h"
#include "text/output_file.h"
#include "text/packed.h"
#include "workers/dispatch.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

// A dump to convert.
struct Source {
  fs::path file;
  std::string dump_name;  // the file's name, or the original name from mapping.csv
  fs::path out;           // output directory
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
  for (const auto& entry : by_directory) {
    outcome.attempt((entry.first / "mapping.csv").string(),
                    [&] { add_to_name_mapping(entry.first, entry.second); });
  }
}

/// Results of a conversion by the ranks.
struct Converted {
  ConvertOutcome outcome;
  NameMapping mapping;
};

}  // namespace

template <class V>
void each_field(V& v, FieldsOf<ConvertFailure> auto& failure) {
  v.fields(failure.file, failure.reason, failure.is_of_machine);
}

template <class V>
void each_field(V& v, FieldsOf<ConvertOutcome> auto& outcome) {
  v.fields(outcome.sources, outcome.written, outcome.remarks, outcome.failures);
}

namespace {

/// The dumps of a conversion, and the outcome of each.
class DeviceDumps {
 public:
  explicit DeviceDumps(const DeviceConversion& conversion)
      : conversion_(conversion),
        format_(format_of(conversion)),
        sources_(conversion),
        converted_(sources_.list.size()) {}

  void make_directories() const {
    std::set<fs::path> directories = {conversion_.out};
    for (const Source& source : sources_.list) directories.insert(source.out);
    for (const fs::path& directory : directories) make_directory(directory);
  }

  void convert_here(const std::function<bool()>& stop) {
    for_each_file(
        converted_.size(), [&](std::size_t i) { converted_[i] = convert(i); }, stop);
  }

  void convert_by(Ranks& ranks, const std::function<bool()>& stop) {
    const UnitWork work = [this](std::string_view unit) {
      const Converted converted = convert(Unpacker(unit).get<std::size_t>());
      return pack_all(converted.outcome, converted.mapping);
    };
    if (!ranks.is_first()) {
      serve(ranks, plan(), work);
      return;
    }
    constexpr double kBytesPerSecond = 5e8;  // an estimate; only proportions matter
    UnitQueue units;
    for (std::size_t i = 0; i < converted_.size(); ++i) {
      std::error_code ignored;
      const auto bytes = fs::file_size(sources_.list[i].file, ignored);
      units.add(pack_all(i), 1e-4 + (ignored ? 0 : static_cast<double>(bytes) / kBytesPerSecond));
    }
    DispatchHooks hooks;
    hooks.stop = stop;
    hooks.done = [this](std::size_t i, const std::string& found) {
      Unpacker(found).fields(converted_[i].outcome, converted_[i].mapping);
    };
    dispatch(ranks, plan(), units, work, hooks);
  }

  ConvertOutcome finish() {
    ConvertOutcome outcome;
    outcome.remarks = sources_.remarks;
    std::vector<NameMapping> mappings;
    for (Converted& one : converted_) {
      outcome.add(std::move(one.outcome));
      mappings.push_back(std::move(one.mapping));
    }
    write_mappings(sources_.list, mappings, outcome);
    return outcome;
  }

 private:
  static std::optional<std::int64_t> format_of(const DeviceConversion& conversion) {
    if (!conversion.format) return std::nullopt;
    return device_format_number(*conversion.format);
  }

  Converted convert(std::size_t i) {
    Converted converted;
    const Source& source = sources_.list.at(i);
    DeviceTensors(conversion_, format_, source.out, source.dump_name, budget_, converted.mapping)
        .convert(source.file, converted.outcome);
    return converted;
  }

  std::string plan() const {
    std::string all;
    for (const Source& source : sources_.list) all += source.file.string() + '\n';
    return fmt::format("{} files, {:016x}", sources_.list.size(), checksum(all.data(), all.size()));
  }

  const DeviceConversion& conversion_;
  const std::optional<std::int64_t> format_;
  const Sources sources_;
  std::vector<Converted> converted_;
  MemoryBudget budget_;
};

}  // namespace

ConvertOutcome convert_device_dumps(const DeviceConversion& conversion,
                                    const std::function<bool()>& stop) {
  return convert_device_dumps(Ranks::alone(), conversion, stop);
}

ConvertOutcome convert_device_dumps(Ranks& ranks, const DeviceConversion& conversion,
                                    const std::function<bool()>& stop) {
  DeviceDumps dumps(conversion);
  if (ranks.is_first()) dumps.make_directories();
  if (ranks.is_alone()) {
    dumps.convert_here(stop);
  } else {
    dumps.convert_by(ranks, stop);
  }
  return ranks.is_first() ? dumps.finish() : ConvertOutcome();
}

}  // namespace opbench
