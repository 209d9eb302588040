// The view of ingested profiles: time by type, by operator and along one step, and the findings.
import {el, commandLine, facts, nameOf, section, svg} from './dom.js';
import {countText, isNumber, percentText, sum, timeText} from './format.js';
import {axes, barsFigure, figure, fitting, mark, seriesColours} from './chart.js';
import {linear} from './scale.js';
import {squarified} from './treemap.js';
import {verdictChip, virtualTable} from './table.js';
import {linkTo} from './tabs.js';

const kTuned = {TransData: 'series7', Cast: 'series1', Transpose: 'series4'};

const kProfileColumns = [
  {key: 'type', label: 'type', width: 230, value: (o) => o.type},
  {key: 'share', label: '% of time', width: 95, value: (o) => o.share, text: (o) => percentText(100 * o.share)},
  {key: 'total', label: 'total', width: 95, value: (o) => o.total_us, text: (o) => timeText(o.total_us)},
  {key: 'count', label: 'tasks', width: 75, value: (o) => o.count},
  {key: 'mean', label: 'mean', width: 90, value: (o) => o.mean_us, text: (o) => timeText(o.mean_us)},
  {key: 'longest', label: 'longest', width: 90, value: (o) => o.longest_us, text: (o) => timeText(o.longest_us)},
  {key: 'wait', label: 'waits', width: 90, value: (o) => o.wait_us, text: (o) => timeText(o.wait_us)},
  {key: 'core', label: 'core', width: 150, value: (o) => o.core},
  {key: 'shapes', label: 'shapes', width: 290, value: (o) => (o.inputs ? o.inputs.shapes : o.host ? o.host.shapes : '')},
  {key: 'dtypes', label: 'dtypes', width: 160, value: (o) => (o.inputs ? o.inputs.dtypes : o.host ? o.host.dtypes : '')},
  {key: 'formats', label: 'formats', width: 160, value: (o) => (o.inputs ? o.inputs.formats : '')},
  {key: 'first', label: 'first at', width: 280, value: (o) => `${o.first.file}:${o.first.line}`},
];

function typeTreemap(types, colours, choose) {
  const draw = (root, width) => {
    const height = Math.max(260, Math.min(420, width * 0.45));
    for (const t of squarified(types.map((type) => ({...type, value: type.total_us})), width, height)) {
      root.append(mark('rect', {class: `tile ${colours.get(t.type)}`, x: t.x, y: t.y, width: Math.max(0, t.w - 1), height: Math.max(0, t.h - 1)},
        `${t.type} (${t.core}): ${timeText(t.total_us)}, ${percentText(100 * t.share)}, ${countText(t.count, 'task')}`, () => choose(t.type)));
      if (t.w > 60 && t.h > 20) root.append(svg('text', {class: 'onfill', x: t.x + 5, y: t.y + 15, 'pointer-events': 'none'}, fitting(t.type, t.w - 8)));
      if (t.w > 60 && t.h > 38) root.append(svg('text', {class: 'onfill small', x: t.x + 5, y: t.y + 31, 'pointer-events': 'none'}, percentText(100 * t.share)));
    }
    return height;
  };
  return figure({title: 'Device time by type', about: 'Areas as the times; a click shows the operators of a type.', draw,
    table: {heads: ['type', 'core', 'tasks', 'us', 'share'], rows: () => types.map((t) => [t.type, t.core, t.count, t.total_us, percentText(100 * t.share)])}});
}

/// The content of a row of the timeline.
function rowName(task) {
  return task.communication ? 'communication' : task.stream ? `computing, stream ${task.stream}` : 'computing';
}

