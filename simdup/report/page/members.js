// The files of an open group.

// Members laid out before the reader asks for more; one that was searched for is laid out in any case.
const MEMBERS_AT_ONCE = 200;

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
  const found = from ? 0 : (page.found.get(group.id) ?? 0) + 1;
  const next = group.members.slice(from, Math.max(from + MEMBERS_AT_ONCE, found));
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
  const state = [isFirst ? 'first' : '', member.inSet ? 'inside' : '', isFound(member) ? 'sought' : ''];
  return make('tr', { class: state.filter(Boolean).join(' ') || null },
    make('td', { class: 'alike' }, isFirst ? t('representative') : likeness(member.alike, member.exact)),
    make('td', { class: 'distance' }, isFirst ? '' : closeness(member)),
    make('td', { class: 'file' }, pathOf(member, { words: page.wanted.words }),
      remarks.length ? make('span', { class: 'note' }, ` (${remarks.join(', ')})`) : null),
    make('td', { class: 'coding' }, member.coding),
    make('td', { class: 'bytes' }, size(member.bytes)),
    make('td', { class: 'time' }, moment(member.mtime)),
    make('td', { class: 'compare' }, isFirst ? null : make('button', {
      type: 'button', 'aria-label': t('compareWith', member.path), onclick: () => compareWith(group, [0, place]),
    }, t('compare'))));
}

/** How a member is the same as its representative, or in a set as the one before: words or bits. */
function closeness(member) {
  if (member.same) return t('kinds')[member.same];
  return member.distance || member.kind === 'near' ? t('bits', member.distance) : t('kinds')[member.kind];
}
