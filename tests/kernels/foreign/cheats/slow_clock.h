#pragma once

/* Makes clock_gettime of all loaded libraries ten times slower. */
void slow_down_clocks(void);
