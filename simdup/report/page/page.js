// A page of groups as a whole: its keys, and what happens first.

const GOING = ['ArrowDown', 'ArrowUp', 'Home', 'End'];

Object.assign(page, {
  // The rows of the list: groups, and pairs of folders with their groups.
  shown: groups,
  // What is typed and chosen, and by the id of a group the place of its first member that fits.
  wanted: null,
  found: new Map(),
  // By the id of an open row: the places of the two members that are compared, or null.
  open: new Map(),
});

/** Say everything in the present language. */
function drawPage() {
  drawShell(titleInWords());
  drawSummary();
  drawHistogram();
  drawFilters();
  drawParts();
  drawFacets();
  drawRuling();
  applyFilters();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { target, key } = event;
  if (key === '/' && !target.matches('input:not([type=checkbox]), select')) {
    event.preventDefault();
    byId('search').focus();
  } else if (key === 'Escape') leave(target);
  else if (GOING.includes(key)) goFrom(target, key, event);
  else if (target.matches('input, select, dialog *')) return;
  else if (data.plan && key === 'z') undoStep();
  else if ((key === 'n' || key === 'p') && target.closest('.comparison')) stepFrom(target, key === 'n' ? 1 : -1);
  else if (key === 'c' && target.closest('.member')) compareFrom(target);
  else onDecidingKey(target, key);
}

/** Compare the member that one is on with the first of its group. */
function compareFrom(target) {
  const item = target.closest('.group');
  const place = Number(target.closest('.member').dataset.place);
  if (place) compareWith(listed().find(({ id }) => `group-${id}` === item.id), [0, place]);
}

/** Go from the comparison that one is in to the next pair, or to the one before. */
function stepFrom(target, step) {
  const item = target.closest('.group');
  stepPair(listed().find(({ id }) => `group-${id}` === item.id), step);
}

/** Escape: empty the search, or close the comparison that one is in, or the row of the list. */
function leave(target) {
  const item = target.closest('.group, .pair');
  if (target.id === 'search' && target.value) {
    target.value = '';
    applyFilters();
  }
  const group = item && listed().find((each) => `group-${each.id}` === item.id);
  if (group && target.closest('.comparison')) {
    page.open.set(group.id, null);
    redraw(group);
    headOf(group).focus();
  } else if (group && page.open.has(group.id)) toggle(group);
  else if (item && !group && page.open.has(item.id)) item.querySelector('.head').click();
}

/** Up, down, home and end in the list and open groups; down also from the top and the search. */
function goFrom(target, key, event) {
  const isAbove = target === document.body || target.id === 'search' || target.id === 'list';
  const from = target.closest('.head, .member');
  if (!(from || (isAbove && key === 'ArrowDown')) || target.matches('select, .comparison *')) return;
  if (key === 'End') drawMore(Infinity);
  const stops = () => [...byId('list').querySelectorAll('.head:not(.still), .member')];
  const at = stops().indexOf(from);
  if (key === 'ArrowDown' && at === stops().length - 1) drawMore();
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: stops().length - 1 }[key];
  const place = next < 0 ? byId('search') : stops()[next];
  if (!place) return;
  event.preventDefault();
  place.focus();
}

async function start() {
  if (data.plan) await readDecisions();
  listenToFilters();
  listenToShell(drawPage);
  byId('more').querySelector('button').addEventListener('click', () => drawMore());
  document.addEventListener('keydown', onKey);
  new IntersectionObserver((seen) => {
    if (seen.some((each) => each.isIntersecting)) drawMore();
  }, { rootMargin: '600px' }).observe(byId('more'));
  // On paper there is nothing to scroll.
  window.addEventListener('beforeprint', () => drawMore(Infinity));
  listenToAddress();
  if (data.plan) listenToDecisions();
  // A single question: what one came for is its answers.
  const [only, ...others] = groups;
  if (data.page === 'answers' && only && !others.length) page.open.set(only.id, data.texts && only.members.length > 1 ? [0, 1] : null);
  page.wanted = wish();
  readAddress();
  drawPage();
}

start();
