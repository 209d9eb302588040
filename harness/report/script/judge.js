// The view of judged dumps: each operator compared with correct kernels for its recorded inputs.
import {el, commandLine, facts, nameOf, plainTable, section, svg} from './dom.js';
import {colourOf, countText, groupBy, isNumber, numberText, percentText, shortText, sum} from './format.js';
import {axes, figure, mark} from './chart.js';
import {logarithmic, logRange, ordinal} from './scale.js';
import {verdictChip, virtualTable} from './table.js';
import {linkTo} from './tabs.js';
import {errorHistogram, quoted} from './compare_detail.js';
import {errorMapFigures} from './error_map.js';

// The smallest tolerance under which all outputs of a record pass.
function toleranceOf(record) {
  const known = record.outputs.map((output) => output.min_tolerance).filter(isNumber);
  return known.length === 0 ? null : Math.max(...known);
}

const kJudgedColumns = [
  {key: 'path', label: 'operator', width: 320, value: (r) => r.path},
  {key: 'verdict', onCard: true, label: 'verdict', width: 110, value: (r) => r.verdict, verdict: true},
  {key: 'order', label: 'order', width: 75, value: (r) => r.order},
  {key: 'op', label: 'name', width: 190, value: (r) => r.op},
  {key: 'dtype', onCard: true, label: 'dtype', width: 75, value: (r) => r.dtype},
  {key: 'error', label: 'tolerance for all', width: 125, value: toleranceOf, text: (r) => numberText(toleranceOf(r), 3)},
  {key: 'wrong', onCard: true, label: 'wrong elements', width: 130, value: (r) => sum(r.outputs.map((o) => o.wrong_elements))},
  {key: 'elements', label: 'elements', width: 100, value: (r) => r.elements},
  {key: 'why', label: 'why', width: 300, value: (r) => r.reason || r.implementation || r.outputs.map((o) => o.reason).filter(Boolean)[0] || ''},
];

function judgedChart(records, go) {
  const draw = (root, width) => {
    const height = 300, box = {left: 56, right: width - 14, top: 26, bottom: height - 44};
    const x = ordinal(records.length, box.left, box.right), y = logarithmic(...logRange(records.map(toleranceOf)), box.bottom - 18, box.top);
    axes(root, box, x, y, 'operators in the order of execution', 'tolerance with which all elements pass');
    const first = records.findIndex((r) => r.verdict === 'GUILTY');
    if (first >= 0) root.append(svg('line', {class: 'departure', x1: x(first), x2: x(first), y1: box.top - 8, y2: box.bottom}));
    records.forEach((r, i) => {
      const error = toleranceOf(r);
      root.append(mark('circle', {class: `dot ${colourOf(r.verdict)}`, cx: x(i), cy: error > 0 ? y(error) : box.bottom - 4, r: records.length > 400 ? 2.5 : 5}, `${r.path}, ${r.verdict}: ${numberText(error)}`, () => go(r)));
    });
    return height;
  };
  return figure({title: 'Operators by their error', about: 'Errors of each for its own recorded inputs; on the bottom line: none, or not judged. Dashed: the first GUILTY one.', draw,
    legend: new Map([...new Set(records.map((r) => r.verdict))].map((verdict) => [verdict, colourOf(verdict)])),
    table: {heads: ['operator', 'verdict', 'tolerance for all'], rows: () => records.map((r) => [r.path, r.verdict, toleranceOf(r)])}});
}

function judgedDetail(record, file) {
  return el('section', {class: 'detail', 'aria-label': 'Chosen operator'}, el('h2', {}, nameOf(record.path), ' ', verdictChip(record.verdict)),
    facts([['dtype', record.dtype], ['device', record.device], ['elements', `${record.judged_elements} of ${record.elements} judged`], ['why', record.reason], ['made by', record.implementation]]),
    record.outputs.map((o) => el('div', {}, el('h3', {}, nameOf(o.path), ` ${o.operator}`), o.reason ? el('p', {class: o.wrong ? 'note' : ''}, o.reason) : null,
      (o.causes || []).map(({text}) => el('p', {class: 'expert'}, text)),
      facts([['wrong', `${o.wrong_elements} of ${o.elements} elements`], ['where', o.pattern], ['numerics', o.numerics], ['held to', o.formula], ['tolerance for all', numberText(o.min_tolerance)]]),
      o.error_map ? el('div', {class: 'charts'}, errorHistogram(o), errorMapFigures(o.error_map)) : null,
      commandLine(`opbench show ${quoted(file)} ${quoted(o.path)}`))));
}

