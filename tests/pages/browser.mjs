// Opens pages of real runs of the program in a real browser, and collects their errors.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

async function imported(name) {
  try {
    return await import(name);
  } catch (error) {
    throw new Error(`${name} is not installed: run \`npm ci\` in tests/pages (./build.sh does, where npm reaches its registry): ${error.message}`);
  }
}

const {chromium} = (await imported('playwright-core')).default;
export const axe = (await imported('axe-core')).default;
export const program = process.env.OPBENCH_PROGRAM;
export const source = new URL('../..', import.meta.url).pathname;
export const folder = mkdtempSync(join(tmpdir(), 'opbench-pages-'));

const kChromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

export function inFolder(name) {
  return join(folder, name);
}

/// Runs the program. Exit codes of verdicts are accepted, others are errors.
export function opbench(...args) {
  try {
    return execFileSync(program, args, {cwd: source, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']});
  } catch (failed) {
    if (failed.status === 1 || failed.status === 5 || failed.status === 3) return failed.stdout;
    throw new Error(`opbench ${args.join(' ')}: ${failed.status} ${failed.stderr}`);
  }
}

export function written(name, value) {
  writeFileSync(inFolder(name), typeof value === 'string' ? value : JSON.stringify(value));
  return inFolder(name);
}

let browser = null;

export async function closeBrowser() {
  if (browser) await browser.close();
}

/// Opens the page of these files in a tab. `page.faults` collects messages of the console and network requests.
export async function opened(files, {hash = '', width = 1280, height = 900, theme = 'light'} = {}) {
  if (!kChromium) throw new Error('no Chromium: apt-get install chromium');
  browser ??= await chromium.launch({executablePath: kChromium, args: ['--no-sandbox', '--disable-gpu']});
  const html = inFolder(`page${Math.random().toString(36).slice(2)}.html`);
  opbench('report', ...files, '--html', html);
  const context = await browser.newContext({viewport: {width, height}, colorScheme: theme, acceptDownloads: true, permissions: ['clipboard-read', 'clipboard-write']});
  const page = await context.newPage();
  page.faults = [];
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) page.faults.push(message.text()); });
  page.on('pageerror', (error) => page.faults.push(String(error)));
  page.on('request', (request) => { if (request.url() !== `file://${html}${hash}` && !/^(file:\/\/[^?]*\.html|data:|blob:)/.test(request.url())) page.faults.push(`request: ${request.url()}`); });
  await page.goto(`file://${html}${hash}`);
  page.file = html;
  return page;
}

/// Accessibility faults that axe-core rates serious or critical, as texts.
export async function axeFaults(page) {
  // The page's policy forbids other scripts, but allows the debugger.
  await page.evaluate(axe.source);
  const {violations} = await page.evaluate(() => axe.run(document, {resultTypes: ['violations']}));
  return violations.filter((v) => ['serious', 'critical'].includes(v.impact))
    .map((v) => `${v.id} (${v.impact}): ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')}`);
}

/// File that a click on `locator` saves, as text or bytes.
export async function saved(page, locator, encoding = 'utf8') {
  const [download] = await Promise.all([page.waitForEvent('download'), locator.click()]);
  const {readFileSync} = await import('node:fs');
  return {name: download.suggestedFilename(), content: readFileSync(await download.path(), encoding)};
}

/// Scrolls through the page, so that every chart is drawn.
export async function scrolled(page) {
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  for (let y = 0; y <= height; y += 600) {
    await page.evaluate((top) => window.scrollTo(0, top), y);
    await page.waitForTimeout(40);
  }
  await page.evaluate(() => window.scrollTo(0, 0));
}
