// The view of contexts: a waterfall of steps, a table of times, and two planned graphs next to each other.
import {el, commandLine, nameOf, plainTable, section, svg} from './dom.js';
import {countText, groupBy, isNumber, numberText, percentText, shortText, sum, timeText} from './format.js';
import {axes, figure, fitting, mark} from './chart.js';
import {linear} from './scale.js';
import {verdictChip} from './table.js';
import {linkTo} from './tabs.js';
import {causeRows, graphFigure, typeColour} from './context_graph.js';

const kMostTypes = 9;
const kTypeSeries = ['series0', 'series2', 'series3', 'series5', 'series6'];

function timeOf(record) {
  return isNumber(record.us_per_sample) ? record.us_per_sample : record.median_us;
}

/// Two medians differ by less than twice their standard error, as on the console.
function isEqualWithinNoise(r, before) {
  const errors = [r, before].map((one) => 1.2533 * 1.4826 * one.mad_us / one.median_us / Math.sqrt(one.samples_us.length));
  const ratio = timeOf(before) / timeOf(r);
  return Math.min(r.samples_us.length, before.samples_us.length) >= 3 && Math.abs(ratio - 1) <= 2 * ratio * Math.hypot(...errors);
}

/// Each step's gain or loss against the step that it builds on.
function waterfall(steps) {
  const timed = steps.filter((r) => isNumber(timeOf(r)));
  const before = (r) => timed.find((other) => other.variant === r.step.after);
  const draw = (root, width) => {
    const height = 330, box = {left: 60, right: width - 10, top: 26, bottom: height - 60};
    const y = linear(0, 1.08 * Math.max(...timed.map(timeOf)), box.bottom, box.top), step = (box.right - box.left) / timed.length;
    const none = () => 0;
    none.ticks = () => [];
    axes(root, box, none, y, '', 'us per sample');
    timed.forEach((r, i) => {
      const x = box.left + i * step, from = before(r) ? timeOf(before(r)) : 0, to = timeOf(r);
      const gain = before(r) ? to - from : null, w = Math.max(4, step * 0.7), isEqual = before(r) && isEqualWithinNoise(r, before(r));
      root.append(mark('rect', {class: gain === null || isEqual ? 'series6' : gain <= 0 ? 'green' : 'red', x: x + step * 0.15, width: w, y: y(Math.max(from, to)), height: Math.max(2, Math.abs(y(from) - y(to)))},
        `${r.variant}: ${timeText(to)}${gain === null ? '' : `, ${percentText(100 * gain / from)} against ${r.step.after}${isEqual ? ', equal within noise' : ''}`}. ${r.step.summary}`),
      svg('line', {class: 'whisker', x1: x + step * 0.15, x2: Math.min(box.right, x + step * 1.15 + w), y1: y(to), y2: y(to), 'stroke-dasharray': '2 2'}),
      svg('text', {x: x + step / 2, y: y(Math.max(from, to)) - 5, 'text-anchor': 'middle'}, gain === null ? timeText(to) : isEqual ? 'equal' : `${gain <= 0 ? '\u2212' : '+'}${percentText(Math.abs(100 * gain / from), 2)}`),
      svg('text', {class: 'name', x: x + step / 2, y: box.bottom + 17 + 15 * (i % 2), 'text-anchor': 'middle'}, fitting(r.variant, 1.9 * step)));
    });
    return height;
  };
  return figure({title: 'Ladder of steps', about: 'From the time of the step that each builds on to its own; grey: equal within noise.', draw,
    table: {heads: ['step', 'us per sample', 'builds on', 'what it changes'], rows: () => timed.map((r) => [r.variant, timeOf(r), r.step.after, r.step.summary])}});
}

/// Time of every type of operator in every step; types that tuning removes come first.
function typeStack(steps) {
  const timed = steps.filter((r) => r.step.types.length > 0), all = groupBy(timed.flatMap((r) => r.step.types), (t) => t.type);
  const tuned = ['TransData', 'Cast', 'contiguous'].filter((type) => all.has(type));
  const rest = [...all.keys()].filter((type) => !tuned.includes(type)).sort((a, b) => sum(all.get(b).map((t) => t.total_us)) - sum(all.get(a).map((t) => t.total_us)));
  const shown = [...tuned, ...rest.slice(0, kMostTypes - 1 - tuned.length)], names = rest.length > kMostTypes - 1 - tuned.length ? [...shown, 'others'] : shown;
  const colours = new Map(names.map((type, i) => [type, tuned.includes(type) ? typeColour(type) : type === 'others' ? 'series6' : kTypeSeries[(i - tuned.length) % 4] + (i - tuned.length >= 4 ? ' pale' : '')]));
  const timesOf = (r) => names.map((name) => [name, sum(r.step.types.filter((t) => (name === 'others' ? !shown.includes(t.type) : t.type === name)).map((t) => t.total_us))]);
  const most = Math.max(...timed.map((r) => sum(r.step.types.map((t) => t.total_us))), 1e-9);
  const draw = (root, width) => {
    const left = Math.min(150, width * 0.3), line = 32, room = width - left - 70;
    timed.forEach((r, i) => {
      let x = left;
      root.append(svg('text', {class: 'name', x: left - 6, y: i * line + 20, 'text-anchor': 'end'}, fitting(r.variant, left - 8)));
      for (const [type, us] of timesOf(r)) {
        const w = us / most * room;
        if (w > 0) root.append(mark('rect', {class: colours.get(type), x, y: i * line + 4, width: w, height: line - 9}, `${r.variant}, ${type}: ${timeText(us)}, ${percentText(100 * us / sum(r.step.types.map((t) => t.total_us)))}`));
        x += w;
      }
      root.append(svg('text', {class: 'tick', x: x + 5, y: i * line + 20}, timeText(x > left ? (x - left) / room * most : 0)));
    });
    return timed.length * line + 6;
  };
  return figure({title: 'Time by type of operator', about: 'Of all tasks of each step.', draw, legend: colours,
    table: {heads: ['step', ...names], rows: () => timed.map((r) => [r.variant, ...timesOf(r).map(([, us]) => us)])}});
}

