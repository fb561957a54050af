// The list of groups: laid out as far as it is scrolled, opened one by one.

const GROUPS_AT_ONCE = 60;

/** Lay out which files are parts of larger ones, above the groups. */
function drawParts() {
  const left = data.allParts - data.parts.length;
  byId('parts').replaceChildren(...data.parts.map(([path, whole, share, ...place]) => make('li', {},
    `${likeness(share, place[0] !== null)} `, make('bdi', { class: 'path name' }, path), ` ${t('partOf')} `,
    make('bdi', { class: 'path name' }, whole), place[0] === null ? null : make('span', { class: 'note' }, t('place', ...place)))));
  if (left) byId('parts').append(make('li', { class: 'note' }, t('moreParts', left)));
  if (data.unread) byId('parts').append(make('li', { class: 'note' }, t('unread', data.unread)));
}

/** Lay out the list anew from its beginning. */
function drawGroups() {
  byId('list').replaceChildren();
  if (!page.shown.length) {
    const text = t(listed().length ? 'nothingFits' : 'nothing');
    byId('list').append(make('li', { class: 'nothing' }, data.complete || groups.length ? text : t('incomplete')));
  }
  drawMore();
}

/** Lay out the next rows; all that are left for `Infinity`. */
function drawMore(count = GROUPS_AT_ONCE) {
  const list = byId('list');
  const drawn = list.querySelectorAll(':scope > :not(.nothing)').length;
  list.append(...page.shown.slice(drawn, drawn + count).map((row) => (row.pair ? pairItem(row) : itemOf(row))));
  const left = Math.max(0, page.shown.length - drawn - count);
  byId('more').hidden = !left;
  byId('more').querySelector('button').textContent = t('more', left);
}

function itemOf(group) {
  const isOpen = page.open.has(group.id);
  const head = make('button', {
    type: 'button', class: 'head', 'aria-expanded': String(isOpen), onclick: () => toggle(group),
  },
  make('span', { class: 'id' }, `${group.id}`),
  make('span', { class: 'alike' }, group.told ? likeness(group.told.alike, group.told.exact) : ''),
  group.told ? make('span', { class: `kind ${classOf(group.kind)}` }, t('kinds')[group.kind]) : make('span'),
  make('span', {}, namesOf(group)),
  make('span', { class: 'count' }, filesOf(group)),
  make('span', { class: 'copies' }, decidedInWords(group) || (group.copies ? t('inCopies', amount(group.copies)) : '')));
  return make('li', { class: 'group', id: `group-${group.id}` },
    make('h2', {}, head), isOpen ? bodyOf(group) : null);
}

/** The first member or the chain of versions, and the member that was searched for if that is another one. */
function namesOf(group) {
  const { words } = page.wanted;
  const name = group.chain ? make('bdi', { class: 'path name' }, t('chain', ...group.chain)) : pathOf(group.first, { words });
  const found = page.found.get(group.id) ?? 0;
  const begins = group.beginning ? make('bdi', { class: 'match beginning' }, ...lit(group.beginning, 0, placesOf(group.beginning, words))) : null;
  if (!isNarrow(page.wanted) || (!found && !group.chain)) return [name, begins];
  return [name, begins, make('span', { class: 'match' }, t('found'), pathOf(group.members[found], { words }))];
}

/** How many files it has, and how many of them are identical to another if its kind does not say so. */
function filesOf({ kind, identical, members, more }) {
  const files = t('files', members.length + more);
  return identical && kind !== KINDS[0] ? t('ofThem', files, identical) : files;
}

function toggle(group) {
  if (!page.open.delete(group.id)) page.open.set(group.id, null);
  redraw(group);
  headOf(group).focus();
}

function redraw(group) {
  byId(`group-${group.id}`).replaceWith(itemOf(group));
}

function headOf(group) {
  return byId(`group-${group.id}`).querySelector('.head');
}

/** The members of an open group, and the two that are compared, if any. */
function bodyOf(group) {
  const chosen = page.open.get(group.id);
  return make('div', { class: 'body' },
    group.sharing ? make('p', { class: 'note' }, t('sharing', ...group.sharing)) : null,
    group.diameter ? make('p', { class: 'note' }, t('diameter', group.diameter, data.settings.bits)) : null,
    membersOf(group),
    unrelatedOf(group),
    chosen ? comparisonOf(group, chosen) : null);
}
