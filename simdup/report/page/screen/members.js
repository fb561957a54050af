// The middle column: the files of the chosen group, the kept one first.

const SORTS = ['near', 'words', 'identical', RELATED];

/** The place of the file at which deciding begins: the first undecided one. */
function firstPlaceOf(row) {
  if (!row.members) return 0;
  const found = page.found.get(row.id) ?? 0;
  if (page.words.length && found) return found;
  return openIn(row)[0] ?? placesIn(row)[0] ?? Math.min(1, row.members.length - 1);
}

/** Lay out the chosen row: its files and their comparison, or all of it on one sheet. */
function drawGroup() {
  const row = page.chosen;
  const sheet = row && isOnSheet(row) && (row.members ? sheetOfForm(row) : row.whole ? sheetOfPart(row) : sheetOfPair(row));
  replace(byId('sheet'), wayBack(row), row ? sheet : make('p', { class: 'nothing' }, t('nothingChosen')));
  for (const id of ['files', 'comparison']) byId(id).replaceChildren();
  if (isOnSheet(row)) return;
  drawFiles();
  drawComparison();
}

/** The way back to the list and to the neighbours, where the list is not beside the group. */
function wayBack(row) {
  const place = page.shown.indexOf(row);
  const step = (by, label, name) => make('button', { type: 'button', class: 'quiet', 'aria-label': t(label), disabled: !page.shown[place + by], onclick: () => stepRow(by) }, icon(name));
  return make('div', { class: 'way' }, step(-1, 'previousGroup', 'back'), make('span', { class: 'note' }, t('placeOf', place + 1, page.shown.length)), step(1, 'nextGroup', 'next'),
    button(t('list'), goBack, 'quiet'));
}

function drawFiles() {
  const group = page.chosen;
  const kept = keptOf(group);
  const isOfCopies = page.tab === 'identical';
  const open = openIn(group).length;
  const hadFocus = byId('files').contains(document.activeElement);
  const count = isOfCopies ? group.identical.length + keepersIn(group).length : group.members.length + group.more;
  replace(byId('files'), wayBack(group),
    make('header', {}, make('h2', {}, make('bdi', {}, group.title)), make('p', { class: 'note' }, t('filesOf', count, isOfCopies ? 0 : open, data.page), page.tab === 'related' ? ` ${t('relatedLead')}` : ''),
      group.because && group.because !== 'the same words' && !isOfCopies ? make('p', { class: 'note' }, t('because', t('evidence')[group.because] ?? group.because)) : null),
    isOfCopies ? copiesOf(group) : [make('ul', { class: 'members' }, memberRow(group, kept)), stepsIn(group), SORTS.map((sort) => sectionOf(group, sort, kept))],
    group.more ? make('p', { class: 'note rest' }, t('moreRows', group.more)) : null);
  oneStop([...byId('files').querySelectorAll('.pick')]);
  if (hadFocus) fileRow()?.focus({ preventScroll: true });
}

/** The places of the files that are kept for the copies of a group. */
const keepersIn = (group) => [...new Set(group.identical.map((place) => keeperOfCopy(group, place)))];

/** The first file with the content of a copy, which the copy follows; or the file that the plan keeps for it. */
function keeperOfCopy(group, place) {
  const offer = data.plan && offerOf(group, place);
  if (offer) return offer.keep;
  let first = place;
  while (group.members[first].sort === 'identical') first -= 1;
  return first;
}

/** In the list of copies: each kept file with its copies. */
function copiesOf(group) {
  return keepersIn(group).map((keep) => {
    const own = group.identical.filter((place) => keeperOfCopy(group, place) === keep);
    return [make('ul', { class: 'members' }, memberRow(group, keep, true)), sectionWith(group, 'identical', own)];
  });
}

const sectionOf = (group, sort, kept) => sectionWith(group, sort, group.members.map((_, place) => place).filter((place) => place !== kept && sortNow(group, place, kept) === sort));

/** The sort of a file; the first one is as similar to the kept one as that is to it. */
function sortNow({ members }, place, kept) {
  return place ? members[place].sort : members[kept].sort;
}

function sectionWith(group, sort, places) {
  if (!places.length) return null;
  const suggested = data.plan ? places.filter((place) => isSuggested(group, place)).length : 0;
  const note = sort === 'identical' && data.plan ? t('bySuggestion', suggested) : sort === 'near' && data.plan ? t('wantsLook') : '';
  const list = make('ul', { class: 'members' });
  layOut(list, places, (place) => memberRow(group, place), (left, onclick) => make('li', {}, button(t('moreMembers', left), onclick, 'link')),
    Math.max(AT_ONCE, places.indexOf(page.place) + 1));
  return [make('h3', {}, t('sorts')[sort], make('span', { class: 'note' }, note)), list];
}

