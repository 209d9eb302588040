#pragma once

#include <H5Cpp.h>

#include "text/temporary_file.h"

namespace opbench::hdf5 {

/// An HDF5 file that is written into `file`, which must outlive it.
///
/// The library cannot live with a failed write: it keeps what it could not close and trips over it
/// at the end of the process. So it never learns of one: `file` remembers the error and drops the
/// rest. Ask `file` after each step.
/// Errors: H5::Exception.
H5::H5File create_file(TemporaryFile& file);

}  // namespace opbench::hdf5
