// Saves a picture of a page: shots.mjs PAGE.html '#tab=1' OUT.png [width] [light|dark] [height] [selector of a part]
import {resolve} from 'node:path';
import playwright from 'playwright-core';

const [page, hash, out, width = '1280', colorScheme = 'light', height = '900', part = ''] = process.argv.slice(2);
const browser = await playwright.chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox']});
const tab = await browser.newPage({viewport: {width: Number(width), height: Number(height)}, colorScheme});
await tab.goto(`file://${resolve(page)}${hash}`);
await tab.waitForTimeout(500);
await tab.evaluate(() => { document.getElementById('status').hidden = true; });
await (part ? tab.locator(part).first() : tab).screenshot({path: out});
await browser.close();
