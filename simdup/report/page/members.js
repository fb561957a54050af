// The files of an open group.

// Members laid out before the reader asks for more; one that was searched for is laid out in any case.
const MEMBERS_AT_ONCE = 200;

function membersOf(group) {
  const names = columnsOf(group);
  const body = make('tbody');
  addMembers(body, group, 0);
  return make('table', { class: 'members' },
    make('thead', {}, make('tr', {}, names.map((name) => make('th', { scope: 'col', class: name }, t('columns')[name])))),
    body);
}

/** Whether files of the group can be kept or dropped: no files of one pattern can. */
function isDecidable(group) {
  return Boolean(data.plan) && group.kind !== SAME_PATTERN;
}

// Rows of a corpus have neither an encoding nor a time of their own.
const COLUMNS = ['alike', 'distance', 'file', ...(data.page === 'rows' ? ['bytes'] : ['coding', 'bytes', 'time']), 'compare'];

const columnsOf = (group) => [...(isDecidable(group) ? ['decide'] : []), ...COLUMNS];

/** Lay out the next members, and a button for the rest. */
function addMembers(body, group, from) {
  const found = from ? 0 : (page.found.get(group.id) ?? 0) + 1;
  const next = group.members.slice(from, Math.max(from + MEMBERS_AT_ONCE, found));
  body.append(...next.flatMap((member, place) => [
    ...(member.heads ? [setRow(group, member, from + place)] : []), memberRow(group, member, from + place)]));
  const left = group.members.length - from - next.length;
  if (!left && group.more) body.append(make('tr', {}, make('td', { class: 'note', colspan: columnsOf(group).length }, t('moreRows', group.more))));
  if (!left) return;
  const line = buttonRow(columnsOf(group).length, t('moreMembers', left), () => {
    line.remove();
    addMembers(body, group, from + next.length);
  });
  body.append(line);
}

/** The heading of an identical set, before its first member. */
function setRow(group, member, place) {
  const contents = member.heads.map(Math.abs);
  const size = contents.reduce((sum, count) => sum + count, 0);
  const words = contents.length === 1 ? t('identicalFiles', size)
    : t(member.heads.some((count) => count < 0) ? 'sameWords' : 'sameText', size, identicalOf([contents]), contents.filter((count) => count > 1).length);
  return make('tr', { class: 'set' },
    make('th', { colspan: columnsOf(group).length, scope: 'row' }, words, place ? t('likeFirst', likeness(member.alike, member.exact)) : ''));
}

function memberRow(group, member, place) {
  const remarks = [
    member.why ? t('toKeep', member.why) : null,
    member.own !== null && member.own < EXPECTED ? t('own', percent(member.own)) : null,
    member.short ? t('short') : null,
    member.damaged ? t('damaged', member.damaged) : null,
    member.others ? t('otherContent', member.others) : null,
    member.unlike ? t('unlike', member.unlike.join(', ')) : null,
    member.doubt ? t('doubtful', inWords(member.doubt)) : null,
  ].filter(Boolean);
  const isFirst = place === 0;
  const state = ['member', isFirst ? 'first' : '', member.inSet ? 'inside' : '', isFound(member) ? 'sought' : '', goes(group, place) ? 'goes' : ''];
  const compare = make('button', {
    type: 'button', 'aria-label': t('compareWith', member.path), onclick: () => compareWith(group, [0, place]),
  }, t('compare'));
  const cells = {
    decide: () => choiceOf(group, member, place),
    alike: () => (isFirst ? t('representative') : likeness(member.alike, member.exact)),
    distance: () => (isFirst ? '' : closeness(member)),
    file: () => [pathOf(member, { words: page.wanted.words }), remarks.length ? make('span', { class: 'note' }, ` (${remarks.join(', ')})`) : null],
    coding: () => member.coding,
    bytes: () => amount(member.bytes),
    time: () => (member.mtime === null ? '' : moment(member.mtime)),
    compare: () => [toolsOf(member), isFirst ? null : compare],
  };
  return make('tr', { class: state.filter(Boolean).join(' '), tabindex: -1, 'data-place': place },
    columnsOf(group).map((name) => make('td', { class: name }, [cells[name]()].flat(2))));
}

/** Copy the path of a member, and open it as a file; a page from a server could not open it. */
function toolsOf({ file }) {
  if (!file) return null;
  const copy = make('button', { type: 'button', class: 'tool', title: t('copyPath'), 'aria-label': t('copyPathOf', file.shown), onclick: () => copyText(file.shown) }, t('copy'));
  const open = location.protocol === 'file:' && data.plan.sep === '/' ? make('a', {
    class: 'tool', href: addressOf(file), target: '_blank', rel: 'noopener noreferrer', title: t('openFile'), 'aria-label': t('openThis', file.shown),
  }, t('open')) : null;
  return [copy, open];
}

/** How a member is the same as its representative, or in a set as the one before: words or bits. */
function closeness(member) {
  if (member.same) return t('kinds')[member.same];
  return member.distance || member.kind === 'near' ? t('bits', member.distance) : t('kinds')[member.kind];
}
