// The tab, the search and the chosen row in the address of the page, behind #, so that a bookmark
// keeps them, and on a phone the way back leads from a group to the list.

// So many milliseconds after the last key: browsers allow some hundred changes a minute.
const PAUSE = 400;

let pausing;

function keepAddress() {
  clearTimeout(pausing);
  pausing = setTimeout(writeAddress, PAUSE);
}

function writeAddress() {
  const wanted = filtersInWords();
  // Without an event, which could arrive when the reader has already changed more.
  if (wanted !== filtersOf(location.hash).toString()) history.replaceState(null, '', `#${wanted}`);
}

function filtersInWords() {
  const filters = new URLSearchParams();
  if (byId('search').value) filters.set('search', byId('search').value);
  filters.set('tab', page.isExporting ? 'export' : page.tab);
  if (page.part !== 'all') filters.set('part', page.part);
  if (page.screen === 'group' && page.chosen) filters.set('row', page.chosen.id);
  return filters.toString();
}

const filtersOf = (hash) => new URLSearchParams(hash.slice(1));

/** Be where the address says; at first on the first tab. */
function readAddress() {
  const filters = filtersOf(location.hash);
  const asked = filters.get('tab');
  page.isExporting = asked === 'export' && canExport();
  page.tab = tabsHere().includes(asked) ? asked : tabsHere()[0];
  const parts = Object.entries(TABS[page.tab]).filter(([, rows]) => rows().length).map(([part]) => part);
  page.part = parts.includes(filters.get('part')) ? filters.get('part') : parts[0] ?? 'all';
  page.chosen = listed().find(({ id }) => String(id) === filters.get('row')) ?? null;
  page.screen = page.chosen ? 'group' : 'list';
  byId('search').value = filters.get('search') ?? '';
}

function listenToAddress() {
  window.addEventListener('hashchange', () => {
    if (filtersOf(location.hash).toString() === filtersInWords()) return;
    readAddress();
    applyFilters();
    drawTabs();
  });
}
