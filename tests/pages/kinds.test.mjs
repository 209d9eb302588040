// Pages of comparisons, judgements, contexts, checks, histories and profiles, made from the program's output.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {after, before, test} from 'node:test';
import {axeFaults, closeBrowser, inFolder, opbench, opened, program, scrolled, written} from './browser.mjs';

const kDumps = ['examples/dumps/npu.h5', 'examples/dumps/gpu.h5'];
const files = Object.fromEntries(['context', 'judge', 'check', 'ingest'].map((name) => [name, inFolder(`${name}.json`)]));
files.compare = inFolder('compared/compare.json');
files.history = inFolder('history.jsonl');

before(() => {
  opbench('compare', ...kDumps, '-o', inFolder('compared'), '-q');
  opbench('judge', kDumps[0], '--json', files.judge, '-q');
  opbench('run', '--cases', 'cases/shufflenet_v2_unit.yaml', '--filter', '^stride1', '--set', 'N=1', '--repetitions', '3', '--time', '0.003', '-q', '--json', files.context);
  opbench('ingest', 'tests/data/profiles/kernel_details/llm_bf16_st_rank0.csv', '--json', files.ingest, '-q');
  // Planted code counts as different, so all cases are timed.
  process.env.OPBENCH_TEST_SLOWDOWN = 'nothing=1';
  opbench('check', '--against', `${program}_faulty`, '--case', 'relu[1x8x7x7,fp32,NCHW]', '--case', 'relu[1x8x7x8,fp32,NCHW]', '--variant', 'native,relu', '--threads', '1', '--budget', '20', '-q', '--json', files.check, '--history', files.history);
  delete process.env.OPBENCH_TEST_SLOWDOWN;
});
after(closeBrowser);

function read(name) {
  return JSON.parse(readFileSync(files[name], 'utf8'));
}

async function titles(page) {
  await scrolled(page);
  return page.locator('figure:has(svg *) strong').allInnerTexts();
}

// A busy machine draws the charts of a selected row some time after the page has opened.
async function assertCharts(page, wanted) {
  let drawn = await titles(page);
  for (const end = Date.now() + 20000; !wanted.every((title) => drawn.includes(title)) && Date.now() < end;) drawn = await titles(page);
  for (const title of wanted) assert.ok(drawn.includes(title), `${title} is not among ${drawn}`);
  assert.deepEqual(page.faults, []);
}

test('a comparison marks the first departure, and the operator opens with its errors', async () => {
  const page = await opened([files.compare]);
  await assertCharts(page, ['Error by operator', 'Errors by size', 'Errors in and out']);
  assert.match(await page.locator('figure:has-text("Error by operator") svg').first().textContent(), /first departure: softplus 2/);
  assert.match(await page.locator('.detail h2').innerText(), /softplus call 2/);
  await page.locator('figure:has-text("Error by operator") circle').last().click();
  await page.waitForFunction(() => document.querySelector('.detail h2').textContent.includes('softmax'));
  const tensor = read('compare').tensors.find((t) => t.operator === 'softplus' && t.side === 'output');
  await page.goto(`file://${page.file}#op=softplus&call=2`);
  await page.waitForFunction(() => document.querySelector('.detail h2').textContent.includes('softplus'));
  assert.match(await page.locator('table:has(caption:text("Worst elements"))').innerText(), new RegExp(tensor.max_abs_index.replace(/[[\]]/g, '\\$&')));
  await scrolled(page);
  const bars = await page.locator('figure:has-text("Errors by size") rect').count();
  assert.equal(bars, tensor.histogram.filter((n) => n > 0).length + (tensor.histogram_exact > 0 ? 1 : 0));
});

