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

/// An array of any file, to be read piece by piece.
struct SourceArray {
  std::string file;  ///< that it is in
  std::string name;  ///< its path in the file: "softplus/1/input/self"
  StoredType type =
      StoredType::none;  ///< what `read` gives: of a dump what was dumped, fp16 as f16
  Dims shape;
  bool is_scalar = false;  ///< an attribute of an operator and no tensor
  DeviceType device = DeviceType::cpu;
  bool has_device = false;  ///< the file tells it
  std::string problem;      ///< why it cannot be read, with the file's name; empty if it can
  std::string warning;
  ReadElements read;  ///< Errors: throws Error, and NotExact
};

/// The file says that its elements have a narrower type than that of one.
struct NotExact : Error {
  using Error::Error;
};

/// Is it called like a file that `open_arrays` reads: .h5, .hdf5, .npy, .npz, .pt, .pth, .txt,
/// .bin?
bool has_known_suffix(const std::filesystem::path& file);

/// The arrays of a file, which stays open while one of them is there. The name of the array of a
/// .npy, .txt or .bin file is `name`. `remarks` gets what is no array, one line each. With
/// `as_stored` dumps give their elements as they are stored.
/// Errors: throws Error "{path}: ..." if the file cannot be read.
std::vector<SourceArray> open_arrays(const std::filesystem::path& file, const std::string& name,
                                     bool as_stored, std::vector<std::string>& remarks);

/// Does such a file hold one array, as .npy, .txt and .bin do?
bool holds_one_array(const std::filesystem::path& file);

/// What arrays are written as: a file for each, or all in one.
enum class ArrayOutput { npy, txt, bin, npz, h5 };

/// What `text` spells; "" is told by the name of where it goes to, .npz, .h5, .txt, .bin, else
/// .npy. Errors: throws Error that lists what is allowed.
ArrayOutput array_output(const std::string& text, const std::filesystem::path& out);

/// "cpu", "cuda", "npu". Errors: throws Error that lists them.
DeviceType parse_device(const std::string& text);

struct ArrayConversion {
  std::vector<std::string> sources;  ///< files, or directories with all below them
  std::filesystem::path out;         ///< a directory; a file for npz, h5 and `is_one_file`
  ArrayOutput to = ArrayOutput::npy;
  DeviceType device = DeviceType::cpu;                   ///< of tensors whose file does not tell it
  std::function<bool(std::string_view)> only = nullptr;  ///< by name; all where empty
  bool overwrite = false;                                ///< files that are there already

  /// Everything goes into the file `out`.
  bool is_one_file() const;
};

/// Errors: throws Error where `out` has the name of a file of one array, such as x.txt, and the
/// sources may hold more than one.
void require_room(const ArrayConversion& conversion);

/// Converts arrays. Files are named after the arrays, folders included:
/// "softplus/1/input/self.npy", "softplus/1/input/self.2x3.float32.bin". In an .h5 file, arrays
/// whose name is that of a tensor of a dump go where it says; there inputs without extents of
/// float64, int64 and bool are scalars. Others become records of their own,
/// /{name}/{number}/output/result.
///
/// What cannot be converted is told in the outcome and does not stop the others. Files are written
/// by several threads; memory: a few MiB for each, and for one file of all the largest array.
/// Errors: throws Error if a directory cannot be read, RunError if `out` cannot be written.
ConvertOutcome convert_arrays(const ArrayConversion& conversion, const std::function<bool()>& stop);

/// Where converted arrays go to.
class ArraySink {
 public:
  /// `conversion` must outlive it. Errors: throws RunError if what it names cannot be written.
  explicit ArraySink(const ArrayConversion& conversion);
  ~ArraySink();

  /// May several threads write at the same time? Else the order of the arrays counts.
  bool takes_several() const;

  /// Errors: throws Error for names and types that cannot be written, and what `array.read` throws;
  /// RunError if it cannot be written.
  void write(const SourceArray& array);

  /// Gives a file of several arrays its name.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace opbench
