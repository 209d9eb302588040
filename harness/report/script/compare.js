// The view of a comparison: operators in the order of execution on a logarithmic axis of errors.
import {el, commandLine, nameOf, section, svg} from './dom.js';
import {colourOf, countText, groupBy, isNumber, numberText} from './format.js';
import {axes, figure, mark} from './chart.js';
import {logarithmic, logRange, ordinal} from './scale.js';
import {verdictChip, virtualTable} from './table.js';
import {linkTo} from './tabs.js';
import {errorScatter, operatorDetail, quoted} from './compare_detail.js';

const kOperatorColumns = [
  {key: 'operator', label: 'operator', width: 260, value: (op) => op.operator || op.expected_operator || '-'},
  {key: 'seq', onCard: true, label: 'call', width: 80, value: (op) => (op.seq !== null && op.seq !== '' && !Number.isNaN(Number(op.seq)) ? Number(op.seq) : op.seq)},
  {key: 'execution', label: 'order', width: 75, value: (op) => op.execution},
  {key: 'verdict', onCard: true, label: 'verdict', width: 115, value: (op) => op.verdict, verdict: true},
  {key: 'origin', label: 'origin', width: 150, value: (op) => op.origin},
  {key: 'input', label: 'error in', width: 95, value: (op) => op.input_error, text: (op) => numberText(op.input_error, 3)},
  {key: 'output', onCard: true, label: 'error out', width: 95, value: (op) => op.output_error, text: (op) => numberText(op.output_error, 3)},
  {key: 'factor', label: 'factor', width: 85, value: (op) => op.amplification, text: (op) => numberText(op.amplification, 3)},
  {key: 'by', label: 'by', width: 85, value: (op) => op.introduced_by},
  {key: 'why', label: 'why', width: 260, value: (op) => op.explanation},
];

/// Every operator by its output error, with its input error as a tick. Operators without an error are on the bottom
/// line.
export function executionChart(operators, first, go) {
  const draw = (root, width) => {
    const height = 330, box = {left: 56, right: width - 14, top: 34, bottom: height - 44};
    const x = ordinal(operators.length, box.left, box.right);
    const y = logarithmic(...logRange(operators.flatMap((op) => [op.input_error, op.output_error])), box.bottom - 18, box.top);
    axes(root, box, x, y, 'operators in the order of execution', 'relative error');
    const radius = operators.length > 400 ? 2.5 : 5;
    const at = (error) => (error > 0 ? y(error) : box.bottom - 4);
    if (first) {
      const i = operators.findIndex((op) => op.execution === first.execution), isRight = i > operators.length / 2;
      root.append(svg('line', {class: 'departure', x1: x(i), x2: x(i), y1: box.top - 8, y2: box.bottom}),
        svg('text', {x: x(i) + (isRight ? -6 : 6), y: box.top - 14, 'text-anchor': isRight ? 'end' : 'start'}, `first departure: ${first.operator} ${first.seq}`));
    }
    operators.forEach((op, i) => {
      if (isNumber(op.input_error) && op.input_error > 0) root.append(svg('line', {class: 'whisker', x1: x(i) - radius - 2, x2: x(i) + radius + 2, y1: y(op.input_error), y2: y(op.input_error)}));
      root.append(mark('circle', {class: `dot ${colourOf(op.verdict)}`, cx: x(i), cy: at(op.output_error), r: radius},
        `${op.operator} ${op.seq}, ${op.verdict}: ${numberText(op.input_error)} in, ${numberText(op.output_error)} out${op.origin ? `, ${op.origin}` : ''}`, () => go(op)));
    });
    return height;
  };
  return figure({title: 'Error by operator', about: 'Dots: relative error of the outputs, in the colour of the verdict; ticks: of the inputs. On the bottom line: none.', draw,
    legend: new Map([...new Set(operators.map((op) => op.verdict))].map((verdict) => [verdict, colourOf(verdict)])),
    table: {heads: ['order', 'operator', 'call', 'verdict', 'in', 'out'], rows: () => operators.map((op) => [op.execution, op.operator || '-', op.seq || '-', op.verdict, op.input_error, op.output_error])}});
}

function standOut(op, hrefOf, text) {
  return op ? el('p', {}, `${text}: `, el('a', {href: hrefOf(op)}, nameOf(op.operator || '-')), `, call ${op.seq}: `, [op.origin, op.explanation].filter(Boolean).join(', '), '.') : null;
}