// Tiles of 16 with a wrong last column, and only NaN in the last row. Hand-made in the format of `compare`.
test('an error map shows the period of tiles and the last row', async () => {
  const file = read('compare'), tensor = file.tensors.find((t) => t.operator === 'softplus' && t.side === 'output');
  assert.deepEqual([tensor.error_map.shape, tensor.error_map.errors.length], ['1x8x4x4', 32]);
  assert.ok(file.tensors.every((t) => (t.error_map === null) === (t.verdict === 'passed')));
  const along = (places, wrong) => Array.from({length: places}, (_, i) => (wrong(i) ? 2 : 0));
  const line = along(64, (i) => i % 16 === 15);
  tensor.error_map = {shape: '3x128', row_step: 1, column_step: 2, errors: [line, line, line.map(() => null)],
    axes: [{by_remainder: [2, 2, null], last: null, before_last: 2}, {by_remainder: along(32, (i) => i % 16 === 15), last: 2, before_last: 0}]};
  const page = await opened([written('mapped.json', file)], {hash: '#op=softplus&call=2'});
  await assertCharts(page, ['Error map', 'Errors along each axis']);
  const map = page.locator('figure:has(strong:text-is("Error map"))'), axes = page.locator('figure:has-text("Errors along each axis")');
  assert.equal(await map.locator('rect.heat').count(), 3 * 64);
  assert.deepEqual(await map.locator('rect.heat7 title').allTextContents(), [0, 1].flatMap((row) => [30, 62, 94, 126].map((column) => `from [${row},${column}] on, 1 row, 2 columns: 2`)));
  assert.equal(await map.locator('rect.nonfinite').count(), 64);
  assert.equal(await map.locator('rect.edge').count(), 2);
  assert.ok((await axes.locator('rect.heat7 title').allTextContents()).includes('axis 1, i % 32 = 15: 2'));
  assert.deepEqual(await axes.locator('rect.nonfinite title').allTextContents(), ['axis 0, i = 2: NaN or Inf on one side', 'axis 0, the last place, 2: NaN or Inf on one side']);
  await map.locator('summary').click();
  await map.locator('table').waitFor();
  assert.equal(await map.locator('tbody tr').count(), 3 * 64);
  assert.match(await map.locator('tbody tr').last().innerText(), /\[2,126\]\s+1\s+2\s+NaN or Inf on one side/);
  assert.deepEqual(await axeFaults(page), []);
});

test('a judgement names the guilty operator and the next command', async () => {
  const page = await opened([files.judge]);
  await assertCharts(page, ['Operators by their error']);
  assert.match(await page.locator('.digest').innerText(), /opbench minimise examples\/dumps\/npu.h5 \/softplus\/2/);
  assert.match(await page.locator('.detail').innerText(), /GUILTY/);
  assert.ok((await titles(page)).some((title) => title === 'Errors by size'));
  assert.ok((await titles(page)).some((title) => title === 'Error map'));
  assert.deepEqual(await axeFaults(page), []);
});

test('a context has its ladder, its types and two graphs with every conversion', async () => {
  const page = await opened([files.context]);
  const steps = read('context').records.filter((r) => r.step);
  await assertCharts(page, ['Ladder of steps', 'Time by type of operator', `Graph of ${steps[0].variant}`, `Graph of ${steps.at(-1).variant}`]);
  const graph = page.locator(`figure:has-text("Graph of ${steps[0].variant}")`);
  assert.equal(await graph.locator('rect.task').count(), steps[0].step.tasks.length);
  assert.equal(await graph.locator('rect.task:not(.plain)').count(), steps[0].step.tasks.filter((task) => task.cause).length);
  const flows = steps[0].step.tasks.flatMap((task) => task.from).filter((from) => from !== null);
  assert.ok(flows.length > 0);
  assert.equal(await graph.locator('path.arc').count(), flows.length);
  const fed = steps[0].step.tasks.findIndex((task) => task.from.some((from) => from !== null));
  await graph.locator('rect.task').nth(fed).hover();
  assert.equal(await graph.locator('path.arc.near').count(), steps[0].step.tasks[fed].from.filter((from) => from !== null).length + flows.filter((from) => from === fed).length);
  await page.selectOption('select[aria-label="Step on the right"]', '1');
  await scrolled(page);
  assert.equal(await page.locator(`figure:has-text("Graph of ${steps[1].variant}") rect.task`).count(), steps[1].step.tasks.length);
});

