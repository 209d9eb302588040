// The page of a run: real results of a few cases, and their copies with hostile names.
import assert from 'node:assert/strict';
import {readFileSync, statSync} from 'node:fs';
import {after, before, test} from 'node:test';
import {axeFaults, closeBrowser, inFolder, opbench, opened, saved, scrolled, written} from './browser.mjs';

const results = inFolder('results.json');
let records = [];
// The page's rule. On a busy machine a time may be suspicious: faster than memory can be.
const isUsable = (r) => ['passed', 'unverified', 'mistrusted'].includes(r.status) && r.median_us !== null && !r.disturbed;

before(() => {
  opbench('run', '--op', 'softplus', 'relu', '--shapes', 'cases/resnet.yaml', '--set', 'N=1', '--filter', '7x7|14x14', '--threads', '1,2',
    '--repetitions', '5', '--time', '0.002', '-q', '--json', results);
  records = JSON.parse(readFileSync(results, 'utf8')).records;
});
after(closeBrowser);

async function firstCells(page, column, count = 12) {
  return page.locator(`table.virtual >> nth=0`).locator(`tbody tr:not(.spacer) td:nth-child(${column})`).evaluateAll(
    (cells, most) => cells.slice(0, most).map((cell) => cell.textContent), count);
}

test('draws its charts without a fault, and asks no network', async () => {
  const page = await opened([results]);
  await page.waitForSelector('.digest');
  await scrolled(page);
  const drawn = await page.locator('figure svg').evaluateAll((all) => all.map((svg) => [svg.getAttribute('aria-label').split('.')[0], svg.querySelectorAll('rect, circle').length]));
  const counts = Object.fromEntries(drawn);
  for (const title of ['Roofline', 'Variants of the first cases', 'By operator', 'By case']) assert.ok(counts[title] > 0, `${title}: ${JSON.stringify(counts)}`);
  assert.equal(counts.Roofline, records.filter((r) => isUsable(r) && r.operations > 0).length);
  assert.deepEqual(page.faults, []);
});

test('the page without data is small, and its policy forbids requests', async () => {
  const page = await opened([results]);
  const html = readFileSync(page.file, 'utf8');
  const data = html.match(/<script type="application\/json" id="data">(.*?)<\/script>/s)[1];
  assert.ok(statSync(page.file).size - data.length < 300_000);
  assert.match(html, /Content-Security-Policy" content="default-src 'none'; script-src 'sha256-/);
  assert.doesNotMatch(html.replace(data, ''), /(src|href)="https?:/);
  await page.evaluate(() => fetch('https://example.org/').catch(() => {}));
  assert.ok(page.faults.some((fault) => fault.includes('Content Security Policy')), 'a request was not refused');
});

test('sorts by a head, downwards and upwards, and what has no time stays last', async () => {
  const page = await opened([results]);
  const median = (list) => list.map((r) => r.median_us);
  const sorted = records.filter((r) => r.median_us !== null).sort((a, b) => b.median_us - a.median_us);
  await page.click('th button:text-is("time")');
  const [text] = await firstCells(page, 1, 1);
  assert.equal(text, sorted[0].case, median(sorted)[0]);
  assert.equal(await page.locator('th[aria-sort="descending"]').first().innerText(), await page.locator('th:has(button:text-is("time"))').first().innerText());
  await page.click('th button:text-is("time")');
  assert.equal((await firstCells(page, 1, 1))[0], sorted.at(-1).case);
});

test('filters by words and by choice', async () => {
  const page = await opened([results]);
  await page.fill('input[type=search] >> nth=0', 'relu[ onednn 1x256');
  const wanted = records.filter((r) => r.case.startsWith('relu[') && r.variant === 'onednn' && r.case.includes('1x256'));
  await page.waitForFunction((n) => document.querySelector('.counter').textContent.startsWith(`${n} of`), wanted.length);
  await page.fill('input[type=search] >> nth=0', '');
  await page.waitForFunction((n) => document.querySelector('.counter').textContent === `${n} results`, records.length);
  await page.selectOption('select[aria-label="Only variant"] >> nth=0', 'softplus_v2');
  assert.deepEqual([...new Set(await firstCells(page, 2))], ['softplus_v2']);
});

test('a link leads to one result, and its charts and its line are there', async () => {
  const record = records.find((r) => r.variant === 'softplus_v2' && r.threads === 2);
  const page = await opened([results], {hash: `#${new URLSearchParams({case: record.case, variant: record.variant, threads: 2})}`});
  await page.waitForSelector('.detail');
  assert.match(await page.locator('.detail h2').innerText(), /softplus_v2/);
  await scrolled(page);
  const titles = await page.locator('.detail figure strong').allInnerTexts();
  for (const title of ['Variants of this case', 'Samples in the order of time', 'Time against error', 'Speed over threads', 'Time over size']) assert.ok(titles.includes(title), `${title} of ${titles}`);
  await page.locator('.detail .copy').first().click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), record.reproduce);
  const group = records.filter((r) => r.case === record.case && r.threads === 2 && r.median_us !== null);
  assert.equal(await page.locator('.detail figure:has-text("Samples in the order") circle').count(), 5 * group.length);
  assert.deepEqual(page.faults, []);
});

