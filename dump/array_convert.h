#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dump/conversion.h"
#include "dump/dump_types.h"
#include "dump/one_array.h"
#include "tensor/error.h"

namespace opbench {

/// An array in a file of any format, which is read piece by piece.
struct SourceArray {
  std::string file;  ///< path of the file that holds it
  std::string name;  ///< its path in the file: "softplus/1/input/self"
  StoredType type =
      StoredType::none;  ///< type that `read` returns; for a dump the dumped type: fp16 as f16
  Dims shape;
  bool is_scalar = false;  ///< true for an attribute of an operator, false for a tensor
  DeviceType device = DeviceType::cpu;
  bool has_device = false;  ///< the file states the device
  std::string problem;      ///< why it cannot be read, with the file's name; else empty
  std::string warning;
  ReadElements read;  ///< Errors: throws Error, and NotExact
};

/// The elements of an array do not have the type that the file states.
struct NotExact : Error {
  using Error::Error;
};

/// True if `open_arrays` reads files of this extension: .h5, .hdf5, .txt, .bin, and those of
/// `has_array_suffix`.
bool has_known_suffix(const std::filesystem::path& file);

/// Opens the arrays of a file. The file stays open while any of them exists. The array of a .npy,
/// .txt or .bin file is called `name`. `remarks` receives a line for each object that is not an
/// array. With `as_stored`, elements of dumps keep their stored type.
/// Errors: throws Error "{path}: ..." if the file cannot be read.
std::vector<SourceArray> open_arrays(const std::filesystem::path& file, const std::string& name,
                                     bool as_stored, std::vector<std::string>& remarks);

/// True for a file that holds one array: .npy, .txt, .bin.
bool holds_one_array(const std::filesystem::path& file);

/// Output format of converted arrays: a file for each array, or one file for all.
enum class ArrayOutput { npy, txt, bin, npz, h5 };

/// Parses the format `text`. If `text` is "", the extension of `out` selects the format: .npz, .h5,
/// .txt or .bin, else .npy. Errors: throws Error that lists the allowed formats.
ArrayOutput array_output(const std::string& text, const std::filesystem::path& out);

/// Parses "cpu", "cuda" or "npu". Errors: throws Error that lists them.
DeviceType parse_device(const std::string& text);

struct ArrayConversion {
  std::vector<std::string> sources;  ///< files, or directories with all files below them
  std::filesystem::path out;         ///< a directory; a file for npz, h5 and `is_one_file`
  ArrayOutput to = ArrayOutput::npy;
  DeviceType device = DeviceType::cpu;  ///< of tensors whose file does not state it
  std::function<bool(std::string_view)> only = nullptr;  ///< selects arrays by name; empty: all
  bool overwrite = false;                                ///< replace existing files

  /// True if all arrays are written to the file `out`.
  bool is_one_file() const;
};

/// Errors: throws Error if the extension of `out` is that of a file with one array, such as x.txt,
/// and the sources may hold more than one array.
void require_room(const ArrayConversion& conversion);

/// Converts arrays. Files are named after the arrays, folders included:
/// "softplus/1/input/self.npy", "softplus/1/input/self.2x3.float32.bin". In an .h5 file, an array
/// whose name is the path of a dumped tensor is written to that path. There, inputs without extents
/// of float64, int64 and bool are scalars. Other arrays become separate records:
/// /{name}/{number}/output/result.
/// The outcome lists arrays that cannot be converted. They do not stop the others. Several threads
/// write files. Memory: a few MiB for each file; for one output file the size of the largest array.
/// Errors: throws Error if a directory cannot be read, RunError if `out` cannot be written.
ConvertOutcome convert_arrays(const ArrayConversion& conversion, const std::function<bool()>& stop);

/// Writes converted arrays to the output files.
class ArraySink {
 public:
  /// `conversion` must outlive the sink. Errors: throws RunError if the output cannot be written.
  explicit ArraySink(const ArrayConversion& conversion);
  ~ArraySink();

  /// True if several threads may write at the same time. Otherwise the order of the arrays matters.
  bool takes_several() const;

  /// Errors: throws Error for names and types that cannot be written, and the errors of
  /// `array.read`; RunError if the output cannot be written.
  void write(const SourceArray& array);

  /// Renames a file of several arrays to its final name.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace opbench
