#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "opbench/guest/use.h"

namespace opbench::guest {

/// A failure that is answered with {"error": text}.
struct GuestError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The kernel does not take the case: answered with {"refused": text}.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A kernel that is prepared for one use. Errors: every function may throw.
class Session {
 public:
  virtual ~Session() = default;
  virtual void load() {}
  /// Computes the outputs, and waits for the work. Returns the seconds by the device's events; a
  /// negative number without events.
  virtual double call() = 0;
  virtual void fetch() {}
};

/// A loaded library with its kernels.
class Library {
 public:
  virtual ~Library() = default;
  /// The answer to `describe` without the version of the protocol.
  virtual Json describe() const = 0;
  /// Errors: throws Refusal, GuestError, or what the library throws.
  virtual std::unique_ptr<Session> open(std::size_t kernel, Use use, std::byte* memory) = 0;
  /// Empties the device's caches. Returns false if the library cannot.
  virtual bool evict() { return false; }
};

/// A function of a library may be mapped to an operator: softplus_fast=softplus.
struct Mapping {
  std::string function, op;
};

/// Loads a library of either kind. Errors: throws GuestError, which names the file.
std::unique_ptr<Library> load_library(const std::string& file,
                                      const std::vector<Mapping>& mappings);

}  // namespace opbench::guest