// The digest's advice is about the result that is open at the start.
test('the result to look at first is open, and the page is at its top', async () => {
  const page = await opened([results]);
  const own = await page.locator('.detail code').first().innerText();
  const next = await page.locator('.digest code').allInnerTexts();
  assert.ok(next.some((line) => line.startsWith(own)), `${own} is not among ${next}`);
  assert.equal(await page.evaluate(() => window.scrollY), 0);
  assert.equal(await page.evaluate(() => location.hash), '');
});

test('a click on a mark shows its result', async () => {
  const page = await opened([results]);
  await scrolled(page);
  await page.locator('figure:has-text("Roofline") circle').last().click();
  await page.waitForSelector('.detail');
  assert.match(page.url(), /#tab=1&case=/);
});

test('exports CSV, JSON, SVG, PNG, and the dispatch table as JSON and C', async () => {
  const page = await opened([results]);
  const csv = await saved(page, page.locator('button[aria-label="Results as CSV"]'));
  assert.equal(csv.content.trimEnd().split('\r\n').length, records.length + 1);
  assert.match(csv.content, /^case,name,op,variant,/);
  const json = JSON.parse((await saved(page, page.locator('button[aria-label="Results as JSON"]'))).content);
  assert.deepEqual(json.map((r) => r.median_us), records.map((r) => r.median_us));
  const chart = page.locator('figure:has-text("Roofline")');
  await chart.scrollIntoViewIfNeeded();
  const svg = await saved(page, chart.locator('button:text-is("SVG")'));
  assert.match(svg.content, /^<svg[^>]* xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  const png = await saved(page, chart.locator('button:text-is("PNG")'), 'latin1');
  assert.equal(png.content.slice(1, 4), 'PNG');
  const table = JSON.parse((await saved(page, page.locator('button:text-is("JSON of the winners")'))).content);
  const places = new Set(records.filter(isUsable).map((r) => `${r.case} ${r.threads}`));
  assert.equal(table.winners.length, places.size);
  for (const winner of table.winners) {
    const times = records.filter((r) => r.case === winner.case && r.threads === winner.threads && isUsable(r)).map((r) => r.median_us);
    assert.equal(winner.median_us, Math.min(...times));
  }
  const header = (await saved(page, page.locator('button:text-is("C header")'))).content;
  const {execFileSync} = await import('node:child_process');
  execFileSync('c++', ['-x', 'c', '-std=c99', '-Wall', '-Wno-unused-variable', '-Werror', '-fsyntax-only', written('dispatch.h', header)]);
});

test('is reached by the keyboard', async () => {
  const page = await opened([results]);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the results');
  await page.locator('table.virtual tbody a[tabindex="0"]').first().focus();
  for (let i = 0; i < 40; ++i) await page.keyboard.press('ArrowDown');
  const row = await page.evaluate(() => document.activeElement.closest('tr').getAttribute('aria-rowindex'));
  assert.equal(row, '42');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.detail');
});

for (const [width, theme] of [[1280, 'light'], [400, 'dark']]) {
  test(`has no serious fault of accessibility and fits into ${width} pixels, ${theme}`, async () => {
    const record = records.find((r) => r.variant === 'softplus_v2');
    const page = await opened([results], {width, theme, hash: `#${new URLSearchParams({case: record.case})}`});
    await scrolled(page);
    assert.deepEqual(await axeFaults(page), []);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width);
    await page.click('#theme');
    assert.deepEqual((await axeFaults(page)).filter((f) => f.includes('contrast')), []);
  });
}

test('a narrow screen shows each result as a card with its variant, verdict and time', async () => {
  const page = await opened([results], {width: 400});
  const card = page.locator('table.virtual >> nth=0').locator('tbody tr:not(.spacer)').first();
  const shown = await card.locator('td').evaluateAll((cells) => cells.filter((cell) => cell.getBoundingClientRect().width > 0).map((cell) => [cell.textContent, cell.dataset.label || '', cell.getBoundingClientRect().right]));
  assert.deepEqual(shown.map(([, label]) => label), ['', 'variant', '', 'time', 'v. native']);
  assert.equal(shown[0][0], records[0].case);
  assert.ok(shown.every(([, , right]) => right <= 400), JSON.stringify(shown));
  await page.locator('.rows').first().evaluate((node) => { node.scrollTop = node.scrollHeight; });
  await page.waitForTimeout(100);
  assert.ok((await firstCells(page, 1, 1000)).includes(records.at(-1).case));
});

test('every axis has two ticks or more, however narrow its range', async () => {
  const file = JSON.parse(readFileSync(results, 'utf8'));
  file.records = file.records.filter((r) => r.median_us !== null).slice(0, 6).map((r, i) => ({...r, median_us: 17_000 + 100 * i, min_us: 17_000 + 100 * i, samples_us: r.samples_us.map((_, k) => 17_000 + 100 * i + k)}));
  const page = await opened([written('narrow.json', file)]);
  await scrolled(page);
  const axes = await page.locator('.detail figure:has-text("Samples in the order") svg').first().evaluate((svg) => [...svg.querySelectorAll('.tick[text-anchor=end]')].map((tick) => tick.textContent));
  assert.ok(new Set(axes).size >= 2, axes.join());
});

test('what is as fast as the fastest but for noise stands beside it', async () => {
  const file = JSON.parse(readFileSync(results, 'utf8'));
  const one = file.records.find((r) => r.median_us !== null);
  file.records = [['a', 100, 1], ['b', 103, 1], ['c', 120, 1], ['d', 118, 7]].map(([variant, median_us, mad_us]) => ({...one, variant, median_us, mad_us, status: 'passed',
    min_us: median_us}));  // a median of twice the minimum counts as disturbed
  const page = await opened([written('ties.json', file)]);
  const table = JSON.parse((await saved(page, page.locator('button:text-is("JSON of the winners")'))).content);
  assert.deepEqual(table.winners.map((w) => [w.variant, w.ties]), [['a', ['b', 'd']]]);
});

test('two runs of different cases are no history', async () => {
  const file = JSON.parse(readFileSync(results, 'utf8'));
  const other = {...file, records: file.records.map((r) => ({...r, case: r.case.replace('[', '[other,')}))};
  for (const [second, expected] of [[other, 0], [file, 1]]) {
    const page = await opened([results, written('second.json', second)]);
    assert.equal(await page.locator('[role=tab]:has-text("history")').count(), expected);
  }
});

test('names that are markup, quotes or turn the direction stay text', async () => {
  const file = JSON.parse(readFileSync(results, 'utf8'));
  const hostile = ['</script><script>window.hacked = 1</script>', '"><img src=x onerror="window.hacked = 1">', '<!--<script>', '\u202Egnp.exe\u2066', "'+alert(1)+'", '=1+1', '\u0000\u001b[31m'];
  file.command = hostile[0];
  hostile.forEach((name, i) => { file.records[i].name = name; file.records[i].reason = name; file.records[i].case += name; file.records[i].variant = name; });
  const page = await opened([written('hostile.json', file)]);
  await scrolled(page);
  for (const name of hostile.slice(0, 4)) {
    await page.fill('input[type=search] >> nth=0', name.replace(/[\u202e\u2066]/g, ' ').split(' ')[0]);
    await page.waitForTimeout(250);
  }
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator('main img, main script').count(), 0);
  await page.fill('input[type=search] >> nth=0', 'gnp.exe');
  await page.waitForFunction(() => document.querySelector('.counter').textContent.startsWith('1 of'));
  assert.match((await firstCells(page, 1, 1))[0], /\\u202egnp\.exe\\u2066/);
  const csv = await saved(page, page.locator('button[aria-label="Results as CSV"]'));
  assert.match(csv.content, /gnp\.exe/);
  assert.deepEqual(page.faults, []);
});