/** One file: its circle, its name, where it is, and what differs or why it is kept. */
function memberRow(group, place, isKeeper = place === keptOf(group)) {
  const member = group.members[place];
  const state = stateOf(group, place, isKeeper);
  const isPair = !isKeeper && ['near', 'words', RELATED].includes(member.sort);
  return make('li', { class: `member ${state}`, 'data-place': place },
    circleOf(group, place, state),
    make('button', { type: 'button', class: 'pick', 'aria-current': place === page.place ? 'true' : null, onclick: () => stand(place) },
      make('span', { class: 'title' }, nameOf(member.name, page.words)),
      isPair && member.sort !== 'words' ? make('span', { class: `figure ${member.sort}`, title: figuresOf(member) }, shareOf(member)) : null,
      make('span', { class: 'line note' }, dotted([member.folder || (data.page === 'files' ? t('here') : ''), member.bytes === null ? '' : amount(member.bytes), member.mtime ? dayOf(member.mtime) : ''])),
      make('span', { class: 'line' }, isKeeper ? keptBecause(group, place) : lineOfMember(group, place))));
}

/** What a file is: kept, removed, suggested, undecided, or fixed where nothing may be decided. */
function stateOf(group, place, isKeeper) {
  if (isKeeper) return 'kept';
  if (!data.plan || page.tab === 'related') return 'fixed';
  if (goes(group, place)) return 'removed';
  if (decisionOf(group, place) === null || decisions.unrelated.has(group.id)) return 'kept too';
  return isSuggested(group, place) ? 'suggested' : mayRemove(group, place) ? 'undecided' : 'fixed';
}

/** The circle of a file: a tick, a minus, a dashed minus, or dashed and empty; none where nothing can be decided. */
function circleOf(group, place, state) {
  const drawn = { kept: 'check', 'kept too': 'check', removed: 'minus', suggested: 'minus' }[state];
  if (state === 'fixed' || state === 'kept') return make('span', { class: 'circle' }, drawn ? icon(drawn) : null);
  return make('button', {
    type: 'button', class: 'circle', tabindex: -1, 'aria-pressed': String(state === 'removed'), 'aria-label': t('removeThis', group.members[place].name), onclick: () => turnCircle(place),
  }, drawn ? icon(drawn) : null);
}

function keptBecause(group, place) {
  const naming = data.plan && group.members.map((_, other) => offerOf(group, other)).find((offer) => offer?.keep === place);
  const why = place ? naming?.why : group.why || naming?.why;
  const words = decisionOf(group, place) === null ? t('byHand') : t('orders')[why] ?? t('keepers')[why] ?? why;
  return make('b', {}, data.plan && page.tab !== 'related' ? dotted([t('keep'), words]).join('').replace(' · ', page.language === 'zh' ? '：' : ': ') : t('firstOne'));
}

/** What differs in a file, or why nothing is done with it. */
function lineOfMember(group, place) {
  const member = group.members[place];
  const kept = member.file?.kept;
  const refusal = data.plan && !kept ? offerOf(group, place)?.refusal : '';
  return dotted([
    kept ? t('untouched', t('refusals')[kept[0]] ?? kept[1]) : '', refusal ? t('refusals')[refusal] ?? refusal : '',
    member.sort === 'identical' ? (keeperOfCopy(group, place) === keptOf(group) ? '' : t('copyOf', group.members[keeperOfCopy(group, place)].name)) : differenceInWords(group, place),
    member.damaged ? t('damaged', member.damaged) : '', member.doubt ? t('doubtful', inWords(member.doubt)) : '',
  ]);
}

/** On a narrow screen: which of the files that want a look this is, and the way to the others. */
function stepsIn(group) {
  const places = placesIn(group).length ? placesIn(group) : group.members.map((_, place) => place).slice(1);
  const at = places.indexOf(page.place);
  const step = (by, label, name) => make('button', { type: 'button', class: 'quiet', 'aria-label': t(label), disabled: places[at + by] === undefined, onclick: () => stand(places[at + by]) }, icon(name));
  return places.length ? make('div', { class: 'steps' }, make('span', { class: 'note' }, t('ofLook', at + 1, places.length)), step(-1, 'previousFile', 'back'), step(1, 'nextFile', 'next')) : null;
}

const fileRow = () => byId('files').querySelector(`.member[data-place="${page.place}"] .pick`);

/** Be at a file of the group, and compare it. */
function stand(place) {
  page.place = place;
  drawFiles();
  drawComparison();
  fileRow()?.scrollIntoView({ block: 'nearest' });
}

/** Go to the file that is so many files further in the column. */
function stepFile(step) {
  const rows = [...byId('files').querySelectorAll('.member')];
  const next = rows[rows.findIndex(({ dataset }) => Number(dataset.place) === page.place) + step];
  if (!next) return;
  stand(Number(next.dataset.place));
  fileRow()?.focus({ preventScroll: true });
}