/// The tasks of one step along the time: a row for each stream, and a row for communication.
function stepTimeline(timeline, colours) {
  const {tasks} = timeline;
  const rows = [...new Set(tasks.map(rowName))].sort(), end = tasks.reduce((a, t) => Math.max(a, t.start_us + t.duration_us), 1);
  const draw = (root, width) => {
    const line = 40, box = {left: Math.min(150, width * 0.25), right: width - 14, top: 10, bottom: 14 + rows.length * line}, x = linear(0, end, box.left, box.right);
    axes(root, box, x, null, 'us since the step began');
    rows.forEach((name, i) => root.append(svg('text', {class: 'tick', x: box.left - 6, y: box.top + i * line + 24, 'text-anchor': 'end'}, fitting(name, box.left - 8))));
    for (const t of tasks) {
      root.append(mark('rect', {class: `tile ${colours.get(t.type) || 'series6'}`, x: x(t.start_us), y: box.top + rows.indexOf(rowName(t)) * line + 4, width: Math.max(0.6, x(t.duration_us) - x(0)), height: line - 8},
        `${t.name} (${t.type}) at ${timeText(t.start_us)}: ${timeText(t.duration_us)}`));
      const room = x(t.duration_us) - x(0) - 8;
      if (room > 60) root.append(svg('text', {class: 'onfill small', x: x(t.start_us) + 4, y: box.top + rows.indexOf(rowName(t)) * line + 24, 'pointer-events': 'none'}, fitting(t.type || t.name, room)));
    }
    return box.bottom + 44;
  };
  return figure({title: 'Timeline of one step', about: `${countText(tasks.length, 'task')} in ${timeText(end)}${timeline.left_out > 0 ? `; ${timeline.left_out} more are left out` : ''}.`, draw,
    table: {heads: ['start in us', 'us', 'row', 'type', 'name'], rows: () => tasks.map((t) => [t.start_us, t.duration_us, rowName(t), t.type, t.name])}});
}

/// "74.7 % of the step, at most 70 % could be saved". Older files do not have what could be saved.
function savedText(finding, step) {
  const share = shareText(finding, step);
  return share && isNumber(finding.saves) ? `${share}, at most ${percentText(100 * finding.saves)} could be saved` : share;
}

/// "74.7 % of the step", or "16 % of the device time" if no step is known; "" if neither is known.
function shareText(finding, step) {
  if (isNumber(finding.share_of_steps)) return `${percentText(100 * finding.share_of_steps)} of the ${step ? step.of : 'step'}`;
  return finding.share > 0 ? `${percentText(100 * finding.share)} of the device time` : '';
}

function findingNode(finding, step) {
  const text = (e) => `${e.text}${e.file ? ` (${e.file}:${e.line})` : ''}`;
  return el('details', {class: 'finding', open: finding.warning}, el('summary', {}, finding.warning ? verdictChip('WARNING') : null, ` ${[savedText(finding, step), finding.what].filter(Boolean).join(': ')}`),
    el('ul', {}, finding.evidence.map((e) => el('li', {}, nameOf(text(e))))), finding.estimate ? el('p', {}, 'Could be saved: ', finding.estimate) : null, finding.advice ? el('p', {}, 'Advice: ', finding.advice) : null, finding.try ? el('p', {}, 'In opbench: ', finding.try) : null);
}

// The outcome of reading a profile: {colour, text}.
function ingestOutcome({hot_spots: spots, warnings, findings, headline}) {
  const warned = warnings.length + findings.filter((f) => f.warning).length;
  return {colour: spots.computing.count === 0 || warned > 0 ? 'yellow' : 'green', text: headline || `${countText(spots.computing.count, 'task')}, ${countText(warned, 'warning')}`};
}

function ingestDigest(data) {
  const spots = data.hot_spots, groups = Object.entries(spots.groups).filter(([, g]) => g.count > 0), order = data.order || {};
  const next = data.findings.filter((f) => f.advice || f.try).slice(0, 3);
  return el('section', {class: `digest ${ingestOutcome(data).colour}`, 'aria-label': 'Digest'},
    el('h2', {}, data.headline || `${countText(spots.computing.count, 'task')}, ${timeText(spots.computing.total_us)} of device time`),
    el('div', {class: 'columns'}, el('div', {}, el('h3', {}, 'What was read'), data.files.map((f) => el('p', {}, nameOf(f.path), `: ${f.kind || 'not known'}, ${countText(f.rows, 'row')}${f.skipped ? `, ${f.skipped} skipped` : ''}`, f.problems.slice(0, 3).map((p) => el('span', {class: 'note'}, ` ${p}`)))),
      el('h3', {}, 'These profiles again'), commandLine(data.command_line)),
    el('div', {}, el('h3', {}, 'Where the time goes'), spots.computing.count === 0 ? el('p', {class: 'note'}, 'Nothing that was read has device time.') : null, facts([['device time', `${timeText(spots.computing.total_us)}, ${countText(spots.computing.count, 'task')}`], ...groups.map(([name, g]) => [name, `${percentText(100 * g.share)}, ${countText(g.count, 'task')}`]),
      ['communication', spots.communication.count > 0 ? timeText(spots.communication.total_us) : null], ['long waits', spots.long_waits.count > 0 ? `${spots.long_waits.count}, ${timeText(spots.long_waits.total_us)}` : null],
      ['busy', order.known && order.span_us > 0 ? `${percentText(100 * order.busy_us / order.span_us)} of ${timeText(order.span_us)}` : null]]),
    data.warnings.map((warning) => el('p', {class: 'note'}, warning)), next.length > 0 ? [el('h3', {}, 'What to do next'), el('ol', {}, next.map((f) => el('li', {}, `${[f.rule, shareText(f, data.step)].filter(Boolean).join(', ')}: ${f.advice || f.try}`)))] : null)));
}

