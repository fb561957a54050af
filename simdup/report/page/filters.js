// Which groups are shown, and in which order.

// Folders that can be chosen; those with the most files, if there are more.
const MOST_FOLDERS = 300;

const ORDERS = {
  similar: () => 0,
  files: (a, b) => b.members.length - a.members.length,
  copies: (a, b) => b.copies - a.copies,
  path: (a, b) => (a.first.path < b.first.path ? -1 : 1),
};

const CHOICES = ['kind', 'folder', 'coding', 'order'];

/** Fill the choices, in the present language, and keep what was chosen. */
function drawFilters() {
  const all = ['', t('all')];
  const present = [...KINDS, SAME_PATTERN].filter((kind) => listed().some((group) => group.kinds.includes(kind)));
  byId('siblings').hidden = !patterns.length;
  byId('siblings').querySelector('span').textContent = t('patterns', patterns.length);
  setOptions('kind', [all, ...present.map((kind) => [kind, t('kinds')[kind]])]);
  setOptions('folder', [all, ...foldersOf().map((folder) => [folder, folder])]);
  setOptions('coding', [all, ...data.codings.toSorted().map((coding) => [coding, coding])]);
  setOptions('order', Object.keys(ORDERS).map((order) => [order, t('orders')[order]]));
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
  const all = listed();
  page.shown = all.filter((group) => fits(group, wanted)).sort(ORDERS[byId('order').value]);
  byId('count').textContent = t('counted', page.shown.length, all.length);
  byId('reset').disabled = !Object.values(wanted).some((value) => value.length !== 0 && value !== 0 && value !== 100);
  drawGroups();
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

/** Whether the group has one member that fits in all: its words, folder and encoding. */
function fits(group, { words, kind, folder, coding, low, high }) {
  const alike = group.least * 100;
  if ((kind && !group.kinds.includes(kind)) || alike < low - 1e-9 || alike > high + 1e-9) return false;
  return group.members.some((member, place) =>
    (!folder || member.folder === folder || member.folder.startsWith(folder === '/' ? '/' : `${folder}/`))
    && (!coding || member.coding === coding)
    && words.every((word) => group.searched[place].includes(word)));
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
}
