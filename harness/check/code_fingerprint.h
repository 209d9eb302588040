#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/check/program_image.h"

namespace opbench::check {

/// Is this a function that the headers of a library alone have made: the standard's, fmt's or
/// another of those that opbench is made with? Not when a type of anybody else's is in its name, as
/// in std::sort over a comparison: that one's code is in it. `mangled`: as in a program's symbols.
bool is_of_library(const std::string& mangled);

/// Fingerprints of parts of a program that do not depend on where the linker put them: of the
/// instructions, constants and tables that functions reach, with every address replaced by what
/// lies there. Two programs whose fingerprints agree run the same instructions there, so that what
/// differs in time is the layout of code and data.
///
/// Reached are calls, jumps, and all whose address is taken, in code or in tables of pointers, from
/// function to function. Of a library only the names that are called count, also of one that is
/// compiled into the program from headers: its functions are as the compilers made them, which
/// compilers() names, and of the copies in several objects the linker picks one. Not seen: an array
/// without a name of which only the address is taken, and what other code writes at start-up.
class ProgramCode {
 public:
  /// Errors: as ProgramImage.
  explicit ProgramCode(const std::string& path) : image_(path) {}

  /// Of what the functions at these addresses reach, as 16 hexadecimal digits.
  /// Errors: throws Error for an address where no function is.
  std::string fingerprint(const std::vector<std::uint64_t>& roots);

  /// As ProgramImage's: a part of what a fingerprint stands for.
  const std::string& compilers() const { return image_.compilers(); }

  /// The address of a function by its mangled name. Errors: throws Error if there is none.
  std::uint64_t address_of(const std::string& name) const;

 private:
  /// A function or object, and what it refers to.
  struct Part {
    std::uint64_t hash = 0;
    std::set<const ProgramSymbol*> reached;
  };

  const Part& part(const ProgramSymbol& symbol);
  Part read_function(const ProgramSymbol& function) const;
  std::string reference(Part& part, const ProgramSymbol& from, std::uint64_t place,
                        std::uint64_t target, std::uint64_t bytes) const;
  std::string content(Part& part, const ProgramSymbol& from, std::uint64_t address,
                      std::uint64_t bytes) const;
  std::string table_or_text(Part& part, const ProgramSymbol& from, std::uint64_t address) const;

  ProgramImage image_;
  std::map<const ProgramSymbol*, Part> parts_;
};

}  // namespace opbench::check
