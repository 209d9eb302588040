// One operator of a comparison: its tensors, and for one of them the sizes and places of errors and the worst elements.
import {el, commandLine, facts, nameOf, plainTable, svg} from './dom.js';
import {countText, isNumber, numberText, percentText} from './format.js';
import {axes, figure, mark} from './chart.js';
import {logarithmic, logRange} from './scale.js';
import {verdictChip} from './table.js';
import {errorMapFigures} from './error_map.js';

/// Counts of elements by the size of their error, in powers of two. Equal elements are separate on the left.
export function errorHistogram(tensor) {
  const counts = tensor.histogram || [];
  if (counts.length === 0 && !tensor.histogram_exact) return null;
  const bars = [{name: '0', from: 'equal', count: tensor.histogram_exact || 0},
    ...counts.map((count, i) => ({name: `2^${tensor.histogram_first_exponent + i}`, from: `from 2^${tensor.histogram_first_exponent + i} on`, count}))];
  const draw = (root, width) => {
    const height = 240, box = {left: 56, right: width - 10, top: 24, bottom: height - 44};
    const step = (box.right - box.left) / bars.length, every = Math.ceil(46 / step);
    const y = logarithmic(0.5, 1.5 * Math.max(...bars.map((b) => b.count), 2), box.bottom, box.top);
    const none = () => 0;
    none.ticks = () => [];
    axes(root, box, none, y, 'absolute error', 'elements');
    bars.forEach((bar, i) => {
      const x = box.left + i * step;
      if (bar.count > 0) root.append(mark('rect', {class: i === 0 ? 'green' : 'series1', x: x + 1, y: y(bar.count), width: Math.max(1, step - 2), height: box.bottom - y(bar.count)}, `${bar.from}: ${countText(bar.count, 'element')}`));
      if (i % every === 0) root.append(svg('text', {class: 'tick', x: x + step / 2, y: box.bottom + 15, 'text-anchor': 'middle'}, bar.name));
    });
    return height;
  };
  return figure({title: 'Errors by size', about: `Elements by the power of two of their absolute error; ${tensor.histogram_exact || 0} of ${tensor.elements} are equal.`, draw,
    table: {heads: ['error', 'elements'], rows: () => bars.map((b) => [b.from, b.count])}});
}

/// Both values of the worst elements, each with its place.
function worstTable(tensor) {
  const rows = [['largest absolute error', 'max_abs'], ['largest relative error', 'max_rel'], ['NaN or Inf on one side', 'mismatch']]
    .filter(([, key]) => tensor[`${key}_index`])
    .map(([what, key]) => [what, tensor[`${key}_index`], tensor[`${key}_actual`], tensor[`${key}_expected`], key === 'mismatch' ? '' : numberText(tensor[key])]);
  return rows.length === 0 ? null : plainTable('Worst elements', ['what', 'index', 'actual', 'expected', 'error'], rows);
}

function tensorPart(tensor) {
  const range = (side) => `${numberText(tensor[`${side}_min`])} to ${numberText(tensor[`${side}_max`])}, ${tensor[`${side}_nan`]} NaN, ${tensor[`${side}_inf`]} Inf, ${tensor[`${side}_zero`]} zeros`;
  return el('div', {}, el('h3', {}, `${tensor.side} `, nameOf(tensor.tensor), ' ', verdictChip(tensor.verdict)),
    tensor.reason ? el('p', {class: 'note'}, tensor.reason) : null,
    (tensor.warnings || []).map((warning) => el('p', {class: 'note'}, warning)),
    (tensor.causes || []).map(({text}) => el('p', {class: 'expert'}, text)),
    el('div', {class: 'columns'},
      facts([['actual', nameOf(tensor.actual_path || '-')], ['', `${tensor.actual_dtype} ${tensor.actual_shape}, ${range('actual')}`],
        ['expected', nameOf(tensor.expected_path || '-')], ['', `${tensor.expected_dtype} ${tensor.expected_shape}, ${range('expected')}`], ['held to', tensor.formula]]),
      facts([['inside the tolerance', isNumber(tensor.inside_share) ? `${percentText(100 * tensor.inside_share, 4)} of ${tensor.elements}` : null], ['relative error', numberText(tensor.relative_error)],
        ['cosine', isNumber(tensor.cosine) ? String(Number(tensor.cosine.toPrecision(9))) : null], ['max ULP', numberText(tensor.max_ulp)], ['mean ULP', numberText(tensor.mean_ulp)],
        ['tolerance for all', numberText(tensor.min_tolerance)]])),
    worstTable(tensor), el('div', {class: 'charts'}, errorHistogram(tensor), errorMapFigures(tensor.error_map)));
}

