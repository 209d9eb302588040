// All data about one result of a run, next to the other variants of its case.
import {el, commandLine, facts, nameOf} from './dom.js';
import {countText, isNumber, numberText, percentText, timeText} from './format.js';
import {barsFigure} from './chart.js';
import {isUsable, placeOf} from './pareto.js';
import {verdictChip} from './table.js';
import {paretoChart, sampleDots, sizeScaling, threadScaling} from './run_charts.js';

function caseBars(group, colours, go) {
  const bars = group.filter(isUsable).sort((a, b) => a.median_us - b.median_us).map((r) => ({name: r.variant, value: r.median_us, error: r.mad_us,
    series: colours.get(r.variant), text: timeText(r.median_us), tip: `${r.variant}: ${timeText(r.median_us)}, MAD ${timeText(r.mad_us)}`, onclick: () => go(r)}));
  return bars.length < 2 ? null : barsFigure({title: 'Variants of this case', about: 'Median and MAD.', bars, unit: 'time'});
}

/// `go(record)` shows another result.
export function recordDetail(record, records, colours, go) {
  const group = records.filter((r) => placeOf(r) === placeOf(record));
  const rate = (value, unit) => (isNumber(value) ? `${numberText(value)} ${unit}` : null);
  return el('section', {class: 'detail', 'aria-label': 'Chosen result'},
    el('h2', {}, nameOf(record.case), ' ', record.variant, ' ', verdictChip(record.status)),
    record.reason ? el('p', {class: 'note'}, record.reason) : null,
    record.disturbed ? el('p', {class: 'note'}, 'Disturbed: other programs held the cores while it was timed. Its time is compared with nothing; measure it again.') : null,
    el('div', {class: 'columns'},
      facts([['operator', record.op], ['name', record.name], ['shape', record.shape], ['attributes', record.attributes], ['dtype', record.dtype], ['format', record.format],
        ['threads', record.threads], ['kernels', record.kernels], ['in the network', countText(record.count, 'time')]]),
      facts([['median', isNumber(record.median_us) ? timeText(record.median_us) : null], ['MAD', isNumber(record.mad_us) ? timeText(record.mad_us) : null],
        ['fastest', isNumber(record.min_us) ? timeText(record.min_us) : null], ['of native', isNumber(record.speedup_over_native) ? `${numberText(record.speedup_over_native, 3)} times as fast` : null],
        ['rate', rate(record.gb_per_s, 'GB/s')], ['copy', rate(record.copy_gb_per_s, `GB/s, ${record.copy_way}`)], ['of its roofline', isNumber(record.percent_of_roofline) ? `${percentText(record.percent_of_roofline)}, ${record.bound}` : null]]),
      facts([['max ULP', rate(record.max_ulp, '')], ['mean ULP', rate(record.mean_ulp, '')], ['largest absolute error', rate(record.max_abs_error, '')],
        ['inside the tolerance', isNumber(record.inside_tolerance) ? percentText(100 * record.inside_tolerance) : null], ['tolerance for all', rate(record.min_tolerance, '')],
        ['NaN or Inf', record.nonfinite_mismatches ? `${record.nonfinite_mismatches} differ` : null], ['held to', record.formula]])),
    record.reproduce ? commandLine(record.reproduce) : null,
    el('div', {class: 'charts'}, caseBars(group, colours, go), sampleDots(group, colours, go), paretoChart(group, colours, go),
      threadScaling(records, record, colours, go), sizeScaling(records, record, colours, go)));
}
