// Which groups are shown, and in which order.

// Folders that can be chosen; those with the most files, if there are more.
const MOST_FOLDERS = 300;

// At first what can go, most bytes first; then what wants a look, in the order of the report.
const ORDERS = {
  similar: (a, b) => b.safe - a.safe,
  files: (a, b) => b.members.length + b.more - a.members.length - a.more,
  copies: (a, b) => b.copies - a.copies,
  path: (a, b) => (a.first.path < b.first.path ? -1 : 1),
};

const CHOICES = ['kind', 'folder', 'coding', 'order'];

/** Fill the choices of the present view, in the present language, and keep what was chosen. */
function drawFilters() {
  const all = ['', t('all')];
  const present = [...KINDS, VERSIONS].filter((kind) => listed().some((group) => group.kinds.includes(kind)));
  const codings = [...new Set(listed().flatMap(({ members }) => members.map(({ coding }) => coding)))].filter(Boolean).sort();
  setOptions('kind', [all, ...present.map((kind) => [kind, t('kinds')[kind]])]);
  const folders = [...foldersOf(listed().flatMap(({ members }) => members.map(({ folder }) => folder)))].sort((a, b) => b[1] - a[1]).slice(0, MOST_FOLDERS);
  setOptions('folder', [all, ...folders.map(([folder]) => folder).sort().map((folder) => [folder, folder])]);
  setOptions('coding', [all, ...codings.map((coding) => [coding, coding])]);
  setOptions('order', Object.keys(ORDERS).filter((order) => order !== 'copies' || data.page !== 'answers').map((order) => [order, t('orders')[order]]));
  // What leaves nothing to choose is not offered.
  for (const id of ['kind', 'folder', 'coding']) byId(id).closest('label').hidden = byId(id).options.length < 3 && !byId(id).value;
  byId('order').closest('label').hidden = listed().length < 2;
  byId('low').closest('fieldset').hidden = !listed().some(({ least }) => least < 1) && !byId('low').value && !byId('high').value;
  byId('unfold').hidden = [...byId('finer').children].every((each) => each.hidden);
}

function setOptions(id, options) {
  const select = byId(id);
  const { value } = select;
  select.replaceChildren(...options.map(([key, words]) => make('option', { value: key }, words)));
  select.value = options.some(([key]) => key === value) ? value : options[0][0];
}

/** The groups of the present view; pairs of folders are filtered by words alone. */
function listed() {
  return page.view === 'folders' ? [] : VIEWS[page.view]().filter((row) => row.members);
}

/** How many files these folders have and those above them, up to the roots. */
function foldersOf(folders, roots = []) {
  const counts = new Map();
  for (const folder of folders) {
    for (let end = folder.length; end > 0; end = folder.lastIndexOf('/', end - 1)) {
      const part = folder.slice(0, end);
      counts.set(part, (counts.get(part) ?? 0) + 1);
      if (roots.includes(part)) break;
    }
  }
  return counts;
}

/** Show the rows that fit what is typed and chosen, and the chosen one of them. */
function applyFilters() {
  const wanted = wish();
  page.wanted = wanted;
  const isOfFolders = page.view === 'folders';
  page.shown = isOfFolders ? pairsNamed(wanted) : listed().filter((group) => fits(group, wanted)).sort(ORDERS[byId('order').value]);
  byId('count').textContent = t(isOfFolders ? 'countedPairs' : 'counted', page.shown.length, VIEWS[page.view]().length);
  byId('reset').disabled = !isNarrow(wanted) && !wanted.kind;
  placeView();
  if (!page.shown.includes(page.chosen)) page.chosen = firstRow();
  drawList();
  choose(page.chosen);
  keepAddress();
}

/** The row with which a view begins: beside the list the first one that is undecided, on a phone none. */
function firstRow() {
  if (!isWide()) return null;
  const open = page.shown.filter((row) => !row.members || !isDecidable(row) || isLeft(row));
  // A question without an answer has nothing to show.
  return open.find((row) => !row.members || row.told) ?? open[0] ?? null;
}

/** Whether something is wanted of a single file: words, a folder, an encoding or a score. */
function isNarrow({ words, folder, coding, low, high }) {
  return Boolean(words.length || folder || coding || low > 0 || high < 100);
}

/** What is typed and chosen. */
function wish() {
  const share = (id, instead) => (byId(id).value === '' ? instead : Number(byId(id).value));
  return {
    words: byId('search').value.toLowerCase().split(/\s+/).filter(Boolean),
    kind: byId('kind').value,
    folder: byId('folder').value,
    coding: byId('coding').value,
    low: share('low', 0),
    high: share('high', 100),
  };
}

/** Whether the group is of the kind and has a member that fits in all else; which one is remembered. */
function fits(group, wanted) {
  if (wanted.kind && !group.kinds.includes(wanted.kind)) return false;
  const place = group.members.findIndex((member) => isWanted(member, wanted));
  page.found.set(group.id, place);
  return place >= 0;
}

/** Whether this file has all words in its path, and the folder, encoding and score, as shown. */
function isWanted(member, { words, folder, coding, low, high }) {
  if (low > 0 || high < 100) {
    const shown = Math.floor(member.share * 1000 + 1e-9) / 10;
    if (member.isFirst || shown < low || shown > high) return false;
  }
  return (!folder || member.folder === folder || member.folder.startsWith(folder === '/' ? '/' : `${folder}/`))
    && (!coding || member.coding === coding)
    && words.every((word) => member.searched.includes(word));
}

function resetFilters() {
  for (const id of ['search', 'low', 'high', 'kind', 'folder', 'coding']) byId(id).value = '';
  applyFilters();
}

function listenToFilters() {
  for (const id of ['search', 'low', 'high']) byId(id).addEventListener('input', applyFilters);
  for (const id of CHOICES) byId(id).addEventListener('change', applyFilters);
  byId('reset').addEventListener('click', resetFilters);
  byId('unfold').addEventListener('click', () => {
    byId('finer').hidden = !byId('finer').hidden;
    byId('unfold').setAttribute('aria-expanded', String(!byId('finer').hidden));
  });
}
