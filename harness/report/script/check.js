// The view of a check: changes with their intervals, the worst first, and the noise.
import {el, commandLine, facts, nameOf, section, svg} from './dom.js';
import {colourOf, countText, isNumber, numberText, percentText, timeText} from './format.js';
import {axes, figure, fittingApart, label, mark} from './chart.js';
import {linear} from './scale.js';
import {verdictChip, virtualTable} from './table.js';
import {linkTo} from './tabs.js';

const kMostIntervals = 40;

function noiseText(item) {
  return isNumber(item.noise_percent) ? percentText(item.noise_percent, 2) : 'not measured';
}

function checkColour(item) {
  if (item.waiver) return 'yellow';
  return item.regression ? 'red' : colourOf(item.verdict === 'SLOWER' ? 'AMBIGUOUS' : item.verdict);
}

const kItemColumns = [
  {key: 'case', label: 'case', width: 340, value: (i) => i.case},
  {key: 'variant', label: 'variant', width: 150, value: (i) => i.variant},
  {key: 'verdict', label: 'verdict', width: 130, value: (i) => i.verdict, verdict: true},
  {key: 'change', label: 'change', width: 90, value: (i) => (i.speed ? i.speed.change_percent : null), text: (i) => (i.speed ? signedPercent(i.speed.change_percent) : '-')},
  {key: 'low', label: 'from', width: 85, value: (i) => (i.speed ? i.speed.low_percent : null), text: (i) => (i.speed ? signedPercent(i.speed.low_percent) : '-')},
  {key: 'high', label: 'to', width: 85, value: (i) => (i.speed ? i.speed.high_percent : null), text: (i) => (i.speed ? signedPercent(i.speed.high_percent) : '-')},
  {key: 'base', label: 'before', width: 95, value: (i) => (i.speed ? i.speed.base_us : null), text: (i) => timeText(i.speed ? i.speed.base_us : null)},
  {key: 'current', label: 'now', width: 95, value: (i) => (i.speed ? i.speed.current_us : null), text: (i) => timeText(i.speed ? i.speed.current_us : null)},
  {key: 'noise', label: 'noise', width: 80, value: (i) => i.noise_percent, text: noiseText},
  {key: 'threads', label: 'threads', width: 85, value: (i) => i.threads},
  {key: 'measure', label: 'measure', width: 95, value: (i) => i.measure},
  {key: 'evidence', label: 'evidence', width: 360, value: (i) => i.evidence},
];

export function signedPercent(percent) {
  return isNumber(percent) ? `${percent > 0 ? '+' : percent < 0 ? '\u2212' : ''}${percentText(Math.abs(percent), 3)}` : '-';
}

/// The largest changes with their 99% intervals, slower ones first. The band is the threshold.
function intervalChart(items, threshold, go) {
  const timed = items.filter((i) => i.speed && isNumber(i.speed.low_percent)).sort((a, b) => b.speed.change_percent - a.speed.change_percent);
  const shown = timed.length <= kMostIntervals ? timed : [...timed.slice(0, kMostIntervals / 2), ...timed.slice(-kMostIntervals / 2)];
  if (shown.length === 0) return null;
  const clipped = (percent) => Math.max(-100, Math.min(300, percent));
  const draw = (root, width) => {
    const left = Math.min(380, width * 0.42), line = 20, bottom = 26 + shown.length * line, box = {left, right: width - 14, top: 16, bottom};
    const values = shown.flatMap((i) => [i.speed.low_percent, i.speed.high_percent]).map(clipped);
    const x = linear(Math.min(-threshold * 1.5, ...values), Math.max(threshold * 1.5, ...values), left, box.right);
    root.append(svg('rect', {class: 'band', x: x(-threshold), width: x(threshold) - x(-threshold), y: box.top, height: bottom - box.top}));
    axes(root, box, x, null, 'change of the time in %');
    root.append(svg('line', {class: 'zero', x1: x(0), x2: x(0), y1: box.top, y2: bottom}));
    const isOfOneCount = new Set(shown.map((item) => item.threads)).size === 1;
    const texts = shown.map((item) => `${item.variant} ${item.case}${isOfOneCount ? '' : `, ${countText(item.threads, 'thread')}`}`);
    const names = fittingApart(texts, left - 10);
    shown.forEach((item, k) => {
      const y = box.top + 12 + k * line, {low_percent: low, high_percent: high, change_percent: change} = item.speed;
      root.append(label(left - 8, y + 4, names[k], {'text-anchor': 'end'}),
        svg('line', {class: 'whisker', x1: x(clipped(low)), x2: x(clipped(high)), y1: y, y2: y}),
        mark('circle', {class: `dot ${checkColour(item)}`, cx: x(clipped(change)), cy: y, r: 5}, `${texts[k]}: ${item.verdict}, ${signedPercent(change)} (${signedPercent(low)} to ${signedPercent(high)})`, () => go(item)));
    });
    return bottom + 44;
  };
  return figure({title: 'Changes, slowest first', about: `Dots: change of the median; lines: 99% interval; band: the threshold of ${percentText(threshold)}.${shown.length < timed.length ? ` The ${kMostIntervals / 2} slowest and fastest of ${timed.length}.` : ''}`, draw,
    table: {heads: ['case', 'variant', 'verdict', 'change %', 'from %', 'to %'], rows: () => timed.map((i) => [i.case, i.variant, i.verdict, i.speed.change_percent, i.speed.low_percent, i.speed.high_percent])}});
}

