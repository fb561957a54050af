// The list of groups: laid out as far as it is scrolled, opened one by one.

const GROUPS_AT_ONCE = 60;

// Members laid out before the reader asks for more.
const MEMBERS_AT_ONCE = 200;

/** Lay out which folders are copies of others, above the groups. */
function drawFolderPairs() {
  byId('folderPairs').replaceChildren(...data.folderPairs.map(([path, other, ...figures]) => make('li', {},
    make('bdi', { class: 'path name' }, path), ' ~ ', make('bdi', { class: 'path name' }, other),
    make('span', { class: 'note' }, t('folderPair', ...figures)))));
}

/** Lay out which files are parts of larger ones, below the folders. */
function drawParts() {
  const left = data.allParts - data.parts.length;
  byId('parts').replaceChildren(...data.parts.map(([path, whole, share, ...place]) => make('li', {},
    `${percent(share)} `, make('bdi', { class: 'path name' }, path), ` ${t('partOf')} `,
    make('bdi', { class: 'path name' }, whole), make('span', { class: 'note' }, t('place', ...place)))));
  if (left) byId('parts').append(make('li', { class: 'note' }, t('moreParts', left)));
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

/** Lay out the next groups; all that are left for `Infinity`. */
function drawMore(count = GROUPS_AT_ONCE) {
  const list = byId('list');
  const drawn = list.querySelectorAll('.group').length;
  list.append(...page.shown.slice(drawn, drawn + count).map(itemOf));
  byId('more').hidden = drawn + count >= page.shown.length;
}

function itemOf(group) {
  const isOpen = page.open.has(group.id);
  const head = make('button', {
    type: 'button', class: 'head', 'aria-expanded': String(isOpen), onclick: () => toggle(group),
  },
  make('span', { class: 'id' }, `${group.id}`),
  make('span', { class: 'alike' }, likeness(group.least, group.exact)),
  make('span', { class: `kind ${classOf(group.kind)}` }, t('kinds')[group.kind]),
  group.chain ? make('bdi', { class: 'path name' }, t('chain', ...group.chain)) : pathOf(group.first),
  make('span', { class: 'count' }, filesOf(group)),
  make('span', { class: 'copies' }, group.copies ? t('inCopies', size(group.copies)) : ''));
  return make('li', { class: 'group', id: `group-${group.id}` },
    make('h3', {}, head), isOpen ? bodyOf(group) : null);
}

/** How many files it has, and how many of them are identical to another if its kind does not say so. */
function filesOf({ kind, identical, members }) {
  const files = t('files', members.length);
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
    chosen ? comparisonOf(group, chosen) : null);
}

function membersOf(group) {
  const names = ['alike', 'distance', 'file', 'coding', 'bytes', 'time', 'compare'];
  const body = make('tbody');
  addMembers(body, group, 0);
  return make('table', { class: 'members' },
    make('thead', {}, make('tr', {}, names.map((name) => make('th', { scope: 'col', class: name }, t('columns')[name])))),
    body);
}

/** Lay out the next members, and a button for the rest. */
function addMembers(body, group, from) {
  const next = group.members.slice(from, from + MEMBERS_AT_ONCE);
  body.append(...next.flatMap((member, place) => [
    ...(member.heads ? [setRow(member, from + place)] : []), memberRow(group, member, from + place)]));
  const left = group.members.length - from - next.length;
  if (!left) return;
  const line = buttonRow(7, t('moreMembers', left), () => {
    line.remove();
    addMembers(body, group, from + next.length);
  });
  body.append(line);
}

/** The heading of an identical set, before its first member. */
function setRow(member, place) {
  const size = member.heads.reduce((sum, count) => sum + count, 0);
  const words = member.heads.length === 1 ? t('identicalFiles', size)
    : t('sameText', size, identicalOf([member.heads]), member.heads.filter((count) => count > 1).length);
  return make('tr', { class: 'set' },
    make('th', { colspan: 7, scope: 'row' }, words, place ? t('likeFirst', likeness(member.alike, member.exact)) : ''));
}

function memberRow(group, member, place) {
  const remarks = [
    member.own !== null && member.own < EXPECTED ? t('own', percent(member.own)) : null,
    member.short ? t('short') : null,
    member.damaged ? t('damaged', member.damaged) : null,
    member.doubt ? t('doubtful', inWords(member.doubt)) : null,
  ].filter(Boolean);
  const isFirst = place === 0;
  return make('tr', { class: [isFirst ? 'first' : '', member.inSet ? 'inside' : ''].join(' ').trim() || null },
    make('td', { class: 'alike' }, isFirst ? t('representative') : likeness(member.alike, member.exact)),
    make('td', { class: 'distance' }, isFirst ? '' : closeness(member)),
    make('td', { class: 'file' }, pathOf(member), remarks.length ? make('span', { class: 'note' }, ` (${remarks.join(', ')})`) : null),
    make('td', { class: 'coding' }, member.coding),
    make('td', { class: 'bytes' }, size(member.bytes)),
    make('td', { class: 'time' }, moment(member.mtime)),
    make('td', { class: 'compare' }, isFirst ? null : make('button', {
      type: 'button', 'aria-label': t('compareWith', member.path), onclick: () => compareWith(group, place),
    }, t('compare'))));
}

/** How a member is the same as its representative, or in a set as the one before: words or bits. */
function closeness(member) {
  if (member.same) return t('kinds')[member.same];
  return member.distance || member.kind === 'near' ? t('bits', member.distance) : t('kinds')[member.kind];
}

/** Put a member beside the representative, below the table, and go there. */
function compareWith(group, place) {
  page.open.set(group.id, [0, place]);
  redraw(group);
  byId(`group-${group.id}`).querySelector('.comparison select').focus();
}
