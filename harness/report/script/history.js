// The view of a history of checks, or of several checks or runs: times of a case over the dates, lasting changes, and
// slow creep.
import {el, nameOf, plainTable, section, svg} from './dom.js';
import {colourOf, countText, median, timeText} from './format.js';
import {axes, figure, mark} from './chart.js';
import {logarithmic, logRange, ordinal} from './scale.js';
import {signedPercent} from './check.js';
import {virtualTable} from './table.js';
import {linkTo} from './tabs.js';

const kCreep = 3;

// The change from the first quarter to the last, if no change point explains it.
function creepOf(times, changes) {
  const quarter = Math.floor(times.length / 4);
  if (changes.length > 0 || quarter < 2) return null;
  const percent = 100 * (median(times.slice(-quarter)) / median(times.slice(0, quarter)) - 1);
  return Math.abs(percent) > kCreep ? percent : null;
}

// Changes between levels, each relative to the previous level.
function stepsOf(times, changes) {
  const borders = [0, ...changes, times.length];
  return changes.map((at, i) => ({at, change: median(times.slice(at, borders[i + 2])) / median(times.slice(borders[i], at)) - 1}));
}

function measured(track) {
  const times = track.points.map((p) => p.us), steps = stepsOf(times, track.changes);
  return {...track, runs: times.length, first: times.length > 0 ? times[0] : null, last: times.length > 0 ? times[times.length - 1] : null, steps,
    largest: steps.reduce((a, b) => (a === null || Math.abs(b.change) > Math.abs(a.change) ? b : a), null), creep: creepOf(times, track.changes)};
}

function trackChart(track) {
  const {points} = track;
  const draw = (root, width) => {
    const height = 300, box = {left: 56, right: width - 14, top: 30, bottom: height - 44};
    const x = ordinal(points.length, box.left, box.right), y = logarithmic(...logRange(points.map((p) => p.us)), box.bottom, box.top);
    axes(root, box, x, y, 'runs in the order of their dates', 'us');
    root.append(svg('polyline', {class: 'line series0', points: points.map((p, i) => `${x(i)},${y(p.us)}`).join(' ')}));
    for (const {at, change} of track.steps) {
      root.append(svg('line', {class: 'departure', x1: x(at - 0.5), x2: x(at - 0.5), y1: box.top, y2: box.bottom}),
        svg('text', {x: x(at - 0.5) + 5, y: box.top - 6}, `${signedPercent(100 * change)} at ${points[at].revision}`));
    }
    points.forEach((p, i) => root.append(mark('circle', {class: `dot ${p.verdict ? colourOf(p.verdict) : 'series0'}`, cx: x(i), cy: y(p.us), r: 5}, `${p.date}, ${p.revision}: ${timeText(p.us)}${p.verdict ? `, ${p.verdict}` : ''}`)));
    return height;
  };
  return figure({title: `${track.case} ${track.variant}`, about: `${countText(points.length, 'run')}, ${countText(track.threads, 'thread')}.`, draw,
    table: {heads: ['date', 'revision', 'us', 'verdict'], rows: () => points.map((p) => [p.date, p.revision, p.us, p.verdict || ''])}});
}

const kTrackColumns = [
  {key: 'case', label: 'case', width: 380, value: (t) => t.case},
  {key: 'variant', onCard: true, label: 'variant', width: 160, value: (t) => t.variant},
  {key: 'threads', label: 'threads', width: 90, value: (t) => t.threads},
  {key: 'runs', label: 'runs', width: 70, value: (t) => t.runs},
  {key: 'first', label: 'first', width: 95, value: (t) => t.first, text: (t) => timeText(t.first)},
  {key: 'last', onCard: true, label: 'last', width: 95, value: (t) => t.last, text: (t) => timeText(t.last)},
  {key: 'point', onCard: true, label: 'changed by', width: 110, value: (t) => (t.largest ? 100 * t.largest.change : null), text: (t) => (t.largest ? signedPercent(100 * t.largest.change) : '-')},
  {key: 'creep', label: 'crept by', width: 100, value: (t) => t.creep, text: (t) => (t.creep === null ? '-' : signedPercent(t.creep))},
  {key: 'machine', label: 'machine', width: 260, value: (t) => t.machine},
];

export function historyViews(input) {
  const view = {title: `history: ${input.path.replace(/.*\//, '')}`}, chosen = el('div', {});
  const tracks = input.data.tracks.map(measured).sort((a, b) => Math.abs(b.largest ? b.largest.change : 0) - Math.abs(a.largest ? a.largest.change : 0) || b.runs - a.runs);
  const hrefOf = (t) => linkTo(view, {case: t.case, variant: t.variant, threads: t.threads, machine: t.machine});
  const changed = tracks.filter((t) => t.largest), crept = tracks.filter((t) => t.creep !== null), dates = [...new Set(tracks.flatMap((t) => t.points.map((p) => p.date)))].sort();
  let table = null;
  view.outcome = {colour: changed.length + crept.length > 0 ? 'yellow' : 'green', text: `${countText(tracks.length, 'case')}: ${changed.length} changed for good, ${crept.length} crept`};
  view.build = () => {
    table = virtualTable({title: 'Cases over time', noun: 'cases', columns: kTrackColumns, rows: tracks, hrefOf, choices: ['variant', 'threads', 'machine']});
    return el('div', {}, el('section', {class: `digest ${view.outcome.colour}`, 'aria-label': 'Digest'},
      el('h2', {}, `${countText(dates.length, 'run')}, ${countText(tracks.length, 'case')}: ${changed.length} changed for good, ${crept.length} crept`),
      el('p', {}, `From ${dates[0] || '-'} to ${dates[dates.length - 1] || '-'}. Changes are found by E-divisive with a permutation test at 5 %, as opbench report --history has them; crept: the last quarter of the runs against the first, by more than ${kCreep} %.`)),
    section('Cases', table.node), chosen,
    changed.length > 0 ? section('Changes', plainTable('Changes for good', ['case', 'variant', 'by', 'at', 'date'], changed.flatMap((t) => t.steps.map(({at, change}) => [nameOf(t.case), t.variant, signedPercent(100 * change), t.points[at].revision, t.points[at].date])))) : null);
  };
  view.show = (params) => {
    const track = tracks.find((t) => t.case === params.case && (params.variant === undefined || t.variant === params.variant) && (params.threads === undefined || String(t.threads) === params.threads) &&
      (params.machine === undefined || t.machine === params.machine)) || tracks.find((t) => t.points.length > 1);
    if (!track) return;
    chosen.replaceChildren(trackChart(track));
    table.select(track);
  };
  return [view];
}
