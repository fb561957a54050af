// A page of groups as a whole: its keys, and what happens first.

Object.assign(page, {
  // The tab and the part of its list, and whether the export stands in place of the overview.
  ...{ tab: 'overview', part: 'all', isExporting: false },
  // The rows of the list, the chosen one or null, and the file of it at which the reader is.
  ...{ shown: [], chosen: null, place: 0 },
  // On a narrow screen, what it shows: 'list' or 'group'.
  screen: 'list',
  // What is searched for, and by the id of a group the place of its first member that fits.
  ...{ words: [], found: new Map() },
});

/** Say everything in the present language. */
function drawAll() {
  drawShell();
  drawPlan();
  applyFilters();
  drawTabs();
}

// What keys do that press no button, wherever the reader is outside a text field.
const KEYS = {
  j: () => stepRow(1),
  k: () => stepRow(-1),
  ArrowDown: () => stepFile(1),
  ArrowUp: () => stepFile(-1),
  ' ': () => turnCircle(page.place),
  '.': () => stepChange(1),
  ',': () => stepChange(-1),
  n: goToUndecided,
  '/': () => byId('search').focus(),
  '?': openHelp,
};

/** Press the button on the screen that has this key; whether there is one. */
function pressKey(key) {
  const pressed = [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)].find((each) => each.checkVisibility() && !each.disabled);
  pressed?.click();
  return Boolean(pressed);
}

function onKey(event) {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
  if (target.matches('input') && ['Enter', 'Escape'].includes(key)) return leaveSearch();
  if (key === 'Escape') return goBack();
  if (target.matches('input') || (target.matches('select') && (key.startsWith('Arrow') || key === ' '))) return;
  // A button that Space presses does so; the row of a file has its circle instead.
  if (key === ' ' && (target.matches('a, .text') || (target.matches('button') && !target.matches('.pick, .head')))) return;
  const isArrow = key.startsWith('Arrow');
  const tab = /^[1-9]$/.test(key) ? tabsHere()[key - 1] : null;
  const isOfOverview = page.tab === 'overview';
  const act = tab ? () => showTab(tab) : isOfOverview && !['n', '/', '?'].includes(key) ? null : KEYS[key];
  if (isArrow && target.closest('.text, #overview, .wide, .pattern')) return;
  if (!act && !(key.length === 1 && pressKey(key))) return;
  event.preventDefault();
  act?.();
}

/** From the search back to the list, where letters are keys again. */
function leaveSearch() {
  byId('search').blur();
  (currentRow() ?? (page.tab === 'overview' ? byId('overview').querySelector('h2') : byId('list').querySelector('button') ?? byId('files'))).focus();
}

async function start() {
  if (data.plan) await readDecisions();
  byId('search').addEventListener('input', search);
  byId('reset').addEventListener('click', resetSearch);
  listenToShell(drawAll);
  byId('more').querySelector('button').addEventListener('click', () => drawMore());
  byId('back').addEventListener('click', goBack);
  document.addEventListener('keydown', onKey);
  new IntersectionObserver((seen) => {
    if (seen.some((each) => each.isIntersecting)) drawMore();
  }, { root: byId('scroller'), rootMargin: '600px' }).observe(byId('more'));
  // On paper there is nothing to scroll.
  window.addEventListener('beforeprint', () => drawMore(Infinity));
  listenToAddress();
  readAddress();
  drawAll();
}

start();
