// The list of a view: a row for each group or pair of folders, laid out as far as it is scrolled.

const ROWS_AT_ONCE = 60;

/** Lay out the list anew from its beginning, to the chosen row unless that is far. */
function drawList() {
  byId('list').replaceChildren();
  if (!page.shown.length && !page.weak) byId('list').append(make('li', { class: 'nothing' }, t(VIEWS[page.view]().length ? 'nothingFits' : 'nothing')));
  const at = page.shown.indexOf(page.chosen);
  drawMore(at < 10 * ROWS_AT_ONCE ? Math.max(ROWS_AT_ONCE, at + 1) : ROWS_AT_ONCE);
  if (page.view !== 'folders' || !page.weak) return;
  byId('list').append(wideButton('li', t('weakPairs', page.weak), () => {
    page.isAllPairs = true;
    applyFilters();
  }));
}

/** Lay out the next rows; all that are left for `Infinity`. */
function drawMore(count = ROWS_AT_ONCE) {
  const drawn = byId('list').querySelectorAll('.row').length;
  const next = page.shown.slice(drawn, drawn + count);
  byId('list').append(...next.flatMap((row, place) => [...sectionBefore(drawn + place), itemOf(row)]));
  const left = page.shown.length - drawn - next.length;
  byId('more').hidden = !left;
  byId('more').querySelector('button').textContent = t('more', left);
}

/** The heading of a row, if it is the first that can go safely, or the first that wants a look. */
function sectionBefore(place) {
  const name = sectionOf(page.shown[place]);
  if (!name || (place && name === sectionOf(page.shown[place - 1]))) return [];
  const rows = page.shown.filter((row) => sectionOf(row) === name);
  const bytes = rows.reduce((sum, row) => sum + row.safe, 0);
  return [make('li', { class: `section ${name}` }, make('h2', {}, t(name)),
    make('span', { class: 'note' }, t('groupsInside', rows.length), name === 'safe' ? ` · ${amount(bytes)}` : ''))];
}

/** Which part of the list a row belongs to; '' where the list has no parts. */
function sectionOf(row) {
  if (page.view !== 'groups' || data.page === 'answers' || byId('order').value !== 'similar') return '';
  return row.safe ? 'safe' : 'look';
}

const rowId = (row) => (row.members ? `group-${row.id}` : row.id);

function itemOf(row) {
  const head = make('button', {
    type: 'button', class: 'head', 'aria-current': row === page.chosen ? 'true' : null, onclick: () => open(row),
  }, row.members ? cellsOfGroup(row) : cellsOfPair(row));
  return make('li', { class: row.members ? 'row group' : 'row pair', id: rowId(row), 'data-level': row.level ?? null }, head);
}

function cellsOfGroup(group) {
  const state = decidedInWords(group);
  return [
    make('span', { class: 'title' }, namesOf(group)),
    make('span', { class: 'alike' }, group.told ? likeness(group.told.least, group.told.exact, group.told.most) : ''),
    make('span', { class: 'note facts' }, dotted([...factsOfGroup(group), bytesOfGroup(group, state)])),
    make('span', { class: 'state' }, state),
  ];
}

/** How many bytes can go safely, or else those of all files but the first; beside a decision only their number. */
function bytesOfGroup({ safe, copies }, state) {
  const bytes = safe || copies;
  return bytes ? make('span', { class: 'bytes' }, safe && !state ? t('canGoSafely', amount(safe)) : amount(bytes)) : null;
}

/** Its kind and how many files it has. */
function factsOfGroup(group) {
  return [group.told ? make('span', { class: `kind ${classOf(group.kind)}` }, t('kinds')[group.kind]) : null, filesOf(group)];
}

/** The first member or the chain of versions, and the member that was searched for if that is another one. */
function namesOf(group) {
  const { words } = page.wanted;
  const name = group.chain ? make('bdi', { class: 'path name' }, t('chain', ...group.chain)) : pathOf(group.first, words);
  const found = page.found.get(group.id) ?? 0;
  const begins = group.beginning ? make('bdi', { class: 'match beginning' }, ...lit(group.beginning, 0, placesOf(group.beginning, words))) : null;
  if (!isNarrow(page.wanted) || (!found && !group.chain)) return [name, begins];
  return [name, begins, make('span', { class: 'match' }, t('found'), pathOf(group.members[found], words))];
}

/** How many files it has, and how many of them are identical to another if its kind does not say so. */
function filesOf({ kind, identical, members, more }) {
  const files = t('files', members.length + more);
  return identical && kind !== KINDS[0] ? t('ofThem', files, identical) : files;
}

/** What was decided about a group, in its row. */
function decidedInWords(group) {
  if (decisions.unrelated.has(group.id)) return t('unrelatedShort');
  const count = group.members.filter((_, place) => goes(group, place)).length;
  const isDone = isDecidable(group) && isDecided(group);
  if (count) return (isDone ? '✓ ' : '') + t('going', count);
  return isDone ? `✓ ${t('allStay')}` : '';
}

/** Lay out again the row of a group, if it is laid out. */
function redraw(group) {
  byId(rowId(group))?.replaceWith(itemOf(group));
}
