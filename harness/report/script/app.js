// Reads the data, builds the views of every input, and stores the light or dark theme.
import {el, printable} from './dom.js';
import {unpacked, setStatusColours} from './format.js';
import {drawAll} from './chart.js';
import {showTabs} from './tabs.js';
import {summaryView} from './summary.js';
import {runViews} from './run.js';
import {compareViews} from './compare.js';
import {judgeViews} from './judge.js';
import {checkViews} from './check.js';
import {historyViews} from './history.js';
import {ingestViews} from './ingest.js';

const kViews = {run: runViews, compare: compareViews, judge: judgeViews, check: checkViews, history: historyViews, ingest: ingestViews};

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const button = document.getElementById('theme');
  button.textContent = theme === 'dark' ? 'Light' : 'Dark';
  button.setAttribute('aria-label', `Show in ${theme === 'dark' ? 'light' : 'dark'}`);
}

function startTheme() {
  setTheme(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  document.getElementById('theme').addEventListener('click', () =>
    setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'));
}

function start() {
  startTheme();
  const {colours, inputs} = JSON.parse(document.getElementById('data').textContent);
  setStatusColours(colours);
  for (const input of inputs) input.data = unpacked(input.data);
  document.getElementById('subject').textContent = printable(inputs.map((input) => input.path.replace(/.*\//, '')).join(', '));
  document.getElementById('wait').remove();
  const views = inputs.flatMap((input) => kViews[input.kind](input));
  showTabs(views.length > 1 ? [summaryView(views), ...views] : views, views.length > 1);
  if (inputs.length === 0) document.getElementById('main').append(el('p', {}, 'There is nothing to show.'));
  window.addEventListener('beforeprint', drawAll);
  performance.mark('shown');
}

start();
