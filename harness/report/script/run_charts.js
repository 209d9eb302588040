// The charts of a run: bars of variants, roofline, scaling, samples, Pareto front, weights.
import {svg} from './dom.js';
import {countText, groupBy, isNumber, median, numberText, percentText, shortText, sum, timeText} from './format.js';
import {axes, barsFigure, figure, mark, seriesColours} from './chart.js';
import {linear, linearRange, logarithmic, logRange} from './scale.js';
import {isUsable, paretoFront, placeOf} from './pareto.js';

const kMostDots = 4000;

function boxOf(width, height) {
  return {left: 56, right: width - 14, top: 24, bottom: height - 44};
}

function presentIn(colours, records) {
  const present = new Set(records.map((r) => r.variant));
  return new Map([...colours].filter(([name]) => present.has(name)));
}

/// The time of every variant of the visible cases.
export function variantBars(records, colours, go) {
  const groups = [...groupBy(records.filter(isUsable), placeOf)].slice(0, 6);
  const bars = groups.flatMap(([, list]) => list.sort((a, b) => a.median_us - b.median_us).map((r, i) => ({
    head: i === 0 ? `${shortText(r.case, 90)}, ${countText(r.threads, 'thread')}` : null, name: r.variant, value: r.median_us, error: r.mad_us, most: list[list.length - 1].median_us + (list[list.length - 1].mad_us || 0), series: colours.get(r.variant),
    text: timeText(r.median_us), tip: `${r.case} ${r.variant}, ${countText(r.threads, 'thread')}: ${timeText(r.median_us)}, MAD ${timeText(r.mad_us)}`, onclick: () => go(r)})));
  return barsFigure({title: 'Variants of the first cases', about: `Median time and its MAD of the first ${groups.length} cases of the table, each to its own scale.`, bars, unit: 'time',
    legend: presentIn(colours, records)});
}

/// Operations per byte against operations per second, below the limits of memory and cores.
export function roofline(records, colours, go) {
  const dots = records.filter((r) => isUsable(r) && r.operations > 0 && r.bytes > 0).slice(0, kMostDots)
    .map((r) => ({r, x: r.operations / r.bytes, y: r.gflop_per_s}));
  const ceilings = [...groupBy(dots.map((d) => d.r), (r) => r.threads)].map(([threads, list]) => ({threads,
    copy: list.reduce((a, r) => Math.max(a, r.copy_gb_per_s || 0), 0), peak: list.reduce((a, r) => Math.max(a, r.peak_gflop_per_s || 0), 0)}));
  const draw = (root, width) => {
    const height = 380, box = boxOf(width, height);
    const x = logarithmic(...logRange([...dots.map((d) => d.x), ...ceilings.map((c) => (c.peak ? c.peak / c.copy : 1))]), box.left, box.right);
    const y = logarithmic(...logRange([...dots.map((d) => d.y), ...ceilings.map((c) => c.peak)]), box.bottom, box.top);
    axes(root, box, x, y, 'operations per byte', 'GFLOP/s');
    ceilings.filter((c) => c.copy > 0).forEach((c, i) => drawCeiling(root, box, x, y, c, i));
    for (const {r, x: at, y: high} of dots) {
      root.append(mark('circle', {class: `dot ${colours.get(r.variant)}`, cx: x(at), cy: y(high), r: 4},
        `${r.case} ${r.variant}, ${countText(r.threads, 'thread')}: ${numberText(high)} GFLOP/s, ${percentText(r.percent_of_roofline)} of its roofline (${r.bound})`, () => go(r)));
    }
    return height;
  };
  return figure({title: 'Roofline', about: `Dashed: the measured rate of copies, slanted, and peak of fused multiply-adds, level. ${ceilings.map(ceilingText).join('; ')}.`, draw, legend: presentIn(colours, records),
    table: {heads: ['case', 'variant', 'threads', 'operations per byte', 'GFLOP/s', '% of roofline', 'bound'],
      rows: () => dots.map(({r, x, y}) => [r.case, r.variant, r.threads, x, y, r.percent_of_roofline, r.bound])}});
}

function drawCeiling(root, box, x, y, {threads, copy, peak}, i) {
  const inside = (px, py) => `${Math.min(box.right, Math.max(box.left, px))},${Math.min(box.bottom, Math.max(box.top, py))}`;
  const points = [];
  const steps = 200;
  for (let s = 0; s <= steps; ++s) {
    const px = box.left + (box.right - box.left) * s / steps;
    const value = x.low * (x.high / x.low) ** (s / steps);
    const roof = Math.min(peak || Infinity, copy * value);
    points.push(inside(px, y(roof)));
  }
  root.append(mark('polyline', {class: 'roof', points: points.join(' '), 'stroke-dasharray': i === 0 ? '8 3' : '3 3'}, ceilingText({threads, copy, peak})));
}

