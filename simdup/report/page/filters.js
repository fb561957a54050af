// Which groups are shown, and in which order.

// Folders that can be chosen; those with the most files, if there are more.
const MOST_FOLDERS = 300;

const ORDERS = {
  similar: () => 0,
  files: (a, b) => b.members.length + b.more - a.members.length - a.more,
  copies: (a, b) => b.copies - a.copies,
  path: (a, b) => (a.first.path < b.first.path ? -1 : 1),
};

const CHOICES = ['kind', 'folder', 'coding', 'order'];

/** Fill the choices, in the present language, and keep what was chosen. */
function drawFilters() {
  const all = ['', t('all')];
  const present = [...KINDS, RELATED, VERSIONS, SAME_PATTERN].filter((kind) => listed().some((group) => group.kinds.includes(kind)));
  byId('siblings').hidden = !patterns.length;
  byId('siblings').querySelector('span').textContent = t('patterns', patterns.length);
  setOptions('kind', [all, ...present.map((kind) => [kind, t('kinds')[kind]])]);
  setOptions('folder', [all, ...foldersOf().map((folder) => [folder, folder])]);
  setOptions('coding', [all, ...data.codings.toSorted().map((coding) => [coding, coding])]);
  setOptions('order', Object.keys(ORDERS).filter((order) => order !== 'copies' || data.page !== 'answers').map((order) => [order, t('orders')[order]]));
  // Rows have no encoding, and names without a folder are nothing to choose from.
  for (const id of ['folder', 'coding']) byId(id).closest('label').hidden = byId(id).options.length < 2;
}

function setOptions(id, options) {
  const select = byId(id);
  const { value } = select;
  select.replaceChildren(...options.map(([key, words]) => make('option', { value: key }, words)));
  select.value = options.some(([key]) => key === value) ? value : options[0][0];
}

/** The groups, and the files of one pattern if the reader wants to see them. */
function listed() {
  return byId('patterns').checked ? [...groups, ...patterns] : groups;
}

function switchPatterns() {
  drawFilters();
  applyFilters();
}

/** The folders with files, and those above them. */
function foldersOf() {
  const counts = new Map();
  for (const { members } of listed()) {
    for (const { folder } of members) {
      for (let end = folder.length; end > 0; end = folder.lastIndexOf('/', end - 1)) {
        const part = folder.slice(0, end);
        counts.set(part, (counts.get(part) ?? 0) + 1);
      }
    }
  }
  const list = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MOST_FOLDERS);
  return list.map(([folder]) => folder).sort();
}

/** Show the groups that fit what is typed and chosen. */
function applyFilters() {
  const wanted = wish();
  // Related texts are listed only if they are asked for.
  const all = listed().filter(({ kind }) => kind !== RELATED || wanted.kind === RELATED);
  const found = all.filter((group) => fits(group, wanted)).sort(ORDERS[byId('order').value]);
  page.wanted = wanted;
  page.shown = folded(found, wanted);
  byId('count').textContent = t('counted', found.length, all.length);
  byId('reset').disabled = !isNarrow(wanted) && !wanted.kind;
  pressFacets();
  writeAddress();
  drawGroups();
}

/** Whether something is wanted of a single file: words, a folder, an encoding or a similarity. */
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

/** Whether this file has all words in its path, and the folder, encoding and similarity, as shown. */
function isWanted(member, { words, folder, coding, low, high }) {
  if (low > 0 || high < 100) {
    const shown = Math.floor(member.alike * 1000 + 1e-9) / 10;
    if (member.isFirst || shown < low || shown > high) return false;
  }
  return (!folder || member.folder === folder || member.folder.startsWith(folder === '/' ? '/' : `${folder}/`))
    && (!coding || member.coding === coding)
    && words.every((word) => member.searched.includes(word));
}

/** Whether something is wanted of a single file, and this is one. */
function isFound(member) {
  return isNarrow(page.wanted) && isWanted(member, page.wanted);
}

function resetFilters() {
  for (const id of ['search', 'low', 'high', 'kind', 'folder', 'coding']) byId(id).value = '';
  applyFilters();
}

function listenToFilters() {
  for (const id of ['search', 'low', 'high']) byId(id).addEventListener('input', applyFilters);
  for (const id of CHOICES) byId(id).addEventListener('change', applyFilters);
  byId('reset').addEventListener('click', resetFilters);
  byId('patterns').addEventListener('change', switchPatterns);
  byId('unfold').addEventListener('click', () => {
    const isOpen = byId('finer').classList.toggle('unfolded');
    byId('unfold').setAttribute('aria-expanded', String(isOpen));
  });
}
