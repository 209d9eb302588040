#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

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

}  // namespace opbench
