// Exports of a page's content: CSV, JSON, SVG, PNG.
import {save, printable} from './dom.js';

export function fileName(title, extension) {
  return `${printable(title).toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '').slice(0, 60) || 'opbench'}.${extension}`;
}

// RFC 4180. Text that a spreadsheet would evaluate begins with an apostrophe, as in opbench's own CSV.
export function csvCell(value) {
  if (value === null || value === undefined) return '';
  let text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (typeof value === 'string' && /^([\t\r]|[\x00-\x20\x7f]*[=+\-@])/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvText(keys, rows) {
  const line = (cells) => cells.map(csvCell).join(',');
  return [line(keys), ...rows.map((row) => line(keys.map((key) => row[key])))].join('\r\n') + '\r\n';
}

export function saveCsv(title, keys, rows) {
  save(fileName(title, 'csv'), 'text/csv', csvText(keys, rows));
}

export function saveJson(title, value) {
  save(fileName(title, 'json'), 'application/json', JSON.stringify(value, null, 1) + '\n');
}

const kStyles = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'fill-opacity', 'font-size', 'font-family', 'font-weight'];

// The exported file lacks the page's style, so every element gets its own style.
function standalone(root) {
  const copy = root.cloneNode(true);
  const from = [root, ...root.querySelectorAll('*')], to = [copy, ...copy.querySelectorAll('*')];
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    to[i].setAttribute('style', kStyles.map((key) => `${key}:${style.getPropertyValue(key)}`).join(';'));
  });
  copy.insertAdjacentElement('afterbegin', background(root));
  return new XMLSerializer().serializeToString(copy);
}

function background(root) {
  const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  rect.setAttribute('width', '100%');
  rect.setAttribute('height', '100%');
  rect.setAttribute('fill', getComputedStyle(document.body).backgroundColor);
  return rect;
}

export function saveSvg(title, root) {
  save(fileName(title, 'svg'), 'image/svg+xml', standalone(root));
}

export function savePng(title, root) {
  const image = new Image();
  const url = URL.createObjectURL(new Blob([standalone(root)], {type: 'image/svg+xml'}));
  image.onload = () => {
    const canvas = document.createElement('canvas');
    canvas.width = 2 * root.viewBox.baseVal.width;
    canvas.height = 2 * root.viewBox.baseVal.height;
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(url);
    canvas.toBlob((blob) => save(fileName(title, 'png'), 'image/png', blob));
  };
  image.src = url;
}
