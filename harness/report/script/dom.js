// Elements from texts. Texts become text nodes, never markup, so that no name from a file is read as HTML.

// Invisible characters and those that change the direction of writing are printed as \u202e, as on the console.
const kActedUpon = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export function printable(text) {
  return String(text).replace(kActedUpon, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(4)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : printable(child));
  }
  return node;
}

export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

/// A name from a file, isolated from the direction of the text around it.
export function nameOf(text) {
  return el('bdi', {}, text);
}

/// Announces a change to screen readers.
export function say(text) {
  document.getElementById('status').textContent = printable(text);
}

/// A command line, and a button that copies it.
export function commandLine(text) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch (refused) {  // a page from disk may not write there in every browser
      const area = el('textarea', {}, '');
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
    say('Copied');
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  };
  const button = el('button', {type: 'button', class: 'copy', 'aria-label': `Copy: ${printable(text)}`, onclick: copy}, 'Copy');
  return el('div', {class: 'command'}, el('code', {tabindex: 0}, text), button);
}

/// Offers a file for download.
export function save(name, type, content) {
  const link = el('a', {href: URL.createObjectURL(new Blob([content], {type})), download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export function button(label, onclick, more = {}) {
  return el('button', {type: 'button', onclick, ...more}, label);
}

/// A heading with its content.
export function section(title, ...children) {
  return el('section', {'aria-label': title}, el('h2', {}, title), ...children);
}

/// A small table of properties.
export function facts(pairs) {
  const rows = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return el('dl', {}, rows.map(([key, value]) => [el('dt', {}, key), el('dd', {}, value)]));
}

// Long texts need room in narrow windows; short texts must stay on one line.
function cellClass(cell) {
  if (typeof cell === 'number') return 'number';
  const {length} = cell instanceof Node ? cell.textContent : String(cell);
  return length > 60 ? 'long' : length <= 12 ? 'short' : null;
}

/// A plain table: `rows` of texts or nodes.
export function plainTable(caption, heads, rows) {
  return el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption},
    el('table', {}, el('caption', {}, caption),
      el('thead', {}, el('tr', {}, heads.map((head) => el('th', {scope: 'col'}, head)))),
      el('tbody', {}, rows.map((row) => el('tr', {}, row.map((cell) =>
        el('td', {class: cellClass(cell)}, typeof cell === 'number' ? numberText(cell) : cell)))))));
}

import {numberText} from './format.js';
