// The view of a run: digest, table, the chosen result, charts, weights, dispatch table.
import {el, section} from './dom.js';
import {numberText, percentText, timeText} from './format.js';
import {seriesColours} from './chart.js';
import {virtualTable} from './table.js';
import {linkTo} from './tabs.js';
import {mostNotable, runDigest, runOutcome} from './run_digest.js';
import {recordDetail} from './detail.js';
import {dispatchSection} from './dispatch.js';
import {roofline, variantBars, weightBars} from './run_charts.js';
import {contextViews} from './context.js';

const kColumns = [
  {key: 'case', label: 'case', width: 380, value: (r) => r.case},
  {key: 'variant', onCard: true, label: 'variant', width: 150, value: (r) => r.variant},
  {key: 'verdict', onCard: true, label: 'verdict', width: 110, value: (r) => r.status, verdict: true},
  {key: 'time', onCard: true, label: 'time', width: 95, value: (r) => r.median_us, text: (r) => timeText(r.median_us), about: 'Median over the repetitions'},
  {key: 'spread', label: 'spread', width: 80, value: (r) => (r.median_us ? r.mad_us / r.median_us : null), text: (r) => (r.median_us ? percentText(100 * r.mad_us / r.median_us, 2) : '-'), about: 'MAD over median'},
  {key: 'rate', label: 'GB/s', width: 80, value: (r) => r.gb_per_s, text: (r) => numberText(r.gb_per_s, 3)},
  {key: 'roofline', label: '% roofline', width: 105, value: (r) => r.percent_of_roofline ?? r.percent_of_copy, text: (r) => percentText(r.percent_of_roofline ?? r.percent_of_copy, 2)},
  {key: 'native', onCard: true, label: 'v. native', width: 90, value: (r) => r.speedup_over_native, text: (r) => (r.disturbed ? 'disturbed' : r.speedup_over_native ? `${numberText(r.speedup_over_native, 3)}x` : '-')},
  {key: 'ulp', label: 'max ULP', width: 95, value: (r) => r.max_ulp, text: (r) => numberText(r.max_ulp)},
  {key: 'inside', label: 'inside', width: 80, value: (r) => r.inside_tolerance, text: (r) => (r.inside_tolerance === null ? '-' : percentText(100 * r.inside_tolerance, 4))},
  {key: 'threads', label: 'threads', width: 85, value: (r) => r.threads},
  {key: 'dtype', label: 'dtype', width: 75, value: (r) => r.dtype},
  {key: 'format', label: 'format', width: 105, value: (r) => r.format},
  {key: 'op', label: 'operator', width: 130, value: (r) => r.op},
  {key: 'name', label: 'name', width: 160, value: (r) => r.name},
];

function isChosen(record, params) {
  return record.case === params.case && (params.variant === undefined || record.variant === params.variant) &&
    (params.threads === undefined || String(record.threads) === params.threads) && (params.cold === undefined || String(record.cold) === params.cold);
}

function runView(input, records) {
  const view = {title: `run: ${input.path.replace(/.*\//, '')}`, outcome: runOutcome(records)};
  const hrefOf = (r) => linkTo(view, {case: r.case, variant: r.variant, threads: r.threads, ...(r.cold ? {cold: true} : {})});
  const go = (r) => { location.hash = hrefOf(r); };
  const colours = seriesColours(records.map((r) => r.variant));
  const chosen = el('div', {}), charts = el('div', {class: 'charts'});
  let table = null, waiting = 0, shown = null;
  const drawCharts = (rows) => charts.replaceChildren(variantBars(rows, colours, go), roofline(rows, colours, go));
  view.build = () => {
    table = virtualTable({title: 'Results', noun: 'results', columns: kColumns, rows: records, hrefOf, choices: ['verdict', 'op', 'variant', 'dtype', 'format', 'threads']});
    table.onrows = (rows) => {
      clearTimeout(waiting);
      waiting = setTimeout(() => drawCharts(rows), 150);
    };
    drawCharts(records);
    return el('div', {}, runDigest(input, records, hrefOf), section('Results', table.node), chosen,
      section('Charts of the results in the table', charts),
      section('Share of a step of the network', el('div', {class: 'charts'},
        weightBars(records, 'By operator', (r) => r.op), weightBars(records, 'By case', (r) => r.case, go))),
      dispatchSection(records, input.data, hrefOf));
  };
  view.has = (params) => records.some((r) => isChosen(r, params));
  const open = (record, isAsked) => {
    shown = record;
    chosen.replaceChildren(recordDetail(record, records, colours, go));
    table.select(record, isAsked);
    if (isAsked) chosen.scrollIntoView({block: 'nearest'});
  };
  // If the address names no result, the most notable one opens after the table exists.
  const openFirst = () => {
    const record = shown ? null : mostNotable(records);
    if (record) open(record, false);
  };
  view.show = (params) => {
    const record = params.case === undefined ? null : records.find((r) => isChosen(r, params));
    if (record && record !== shown) open(record, true);
    else if (!shown) setTimeout(openFirst);
  };
  return view;
}

export function runViews(input) {
  const records = input.data.records.filter((r) => !r.step);
  return [...(records.length > 0 ? [runView(input, records)] : []), ...contextViews(input)];
}