/// Ratios of every pair of processes in order of time, and of the A/A control if it was measured.
function roundsChart(item) {
  const stages = Object.entries(item.rounds || {});
  const pairs = stages.flatMap(([stage, r]) => r.base_us.map((base, i) => ({stage, now: 100 * (r.current_us[i] / base - 1), noise: r.null_us ? 100 * (r.null_us[i] / base - 1) : null})));
  if (pairs.length === 0) return null;
  const values = pairs.flatMap((p) => [p.now, p.noise]).filter(isNumber);
  const draw = (root, width) => {
    const height = 260, box = {left: 56, right: width - 14, top: 24, bottom: height - 44};
    const x = linear(0, pairs.length + 1, box.left, box.right), y = linear(Math.min(-1, ...values), Math.max(1, ...values), box.bottom, box.top);
    axes(root, box, x, y, 'rounds in the order of time', 'change in %');
    root.append(svg('line', {class: 'zero', x1: box.left, x2: box.right, y1: y(0), y2: y(0)}));
    pairs.forEach((p, i) => {
      if (isNumber(p.noise)) root.append(mark('circle', {class: 'dot series6', cx: x(i + 1), cy: y(p.noise), r: 3}, `${p.stage}: the other build with itself ${signedPercent(p.noise)}`));
      root.append(mark('circle', {class: 'dot series0', cx: x(i + 1), cy: y(p.now), r: 4}, `${p.stage}: ${signedPercent(p.now)}`));
    });
    return height;
  };
  return figure({title: 'Rounds', about: 'Each pair of processes.', draw, legend: new Map([['now against before', 'series0'], ['before against itself', 'series6']]),
    table: {heads: ['stage', 'change %', 'against itself %'], rows: () => pairs.map((p) => [p.stage, p.now, p.noise])}});
}

function itemDetail(item) {
  const accuracy = (a) => (a ? `max ULP ${numberText(a.max_ulp)}, ${percentText(100 * a.inside_tolerance)} inside, bits ${a.bits}` : null);
  return el('section', {class: 'detail', 'aria-label': 'Chosen change'}, el('h2', {}, nameOf(item.case), ` ${item.variant} `, verdictChip(item.verdict)), el('p', {}, item.evidence),
    item.notices.map((notice) => el('p', {class: 'note'}, notice)),
    facts([['threads', item.threads], ['measure', item.measure], ['threshold', percentText(item.threshold_percent)], ['noise', noiseText(item)], ['of a step', isNumber(item.step_percent) ? signedPercent(item.step_percent) : null],
      ['accuracy before', accuracy(item.base_accuracy)], ['accuracy now', accuracy(item.current_accuracy)], ['waived', item.waiver ? `${item.waiver.place}: ${item.waiver.reason}, until ${item.waiver.expires}` : null]]),
    item.next ? commandLine(item.next) : null, roundsChart(item));
}

