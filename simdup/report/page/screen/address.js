// The view, the filters and the chosen group in the address of the page, behind #, so that a bookmark
// keeps them, and on a phone the way back leads from a group to the list.

const KEPT = ['search', 'kind', 'folder', 'coding', 'low', 'high', 'order'];

// So many milliseconds after the last key: browsers allow some hundred changes a minute.
const PAUSE = 400;

// Stands for no filter: without it, a page in which nothing was found would choose its own view.
const NO_FILTER = '#all';

let pausing;

function keepAddress() {
  clearTimeout(pausing);
  pausing = setTimeout(writeAddress, PAUSE);
}

function writeAddress() {
  const wanted = filtersInWords();
  // Without an event, which could arrive when the reader has already changed more.
  if (wanted !== filtersOf(location.hash).toString()) history.replaceState(null, '', wanted ? `#${wanted}` : NO_FILTER);
}

function filtersInWords() {
  const filters = new URLSearchParams();
  for (const id of KEPT) {
    const { value } = byId(id);
    if (value && value !== byId(id).options?.[0].value) filters.set(id, value);
  }
  if (page.view !== 'groups') filters.set('view', page.view);
  if (page.isInside && page.chosen) filters.set('row', page.chosen.id);
  return filters.toString();
}

function filtersOf(hash) {
  return new URLSearchParams(hash === NO_FILTER ? '' : hash.slice(1));
}

/** Set the filters as the address says. */
function readAddress() {
  const filters = filtersOf(location.hash);
  page.view = Object.hasOwn(VIEWS, filters.get('view')) ? filters.get('view') : 'groups';
  page.chosen = VIEWS[page.view]().find(({ id }) => String(id) === filters.get('row')) ?? null;
  page.isInside = page.chosen !== null;
  drawFilters();
  for (const id of KEPT) {
    byId(id).value = filters.get(id) ?? byId(id).options?.[0].value ?? '';
    // A choice that this page does not have.
    if (byId(id).options && byId(id).selectedIndex < 0) byId(id).selectedIndex = 0;
  }
}

function listenToAddress() {
  window.addEventListener('hashchange', () => {
    if (filtersOf(location.hash).toString() === filtersInWords()) return;
    const before = page.chosen;
    readAddress();
    if (!page.chosen) page.chosen = before;
    applyFilters();
    drawViews();
  });
}