test('steps that are as fast within noise are no gain and no loss', async () => {
  const file = read('context'), steps = file.records.filter((r) => r.step && r.median_us !== null);
  const times = (r, us, mad) => Object.assign(r, {median_us: us, us_per_sample: us, mad_us: mad, samples_us: r.samples_us.map(() => us), speedup_over_previous: 100 / us});
  steps.forEach((r) => times(r, 100, 1));
  const noisy = steps.find((r) => steps.some((other) => other.variant === r.step.after));
  times(noisy, 101, 2);
  file.records = [steps.find((r) => r.variant === noisy.step.after), noisy];
  const cells = async () => (await opened([written('noise.json', file)])).locator('table:has(caption:text("Steps")) tbody tr').nth(1).innerText();
  assert.match(await cells(), /equal within noise/);
  times(noisy, 110, 1);
  assert.match(await cells(), /0\.909x/);
});

test('a check shows changes with their intervals and what noise is', async () => {
  const page = await opened([files.check]);
  const items = read('check').items;
  if (!items.some((i) => i.speed && i.speed.base_us > 0)) {  // other load prevented timing within the budget
    assert.match(await page.locator('main').innerText(), /Nothing was timed\./);
    return;
  }
  await assertCharts(page, ['Changes, slowest first']);
  assert.equal(await page.locator('figure:has-text("Changes, slowest first") circle').count(), items.filter((i) => i.speed && i.speed.base_us > 0).length);
  assert.match(await page.locator('.digest').innerText(), /Noise\s+The rounds of a typical case show changes from/);
  await page.locator('figure:has-text("Changes, slowest first") circle').first().click();
  await assertCharts(page, ['Rounds']);
});

test('what a check did not time has no noise, and names that would be cut alike lose their middle', async () => {
  const item = (place, speed) => ({...read('check').items[0], case: `softplus[1x64x56x56,fp32,NCHW,beta=1,threshold=20,and=more,${place}]`, verdict: 'AMBIGUOUS', speed, noise_percent: null});
  const speed = {base_us: 100, current_us: 101, change_percent: 1, low_percent: -3, high_percent: 9};
  const page = await opened([written('cut.json', {...read('check'), items: ['first', 'second'].map((place) => item(place, speed))})]);
  await scrolled(page);
  const labels = await page.locator('figure:has-text("Changes, slowest first") svg text').allTextContents();
  assert.equal(labels.filter((text) => /softplus.*\u2026.*(first|second)\]$/.test(text)).length, 2, labels.join('; '));
  assert.match(await page.locator('main').innerText(), /not measured/);
});

test('a profile has its treemap and its findings', async () => {
  const page = await opened([files.ingest]);
  const {headline, hot_spots: spots, findings, timeline} = read('ingest');
  assert.match(headline, /^One step takes /);
  assert.equal(await page.locator('.digest h2').innerText(), headline);
  assert.equal(await page.title(), `${headline} - opbench`);
  const heads = await page.locator('[role=tabpanel] section h2').allInnerTexts();
  assert.deepEqual(heads.slice(1, 3), ['One step', 'Findings']);
  assert.match(await page.locator('.digest ol li').first().innerText(), new RegExp(`^${findings[0].rule}, .* of the step: `));
  assert.match(await page.locator('figure:has-text("Timeline of one step") svg').textContent(), /computing, stream \d+/);
  await assertCharts(page, ['Device time by type', 'Timeline of one step', 'The longest tasks']);
  assert.equal(await page.locator('figure:has-text("Device time by type") rect.tile').count(), spots.types.filter((t) => t.total_us > 0).length);
  assert.equal(await page.locator('.finding').count(), findings.length);
  assert.equal(await page.locator('figure:has-text("Timeline of one step") rect.tile').count(), timeline.tasks.length);
  await page.locator('figure:has-text("Device time by type") rect.tile').first().click();
  assert.match(await page.locator('.detail h2').innerText(), new RegExp([...spots.types].sort((a, b) => b.total_us - a.total_us)[0].type));
});