export function ingestViews(input) {
  const {data} = input, view = {title: `ingest: ${input.path.replace(/.*\//, '')}`, about: input.data.headline, outcome: ingestOutcome(data)};
  const hrefOf = (o) => linkTo(view, {type: o.type, line: o.first.line});
  const operators = data.hot_spots.operators, chosen = el('div', {});
  const types = [...data.hot_spots.types].sort((a, b) => b.total_us - a.total_us);
  const plain = seriesColours(types.filter((t) => !kTuned[t.type]).map((t) => t.type));
  const colours = new Map(types.map((t) => [t.type, kTuned[t.type] || plain.get(t.type)]));
  let table = null;
  const choose = (type) => { location.hash = hrefOf(operators.find((o) => o.type === type) || {type, first: {line: ''}}); };
  view.build = () => {
    table = virtualTable({title: 'Operators', noun: 'operators', columns: kProfileColumns, rows: operators, hrefOf, choices: ['type', 'core']});
    return el('div', {}, ingestDigest(data), data.timeline && data.timeline.tasks.length > 0 ? section('One step', stepTimeline(data.timeline, colours)) : null,
      data.findings.length > 0 ? section('Findings', data.findings.map((f) => findingNode(f, data.step))) : null, types.length > 0 ? section('Types', typeTreemap(types, colours, choose)) : null,
      operators.length > 0 ? section('Operators', table.node) : null, chosen, data.hot_spots.slowest.length > 0 ? section('Slowest tasks', slowestBars(data.hot_spots.slowest, colours)) : null);
  };
  view.has = (params) => params.type !== undefined && operators.some((o) => o.type === params.type);
  view.show = (params) => {
    const o = params.type === undefined ? null : operators.find((each) => each.type === params.type && (!params.line || String(each.first.line) === params.line));
    if (!o) return;
    chosen.replaceChildren(operatorCard(o, operators));
    table.select(o);
    chosen.scrollIntoView({block: 'nearest'});
  };
  return [view];
}

function slowestBars(tasks, colours) {
  return barsFigure({title: 'The longest tasks', about: '', unit: 'time', hasPaths: true, bars: tasks.map((t) => ({name: t.name, value: t.duration_us, text: timeText(t.duration_us), series: colours.get(t.type), tip: `${t.name} (${t.type}): ${timeText(t.duration_us)}, ${t.file}:${t.line}`}))});
}

function operatorCard(o, operators) {
  const same = operators.filter((other) => other.type === o.type);
  const side = (s) => (s ? `${s.shapes} ${s.dtypes} ${s.formats}` : null);
  return el('section', {class: 'detail', 'aria-label': 'Chosen operator'}, el('h2', {}, nameOf(o.type), ` on ${o.core}`),
    facts([['first', `${o.first.name}, ${o.first.file}:${o.first.line}`], ['takes', side(o.inputs)], ['gives', side(o.outputs)], ['called by', o.host ? `${o.host.name} ${o.host.shapes} ${o.host.dtypes}` : null],
      ['tasks', `${o.count}: ${timeText(o.least_us)} to ${timeText(o.longest_us)}, mean ${timeText(o.mean_us)}`], ['waits before', isNumber(o.wait_us) ? timeText(o.wait_us) : null], ['of the device time', percentText(100 * o.share)],
      ['the type', `${countText(same.length, 'operator')}, ${percentText(100 * sum(same.map((x) => x.share)))}`]]));
}
