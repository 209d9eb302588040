// A table of any number of rows, of which only visible ones are elements. Columns sort it, text and choices filter it.
// CSV and JSON exports have the shown rows.
import {el, button, nameOf, say} from './dom.js';
import {isNumber, colourOf} from './format.js';
import {saveCsv, saveJson} from './export.js';

const kRowHeight = 30, kCardHeight = 74;  // the heights of page.css
const kOverscan = 12;
const kMostPrinted = 3000;

export function verdictChip(verdict) {
  return el('span', {class: `verdict ${colourOf(verdict)}`}, verdict);
}

function compared(a, b) {
  const hasNo = (value) => value === null || value === undefined || value === '' || Number.isNaN(value);
  if (hasNo(a) || hasNo(b)) return hasNo(a) - hasNo(b);  // what is absent stays last
  return isNumber(a) && isNumber(b) ? a - b : String(a).localeCompare(String(b), 'en', {numeric: true});
}

/// `columns`: {key, label, width, value(row), text(row), verdict, onCard}; the first is the link of its row. If some
/// are `onCard`, a narrow screen shows each row as a card of the link and these columns. `hrefOf(row)` is the target of
/// the link, `choices` are the keys of columns with few values, `exported` gives a row in files. Returns {node, rows(),
/// select(row, isBrought), onrows}. A selected row is scrolled into view, unless isBrought is false.
export function virtualTable({title, noun, columns, rows, hrefOf, choices = [], exported = (row) => row, sort = null}) {
  const state = {shown: rows, order: sort, descending: false, current: 0, selected: null, text: '', chosen: {}};
  const table = {onrows: null, rows: () => state.shown};
  const valueOf = (column, row) => column.value(row);
  const textOf = (column, row) => (column.text ? column.text(row) : String(column.value(row) ?? ''));
  const words = new Map();
  const wordsOf = (row) => {
    if (!words.has(row)) words.set(row, columns.map((column) => textOf(column, row)).join(' ').toLowerCase());
    return words.get(row);
  };

  const spacer = () => el('tr', {class: 'spacer', 'aria-hidden': 'true'}, el('td', {colspan: columns.length}));
  const above = spacer(), below = spacer();
  const body = el('tbody', {}, above, below);
  const heads = columns.map((column) => el('th', {scope: 'col', 'aria-sort': 'none'},
    el('button', {type: 'button', class: 'sort', title: column.about || null, onclick: () => sortBy(column)}, column.label)));
  const grid = el('table', {class: 'virtual'}, el('caption', {class: 'hidden'}, title),
    el('colgroup', {}, columns.map((column) => el('col', {style: `width:${column.width}px`}))),
    el('thead', {}, el('tr', {'aria-rowindex': 1}, heads)), body);
  grid.style.width = `${columns.reduce((total, column) => total + column.width, 0)}px`;
  const scroller = el('div', {class: 'scroll rows', role: 'region', 'aria-label': title, tabindex: 0, onscroll: () => render()}, grid);
  const made = new Map();
  const hasCards = columns.some((column) => column.onCard);
  const rowHeight = () => (hasCards && matchMedia('(max-width: 600px)').matches ? kCardHeight : kRowHeight);

  function rowNode(index) {
    const row = state.shown[index];
    const cells = columns.map((column, i) => {
      const text = textOf(column, row);
      const isNumeric = isNumber(valueOf(column, row));
      if (i === 0) return el('td', {}, el('a', {href: hrefOf(row), tabindex: index === state.current ? 0 : -1, title: text}, nameOf(text)));
      return el('td', {class: [isNumeric ? 'number' : '', column.onCard ? '' : 'aside'].join(' ').trim() || null, 'data-label': column.onCard && !column.verdict ? column.label : null, title: text.length > column.width / 8 ? text : null},
        column.verdict ? verdictChip(text) : isNumeric ? text : nameOf(text));
    });
    return el('tr', {'aria-rowindex': index + 2, class: row === state.selected ? 'selected' : null}, cells);
  }

  function render(all = false) {
    const count = state.shown.length, rowPixels = rowHeight();
    let first = Math.max(0, Math.floor(scroller.scrollTop / rowPixels) - kOverscan);
    let end = Math.min(count, first + Math.ceil((scroller.clientHeight || 500) / rowPixels) + 2 * kOverscan);
    if (all) [first, end] = [0, Math.min(count, kMostPrinted)];
    for (const [index, node] of made) {
      if (index >= first && index < end) continue;
      node.remove();
      made.delete(index);
    }
    let before = below;
    for (let index = end - 1; index >= first; --index) {
      if (!made.has(index)) {
        made.set(index, rowNode(index));
        body.insertBefore(made.get(index), before);
      }
      before = made.get(index);
    }
    above.firstChild.style.height = `${first * rowPixels}px`;
    below.firstChild.style.height = `${Math.max(0, count - end) * rowPixels}px`;
  }

  function renew() {
    for (const node of made.values()) node.remove();
    made.clear();
    grid.setAttribute('aria-rowcount', state.shown.length + 1);
    render();
  }

  function apply() {
    const wanted = state.text.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = Object.entries(state.chosen).filter(([, value]) => value !== '');
    const columnOf = (key) => columns.find((column) => column.key === key);
    state.shown = rows.filter((row) => chosen.every(([key, value]) => String(valueOf(columnOf(key), row)) === value) &&
      wanted.every((word) => wordsOf(row).includes(word)));
    if (state.order) {
      const column = columnOf(state.order), sign = state.descending ? -1 : 1;
      const absent = (row) => valueOf(column, row) ?? null;
      state.shown.sort((a, b) => (absent(a) === null || absent(b) === null ? compared(absent(a), absent(b))
        : sign * compared(absent(a), absent(b))));
    }
    state.current = 0;
    scroller.scrollTop = 0;
    counter.textContent = state.shown.length === rows.length ? `${rows.length} ${noun}` : `${state.shown.length} of ${rows.length} ${noun}`;
    renew();
    if (table.onrows) table.onrows(state.shown);
  }

  function sortBy(column) {
    state.descending = state.order === column.key ? !state.descending : isNumber(rows.map((row) => valueOf(column, row)).find((v) => v !== null));
    state.order = column.key;
    heads.forEach((head, i) => head.setAttribute('aria-sort',
      columns[i] !== column ? 'none' : state.descending ? 'descending' : 'ascending'));
    apply();
    say(`Sorted by ${column.label}, ${state.descending ? 'descending' : 'ascending'}`);
  }

  function bring(index) {
    const rowPixels = rowHeight(), top = index * rowPixels, head = grid.tHead.offsetHeight;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    if (top + rowPixels + head > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top + rowPixels + head - scroller.clientHeight;
    render();
  }

  // Arrow keys move between rows; the tab key stops at one link only.
  scroller.addEventListener('keydown', (event) => {
    const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -Infinity, End: Infinity};
    if (!(event.key in steps) || state.shown.length === 0 || event.target.closest('thead')) return;
    event.preventDefault();
    made.get(state.current)?.querySelector('a').setAttribute('tabindex', -1);
    state.current = Math.max(0, Math.min(state.shown.length - 1, state.current + steps[event.key]));
    bring(state.current);
    const link = made.get(state.current).querySelector('a');
    link.setAttribute('tabindex', 0);
    link.focus({preventScroll: true});
  });

  let waiting = 0;
  const search = el('input', {type: 'search', 'aria-label': `Filter ${title}`, placeholder: 'Filter: words that a row must have',
    oninput: () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => { state.text = search.value; apply(); }, 80);
    }});
  const selects = choices.map((key) => choiceOf(columns.find((column) => column.key === key), rows, (value) => {
    state.chosen[key] = value;
    apply();
  })).filter(Boolean);
  const counter = el('span', {class: 'counter', role: 'status'}, `${rows.length} ${noun}`);
  const save = (how) => () => {
    const list = state.shown.map(exported);
    if (how === 'json') saveJson(title, list);
    else saveCsv(title, Object.keys(list[0] || {}), list);
  };
  const frame = requestAnimationFrame(() => render());
  window.addEventListener('beforeprint', () => render(true));
  window.addEventListener('afterprint', () => renew());
  new ResizeObserver(() => render()).observe(scroller);
  cancelAnimationFrame(frame);
  apply();

  table.node = el('div', {class: hasCards ? 'table cards' : 'table'},
    el('div', {class: 'filters'}, search, selects, counter, el('span', {class: 'tools'},
      button('CSV', save('csv'), {'aria-label': `${title} as CSV`}), button('JSON', save('json'), {'aria-label': `${title} as JSON`}))),
    scroller);
  table.select = (row, isBrought = true) => {
    state.selected = row;
    const index = state.shown.indexOf(row);
    if (index >= 0 && isBrought) {
      state.current = index;
      bring(index);
    }
    renew();
  };
  return table;
}

function choiceOf(column, rows, onchange) {
  const values = [...new Set(rows.map((row) => column.value(row)))].filter((value) => value !== null && value !== undefined).sort(compared);
  if (values.length < 2) return null;
  return el('select', {'aria-label': `Only ${column.label}`, onchange: (event) => onchange(event.target.value)},
    el('option', {value: ''}, `${column.label}: all`), values.map((value) => el('option', {value: String(value)}, String(value))));
}
