// The planned graph of a step: its tasks in the order of execution, the tensors between them, and every inserted
// conversion with its cause.
import {svg} from './dom.js';
import {countText, groupBy, sum, timeText} from './format.js';
import {figure, fitting, mark} from './chart.js';

const kRow = 21;

export function typeColour(type) {
  return {TransData: 'series7', Cast: 'series1', contiguous: 'series4'}[type] || 'series6';
}

function tensorText(tensor) {
  return `${tensor.dtype} ${tensor.shape} ${tensor.format}`;
}

function taskTip(task) {
  return [`${task.name}: ${task.type} (${task.kernel}), ${timeText(task.duration_us)}`, `takes ${task.inputs.map(tensorText).join('; ')}`,
    `gives ${task.outputs.map(tensorText).join('; ')}`, task.cause].filter(Boolean).join('\n');
}

// "NCHW -> NC1HWC0", "fp32 -> fp16".
function changeText(task) {
  const [from, to] = [task.inputs[0], task.outputs[0]];
  if (!from || !to) return '';
  return task.type === 'Cast' ? `${from.dtype} \u2192 ${to.dtype}` : task.type === 'TransData' ? `${from.format} \u2192 ${to.format}` : to.format;
}

// An arc between tasks, left of `x`. Under the pointer it shows inputs and outputs by `near`.
function arc(from, to, isConversion, x) {
  const reach = Math.min(x - 8, 8 + 10 * Math.sqrt(to - from));
  const [y1, y2] = [from, to].map((row) => 6 + row * kRow + kRow / 2);
  return svg('path', {class: isConversion ? 'arc conversion' : 'arc', d: `M${x} ${y1} C${x - reach} ${y1} ${x - reach} ${y2} ${x} ${y2}`});
}

function arcsOf(tasks, x) {
  return tasks.flatMap((task, to) => (task.from || []).filter((from) => from !== null).map((from) => ({from, to, path: arc(from, to, task.cause !== '', x)})));
}

/// Tasks of `record`'s step. Tasks that are not in `other` are marked with +.
export function graphFigure(record, other, title) {
  const {tasks} = record.step;
  const known = other ? new Set(other.step.tasks.map((task) => task.name)) : null;
  const most = Math.max(...tasks.map((task) => task.duration_us), 1e-9);
  const draw = (root, width) => {
    const left = Math.min(90, Math.round(width * 0.14)), arcs = arcsOf(tasks, left);
    const point = (at, isOn) => arcs.forEach(({from, to, path}) => path.classList.toggle('near', isOn && (from === at || to === at)));
    root.append(...arcs.map(({path}) => path));
    tasks.forEach((task, i) => {
      const y = 6 + i * kRow, isNew = known && !known.has(task.name), box = Math.min(150, width * 0.3);
      const rect = mark('rect', {class: `task ${task.cause ? typeColour(task.type) : 'plain'}`, x: left, y: y + 1.5, width: box, height: kRow - 3, rx: 3}, taskTip(task));
      rect.addEventListener('mouseenter', () => point(i, true));
      rect.addEventListener('mouseleave', () => point(i, false));
      root.append(rect, svg('text', {class: task.cause ? 'onfill' : '', x: left + 5, y: y + 15, 'pointer-events': 'none'}, fitting(`${isNew ? '+ ' : ''}${task.type}`, box)),
        svg('rect', {class: 'series0', x: left + box + 4, y: y + 6, width: Math.max(0.5, 40 * task.duration_us / most), height: kRow - 12}));
      const text = task.cause ? `${changeText(task)}: ${task.cause}` : `${task.name}, ${changeText(task)}`;
      root.append(svg('text', {class: task.cause ? '' : 'tick', x: left + box + 50, y: y + 15}, fitting(text, width - left - box - 52)));
    });
    return tasks.length * kRow + 12;
  };
  const inserted = tasks.filter((task) => task.cause);
  return figure({title, about: `${countText(tasks.length, 'task')}, ${timeText(sum(tasks.map((t) => t.duration_us)))}; ${inserted.length} inserted${known ? '; + is not in the other step' : ''}.`, draw,
    table: {heads: ['task', 'type', 'us', 'from', 'takes', 'gives', 'cause'], rows: () => tasks.map((task) => [task.name, task.type, task.duration_us,
      (task.from || []).filter((from) => from !== null).map((from) => tasks[from].name).join(', '), task.inputs.map(tensorText).join('; '), task.outputs.map(tensorText).join('; '), task.cause])}});
}

/// Causes of conversions in two steps: rows of cause, count and time before, count and time after.
export function causeRows(before, after) {
  const of = (record) => groupBy(record.step.tasks.filter((task) => task.cause), (task) => `${task.type}: ${task.cause}`);
  const [first, second] = [of(before), of(after)];
  const text = (list) => (list ? `${list.length}, ${timeText(sum(list.map((task) => task.duration_us)))}` : '-');
  const weight = (name) => sum([...(first.get(name) || []), ...(second.get(name) || [])].map((task) => task.duration_us));
  return [...new Set([...first.keys(), ...second.keys()])].sort((a, b) => weight(b) - weight(a)).map((name) => [name, text(first.get(name)), text(second.get(name))]);
}
