// Numbers in the format of the console: four digits, then the unit.

export function isNumber(value) {
  return typeof value === 'number' && Number.isFinite(value);
}

export function numberText(value, digits = 4) {
  if (!isNumber(value)) return '-';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e7) return String(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(2);
  return String(Number(value.toPrecision(digits)));
}

export function timeText(us) {
  if (!isNumber(us)) return '-';
  if (us >= 1e6) return `${numberText(us / 1e6, 3)} s`;
  if (us >= 1e3) return `${numberText(us / 1e3, 3)} ms`;
  return us < 1 && us > 0 ? `${numberText(us * 1e3, 3)} ns` : `${numberText(us, 3)} us`;
}

export function percentText(percent, digits = 3) {
  return isNumber(percent) ? `${numberText(percent, digits)} %` : '-';
}

export function countText(count, noun, plural = `${noun}s`) {
  return `${count} ${count === 1 ? noun : plural}`;
}

/// Long lists of numbers are cut to their first three, as in reports.
export function shortText(text, most = 70) {
  const whole = String(text);
  return whole.length <= most ? whole : `${whole.slice(0, most - 16)}...${whole.slice(-12)}`;
}

export function median(values) {
  const sorted = values.filter(isNumber).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return null;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function sum(values) {
  return values.reduce((total, value) => total + (isNumber(value) ? value : 0), 0);
}

export function groupBy(list, key) {
  const groups = new Map();
  for (const item of list) {
    const name = key(item);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(item);
  }
  return groups;
}

/// Lists of objects from a packed table of keys and rows.
export function unpacked(value) {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(unpacked);
  const keys = value.$keys;
  if (keys !== undefined) {
    return value.$rows.map((row) => {
      const object = {};
      for (let i = 0; i < keys.length; ++i) object[keys[i]] = unpacked(row[i]);
      return object;
    });
  }
  for (const key of Object.keys(value)) value[key] = unpacked(value[key]);
  return value;
}

// The console's words for a verdict, in its colours.
let statusColours = {};

export function setStatusColours(colours) {
  statusColours = colours;
}

const kOtherVerdicts = {
  'not compared': 'dim', unread: 'red', GUILTY: 'red', OK: 'green', CARRIES: 'green', RANDOM: 'dim', UNKNOWN: 'yellow',
  SLOWER: 'red', FASTER: 'green', SAME: 'green', AMBIGUOUS: 'yellow', LAYOUT: 'yellow', NEW: 'yellow', GONE: 'yellow',
  INCOMPARABLE: 'yellow', ERROR: 'red', WARNING: 'yellow', PASSED: 'green', FAILED: 'red',
};

export function colourOf(verdict) {
  return statusColours[verdict] || kOtherVerdicts[verdict] || 'dim';
}