function ceilingText({threads, copy, peak}) {
  return `${countText(threads, 'thread')}: ${numberText(copy, 3)} GB/s${peak ? `, ${numberText(peak, 3)} GFLOP/s` : ''}`;
}

function lineChart({title, about, series, colours, xTitle, yTitle, x: kind, table, ideal}) {
  const all = [...series.values()].flat();
  const draw = (root, width) => {
    const height = 320, box = boxOf(width, height);
    const range = kind === 'log' ? logRange(all.map((p) => p.x)) : [Math.min(...all.map((p) => p.x)) - 0.2, Math.max(...all.map((p) => p.x)) + 0.2];
    const x = (kind === 'log' ? logarithmic : linear)(...range, box.left, box.right);
    const y = (ideal ? linear : logarithmic)(...(ideal ? linearRange([...all.map((p) => p.y), range[1]]) : logRange(all.map((p) => p.y))), box.bottom, box.top);
    axes(root, box, x, y, xTitle, yTitle);
    if (ideal) root.append(svg('line', {class: 'roof', 'stroke-dasharray': '6 3', x1: x(1), y1: y(1), x2: x(range[1]), y2: y(range[1])}));
    for (const [name, points] of series) {
      root.append(svg('polyline', {class: `line ${colours.get(name)}`, points: points.map((p) => `${x(p.x)},${y(p.y)}`).join(' ')}));
      for (const p of points) root.append(mark('circle', {class: `dot ${colours.get(name)}`, cx: x(p.x), cy: y(p.y), r: 4}, p.tip, p.onclick));
    }
    return height;
  };
  return figure({title, about, draw, table, legend: new Map([...series.keys()].map((name) => [name, colours.get(name)]))});
}

/// Time over size, for the record's operator, dtype, format and threads.
export function sizeScaling(records, chosen, colours, go) {
  const same = records.filter((r) => isUsable(r) && r.elements > 0 &&
    ['op', 'dtype', 'format', 'threads', 'cold', 'backward'].every((key) => r[key] === chosen[key]));
  if (new Set(same.map((r) => r.elements)).size < 2) return null;
  const series = new Map([...groupBy(same, (r) => r.variant)].map(([variant, list]) => [variant,
    [...groupBy(list.sort((a, b) => a.elements - b.elements), (r) => r.elements)].map(([elements, equal]) => ({x: elements, y: median(equal.map((r) => r.median_us)),
      tip: `${equal[0].case} ${variant}: ${timeText(equal[0].median_us)}${equal.length > 1 ? `; the median of ${equal.length} cases` : ''}`, onclick: () => go(equal[0])}))]));
  return lineChart({title: 'Time over size', about: `${chosen.op} in ${chosen.dtype}, ${chosen.format}, ${countText(chosen.threads, 'thread')}.`, series, colours, xTitle: 'elements', yTitle: 'us', x: 'log',
    table: {heads: ['case', 'variant', 'elements', 'us'], rows: () => same.map((r) => [r.case, r.variant, r.elements, r.median_us])}});
}

/// The factor to the time with the fewest threads.
export function threadScaling(records, chosen, colours, go) {
  const same = records.filter((r) => isUsable(r) && r.case === chosen.case && r.cold === chosen.cold);
  if (new Set(same.map((r) => r.threads)).size < 2) return null;
  const series = new Map([...groupBy(same, (r) => r.variant)].map(([variant, list]) => {
    list.sort((a, b) => a.threads - b.threads);
    return [variant, list.map((r) => ({x: r.threads, y: list[0].median_us / r.median_us, tip: `${variant}, ${countText(r.threads, 'thread')}: ${timeText(r.median_us)}`, onclick: () => go(r)}))];
  }));
  return lineChart({title: 'Speed over threads', about: 'Times faster than with the fewest threads; dashed: as many times as threads.', series, colours, xTitle: 'threads', yTitle: 'times', x: 'linear', ideal: true,
    table: {heads: ['variant', 'threads', 'us'], rows: () => same.map((r) => [r.variant, r.threads, r.median_us])}});
}

// Reports a drift: both halves differ by more than noise.
function driftText(samples) {
  const half = samples.length >> 1;
  if (half < 3) return '';
  const first = median(samples.slice(0, half)), second = median(samples.slice(-half)), all = median(samples);
  const spread = median(samples.map((s) => Math.abs(s - all)));
  return Math.abs(second - first) > 3 * spread && spread > 0 ? `; drifts by ${percentText(100 * (second / first - 1), 2)} from the first half to the second` : '';
}