/// `tensors` are those of the operator; the first that fails is open.
export function operatorDetail(op, tensors, files) {
  const bad = tensors.filter((t) => t.verdict !== 'passed');
  const first = bad.find((t) => t.side === 'output') || bad[0] || tensors.find((t) => t.side === 'output') || tensors[0];
  const path = first && first.actual_path;
  const shown = el('div', {}, first ? tensorPart(first) : el('p', {}, 'It has no tensors.'));
  const rows = tensors.map((t) => [t.side, el('button', {type: 'button', onclick: () => shown.replaceChildren(tensorPart(t))}, nameOf(t.tensor)), verdictChip(t.verdict), t.actual_shape,
    isNumber(t.inside_share) ? percentText(100 * t.inside_share, 4) : '-', t.relative_error, t.max_abs, t.max_ulp, t.reason || '']);
  return el('section', {class: 'detail', 'aria-label': 'Chosen operator'},
    el('h2', {}, nameOf(op.operator || '-'), ` call ${op.seq || '-'} `, verdictChip(op.verdict)),
    el('p', {}, [op.origin, op.explanation, op.match].filter(Boolean).join(': ')),
    facts([['error of its inputs', numberText(op.input_error)], ['error of its outputs', numberText(op.output_error)], ['amplified', isNumber(op.amplification) ? `${numberText(op.amplification, 3)} times` : null],
      ['recomputed', op.actual_ruling ? `${op.actual_ruling} of ${files.actual.path}, ${op.expected_ruling} of ${files.expected.path}` : null]]),
    path ? commandLine(`opbench show ${quoted(files.actual.path)} ${quoted(path)}`) : null,
    plainTable('Tensors', ['side', 'tensor', 'verdict', 'shape', 'inside', 'relative error', 'max error', 'max ULP', 'why'], rows), shown);
}

/// A word for a POSIX shell.
export function quoted(word) {
  return /^[A-Za-z0-9_.,:=+/@%-]+$/.test(word) ? word : `'${String(word).replaceAll("'", "'\\''")}'`;
}

/// Points of operators in both errors. Errors grow at points above the diagonal.
export function errorScatter(operators, go) {
  const dots = operators.filter((op) => isNumber(op.input_error) && isNumber(op.output_error));
  if (dots.length < 2) return null;
  const positive = dots.flatMap((op) => [op.input_error, op.output_error]);
  const draw = (root, width) => {
    const height = 340, box = {left: 56, right: width - 14, top: 24, bottom: height - 44};
    const [low, high] = logRange(positive);
    const x = logarithmic(low / 2, high, box.left, box.right), y = logarithmic(low / 2, high, box.bottom, box.top);
    axes(root, box, x, y, 'error of inputs', 'error of outputs');
    root.append(svg('line', {class: 'roof', 'stroke-dasharray': '6 3', x1: x(low / 2), y1: y(low / 2), x2: x(high), y2: y(high)}));
    for (const op of dots) root.append(mark('circle', {class: `dot ${originColour(op.origin)}`, cx: x(op.input_error), cy: y(op.output_error), r: 5}, `${op.operator} ${op.seq}: ${numberText(op.input_error)} in, ${numberText(op.output_error)} out, ${op.origin || '-'}`, () => go(op)));
    return height;
  };
  return figure({title: 'Errors in and out', about: 'Relative errors of the inputs and outputs of each operator; dashed: as much out as in. At the edges: 0.', draw,
    legend: new Map([...new Set(dots.map((op) => op.origin || 'none'))].map((origin) => [origin, originColour(origin)])),
    table: {heads: ['operator', 'call', 'in', 'out', 'origin'], rows: () => dots.map((op) => [op.operator, op.seq, op.input_error, op.output_error, op.origin || ''])}});
}

export function originColour(origin) {
  const text = String(origin);
  const known = [['introduced', 'series7'], ['rounding', 'series1'], ['inherited', 'series4'], ['repaired', 'series2']].find(([word]) => text.startsWith(word));
  return known ? known[1] : 'series6';
}

