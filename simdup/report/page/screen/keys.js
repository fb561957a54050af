// A page of groups as a whole: its keys, and what happens first.

Object.assign(page, {
  view: 'groups',
  // The rows of the list, the chosen one or null, the file of it at which the reader is, and the two compared.
  shown: [],
  chosen: null,
  place: 0,
  pair: [0, 1],
  // On a phone: whether the pane is on the screen and not the list.
  isInside: false,
  // What is typed and chosen, and by the id of a group the place of its first member that fits.
  wanted: null,
  found: new Map(),
});

/** Say everything in the present language. */
function drawPage() {
  drawShell(titleInWords());
  drawSummary();
  drawHistogram();
  drawViews();
  drawParts();
  drawFilters();
  drawRuling();
  applyFilters();
}

// What each key does, wherever the reader is outside a text field.
const KEYS = {
  j: () => stepRow(1),
  k: () => stepRow(-1),
  ArrowDown: () => stepFile(1),
  ArrowUp: () => stepFile(-1),
  c: () => page.chosen?.members && compareHere(),
  '.': () => stepChange(1),
  ',': () => stepChange(-1),
};

// Those that decide something, where something can be decided.
const DECIDING = {
  d: () => decideHere('drop'),
  x: () => decideHere('keep'),
  o: () => page.chosen?.members && isDecidable(page.chosen) && keepOnly(page.chosen, page.place),
  i: () => page.chosen?.members && isDecidable(page.chosen) && toggleUnrelated(page.chosen),
  n: goToUndecided,
  u: undoStep,
};

function onKey(event) {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
  if (key === 'Escape') return leave(target);
  if (target.matches('input') || (target.matches('select') && key.startsWith('Arrow'))) return undefined;
  const act = key === '/' ? seek : key === '?' ? () => byId('helping').showModal() : byId('review').hidden ? null : (data.plan && DECIDING[key]) || KEYS[key];
  if (!act) return undefined;
  event.preventDefault();
  return act();
}

/** Go to the search. */
function seek() {
  if (byId('review').hidden) showView('groups');
  if (page.isInside && !isWide()) backToList();
  byId('search').focus();
}

/** Escape: from the search to the file where one was, from the comparison to its file, from a file to the list. */
function leave(target) {
  if (target.id === 'search' && target.value) {
    target.value = '';
    applyFilters();
  } else if (target.closest('#queue')) (isWide() ? fileRow() : null)?.focus();
  else if (target.closest('.comparison')) leaveComparison();
  else if (target.closest('#pane')) backToList();
}

async function start() {
  if (data.plan) await readDecisions();
  listenToFilters();
  listenToShell(drawPage);
  byId('more').querySelector('button').addEventListener('click', () => drawMore());
  document.addEventListener('keydown', onKey);
  new IntersectionObserver((seen) => {
    if (seen.some((each) => each.isIntersecting)) drawMore();
  }, { root: byId('scroller'), rootMargin: '600px' }).observe(byId('more'));
  // On paper there is nothing to scroll.
  window.addEventListener('beforeprint', () => drawMore(Infinity));
  listenToAddress();
  if (data.plan) listenToDecisions();
  readAddress();
  // Where nothing was found, the page begins with what was read.
  if (!every.length && !location.hash) page.view = Object.keys(VIEWS).find((view) => view === 'about' || VIEWS[view]().length);
  drawPage();
}

start();
