#include "dump/array_convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <set>

#include "dump/conversion.h"
#include "tensor/error.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

// A file to read. `name` is used for its array if the file holds one array.
struct SourceFile {
  fs::path path;
  std::string name;
};

std::string without_suffix(const fs::path& path) {
  fs::path result = path;
  return result.replace_extension().string();
}

void add_directory(const fs::path& directory, std::vector<SourceFile>& files,
                   std::vector<std::string>& remarks) {
  std::vector<SourceFile> found;
  std::size_t left_out = 0;
  try {
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
      if (!entry.is_regular_file()) continue;
      const bool is_known = has_known_suffix(entry.path());
      left_out += !is_known;
      if (!is_known) continue;
      const fs::path below = entry.path().lexically_relative(directory);
      found.push_back({entry.path(), without_suffix(below)});
    }
  } catch (const fs::filesystem_error& error) {
    throw Error(fmt::format("cannot read {}: {}", error.path1().string(), error.code().message()));
  }
  std::sort(found.begin(), found.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  files.insert(files.end(), found.begin(), found.end());
  if (left_out > 0) {
    remarks.push_back(
        fmt::format("{}: {} files of other kinds are left out", directory.string(), left_out));
  }
}

class ArrayConverter {
 public:
  ArrayConverter(const ArrayConversion& conversion, const std::function<bool()>& stop)
      : conversion_(conversion), stop_(stop), sink_(conversion) {}

  ConvertOutcome run() {
    std::vector<SourceFile> files;
    for (const std::string& source : conversion_.sources) {
      std::error_code ignored;
      if (fs::is_directory(source, ignored)) {
        add_directory(source, files, outcome_.remarks);
      } else {
        files.push_back({source, without_suffix(fs::path(source).filename())});
      }
    }
    outcome_.sources = std::ssize(files);
    for (std::size_t first = 0; first < files.size() && !stop_();) {
      const std::size_t count = small_files(files, first);
      count > 0 ? convert_small(files, first, count) : convert_file(files[first]);
      first += std::max<std::size_t>(count, 1);
    }
    // An interrupted or empty conversion leaves no file.
    if (!stop_() && outcome_.written > 0) sink_.finish();
    return std::move(outcome_);
  }

 private:
  // Counts the files from `first` on that hold one array each and may be converted at the same
  // time.
  std::size_t small_files(const std::vector<SourceFile>& files, std::size_t first) const {
    std::size_t count = 0;
    while (first + count < files.size() && holds_one_array(files[first + count].path)) ++count;
    return count;
  }

  void convert_small(const std::vector<SourceFile>& files, std::size_t first, std::size_t count) {
    for_each(count, [&](std::size_t i) {
      const SourceFile& file = files[first + i];
      ConvertOutcome one;
      one.attempt(file.path.string(), [&] {
        for (const SourceArray& array : open_arrays(file.path, file.name, false, one.remarks)) {
          convert(file, array, one);
        }
      });
      add(std::move(one));
    });
  }

  void convert_file(const SourceFile& file) {
    std::vector<SourceArray> arrays;
    outcome_.attempt(file.path.string(),
                     [&] { arrays = open_arrays(file.path, file.name, false, outcome_.remarks); });
    for_each(arrays.size(), [&](std::size_t i) {
      ConvertOutcome one;
      convert(file, arrays[i], one);
      add(std::move(one));
    });
  }

  void for_each(std::size_t count, const std::function<void(std::size_t)>& work) const {
    if (sink_.takes_several()) return for_each_file(count, work, stop_);
    for (std::size_t i = 0; i < count && !stop_(); ++i) work(i);
  }

  void convert(const SourceFile& file, const SourceArray& array, ConvertOutcome& outcome) {
    if (conversion_.only && !conversion_.only(array.name)) return;
    outcome.attempt(file.path.string(), [&] {
      if (!array.problem.empty()) throw Error(array.problem);
      if (!array.warning.empty()) outcome.remarks.push_back(array.warning);
      try {
        sink_.write(array);
      } catch (const NotExact& error) {
        outcome.remarks.push_back(
            fmt::format("{}: {}; written as stored", file.path.string(), error.what()));
        sink_.write(as_stored(file, array.name));
      } catch (const RunError&) {
        throw;
      } catch (const Error& error) {
        throw Error(fmt::format("{}: {}", printable(array.name), error.what()));
      }
      ++outcome.written;
    });
  }

  static SourceArray as_stored(const SourceFile& file, const std::string& name) {
    std::vector<std::string> remarks;
    for (SourceArray& array : open_arrays(file.path, file.name, true, remarks)) {
      if (array.name == name) return std::move(array);
    }
    throw Error(fmt::format("{}: {} is gone", file.path.string(), printable(name)));
  }

  void add(ConvertOutcome&& one) {
    const std::lock_guard lock(mutex_);
    outcome_.add(std::move(one));
  }

  const ArrayConversion& conversion_;
  const std::function<bool()>& stop_;
  ArraySink sink_;
  std::mutex mutex_;
  ConvertOutcome outcome_;
};

}  // namespace

ArrayOutput array_output(const std::string& text, const fs::path& out) {
  const std::vector<std::string> names = {"npy", "txt", "bin", "npz", "h5"};
  const std::string suffix = out.extension().string();
  if (text.empty() && (suffix == ".h5" || suffix == ".hdf5")) return ArrayOutput::h5;
  const auto named = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name);
  };
  if (text.empty() && suffix.empty()) return ArrayOutput::npy;
  const auto found = named(text.empty() ? suffix.substr(1) : text);
  if (found != names.end()) return static_cast<ArrayOutput>(found - names.begin());
  if (text.empty()) return ArrayOutput::npy;
  throw Error(fmt::format("--to: found '{}'{}", text, suggestion(text, names)));
}

DeviceType parse_device(const std::string& text) {
  if (text == "cpu") return DeviceType::cpu;
  if (text == "cuda") return DeviceType::cuda;
  if (text == "npu") return DeviceType::npu;
  throw Error(fmt::format("--device: found '{}'; allowed are cpu, cuda, npu", text));
}

bool ArrayConversion::is_one_file() const {
  if (to == ArrayOutput::npz || to == ArrayOutput::h5) return true;
  constexpr std::array<std::string_view, 3> kSuffixes = {
      ".npy", ".txt", ".bin"};  // extensions of the ArrayOutput formats that hold one array
  std::error_code ignored;
  return out.extension() == kSuffixes[static_cast<std::size_t>(to)] &&
         !fs::is_directory(out, ignored);
}

void require_room(const ArrayConversion& conversion) {
  const bool is_archive = conversion.to == ArrayOutput::npz || conversion.to == ArrayOutput::h5;
  if (is_archive || !conversion.is_one_file()) return;
  std::error_code ignored;
  const std::string& first = conversion.sources.front();
  const bool is_one =
      conversion.sources.size() == 1 && !fs::is_directory(first, ignored) && holds_one_array(first);
  if (is_one) return;
  throw Error(fmt::format("{} is a file of one array, and {} may hold more; name a folder",
                          conversion.out.string(),
                          conversion.sources.size() == 1 ? first : std::string("the sources")));
}

ConvertOutcome convert_arrays(const ArrayConversion& conversion,
                              const std::function<bool()>& stop) {
  return ArrayConverter(conversion, stop).run();
}

}  // namespace opbench