// The outcome of a judgement: {colour, text}.
function judgeOutcome(data) {
  return {colour: data.guilty > 0 ? 'red' : (data.ok ?? data.carries) > 0 ? 'green' : 'yellow', text: `${data.guilty} of ${countText(data.records.length, 'operator')} GUILTY, ${data.unknown} UNKNOWN`};
}

function judgeDigest(data, records, hrefOf) {
  const guilty = records.filter((r) => r.verdict === 'GUILTY'), unknown = groupBy(records.filter((r) => r.verdict === 'UNKNOWN'), (r) => `${r.op}: ${r.reason || ''}`);
  return el('section', {class: `digest ${judgeOutcome(data).colour}`, 'aria-label': 'Digest'},
    el('h2', {}, nameOf(data.file), ' ', ['GUILTY', 'OK', 'RANDOM', 'UNKNOWN'].map((verdict) => el('span', {class: 'count'}, verdictChip(verdict), ` ${data[verdict.toLowerCase()] ?? data.carries}`))),
    el('div', {class: 'columns'}, el('div', {}, el('h3', {}, 'What is wrong'),
      guilty.length === 0 ? el('p', {}, 'No operator that could be judged is wrong for its inputs.')
        : el('ul', {}, guilty.slice(0, 5).map((r) => el('li', {}, el('a', {href: hrefOf(r)}, nameOf(r.path)), `: ${shortText(r.outputs.map((o) => o.reason).filter(Boolean)[0] || '', 160)}`)),
          guilty.length > 5 ? el('li', {}, `and ${guilty.length - 5} more`) : null),
      guilty.length > 0 ? [el('h3', {}, 'What to do next'), commandLine(`opbench minimise ${quoted(data.file)} ${quoted(guilty[0].path)}`)] : null),
    el('div', {}, el('h3', {}, 'What was judged'), el('p', {}, `${percentText(100 * data.judged_elements / (data.elements || 1))} of ${countText(data.elements, 'recorded element')}.`),
      [...unknown].slice(0, 5).map(([reason, list]) => el('p', {}, `${list.length}x ${shortText(reason, 160)}`)), data.problems.slice(0, 5).map((problem) => el('p', {class: 'note'}, problem)),
      data.command ? [el('h3', {}, 'This judgement again'), commandLine(data.command)] : null)));
}

function judgeView(data, title) {
  const view = {title, outcome: judgeOutcome(data)}, records = data.records.map((record, order) => ({...record, order})), chosen = el('div', {});
  const hrefOf = (r) => linkTo(view, {path: r.path});
  const go = (r) => { location.hash = hrefOf(r); };
  let table = null;
  view.build = () => {
    table = virtualTable({title: 'Judged operators', noun: 'operators', columns: kJudgedColumns, rows: records, hrefOf, choices: ['verdict', 'op', 'dtype']});
    return el('div', {}, judgeDigest(data, records, hrefOf), section('In the order of execution', judgedChart(records, go)), section('Operators', table.node), chosen);
  };
  view.has = (params) => params.path !== undefined && records.some((r) => r.path === params.path);
  view.show = (params) => {
    const record = params.path === undefined ? records.find((r) => r.verdict === 'GUILTY') : records.find((r) => r.path === params.path);
    if (!record) return;
    chosen.replaceChildren(judgedDetail(record, data.file));
    table.select(record);
    if (params.path !== undefined) chosen.scrollIntoView({block: 'nearest'});
  };
  return view;
}

function pairsView(data) {
  const rows = data.pairs.map((p) => [p.first || '-', p.first_verdict ? verdictChip(p.first_verdict) : '-', p.second || '-', p.second_verdict ? verdictChip(p.second_verdict) : '-']);
  const isWrong = data.first.guilty + data.second.guilty > 0;
  return {title: 'judge: pairs', outcome: {colour: isWrong ? 'red' : 'green', text: countText(rows.length, 'pair')}, build: () => section('Calls that both dumps have', plainTable('Pairs', ['first', 'verdict', 'second', 'verdict'], rows))};
}

export function judgeViews(input) {
  const name = input.path.replace(/.*\//, '');
  if (!input.data.pairs) return [judgeView(input.data, `judge: ${name}`)];
  return [judgeView(input.data.first, `judge: ${name}, first`), judgeView(input.data.second, `judge: ${name}, second`), pairsView(input.data)];
}