test('ten thousand rows are painted within a second and are not all elements', async () => {
  const file = JSON.parse(readFileSync(results, 'utf8'));
  const many = [];
  while (many.length < 10000) for (const r of records) many.push({...r, case: `${r.case} ${many.length}`});
  file.records = many;
  const input = written('many.json', file);
  let page = null, paint = Infinity, shown = Infinity;
  for (let attempt = 0; attempt < 3 && paint >= 1000; ++attempt) {  // other tests may use the machine
    page = await opened([input]);
    [paint, shown] = await page.evaluate(() => [performance.getEntriesByName('first-contentful-paint')[0].startTime, performance.getEntriesByName('shown')[0].startTime]);
  }
  console.log(`first paint after ${Math.round(paint)} ms, table after ${Math.round(shown)} ms, ${many.length} rows`);
  assert.ok(paint < 1000, `first paint after ${paint} ms`);
  const rows = await page.locator('table.virtual >> nth=0').locator('tbody tr').count();
  assert.ok(rows < 100, `${rows} rows are elements`);
  await page.locator('.rows').first().evaluate((node) => { node.scrollTop = node.scrollHeight; });
  await page.waitForTimeout(100);
  assert.ok((await firstCells(page, 1, 100)).at(-1).includes(String(many.length - 1)));
  assert.deepEqual(page.faults, []);
});

test('paper has every row and every chart', async () => {
  const page = await opened([results]);
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  assert.equal(await page.locator('table.virtual >> nth=0').locator('tbody tr:not(.spacer)').count(), records.length);
  assert.equal(await page.locator('.plot:empty').count(), 0);
});
