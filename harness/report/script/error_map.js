// Places of errors in a failing tensor: a picture of its cells, and the largest errors along each axis.
import {svg} from './dom.js';
import {countText, numberText} from './format.js';
import {figure, fitting, mark} from './chart.js';

const kHeats = 7;
const kRemainders = 32;
const kTile = 16;

/// The depth of colours: 0 for no error, then a log scale up to the largest error. null: NaN or Inf on one side.
function heats(errors) {
  const finite = errors.filter((error) => error > 0);
  const most = Math.max(...finite, 0), least = Math.min(...finite, most);
  const classOf = (error) => {
    if (error === null) return 'heat nonfinite';
    if (error === 0) return 'heat heat0';
    const depth = most === least ? 1 : Math.log(error / least) / Math.log(most / least);
    return `heat heat${1 + Math.round((kHeats - 1) * depth)}`;
  };
  const legend = new Map([['0', 'heat0']]);
  if (finite.length > 0 && most > least) legend.set(numberText(least), 'heat1');
  if (finite.length > 0) legend.set(numberText(most), `heat${kHeats}`);
  if (errors.includes(null)) legend.set('NaN or Inf on one side', 'nonfinite');
  return {classOf, legend};
}

function errorText(error) {
  return error === null ? 'NaN or Inf on one side' : numberText(error);
}

function extentsOf(map) {
  return map.shape.split('x').map(Number);
}

/// The rows of the picture, which are the outer axes, and the axis whose places label the rows. That is the innermost
/// axis of which a row does not include everything, or the next outer axis if that one is short.
function rowsOf(map) {
  const outer = extentsOf(map).slice(0, -1), height = outer.reduce((all, extent) => all * extent, 1);
  let inner = 1, axis = outer.length - 1;
  const isHeldByRow = () => map.row_step % (inner * outer[axis]) === 0 && map.row_step > inner;
  while (axis > 0 && (isHeldByRow() || (outer[axis] < kTile && inner * outer[axis] < height))) inner *= outer[axis--];
  return {height, axis, outer, extent: outer[axis] || 1, placeAt: (row) => Math.floor(row / inner) % (outer[axis] || 1)};
}

// "[0,48,0,0]"
function indexAt(map, row, column) {
  const extents = extentsOf(map), index = [column];
  for (let axis = extents.length - 2; axis >= 0; --axis) {
    index.unshift(row % extents[axis]);
    row = Math.floor(row / extents[axis]);
  }
  return `[${index.join(',')}]`;
}

// Ticks at the places of an axis along an edge. A long axis has ticks at multiples of 16, longer ones at multiples of
// 32. Numbers are printed if there is room.
function tileTicks(extent, count, step, placeOf, at, draw) {
  const unit = extent > kTile ? kTile : 1;
  let free = -Infinity;
  for (let i = 0; i < count; ++i) {
    const place = placeOf(i * step);
    if (place % unit !== 0 || (i > 0 && place === placeOf((i - 1) * step))) continue;
    const isNumbered = at(i) - free >= 0;
    if (isNumbered) free = at(i) + Math.max(28, 14 + 7 * String(place).length);
    draw(at(i), place % kRemainders === 0 ? 7 : 4, isNumbered ? String(place) : null);
  }
}

