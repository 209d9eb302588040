// Squarified treemaps (Bruls, Huizing, van Wijk 2000): areas in proportion to values, sides as equal as possible.

function worst(row, side) {
  const total = row.reduce((a, item) => a + item.area, 0);
  const most = Math.max(...row.map((item) => item.area)), least = Math.min(...row.map((item) => item.area));
  return Math.max(side * side * most / (total * total), total * total / (side * side * least));
}

function place(row, box, placed) {
  const total = row.reduce((a, item) => a + item.area, 0);
  const isWide = box.w >= box.h, thickness = total / (isWide ? box.h : box.w);
  let at = isWide ? box.y : box.x;
  for (const item of row) {
    const length = item.area / thickness;
    placed.push({...item, ...(isWide ? {x: box.x, y: at, w: thickness, h: length} : {x: at, y: box.y, w: length, h: thickness})});
    at += length;
  }
  return isWide ? {x: box.x + thickness, y: box.y, w: box.w - thickness, h: box.h}
    : {x: box.x, y: box.y + thickness, w: box.w, h: box.h - thickness};
}

/// `items` {value, ...} above 0 as {..., x, y, w, h} inside width x height.
export function squarified(items, width, height) {
  const total = items.reduce((a, item) => a + item.value, 0) || 1;
  const left = items.filter((item) => item.value > 0).sort((a, b) => b.value - a.value)
    .map((item) => ({...item, area: item.value / total * width * height}));
  const placed = [];
  let box = {x: 0, y: 0, w: width, h: height}, row = [];
  while (left.length > 0) {
    const side = Math.min(box.w, box.h);
    if (row.length === 0 || worst([...row, left[0]], side) <= worst(row, side)) {
      row.push(left.shift());
    } else {
      box = place(row, box, placed);
      row = [];
    }
  }
  if (row.length > 0) place(row, box, placed);
  return placed;
}
