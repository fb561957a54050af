// The pane beside the list: the group or pair of folders that was chosen, file by file.

/** Choose a row and the place of one of its files, and show both. */
function choose(row, place = row ? firstPlaceOf(row) : 0) {
  const before = page.chosen;
  Object.assign(page, { chosen: row, place, pair: [0, Math.max(place, 1)] });
  for (const each of [before, row]) if (each) redraw(each);
  if (row) byId(rowId(row))?.scrollIntoView({ block: 'nearest' });
  drawPane();
  byId('pane').scrollTop = 0;
}

/** Choose a row as a click or Enter does: on a phone the pane comes in place of the list. */
function open(row) {
  page.isInside = true;
  choose(row);
  placeView();
  (isWide() ? byId(rowId(row)).querySelector('.head') : byId('pane')).focus({ preventScroll: true });
  // On a phone the list stays in the history, so that the way back leads there.
  if (!isWide()) history.pushState(null, '', `#${filtersInWords()}`);
  keepAddress();
}

/** Whether list and pane are beside each other. */
const isWide = () => matchMedia('(min-width: 1000px)').matches;

/** From a file back to the list, where its group is. */
function backToList() {
  page.isInside = false;
  placeView();
  const row = page.chosen && byId(rowId(page.chosen));
  (row?.querySelector('.head') ?? byId('list')).focus();
  row?.scrollIntoView({ block: 'nearest' });
  writeAddress();
}

/** The place of the file at which deciding begins: the first that is undecided, of the first two rather the second. */
function firstPlaceOf(row) {
  const found = page.found.get(row.id) ?? 0;
  if (!row.members || found) return found;
  const open = undecidedOf(row);
  return open.find((place) => place > 0) ?? (row.members.length > 1 ? 1 : 0);
}

function drawPane() {
  const row = page.chosen;
  replace(byId('pane'), paneHead(row), row ? (row.members ? groupParts(row) : pairParts(row)) : endParts());
  markFile();
  if (row?.members) drawComparison();
}

/** The way back and to the neighbours, and which row this is. */
function paneHead(row) {
  const place = page.shown.indexOf(row);
  const go = (step, label, sign) => make('button', {
    type: 'button', class: 'tool', 'aria-label': t(label), title: t(label), disabled: !page.shown[place + step] || !row, onclick: () => stepRow(step),
  }, sign);
  return make('header', { class: 'pane-head' },
    make('button', { type: 'button', class: 'back', 'aria-label': t('back'), onclick: backToList }, '←'),
    row ? make('h2', { class: 'facts' }, row.members ? dotted(factsOfGroup(row)) : t('views').folders) : null,
    row ? make('span', { class: 'note' }, t('placeOf', place + 1, page.shown.length)) : null,
    row ? [go(-1, 'previousGroup', '↑'), go(1, 'nextGroup', '↓')] : null);
}

/** The members of a group, what is said of all of them, and their comparison. */
function groupParts(group) {
  return [
    group.chain ? make('p', { class: 'note' }, make('bdi', {}, t('chain', ...group.chain))) : null,
    group.because || group.aside ? make('p', { class: 'note because' }, dotted([
      group.because ? t('because', t('evidence')[group.because] ?? group.because) : '',
      group.aside ? t('aside', group.aside) : '',
    ])) : null,
    group.sharing ? make('p', { class: 'note' }, t('sharing', ...group.sharing)) : null,
    filled(make('ol', { class: 'members' }), group),
    unrelatedOf(group),
    group.members.length > 1 ? make('section', { class: 'comparison', tabindex: -1, 'aria-label': t('comparison') }) : null,
  ];
}

/** What stands where no row is chosen: that nothing is left to decide, or that one may be chosen. */
function endParts() {
  const isDone = data.plan && groups.length && !groups.some(isLeft);
  const isListDone = data.plan && page.shown.length && !page.shown.some(isLeft);
  return [make('div', { class: 'nothing' },
    make('p', {}, t(isDone ? (canExport() ? 'allDecided' : 'allKept') : isListDone ? 'listDecided' : 'chooseOne')),
    isDone && canExport() ? make('p', {}, byId('going').textContent, ' ', make('button', { type: 'button', class: 'main', onclick: openExport }, t('export'))) : null)];
}

/** Lay out the members again, and whether they are duplicates, after a decision about them. */
function redrawMembers() {
  const list = byId('pane').querySelector('.members');
  const role = document.activeElement.closest?.('.member') ? document.activeElement.className : null;
  if (page.chosen?.members) filled(list, page.chosen);
  else drawPane();
  byId('pane').querySelector('.unrelated')?.setAttribute('aria-pressed', String(decisions.unrelated.has(page.chosen.id)));
  markFile();
  const row = fileRow();
  if (role !== null) (row?.querySelector(`button.${role.split(' ')[0]}`) ?? row)?.focus({ preventScroll: true });
}

const fileRow = () => byId('pane').querySelector(`.member[data-place="${page.place}"]`);

/** Mark the file at which the reader is. */
function markFile() {
  byId('pane').querySelector('.member[aria-current]')?.removeAttribute('aria-current');
  fileRow()?.setAttribute('aria-current', 'true');
}

/** Go to the row that is so many rows further in the list. */
function stepRow(step) {
  const row = page.shown[page.chosen ? page.shown.indexOf(page.chosen) + step : 0];
  if (row) go(row);
}

/** Go to a row, and be at one of its files. */
function go(row, place) {
  const at = page.shown.indexOf(row);
  const drawn = byId('list').querySelectorAll('.row').length;
  if (at >= drawn) drawMore(at - drawn + ROWS_AT_ONCE);
  page.isInside = true;
  choose(row, place);
  placeView();
  (fileRow() ?? byId('pane')).focus({ preventScroll: true });
  keepAddress();
}

/** Go to the file that is so many files further in the group, and compare it with the first one. */
function stepFile(step) {
  const place = page.place + step;
  const count = page.chosen?.members ? page.chosen.members.length : 2;
  if (!page.chosen || place < 0 || place >= count) return;
  page.place = place;
  if (!fileRow()) byId('pane').querySelector('.members .fold button')?.click();
  markFile();
  fileRow().focus();
  if (page.chosen.members && place) comparePlaces([0, place]);
}

/** Go to the next undecided group of the list, wherever that is; or say that there is none. */
function goToUndecided() {
  const from = page.chosen ? page.shown.indexOf(page.chosen) + 1 : 0;
  const inOrder = [...page.shown.slice(from), ...page.shown.slice(0, from)];
  const next = inOrder.find(isLeft);
  if (next) return go(next);
  choose(null);
  byId('pane').focus();
  return undefined;
}

/** After a decision: on to the next undecided file of the group, and from the last one to the next group. */
function moveOn(group) {
  if (isDecided(group)) return goToUndecided();
  const open = undecidedOf(group);
  page.place = open.find((place) => place > page.place) ?? open[0];
  return stepFile(0);
}