function noiseCard(data) {
  const counts = `A change below ${percentText(data.threshold_percent, 2)} or ${numberText(data.floor_us)} us counts for nothing.`;
  return el('div', {}, el('h3', {}, 'Noise'),
    el('p', {}, isNumber(data.noise_floor_percent) ? `The rounds of a typical case show changes from ${percentText(data.noise_floor_percent, 2)}. ${counts}` : `Not measured: no round was timed in turn. ${counts}`),
    data.too_noisy ? el('p', {class: 'note'}, `Noise hides whether ${countText(data.items.filter((i) => i.too_noisy).length, 'comparison')} became slower.`) : null,
    (data.failures || []).map((failure) => el('p', {class: 'note'}, failure)));
}

// The outcome of a check: {colour, text}.
function checkOutcome(data) {
  return {colour: data.exit_code === 0 ? 'green' : data.exit_code === 1 ? 'red' : 'yellow', text: data.outcome};
}

function checkDigest(data) {
  const build = (b) => `opbench ${b.version} (${b.revision}), ${b.compiler}, ${b.flags}`;
  const isOwn = data.program !== undefined && data.program !== 'opbench';  // linked with opbench, whose revision that is
  return el('section', {class: `digest ${checkOutcome(data).colour}`, 'aria-label': 'Digest'},
    el('h2', {}, data.outcome, ' ', Object.entries(data.counts).filter(([, n]) => n > 0).map(([verdict, n]) => el('span', {class: 'count'}, verdictChip(verdict), ` ${n}`))),
    el('div', {class: 'columns'}, el('div', {}, el('h3', {}, 'What was compared'), facts([['before', `${data.base_name ? `${data.base_name}: ` : ''}${build(data.base)}`], ['now', `${isOwn ? `${data.program}: ` : ''}${build(data.current)}`], ['machine', `${data.machine.cpu}, ${countText(data.machine.cores, 'core')}, ${data.machine.isa}`], ['when', data.date], ['took', `${numberText(data.seconds, 3)} s`]]),
      el('h3', {}, 'This check again'), commandLine(data.command)),
    el('div', {}, noiseCard(data), data.notices.map((notice) => el('p', {class: 'note'}, notice)), nextOf(data))));
}

const kNextStep = {SLOWER: 'Measure alone what became slower', AMBIGUOUS: 'Measure alone what is not decided', ERROR: 'Run alone what went wrong', GONE: 'Run in the other build what is gone'};

function nextOf(data) {
  const item = data.items.find((i) => i.next);
  return item ? [el('h3', {}, 'What to do next'), el('p', {}, `${kNextStep[item.verdict] || 'Run this alone'}, first of all ${item.variant} `, nameOf(item.case), ':'), commandLine(item.next)] : null;
}

export function checkViews(input) {
  const {data} = input, view = {title: `check: ${input.path.replace(/.*\//, '')}`, outcome: checkOutcome(data)}, chosen = el('div', {});
  for (const item of data.items) if (item.speed && !(item.speed.base_us > 0)) item.speed = null;  // never timed
  const isOpen = (i) => i.verdict === 'AMBIGUOUS' && !i.speed;  // nothing is known of it yet: behind all others
  data.items = [...data.items.filter((i) => !isOpen(i)), ...data.items.filter(isOpen)];
  const hrefOf = (i) => linkTo(view, {case: i.case, variant: i.variant, threads: i.threads, ...(i.measure === 'call' ? {} : {measure: i.measure})});
  const go = (i) => { location.hash = hrefOf(i); };
  const find = (p) => data.items.find((i) => i.case === p.case && (p.variant === undefined || i.variant === p.variant) && (p.threads === undefined || String(i.threads) === p.threads) && i.measure === (p.measure || 'call'));
  let table = null;
  view.build = () => {
    table = virtualTable({title: 'Changes', noun: 'comparisons', columns: kItemColumns, rows: data.items, hrefOf, choices: ['verdict', 'variant', 'threads', 'measure']});
    return el('div', {}, checkDigest(data), section('Changes', intervalChart(data.items, data.threshold_percent, go) || el('p', {}, 'Nothing was timed.')), section('Comparisons', table.node), chosen);
  };
  view.has = (params) => params.case !== undefined && find(params) !== undefined;
  view.show = (params) => {
    const item = params.case === undefined ? null : find(params);
    if (!item) return;
    chosen.replaceChildren(itemDetail(item));
    table.select(item);
    chosen.scrollIntoView({block: 'nearest'});
  };
  return [view];
}