// The next command: reduces the wrong call, or judges the actual dump.
function nextStep({files, first_introduced: first}) {
  if (!first) return `opbench judge ${quoted(files.actual.path)}`;
  const isExpected = first.introduced_by === 'expected';
  return `opbench minimise ${quoted((isExpected ? files.expected : files.actual).path)} ${quoted(isExpected ? `/${first.expected_operator}/${first.expected_seq}` : `/${first.operator}/${first.seq}`)}`;
}

function compareDigest(data, hrefOf) {
  const {counts, files} = data, failed = data.verdict === 'failed';
  const origins = ['introduced', 'inherited', 'rounding', 'repaired', 'unknown'].filter((key) => counts[key] > 0).map((key) => `${counts[key]} ${key}`);
  return el('section', {class: `digest ${colourOf(data.verdict)}`, 'aria-label': 'Digest'},
    el('h2', {}, verdictChip(data.verdict), ' ', nameOf(files.actual.path), ' against ', nameOf(files.expected.path), `, standard ${data.standard}`),
    el('div', {class: 'columns'}, el('div', {}, el('h3', {}, 'What was compared'),
      el('p', {}, `${countText(counts.operators, 'operator')}: ${counts.passed} tensors passed, ${counts.failed} failed, ${counts.mistrusted} mistrusted, ${counts.not_compared} not compared, ${counts.unread} unread.`),
      el('p', {}, `${files.actual.device || 'actual'}: ${files.actual.operators} operators, ${files.actual.tensors} tensors; ${files.expected.device || 'expected'}: ${files.expected.operators} and ${files.expected.tensors}.`),
      [...files.actual.problems, ...files.expected.problems].slice(0, 5).map((problem) => el('p', {class: 'note'}, problem)), el('h3', {}, 'This comparison again'), commandLine(data.command)),
    el('div', {}, el('h3', {}, 'What is wrong'), failed ? el('p', {}, `${countText(counts.operators_failed, 'operator fails', 'operators fail')}: ${origins.join(', ')}.`) : el('p', {}, 'Nothing beyond its tolerance.'),
      failed && data.explained && !data.first_introduced ? el('p', {}, counts.unknown > 0 ? 'No operator that was recomputed is wrong for its inputs.' : 'No operator is wrong for its inputs.') : null,
      standOut(data.first_introduced, hrefOf, 'Introduced at'), data.first_departure && data.first_introduced && data.first_departure.execution === data.first_introduced.execution ? null : standOut(data.first_departure, hrefOf, data.explained && !data.first_introduced ? 'The difference enters at' : 'First beyond its tolerance'),
      failed ? [el('h3', {}, 'What to do next'), commandLine(nextStep(data))] : null)));
}

export function compareViews(input) {
  const {data} = input, {counts, first_introduced: first} = data;
  const view = {title: `compare: ${input.path.replace(/.*\//, '')}`, outcome: {colour: colourOf(data.verdict),
    text: `${data.verdict}: ${counts.operators_failed} of ${countText(counts.operators, 'operator')} fail${first ? `, ${first.operator || '-'} introduces an error` : ''}`}};
  const hrefOf = (op) => linkTo(view, {op: op.operator || '', call: op.seq || '', order: op.execution});
  const go = (op) => { location.hash = hrefOf(op); };
  const byOperator = groupBy(data.tensors, (t) => t.execution), chosen = el('div', {});
  const find = (params) => (params.order !== undefined ? data.operators.find((op) => String(op.execution) === params.order)
    : data.operators.find((op) => op.operator === params.op && (params.call === undefined || op.seq === params.call)));
  let table = null;
  view.build = () => {
    table = virtualTable({title: 'Operators', noun: 'operators', columns: kOperatorColumns, rows: data.operators, hrefOf, choices: ['verdict', 'origin', 'operator']});
    return el('div', {}, compareDigest(data, hrefOf), section('In the order of execution', executionChart(data.operators, data.first_departure, go)),
      section('Operators', table.node), chosen, section('Input against output', el('div', {class: 'charts'}, errorScatter(data.operators, go))));
  };
  view.has = (params) => params.op !== undefined && find(params) !== undefined;
  view.show = (params) => {
    const op = params.op === undefined && params.order === undefined ? data.first_introduced || data.first_departure : find(params);
    if (!op) return;
    chosen.replaceChildren(operatorDetail(op, byOperator.get(op.execution) || [], data.files));
    table.select(data.operators.find((each) => each.execution === op.execution));
    if (params.order !== undefined) chosen.scrollIntoView({block: 'nearest'});
  };
  return [view];
}
