#pragma once

namespace opbench {

/// False where the environment names a character set that is not UTF-8 (LC_ALL, else LC_CTYPE, else
/// LANG).
bool takes_unicode();

}  // namespace opbench
