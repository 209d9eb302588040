// Tabs for the inputs, and links into them: #tab=2&case=...; without a tab, the first tab that has the case.
import {el, say} from './dom.js';

const state = {views: [], current: null, hasSummary: false};
const kSigns = {green: '\u2713', yellow: '!', red: '\u2717', dim: '\u2013'};
const kWords = {green: 'well', yellow: 'to look at', red: 'wrong', dim: 'nothing to judge'};

/// A sign in the colour of an outcome, with its word for screen readers.
export function outcomeMark({colour}) {
  return el('span', {class: `outcome ${colour}`}, el('span', {'aria-hidden': 'true'}, kSigns[colour]), el('span', {class: 'hidden'}, `${kWords[colour]}: `));
}

// The summary is tab 0, so links to the first input do not depend on it.
function numberOf(view) {
  return state.views.indexOf(view) + (state.hasSummary ? 0 : 1);
}

export function linkTo(view, params = {}) {
  const query = new URLSearchParams({tab: String(numberOf(view)), ...params});
  return `#${query}`;
}

function paramsOfHash() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

function viewOf(params) {
  const asked = params.tab === undefined ? null : state.views.find((view) => String(numberOf(view)) === params.tab);
  if (asked) return asked;
  return state.views.find((view) => view.has && view.has(params)) || state.views[0];
}

function show() {
  const params = paramsOfHash();
  const view = viewOf(params);
  if (location.hash === '#main' || !view) return;
  if (state.current !== view) {
    if (state.current) state.current.panel.hidden = true;
    if (!view.isBuilt) {
      view.panel.append(view.build());
      view.isBuilt = true;
    }
    view.panel.hidden = false;
    for (const each of state.views) {
      each.tab.setAttribute('aria-selected', each === view);
      each.tab.setAttribute('tabindex', each === view ? 0 : -1);
    }
    if (state.current) say(`Showing ${view.title}`);
    state.current = view;
    document.title = `${view.about || view.title} - opbench`;
  }
  if (view.show) view.show(params);
}

/// `views`: {title, outcome, build(), show(params), has(params)}, in the order of their tabs; the first may be a
/// summary.
export function showTabs(views, hasSummary) {
  state.hasSummary = hasSummary;
  const list = document.getElementById('tabs'), main = document.getElementById('main');
  state.views = views;
  views.forEach((view, i) => {
    view.tab = el('a', {role: 'tab', id: `tab${i}`, href: linkTo(view), 'aria-controls': `panel${i}`, 'aria-selected': 'false', tabindex: -1}, view.outcome ? outcomeMark(view.outcome) : null, el('span', {class: 'name'}, view.title));
    view.panel = el('div', {role: 'tabpanel', id: `panel${i}`, 'aria-labelledby': `tab${i}`, hidden: true});
    list.append(view.tab);
    main.append(view.panel);
  });
  list.addEventListener('keydown', (event) => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step) return;
    event.preventDefault();
    const next = views[(views.indexOf(state.current) + step + views.length) % views.length];
    location.hash = `tab=${numberOf(next)}`;
    next.tab.focus();
  });
  window.addEventListener('hashchange', show);
  show();
}
