// The main results of a run: tested cases, wrong results, slow results, the next commands.
import {el, commandLine, nameOf} from './dom.js';
import {countText, groupBy, isNumber, numberText, percentText, shortText, timeText} from './format.js';
import {placeOf, isTie, isUsable} from './pareto.js';
import {verdictChip} from './table.js';

const kWrong = ['failed', 'errored', 'mistrusted', 'suspicious'];
const kMostShown = 5;

function countsOf(records) {
  return [...groupBy(records, (r) => r.status)].map(([status, list]) => el('span', {class: 'count'}, verdictChip(status), ` ${list.length}`));
}

// Sorts by severity, then by the distance from the tolerance.
function worstFirst(a, b) {
  const inside = (r) => (isNumber(r.inside_tolerance) ? r.inside_tolerance : -1);
  return kWrong.indexOf(a.status) - kWrong.indexOf(b.status) || inside(a) - inside(b);
}

/// The time that a network loses with each case's fastest variant against the least possible time: count x (time -
/// least).
export function lostTimes(records) {
  const lost = [];
  for (const group of groupBy(records.filter(isUsable), placeOf).values()) {
    const best = group.reduce((a, b) => (b.median_us < a.median_us ? b : a));
    if (!isNumber(best.percent_of_roofline)) continue;
    const least = best.median_us * Math.min(1, best.percent_of_roofline / 100);
    lost.push({record: best, us: (best.count || 1) * (best.median_us - least)});
  }
  return lost.sort((a, b) => b.us - a.us);
}

/// Cases whose fastest variant for the NPU or of the user is slower than native or the vendor's, beyond noise as in the
/// Markdown report.
export function slowerThanPeers(records) {
  const slower = [];
  for (const group of groupBy(records.filter(isUsable), placeOf).values()) {
    const isOurs = (r) => r.provider === 'npu' || r.provider === 'own';
    const ours = group.filter(isOurs), peers = group.filter((r) => !isOurs(r));
    if (ours.length === 0 || peers.length === 0) continue;
    const best = ours.reduce((a, b) => (b.median_us < a.median_us ? b : a)), peer = peers.reduce((a, b) => (b.median_us < a.median_us ? b : a));
    if (!isTie(peer, best)) slower.push({record: best, peer});
  }
  return slower.sort((a, b) => b.record.median_us / b.peer.median_us - a.record.median_us / a.peer.median_us);
}

function rowOf(record, hrefOf, text) {
  return el('li', {}, verdictChip(record.status), ' ', el('a', {href: hrefOf(record)}, nameOf(shortText(record.case))), ` ${record.variant}`,
    record.threads === undefined ? '' : `, ${countText(record.threads, 'thread')}`, text ? `: ${text}` : '');
}

function wrongPart(records, hrefOf) {
  const wrong = records.filter((r) => kWrong.includes(r.status)).sort(worstFirst);
  if (wrong.length === 0) return el('p', {}, 'Nothing: every result that was verified is inside its tolerance.');
  return el('ul', {}, wrong.slice(0, kMostShown).map((r) => rowOf(r, hrefOf,
    [r.reason && shortText(r.reason, 120), isNumber(r.inside_tolerance) && r.inside_tolerance < 1 ? `${percentText(100 * r.inside_tolerance)} inside the tolerance` : null].filter(Boolean).join('; '))),
  wrong.length > kMostShown ? el('li', {}, `and ${wrong.length - kMostShown} more; sort the table by verdict`) : null);
}

function slowPart(records, hrefOf) {
  const slower = slowerThanPeers(records), lost = lostTimes(records);
  const items = slower.slice(0, 3).map(({record, peer}) => rowOf(record, hrefOf,
    `${timeText(record.median_us)}, ${numberText(record.median_us / peer.median_us, 3)} times the time of ${peer.variant}`));
  items.push(...lost.slice(0, 3).map(({record, us}) => rowOf(record, hrefOf,
    `the fastest, and at ${percentText(record.percent_of_roofline, 2)} of its roofline (${record.bound}); ${timeText(us)} of a step are above it`)));
  const title = slower.length === 0 ? null : el('p', {}, `${countText(slower.length, 'case')}: a variant for the NPU or of your own is slower than its peers beyond noise.`);
  return [title, items.length === 0 ? el('p', {}, 'Nothing was timed.') : el('ul', {}, items)];
}

