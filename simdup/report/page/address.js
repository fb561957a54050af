// The filters in the address of the page, behind #, so that a bookmark keeps them.

const KEPT = ['search', 'kind', 'folder', 'coding', 'low', 'high', 'order'];

// So many milliseconds after the last key: browsers allow some hundred changes a minute.
const PAUSE = 400;

// Stands for no filter: an empty address would scroll to the top.
const NO_FILTER = '#all';

let pausing;

function writeAddress() {
  clearTimeout(pausing);
  pausing = setTimeout(() => {
    const wanted = filtersInWords();
    const now = filtersOf(location.hash).toString();
    if (wanted !== now) location.replace(wanted ? `#${wanted}` : NO_FILTER);
  }, PAUSE);
}

function filtersInWords() {
  const filters = new URLSearchParams();
  for (const id of KEPT) {
    const { value } = byId(id);
    if (value && value !== byId(id).options?.[0].value) filters.set(id, value);
  }
  if (byId('patterns').checked) filters.set('patterns', 'on');
  return filters.toString();
}

function filtersOf(hash) {
  return new URLSearchParams(hash === NO_FILTER ? '' : hash.slice(1));
}

/** Set the filters as the address says. */
function readAddress() {
  const filters = filtersOf(location.hash);
  byId('patterns').checked = filters.has('patterns');
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
    readAddress();
    applyFilters();
  });
}
