// Variants that no other variant beats in both time and accuracy, and the winner of every case under a bound.
import {isNumber, groupBy} from './format.js';

const kUsable = new Set(['passed', 'unverified', 'mistrusted']);

/// True if the record's variant can be chosen. The time of a disturbed record includes other programs.
export function isUsable(record) {
  return kUsable.has(record.status) && isNumber(record.median_us) && !record.disturbed;
}

/// The records for which no other record of the case is faster and at least as accurate, by time.
export function paretoFront(records) {
  const front = [];
  const timed = records.filter((record) => isUsable(record) && isNumber(record.max_ulp));
  for (const record of timed.sort((a, b) => a.median_us - b.median_us || a.max_ulp - b.max_ulp)) {
    if (front.length === 0 || record.max_ulp < front[front.length - 1].max_ulp) front.push(record);
  }
  return front;
}

/// True if `other` is as fast as `best` within noise, as in the Markdown report: 5 % and three times the larger MAD.
export function isTie(best, other) {
  return other.median_us <= 1.05 * best.median_us + 3 * Math.max(best.mad_us || 0, other.mad_us || 0);
}

/// The conditions of measuring a case, which are equal for all competing variants.
export function placeOf(record) {
  return `${record.case} threads ${record.threads}${record.cold ? ' cold' : ''}`;
}

/// The fastest of every case with at most `mostUlp` of error (null: any), in the order of the cases.
export function winners(records, mostUlp) {
  const rows = [];
  for (const group of groupBy(records, placeOf).values()) {
    const fit = group.filter((r) => isUsable(r) && (mostUlp === null || (isNumber(r.max_ulp) && r.max_ulp <= mostUlp)));
    if (fit.length === 0) continue;
    const best = fit.reduce((a, b) => (b.median_us < a.median_us ? b : a));
    const ties = fit.filter((r) => r !== best && isTie(best, r)).map((r) => r.variant);
    rows.push({op: best.op, case: best.case, dtype: best.dtype, format: best.format, shape: best.shape, threads: best.threads,
      variant: best.variant, median_us: best.median_us, max_ulp: best.max_ulp, ties, candidates: fit.length});
  }
  return rows;
}