/// Every sample of the case's variants in the order of time.
export function sampleDots(group, colours, go) {
  const list = group.filter((r) => r.samples_us && r.samples_us.length > 0);
  if (list.length === 0) return null;
  const draw = (root, width) => {
    const height = 300, box = boxOf(width, height);
    const most = Math.max(...list.map((r) => r.samples_us.length));
    const x = linear(0.5, most + 0.5, box.left, box.right), y = logarithmic(...logRange(list.flatMap((r) => r.samples_us)), box.bottom, box.top);
    axes(root, box, x, y, 'repetition', 'us');
    for (const r of list) {
      const colour = colours.get(r.variant);
      root.append(svg('line', {class: `median ${colour}`, x1: box.left, x2: box.right, y1: y(r.median_us), y2: y(r.median_us)}));
      r.samples_us.forEach((us, i) => root.append(mark('circle', {class: `dot ${colour}`, cx: x(i + 1), cy: y(us), r: 3.5}, `${r.variant}, repetition ${i + 1}: ${timeText(us)}`, () => go(r))));
    }
    return height;
  };
  const notes = list.map((r) => `${r.variant}: median ${timeText(r.median_us)}, spread ${percentText(100 * r.mad_us / r.median_us, 2)}${r.preemptions ? `, preempted ${countText(r.preemptions, 'time')}` : ''}${driftText(r.samples_us)}`);
  return figure({title: 'Samples in the order of time', about: `${notes.join('. ')}.`, draw, legend: presentIn(colours, list),
    table: {heads: ['variant', 'samples in us'], rows: () => list.map((r) => [r.variant, r.samples_us.map((s) => numberText(s)).join(', ')])}});
}

/// Time against the largest error. A line joins variants that no other variant beats in both.
export function paretoChart(group, colours, go) {
  const list = group.filter((r) => isUsable(r) && isNumber(r.max_ulp)), front = paretoFront(list);
  if (list.length < 2) return null;
  const draw = (root, width) => {
    const height = 300, box = boxOf(width, height);
    const x = logarithmic(...logRange(list.map((r) => r.median_us)), box.left, box.right), y = logarithmic(0.5, Math.max(10, 2 * Math.max(...list.map((r) => r.max_ulp))), box.bottom, box.top);
    axes(root, box, x, y, 'us', 'max ULP');
    root.append(svg('polyline', {class: 'roof', points: front.map((r) => `${x(r.median_us)},${y(r.max_ulp)}`).join(' ')}));
    for (const r of list) {
      root.append(mark('circle', {class: `dot ${colours.get(r.variant)}`, cx: x(r.median_us), cy: y(r.max_ulp), r: front.includes(r) ? 7 : 4},
        `${r.variant}: ${timeText(r.median_us)}, ${numberText(r.max_ulp)} ULP`, () => go(r)));
    }
    return height;
  };
  return figure({title: 'Time against error', about: `Large: ${front.map((r) => r.variant).join(', ')}; no other variant is both faster and more accurate. On the bottom line: an error of 0 ULP.`, draw, legend: presentIn(colours, list),
    table: {heads: ['variant', 'us', 'max ULP', 'on the front'], rows: () => list.map((r) => [r.variant, r.median_us, r.max_ulp, front.includes(r) ? 'yes' : ''])}});
}

/// The share of each operator, and of each case, in a step that runs every case as often as the network does.
export function weightBars(records, title, keyOf, go) {
  const best = [...groupBy(records.filter(isUsable), placeOf).values()].map((group) => group.reduce((a, b) => (b.median_us < a.median_us ? b : a)));
  if (best.length === 0) return null;
  const {threads, dtype, format} = best[0];
  const counted = best.filter((r) => r.threads === threads && r.dtype === dtype && r.format === format);
  const total = sum(counted.map((r) => r.median_us * (r.count || 1))) || 1;
  const profiled = sum(counted.map((r) => r.weight_us));
  const groups = [...groupBy(counted, keyOf)].map(([name, list]) => ({name, list, us: sum(list.map((r) => r.median_us * (r.count || 1))), weight: sum(list.map((r) => r.weight_us))}))
    .sort((a, b) => b.us - a.us).slice(0, 15);
  const bars = groups.map(({name, list, us, weight}) => ({name, value: us,
    text: `${percentText(100 * us / total, 3)}${weight > 0 ? ` (profiled ${percentText(100 * weight / profiled, 3)})` : ''}`,
    tip: `${name}: ${timeText(us)} of a step`, onclick: go ? () => go(list[0]) : null}));
  return barsFigure({title, about: `The fastest variants in ${dtype}, ${format}, with ${countText(threads, 'thread')}, times their count in the network: ${timeText(total)} in all.`, bars, unit: 'share',
    table: {heads: ['name', 'us of a step', 'share'], rows: () => groups.map((g) => [g.name, g.us, percentText(100 * g.us / total)])}});
}
