// The dispatch table: the winner of every case, as JSON and as a C header.
import {el, button, save, section} from './dom.js';
import {numberText, timeText} from './format.js';
import {winners} from './pareto.js';
import {fileName, saveJson} from './export.js';
import {virtualTable} from './table.js';

// Characters other than plain ASCII become octal escapes, which cannot absorb a following character.
export function cString(text) {
  const bytes = new TextEncoder().encode(String(text));
  return `"${[...bytes].map((b) => (b === 34 || b === 92 || b === 63 || b < 32 || b > 126
    ? `\\${b.toString(8).padStart(3, '0')}` : String.fromCharCode(b))).join('')}"`;
}

export function cHeader(rows, source) {
  const comment = `${source.command}, ${source.revision}`.replaceAll('*/', '* /').replace(/[^ -~]/g, '?');
  const lines = rows.map((r) => `    {${[r.op, r.case, r.dtype, r.format].map(cString).join(', ')}, ${Math.trunc(r.threads)}, ${cString(r.variant)}, ` +
    `${Number(r.median_us).toPrecision(6)}, ${r.max_ulp === null ? -1 : Number(r.max_ulp)}},`);
  return `/* The fastest variant of every case. ${comment} */
#ifndef OPBENCH_DISPATCH_H
#define OPBENCH_DISPATCH_H

struct opbench_dispatch {
    const char *op, *case_id, *dtype, *format;
    int threads;
    const char *variant;
    double median_us; /* as measured */
    double max_ulp;   /* -1: not verified */
};

static const struct opbench_dispatch opbench_dispatch_table[] = {
${lines.join('\n')}
};
static const int opbench_dispatch_size = ${rows.length};

#endif
`;
}

/// The winners among `records`, with the bound on the error that the reader sets.
export function dispatchSection(records, data, hrefOf) {
  const title = 'Dispatch table';
  const holder = el('div', {});
  const bound = el('input', {type: 'number', min: 0, step: 'any', placeholder: 'any', id: `bound${Math.random().toString(36).slice(2)}`});
  let rows = [];
  const renew = () => {
    rows = winners(records, bound.value === '' ? null : Number(bound.value));
    holder.replaceChildren(rows.length === 0 ? el('p', {}, 'No variant is as accurate.') : virtualTable({
      title, noun: 'winners', rows, hrefOf, choices: ['op', 'variant', 'dtype', 'threads'],
      columns: [{key: 'case', label: 'case', width: 380, value: (r) => r.case},
        {key: 'op', label: 'operator', width: 120, value: (r) => r.op},
        {key: 'dtype', label: 'dtype', width: 80, value: (r) => r.dtype},
        {key: 'threads', label: 'threads', width: 90, value: (r) => r.threads},
        {key: 'variant', label: 'fastest', width: 170, value: (r) => r.variant},
        {key: 'ties', label: 'as fast', width: 170, value: (r) => (r.ties.length > 0 ? r.ties.join(', ') : null), text: (r) => r.ties.join(', ') || '-', about: 'Within noise: 5 % and three times what the times vary by'},
        {key: 'time', label: 'time', width: 100, value: (r) => r.median_us, text: (r) => timeText(r.median_us)},
        {key: 'ulp', label: 'max ULP', width: 100, value: (r) => r.max_ulp, text: (r) => numberText(r.max_ulp)},
        {key: 'candidates', label: 'of', width: 60, value: (r) => r.candidates}]}).node);
  };
  bound.addEventListener('input', renew);
  renew();
  const source = {command: data.command, revision: data.machine.revision};
  return section(title,
    el('p', {}, 'The fastest variant of every case whose results are usable, for a program that chooses at run time. What is as fast within noise stands beside it.'),
    el('p', {class: 'filters'}, el('label', {for: bound.id}, 'Largest max ULP allowed '), bound,
      button('JSON of the winners', () => saveJson('dispatch', {...source, max_ulp: bound.value === '' ? null : Number(bound.value), winners: rows})),
      button('C header', () => save(fileName('opbench dispatch', 'h'), 'text/x-c', cHeader(rows, source)))),
    holder);
}
