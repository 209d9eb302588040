// A figure: an SVG that a function draws for the available width, with exports and a table of its data.
import {el, svg, button, plainTable} from './dom.js';
import {saveSvg, savePng} from './export.js';

// Colours that differ in light and dark themes, also for colour-blind readers (Okabe and Ito 2008, darkened to 3:1 on
// white).
const kSeries = ['series0', 'series1', 'series2', 'series3', 'series4', 'series5', 'series6', 'series7'];

/// Maps names to classes of colours, in their order.
export function seriesColours(names) {
  return new Map([...new Set(names)].map((name, i) => [name, kSeries[i % kSeries.length]]));
}

const pending = new Set();
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) drawNow(entry.target);
}, {rootMargin: '300px'});

function drawNow(node) {
  if (!pending.delete(node)) return;
  seen.unobserve(node);
  node.draw();
}

/// Draws figures that were not in view yet: printing needs all of them.
export function drawAll() {
  for (const node of [...pending]) drawNow(node);
}

const resized = new ResizeObserver((entries) => {
  for (const {target} of entries) if (target.isConnected && !pending.has(target) && target.clientWidth !== target.drawnWidth) target.draw();
});

/// `draw(root, width)` fills an SVG and returns its height. `table` is {heads, rows()} with the same data as text.
export function figure({title, about, draw, table, legend}) {
  const holder = el('div', {class: 'plot'});
  holder.draw = () => {
    const width = Math.max(280, Math.min(1400, holder.clientWidth || 800));
    const root = svg('svg', {role: 'img', 'aria-label': `${title}. ${about || ''}`, xmlns: 'http://www.w3.org/2000/svg'});
    const height = draw(root, width);
    root.setAttribute('viewBox', `0 0 ${width} ${height}`);
    root.setAttribute('width', width);
    root.setAttribute('height', height);
    holder.style.minHeight = `${height}px`;
    holder.drawnWidth = holder.clientWidth;
    holder.replaceChildren(root);
  };
  const details = el('details', {}, el('summary', {}, 'As a table'));
  details.addEventListener('toggle', () => {
    if (details.open && details.childElementCount === 1) details.append(plainTable(title, table.heads, table.rows()));
  });
  holder.style.minHeight = '200px';
  pending.add(holder);
  seen.observe(holder);
  resized.observe(holder);
  const svgNow = () => { drawNow(holder); return holder.querySelector('svg'); };
  return el('figure', {},
    el('figcaption', {}, el('strong', {}, title), about ? ` ${about}` : null),
    legend ? legendOf(legend) : null, holder,
    el('div', {class: 'tools'}, details,
      button('SVG', () => saveSvg(title, svgNow())), button('PNG', () => savePng(title, svgNow()))));
}

function legendOf(colours) {
  return el('ul', {class: 'legend'}, [...colours].map(([name, series]) =>
    el('li', {}, el('span', {class: `swatch ${series}`, 'aria-hidden': 'true'}), name)));
}

/// Lines and texts of both axes. `box` is {left, right, top, bottom} in pixels.
export function axes(root, box, x, y, xTitle, yTitle) {
  for (const {value, text} of x.ticks((box.right - box.left) / 80)) {
    root.append(svg('line', {class: 'grid', x1: x(value), x2: x(value), y1: box.top, y2: box.bottom}),
      svg('text', {class: 'tick', x: x(value), y: box.bottom + 16, 'text-anchor': 'middle'}, text));
  }
  if (y) {
    for (const {value, text} of y.ticks((box.bottom - box.top) / 40)) {
      root.append(svg('line', {class: 'grid', x1: box.left, x2: box.right, y1: y(value), y2: y(value)}),
        svg('text', {class: 'tick', x: box.left - 6, y: y(value) + 4, 'text-anchor': 'end'}, text));
    }
    root.append(svg('text', {class: 'title', x: box.left - 44, y: box.top - 8}, yTitle));
  }
  root.append(svg('text', {class: 'title', x: box.right, y: box.bottom + 34, 'text-anchor': 'end'}, xTitle));
}

/// A mark with a text under the pointer; with `onclick` it can be clicked.
export function mark(tag, attributes, tip, onclick) {
  const node = svg(tag, attributes, svg('title', {}, tip));
  if (onclick) {
    node.classList.add('link');
    node.addEventListener('click', onclick);
  }
  return node;
}

export function label(x, y, text, more = {}) {
  return svg('text', {x, y, ...more}, text);
}

const ruler = document.createElement('canvas').getContext('2d');
ruler.font = '12px system-ui, "DejaVu Sans", sans-serif';  // that of texts in an SVG

// The longest of `shortened(0)`, `shortened(1)`, ... up to `most` that fits into `pixels`.
function longestFitting(text, pixels, most, shortened) {
  if (ruler.measureText(text).width <= pixels) return text;
  let low = 0, high = most;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (ruler.measureText(shortened(middle)).width <= pixels) low = middle;
    else high = middle - 1;
  }
  return shortened(low);
}

/// `text` cut to `pixels`.
export function fitting(text, pixels) {
  return longestFitting(text, pixels, text.length, (length) => `${text.slice(0, Math.max(1, length))}\u2026`);
}

/// `text` cut in its middle to `pixels`, for names and paths that differ in their ends.
export function fittingMiddle(text, pixels) {
  return longestFitting(text, pixels, text.length, (length) => `${text.slice(0, Math.max(1, Math.ceil(0.5 * length)))}\u2026${text.slice(text.length - Math.floor(0.5 * length))}`);
}

/// Labels for all of `texts`. Labels that would be equal when cut lose their middle instead of their end.
export function fittingApart(texts, pixels) {
  const labels = texts.map((text) => fitting(text, pixels));
  return labels.map((text, i) => (labels.indexOf(text) === labels.lastIndexOf(text) ? text : fittingMiddle(texts[i], pixels)));
}

/// Horizontal bars, one for each of `bars` {name, value, text, series, error, tip, onclick}. `head` is printed above
/// its bar. A bar with `most` is drawn relative to that, not to the longest of all. Long names lose their ends, or with
/// `hasPaths` their middle.
export function barsFigure({title, about, bars, unit, table, legend, hasPaths = false}) {
  const draw = (root, width) => {
    const left = Math.min(260, width * 0.36), line = 22, top = 6;
    const most = bars.reduce((a, bar) => Math.max(a, bar.value + (bar.error || 0)), 0) || 1;
    const room = width - left - 90;
    let y = top - line;
    for (const bar of bars) {
      const whole = bar.most || most, w = Math.max(1, bar.value / whole * room);
      y += line;
      if (bar.head) {
        root.append(label(4, y + 16, fitting(bar.head, width - 8), {class: 'tick'}));
        y += line;
      }
      root.append(label(left - 6, y + 15, (hasPaths ? fittingMiddle : fitting)(bar.name, left - 8), {'text-anchor': 'end', class: 'name'}),
        mark('rect', {class: `bar ${bar.series || 'series0'}`, x: left, y: y + 3, width: w, height: line - 6}, bar.tip || `${bar.name}: ${bar.text}`, bar.onclick));
      if (bar.error) {
        const at = left + w, d = bar.error / whole * room;
        root.append(svg('line', {class: 'whisker', x1: at - d, x2: at + d, y1: y + line / 2, y2: y + line / 2}));
      }
      root.append(label(left + w + (bar.error ? bar.error / whole * room : 0) + 5, y + 15, bar.text, {class: 'tick'}));
    }
    return y + line + 6;
  };
  return figure({title, about, draw, legend,
    table: table || {heads: ['name', unit], rows: () => bars.map((bar) => [bar.name, bar.text])}});
}