test('statistics without single tasks are shares of the device time', async () => {
  opbench('ingest', 'tests/data/profiles/op_statistic/alexnet_level1_rank0.csv', '--json', inFolder('sums.json'), '-q');
  const page = await opened([inFolder('sums.json')]);
  assert.match(await page.locator('.digest h2').innerText(), /^Device time 8.874 ms in 187 tasks; steps are not known/);
  assert.equal(await page.locator('figure:has-text("Timeline of one step")').count(), 0);
  assert.equal(await page.locator('table.virtual').count(), 1);
  assert.deepEqual(page.faults, []);
});

// One line of a real history with other dates and times. The case's median changes from 10.05 to 15.05 us in the ninth
// run.
test('a history marks where a case changed for good', async () => {
  const line = JSON.parse(readFileSync(files.history, 'utf8').split('\n')[0]);
  const item = {...line.items[0], verdict: 'SAME'};
  const runs = Array.from({length: 16}, (_, i) => JSON.stringify({...line, date: `2026-01-${10 + i}T00:00:00Z`, current: {...line.current, revision: `r${i}`},
    items: [{...item, current_us: (i < 8 ? 10 : 15) + 0.05 * (i % 3)}]}));
  const page = await opened([written('changed.jsonl', `${runs.join('\n')}\n`)]);
  assert.match(await page.locator('.digest').innerText(), /16 runs, 1 case: 1 changed for good, 0 crept/);
  assert.match(await page.locator('figure svg').first().textContent(), /\+49.8 % at r8/);
  assert.deepEqual(page.faults, []);
});

test('several inputs are tabs, which arrow keys reach, and links find their tab', async () => {
  const page = await opened([files.compare, files.judge, files.context, files.check, files.history, files.ingest]);
  const tabs = await page.locator('[role=tab] .name').allInnerTexts();
  assert.deepEqual(tabs.map((t) => t.split(':')[0]), ['Summary', 'compare', 'judge', 'context', 'check', 'history', 'ingest']);
  const marks = await page.locator('[role=tab] .outcome').evaluateAll((all) => all.map((mark) => mark.className));
  assert.deepEqual(marks.slice(0, 3), ['outcome red', 'outcome red', 'outcome green']);
  assert.match(await page.locator('.digest h2').innerText(), /6 results: [23] wrong/);
  assert.match(await page.locator('.outcomes li').nth(1).innerText(), /judge.*1 of 4 operators GUILTY/s);
  await page.locator('[role=tab]').nth(1).click();
  await page.locator('[role=tab]').nth(1).focus();
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => document.querySelector('[role=tab][aria-selected=true] .name').textContent.startsWith('judge'));
  assert.equal(await page.locator('[role=tabpanel]:visible').count(), 1);
  await page.goto(`file://${page.file}#path=/softplus/2`);
  await page.waitForFunction(() => document.querySelector('[role=tab][aria-selected=true] .name').textContent.startsWith('judge'));
  assert.deepEqual(page.faults, []);
});

for (const [width, theme] of [[1280, 'light'], [400, 'dark']]) {
  test(`no kind has a serious fault of accessibility; all fit into ${width} pixels, ${theme}`, async () => {
    for (const [kind, file] of Object.entries(files)) {
      const page = await opened([file], {width, theme});
      await scrolled(page);
      assert.deepEqual(await axeFaults(page), [], kind);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width, kind);
      assert.deepEqual(page.faults, [], kind);
      await page.context().close();
    }
  });
}

test('names of operators and causes that are markup stay text in every kind', async () => {
  const hostile = '</script><img src=x onerror="window.hacked = 1">\u202E"\'';
  for (const [kind, file] of Object.entries(files)) {
    const text = readFileSync(file, 'utf8').replaceAll(/"(softplus|relu|FlashAttentionScoreGrad|unit\.[a-z0-9.]*)"/g, JSON.stringify(hostile));
    const page = await opened([written(`hostile_${kind}.${kind === 'history' ? 'jsonl' : 'json'}`, text)]);
    await scrolled(page);
    assert.equal(await page.evaluate(() => window.hacked), undefined, kind);
    assert.equal(await page.locator('main img').count(), 0, kind);
    assert.deepEqual(page.faults, [], kind);
    await page.context().close();
  }
});
