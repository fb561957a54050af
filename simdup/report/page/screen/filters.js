// Which rows of the list are shown, and in which order.

// Folders that can be chosen; those with the most files, if there are more.
const MOST_FOLDERS = 300;

const ORDERS = {
  usual: null,
  files: (a, b) => b.members.length + b.more - a.members.length - a.more,
  path: (a, b) => (a.first.path < b.first.path ? -1 : 1),
};

const CHOICES = ['folder', 'coding', 'order'];

/** Fill the choices of the present list, in the present language, and keep what was chosen. */
function drawFilters() {
  const members = listed().flatMap((row) => row.members ?? []);
  const folders = [...foldersOf(members.map(({ folder }) => folder))].sort((a, b) => b[1] - a[1]).slice(0, MOST_FOLDERS);
  const codings = [...new Set(members.map(({ coding }) => coding))].filter(Boolean).sort();
  const all = ['', t('all')];
  setOptions('folder', [all, ...folders.map(([folder]) => folder).sort().map((folder) => [folder, folder])]);
  setOptions('coding', [all, ...codings.map((coding) => [coding, coding])]);
  setOptions('order', Object.keys(ORDERS).map((order) => [order, t('listOrders')[order]]));
  // What leaves nothing to choose is not offered.
  for (const id of ['folder', 'coding']) byId(id).closest('label').hidden = byId(id).options.length < 3 && !byId(id).value;
}

function setOptions(id, options) {
  const select = byId(id);
  const { value } = select;
  select.replaceChildren(...options.map(([key, words]) => make('option', { value: key }, words)));
  select.value = options.some(([key]) => key === value) ? value : options[0][0];
}

/** How many files these folders and the folders above them have. */
function foldersOf(folders) {
  const counts = new Map();
  for (const folder of folders) {
    for (let end = folder?.length ?? 0; end > 0; end = folder.lastIndexOf('/', end - 1)) {
      const part = folder.slice(0, end);
      counts.set(part, (counts.get(part) ?? 0) + 1);
    }
  }
  return counts;
}

/** Show the rows that fit what is typed and chosen, and the chosen one of them. */
function applyFilters() {
  page.words = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  const isNarrow = page.words.length || CHOICES.slice(0, 2).some((id) => byId(id).value);
  const rows = listed().filter(fits);
  const order = ORDERS[byId('order').value];
  page.shown = order && rows[0]?.members ? rows.toSorted(order) : rows;
  byId('filters').hidden = !(isNarrow || byId('filters').contains(document.activeElement));
  byId('count').closest('p').hidden = !isNarrow;
  byId('count').textContent = t('counted', page.shown.length, listed().length);
  byId('seeking').hidden = !every.length && !forms.length;
  if (!page.shown.includes(page.chosen)) page.chosen = page.tab === 'overview' ? null : page.shown.find((row) => row.members && openIn(row).length) ?? page.shown[0] ?? null;
  drawChoices();
  drawList();
  choose(page.chosen);
  keepAddress();
}

/** Whether a row has a file with all words in its path, and with the folder and encoding; which one is remembered. */
function fits(row) {
  const [folder, coding] = [byId('folder').value, byId('coding').value];
  const hasWords = (text) => page.words.every((word) => text.includes(word));
  if (!row.members) return hasWords(`${row.path} ${row.other ?? row.whole ?? ''}`.toLowerCase());
  const place = row.members.findIndex((member) => hasWords(member.searched) && (!coding || member.coding === coding)
    && (!folder || member.folder === folder || member.folder.startsWith(folder === '/' ? '/' : `${folder}/`)));
  page.found.set(row.id, place);
  return place >= 0;
}

function resetFilters() {
  for (const id of ['search', 'folder', 'coding']) byId(id).value = '';
  applyFilters();
}

function openFilters() {
  byId('filters').hidden = page.tab === 'overview';
}

/** Search: from the overview in the first list that has rows. */
function search() {
  const { value } = byId('search');
  if (page.tab === 'overview') {
    showTab(tabsHere()[1]);
    byId('search').value = value;
    byId('search').focus();
  }
  page.screen = 'list';
  applyFilters();
}

function listenToFilters() {
  byId('search').addEventListener('input', search);
  // A click or the arrow down opens the filters; a reader who passes by with Tab does not meet them.
  byId('search').addEventListener('pointerdown', openFilters);
  for (const id of CHOICES) byId(id).addEventListener('change', applyFilters);
  byId('reset').addEventListener('click', resetFilters);
}
