// Maps values to pixels, and chooses the ticks of an axis.
import {isNumber, numberText} from './format.js';

export function linear(low, high, from, to) {
  const span = high - low || 1;
  const scale = (value) => from + (value - low) / span * (to - from);
  scale.ticks = (count) => linearTicks(low, high, count).map((value) => ({value, text: tickText(value)}));
  return scale;
}

/// A linear scale of counts, with ticks at whole numbers.
export function ordinal(count, from, to) {
  const scale = linear(-0.5, count - 0.5, from, to);
  const ticks = scale.ticks;
  scale.ticks = (most) => ticks(Math.min(most, count)).filter(({value}) => Number.isInteger(value) && value >= 0 && value < count);
  return scale;
}

function tickText(value) {
  const [size, unit] = Math.abs(value) >= 1e9 ? [1e9, 'G'] : Math.abs(value) >= 1e6 ? [1e6, 'M'] : Math.abs(value) >= 1e4 ? [1e3, 'k'] : [1, ''];
  return `${numberText(value / size, 3)}${unit}`;
}

function linearTicks(low, high, count) {
  const raw = (high - low) / Math.max(1, count);
  if (!(raw > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw * 0.999);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

export function logarithmic(low, high, from, to) {
  const least = Math.log10(low), most = Math.log10(high);
  const scale = (value) => from + (Math.log10(Math.max(value, low)) - least) / (most - least || 1) * (to - from);
  scale.low = low;
  scale.high = high;
  scale.ticks = (count) => {
    const first = Math.ceil(least - 1e-9), last = Math.floor(most + 1e-9);
    if (last - first < 2) return withinDecades(low, high, count).map((value) => ({value, text: tickText(value)}));
    const step = Math.max(1, Math.ceil((last - first + 1) / Math.max(1, count)));
    const ticks = [];
    for (let power = first; power <= last; power += step) ticks.push({value: 10 ** power, text: powerText(power)});
    return ticks;
  };
  return scale;
}

// At least two ticks for a range below three powers of ten: 1, 2, 5, or all digits, or the ticks of a linear axis.
function withinDecades(low, high, count) {
  const most = Math.max(2, count);
  for (const digits of [[1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9]]) {
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power) {
      ticks.push(...digits.map((digit) => Number((digit * 10 ** power).toPrecision(3))).filter((value) => value >= low && value <= high));
    }
    if (ticks.length >= 3 || (ticks.length === 2 && digits.length > 3)) return ticks.filter((_, i) => i % Math.ceil(ticks.length / most) === 0);
  }
  return linearTicks(low, high, most).filter((value) => value > 0);
}

function powerText(power) {
  return power >= -2 && power <= 3 ? String(10 ** power) : `1e${power}`;
}

/// The range of values above 0 with a margin, for a logarithmic axis.
export function logRange(values, least = null) {
  const positive = values.filter((value) => isNumber(value) && value > 0);
  if (positive.length === 0) return [0.1, 10];
  const low = positive.reduce((a, b) => Math.min(a, b)), high = positive.reduce((a, b) => Math.max(a, b));
  const margin = Math.max(1.15, (high / low) ** 0.05);
  return [least === null ? low / margin : Math.min(least, low / margin), high * margin];
}

/// From 0, or the least value if that is negative, to a bit above the largest value.
export function linearRange(values) {
  const numbers = values.filter(isNumber);
  const low = numbers.reduce((a, b) => Math.min(a, b), 0), high = numbers.reduce((a, b) => Math.max(a, b), 0);
  const margin = 0.05 * (high - low || 1);
  return [low < 0 ? low - margin : 0, high > 0 ? high + margin : 0];
}