function picture(map, colours) {
  const rows = map.errors.length, columns = map.errors[0].length, width = extentsOf(map).at(-1), down = rowsOf(map);
  const cellText = (row, column) => {
    const [r, c] = [row * map.row_step, column * map.column_step];
    const [height, across] = [Math.min(map.row_step, down.height - r), Math.min(map.column_step, width - c)];
    return `${height * across > 1 ? `from ${indexAt(map, r, c)} on, ${countText(height, 'row')}, ${countText(across, 'column')}` : indexAt(map, r, c)}: ${errorText(map.errors[row][column])}`;
  };
  const draw = (root, room) => {
    const left = 48, top = 34, w = Math.min(26, (room - left - 12) / columns), h = Math.min(22, Math.max(8, 300 / rows));
    root.append(svg('text', {class: 'tick', x: left + columns * w, y: 12, 'text-anchor': 'end'}, fitting(`${map.column_step > 1 ? `${map.column_step} places to a cell, ` : ''}axis ${extentsOf(map).length - 1} \u2192`, room - left)));
    if (down.outer.length > 0) root.append(svg('text', {class: 'tick', x: 2, y: 12}, `axis ${down.axis} \u2193`));
    tileTicks(width, columns, map.column_step, (column) => column, (i) => left + i * w, (x, length, text) => root.append(svg('line', {class: 'zero', x1: x, x2: x, y1: top - 2 - length, y2: top - 2}), svg('text', {class: 'tick', x: x + 3, y: top - 5}, text)));
    if (down.outer.length > 0) {
      tileTicks(down.extent, rows, map.row_step, down.placeAt, (i) => top + i * h, (y, length, text) => root.append(svg('line', {class: 'zero', x1: left - 2 - length, x2: left - 2, y1: y, y2: y}), svg('text', {class: 'tick', x: left - 12, y: y + 10, 'text-anchor': 'end'}, text)));
    }
    map.errors.forEach((line, row) => line.forEach((error, column) => root.append(
      mark('rect', {class: colours.classOf(error), x: left + column * w, y: top + row * h, width: w, height: h}, cellText(row, column)))));
    const edge = (x, y, across, height) => root.append(svg('rect', {class: 'edge', x: left + x * w, y: top + y * h, width: across * w, height: height * h}));
    if (columns > 1) edge(columns - 1, 0, 1, rows);
    if (rows > 1) edge(0, rows - 1, columns, 1);
    return top + rows * h + 10;
  };
  const about = `${map.shape}: the last axis across${down.outer.length > 0 ? `, all others down${map.row_step > 1 ? `, ${map.row_step} rows to a cell` : ''}` : ''}; the largest |actual - expected| of each cell. Ticks: places, of long axes multiples of ${kTile} and ${kRemainders}; framed: the last row and column.`;
  return figure({title: 'Error map', about, draw, legend: colours.legend,
    table: {heads: ['from', 'rows', 'columns', 'largest error'], rows: () => map.errors.flatMap((line, row) => line.map((error, column) => [indexAt(map, row * map.row_step, column * map.column_step),
      Math.min(map.row_step, down.height - row * map.row_step), Math.min(map.column_step, width - column * map.column_step), errorText(error)]))}});
}

/// A strip for each axis: errors by the place modulo 16 or 32, and those of the last place.
function strips(map, colours) {
  const extents = extentsOf(map), axes = map.axes.map((axis, i) => ({...axis, i, extent: extents[i]})).filter((axis) => axis.extent > 1);
  if (axes.length === 0) return null;
  const placeText = (axis, remainder) => (axis.extent > kRemainders ? `i % ${kRemainders} = ${remainder}` : `i = ${remainder}`);
  const draw = (root, width) => {
    const left = 84, top = 20, line = 30, w = Math.min(20, (width - left - 96) / kRemainders), end = left + kRemainders * w + 12;
    for (const place of [0, kTile, kRemainders - 1]) root.append(svg('text', {class: 'tick', x: left + (place + 0.5) * w, y: 13, 'text-anchor': 'middle'}, String(place)));
    root.append(svg('text', {class: 'tick', x: end, y: 13}, 'last'), svg('text', {class: 'tick', x: end + 36, y: 13}, 'others'));
    axes.forEach((axis, at) => {
      const y = top + at * line, cell = (error, x, across, text) => root.append(mark('rect', {class: colours.classOf(error), x, y, width: across, height: line - 8}, `axis ${axis.i}, ${text}: ${errorText(error)}`));
      root.append(svg('text', {class: 'name', x: left - 8, y: y + 16, 'text-anchor': 'end'}, `axis ${axis.i}: ${axis.extent}`));
      axis.by_remainder.forEach((error, remainder) => cell(error, left + remainder * w, w, placeText(axis, remainder)));
      if (axis.extent > kTile) root.append(svg('line', {class: 'tile16', x1: left + kTile * w, x2: left + kTile * w, y1: y - 3, y2: y + line - 5}));
      cell(axis.last, end, 26, `the last place, ${axis.extent - 1}`);
      cell(axis.before_last, end + 40, 26, 'all others');
    });
    return top + axes.length * line + 4;
  };
  return figure({title: 'Errors along each axis', about: `The largest error at the places i of each axis; of more than ${kRemainders} places by i % ${kRemainders}, so that tiles of ${kTile} or ${kRemainders} return here.`, draw, legend: colours.legend,
    table: {heads: ['axis', 'place', 'largest error'], rows: () => axes.flatMap((axis) => [...axis.by_remainder.map((error, remainder) => [String(axis.i), placeText(axis, remainder), errorText(error)]),
      [String(axis.i), `last, i = ${axis.extent - 1}`, errorText(axis.last)], [String(axis.i), 'all others', errorText(axis.before_last)]])}});
}

/// Both figures of a tensor. None if its errors were not examined, or in files of an older version.
export function errorMapFigures(map) {
  if (!map || map.errors.length === 0) return [];
  const colours = heats([...map.errors.flat(), ...map.axes.flatMap((axis) => [...axis.by_remainder, axis.last, axis.before_last])]);
  return [picture(map, colours), strips(map, colours)];
}