/// The most notable result: the worst one, otherwise the one furthest from its limit; none without times.
export function mostNotable(records) {
  const wrong = records.filter((r) => kWrong.includes(r.status)).sort(worstFirst)[0];
  const slow = wrong ? null : slowerThanPeers(records)[0] || lostTimes(records)[0];
  return wrong || (slow ? slow.record : null);
}

function nextPart(records) {
  const first = mostNotable(records);
  if (first && kWrong.includes(first.status)) {
    return [el('p', {}, 'Record the worst one, and ask which of its operators is wrong for its inputs:'),
      commandLine(`${first.reproduce} --dump wrong.h5`), commandLine('opbench judge wrong.h5')];
  }
  if (!first) return el('p', {}, 'Time it: without times there is nothing to compare.');
  return [el('p', {}, 'Measure the slowest against its ceiling again, longer, on a quiet machine:'),
    commandLine('opbench doctor'), commandLine(`${first.reproduce} --repetitions 30`)];
}

function skippedPart(records) {
  const reasons = groupBy(records.filter((r) => r.status === 'skipped'), (r) => `${r.variant}: ${r.reason}`);
  if (reasons.size === 0) return null;
  return el('p', {}, 'Skipped: ', [...reasons].map(([reason, list]) => `${reason} (${list.length})`).join('; '), '.');
}

function disturbedPart(records) {
  const disturbed = records.filter((r) => r.disturbed).length;
  if (disturbed === 0) return null;
  return el('p', {class: 'note'}, `${countText(disturbed, 'result')} disturbed: other programs held the cores. Such times are compared with nothing and left out of the charts.`);
}

function testedPart(input, records) {
  const {machine, run} = input.data;
  const all = (key) => [...new Set(records.map((r) => r[key]))];
  return [el('p', {}, `${all('op').join(', ')} in ${all('dtype').join(', ')}, ${countText(all('variant').length, 'variant')}, threads: ${all('threads').join(', ')}.`),
    el('p', {}, `${machine.cpu}, ${countText(machine.cores, 'core')}, ${machine.isa}; opbench ${machine.version} (${machine.revision}); ${machine.date}.`),
    isNumber(machine.load) && machine.load > machine.cores
      ? el('p', {class: 'note'}, `The machine was busy: load ${numberText(machine.load, 3)}. Trust ratios more than times.`) : null,
    disturbedPart(records), run.interrupted ? el('p', {class: 'note'}, 'The run was interrupted: cases are missing.') : null, skippedPart(records)];
}

/// The outcome of a run: {colour, text}.
export function runOutcome(records) {
  const has = (statuses) => records.some((r) => statuses.includes(r.status));
  const counts = [...groupBy(records, (r) => r.status)].map(([status, list]) => `${list.length} ${status}`);
  return {colour: has(kWrong.slice(0, 2)) ? 'red' : has(kWrong) ? 'yellow' : 'green',
    text: `${countText(new Set(records.map((r) => r.case)).size, 'case')}: ${counts.join(', ')}`};
}

/// The card on top of a run.
export function runDigest(input, records, hrefOf) {
  const cases = new Set(records.map((r) => r.case)).size;
  return el('section', {class: `digest ${runOutcome(records).colour}`, 'aria-label': 'Digest'},
    el('h2', {}, `${countText(cases, 'case')}, ${countText(records.length, 'result')}`, ' ', countsOf(records)),
    el('div', {class: 'columns'},
      el('div', {}, el('h3', {}, 'What was tested'), testedPart(input, records), el('h3', {}, 'What to do next'), nextPart(records),
        el('h3', {}, 'This run again'), commandLine(input.data.command)),
      el('div', {}, el('h3', {}, 'What is wrong'), wrongPart(records, hrefOf), el('h3', {}, 'What is slow'), slowPart(records, hrefOf))));
}