function stepTable(steps, hrefOf) {
  const gainOf = (r) => {
    const before = steps.find((other) => other.variant === r.step.after);
    if (!isNumber(r.speedup_over_previous) || !before) return '-';
    return isEqualWithinNoise(r, before) ? 'equal within noise' : `${numberText(r.speedup_over_previous, 3)}x`;
  };
  const published = steps.some((r) => r.step.published) ? ['published'] : [];
  const publishedOf = ({step: {published: p}}) => (p ? `${numberText(p.ms, 4)} ms for ${p.samples} (${p.source})` : '-');
  return plainTable('Steps', ['step', 'verdict', 'per sample', ...published, 'v. before', 'v. first', 'TransData', 'Cast', 'copies', 'peak', 'what it changes'], steps.map((r) => [
    el('a', {href: hrefOf(r)}, nameOf(r.variant)), verdictChip(r.status), timeText(timeOf(r)), ...published.map(() => publishedOf(r)), gainOf(r),
    isNumber(r.speedup_over_first) ? `${numberText(r.speedup_over_first, 3)}x` : '-', isNumber(r.trans_data_bytes) ? `${r.trans_data}, ${numberText(r.trans_data_bytes / 1048576, 3)} MiB` : '-',
    r.casts, r.copies, isNumber(r.peak_bytes) ? `${numberText(r.peak_bytes / 1048576, 3)} MiB` : '-', [r.step.summary, r.reason].filter(Boolean).join('; ')]));
}

// Two choices of steps, with their graphs next to each other.
function graphsPart(steps) {
  const choice = (label, at) => el('select', {'aria-label': label}, steps.map((r, i) => el('option', {value: i, selected: i === at}, `${r.step.index + 1} ${r.variant}`)));
  const left = choice('Step on the left', 0), right = choice('Step on the right', steps.length - 1), holder = el('div', {});
  const renew = () => {
    const [a, b] = [steps[Number(left.value)], steps[Number(right.value)]];
    holder.replaceChildren(plainTable('Why conversions are there', ['cause', a.variant, b === a ? '' : b.variant], causeRows(a, b)),
      el('div', {class: 'charts'}, graphFigure(a, a === b ? null : b, `Graph of ${a.variant}`), a === b ? null : graphFigure(b, a, `Graph of ${b.variant}`)));
  };
  left.addEventListener('change', renew);
  right.addEventListener('change', renew);
  renew();
  return {node: el('div', {}, el('p', {class: 'filters'}, left, right), holder), choose: (i) => { right.value = i; renew(); }};
}

function isStepWrong(record) {
  return ['failed', 'errored'].includes(record.status);
}

function contextDigest(steps, hrefOf) {
  const timed = steps.filter((r) => isNumber(timeOf(r))), wrong = steps.filter(isStepWrong);
  const first = timed[0], best = timed.reduce((a, b) => (a && timeOf(a) <= timeOf(b) ? a : b), null);
  const [record] = steps;
  return el('section', {class: `digest ${wrong.length > 0 ? 'red' : 'green'}`, 'aria-label': 'Digest'},
    el('h2', {}, nameOf(record.step.context), `, ${record.shape}, ${record.backward ? 'forward and backward' : 'forward'}, ${countText(record.threads, 'thread')}`),
    wrong.map((r) => el('p', {}, verdictChip(r.status), ' ', el('a', {href: hrefOf(r)}, nameOf(r.variant)), `: ${shortText(r.reason, 200)}`)),
    best ? el('p', {}, `${best.variant} is the fastest step: ${timeText(timeOf(best))} per sample, ${numberText(timeOf(first) / timeOf(best), 3)} times as fast as ${first.variant}. `,
      `TransData tasks: ${first.trans_data} there, ${best.trans_data} now; Cast: ${first.casts} and ${best.casts}.`) : el('p', {}, 'Nothing was timed.'),
    best ? [el('h3', {}, 'The fastest step again'), commandLine(best.reproduce)] : null);
}

function contextView(input, steps) {
  const wrong = steps.filter(isStepWrong);
  const view = {title: `context: ${shortText(steps[0].step.context, 40)}`,
    outcome: {colour: wrong.length > 0 ? 'red' : 'green', text: `${countText(steps.length, 'step')}, ${wrong.length} wrong`}};
  const hrefOf = (r) => linkTo(view, {context: r.step.context, step: r.variant});
  let graphs = null;
  view.build = () => {
    graphs = graphsPart(steps);
    return el('div', {}, contextDigest(steps, hrefOf), section('Steps', stepTable(steps, hrefOf)),
      section('Where the time goes', el('div', {class: 'charts'}, waterfall(steps), typeStack(steps))), section('Planned graphs', graphs.node));
  };
  view.has = (params) => params.context === steps[0].step.context || (params.case !== undefined && params.case === steps[0].case);
  view.show = (params) => {
    const i = steps.findIndex((r) => r.variant === (params.step || params.variant));
    if (i < 0) return;
    graphs.choose(i);
    graphs.node.scrollIntoView({block: 'nearest'});
  };
  return view;
}

export function contextViews(input) {
  const steps = input.data.records.filter((r) => r.step);
  return [...groupBy(steps, (r) => `${r.case} ${r.threads} ${r.dtype}`).values()].map((group) => contextView(input, group));
}
