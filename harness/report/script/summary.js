// The first tab of several inputs: the outcome of each, with a link.
import {el, nameOf} from './dom.js';
import {countText} from './format.js';
import {linkTo, outcomeMark} from './tabs.js';

const kWorstFirst = ['red', 'yellow', 'green'];

/// `views`: each has its outcome {colour, text}.
export function summaryView(views) {
  const colours = views.map((view) => view.outcome.colour);
  const count = (colour) => colours.filter((each) => each === colour).length;
  return {
    title: 'Summary',
    build: () => el('section', {class: `digest ${kWorstFirst.find((colour) => colours.includes(colour))}`, 'aria-label': 'Digest'},
      el('h2', {}, `${countText(views.length, 'result')}: ${count('red')} wrong, ${count('yellow')} to look at, ${count('green')} well`),
      el('ul', {class: 'outcomes'}, views.map((view) => el('li', {}, outcomeMark(view.outcome),
        el('a', {href: linkTo(view)}, nameOf(view.title)), ` ${view.outcome.text}`)))),
  };
}
