// The list of a tab: a row for each group, pair of folders or part, laid out as far as it is scrolled.

const ROWS_AT_ONCE = 60;

/** Lay out the list anew from its beginning, to the chosen row unless that is far. */
function drawList() {
  byId('list').replaceChildren();
  if (page.tab === 'overview') return;
  if (!page.shown.length) byId('list').append(make('li', { class: 'nothing' }, t(listed().length ? 'nothingFits' : 'nothing')));
  const at = page.shown.indexOf(page.chosen);
  drawMore(at < 10 * ROWS_AT_ONCE ? Math.max(ROWS_AT_ONCE, at + 1) : ROWS_AT_ONCE);
}

/** Lay out the next rows; all that are left for `Infinity`. */
function drawMore(count = ROWS_AT_ONCE) {
  const drawn = byId('list').querySelectorAll('.row').length;
  byId('list').append(...page.shown.slice(drawn, drawn + count).map(itemOf));
  const left = page.shown.length - drawn - count;
  byId('more').hidden = !(left > 0);
  byId('more').querySelector('button').textContent = t('more', left);
}

const rowId = (row) => `row-${row.id}`;
const currentRow = () => (page.chosen && byId(rowId(page.chosen))?.querySelector('.head'));

/** The row of a group, a pair of folders or a part. */
function itemOf(row) {
  const isChosen = row === page.chosen;
  return make('li', { class: 'row', id: rowId(row) }, make('button', {
    type: 'button', class: 'head', 'aria-current': isChosen ? 'true' : null, tabindex: isChosen ? 0 : -1, onclick: () => open(row),
  }, row.members ? cellsOfGroup(row) : row.whole ? cellsOfPart(row) : cellsOfPair(row)));
}

function cellsOfGroup(group) {
  const state = data.plan ? stateInWords(group) : '';
  const sort = page.tab === 'identical' ? 'identical' : page.tab === 'related' ? page.part : group.isSameWords ? 'words' : 'near';
  const place = page.found.get(group.id) ?? 0;
  const isFound = page.words.length && place > 0;
  return [
    state ? make('span', { class: 'sign done' }, icon('check')) : sign(sort),
    make('span', { class: 'title' }, nameOf(group.title, page.words)),
    make('span', { class: 'figure' }, state || figureOfGroup(group)),
    state ? null : make('span', { class: 'line' }, isFound ? [t('found'), pathOf(group.members[place].path, page.words)] : lineInList(group)),
  ];
}

/** What stands at the end of a row: how many copies, or how much of the most similar file is in the kept one. */
function figureOfGroup(group) {
  if (page.tab === 'identical') return t('copies', group.identical.length);
  if (page.tab === 'related' || page.tab === 'answers' || group.isSameWords) return group.members.length > 1 || data.page === 'files' ? t('files', group.members.length + group.more) : '';
  return shareOf(group.members[group.best]);
}

/** What a row says below its title. */
function lineInList(group) {
  if (group.beginning) return lit(group.beginning, 0, placesOf(group.beginning, page.words));
  if (page.tab === 'identical') return group.first.folder || t('here');
  if (page.part === 'forms') return data.forms[group.id] ? t('placesDiffer', data.forms[group.id].places) : '';
  if (page.tab === 'related') return t('relatedLine', wholePercent(group.members[1]?.share ?? 0));
  if (page.tab === 'answers') return group.members.length > 1 ? `${shareOf(group.members[1])} · ${group.members[1].name}` : t('noAnswer');
  return lineOf(group);
}

/** What was decided about a group, as far as the present list asks; '' while something is left. */
function stateInWords(group) {
  if (decisions.unrelated.has(group.id)) return t('unrelatedShort');
  if (page.tab === 'related' || openIn(group).length) return '';
  const removed = placesIn(group).filter((place) => goes(group, place)).length;
  return removed ? t('removed', removed) : t('kept', placesIn(group).length);
}

function cellsOfPart(part) {
  return [sign('parts'), make('span', { class: 'title' }, nameOf(part.title, page.words)), make('span', { class: 'figure' }, wholePercent(part.share)),
    make('span', { class: 'line' }, `${t('partIn')} `, pathOf(part.whole, page.words))];
}

/** Lay out again the row of a group, if it is laid out. */
function redraw(row) {
  const item = byId(rowId(row));
  const hadFocus = item?.contains(document.activeElement);
  item?.replaceWith(itemOf(row));
  if (hadFocus) byId(rowId(row)).querySelector('.head').focus({ preventScroll: true });
}

/** Choose a row and the place of one of its files, and show both. */
function choose(row, place = row ? firstPlaceOf(row) : 0) {
  const before = page.chosen;
  Object.assign(page, { chosen: row, place });
  for (const each of new Set([before, row])) if (each) redraw(each);
  if (row) byId(rowId(row))?.scrollIntoView({ block: 'nearest' });
  placeView();
  if (page.tab === 'overview') drawOverview();
  else drawGroup();
}

/** Choose a row as a click or Enter does: on a narrow screen the group comes in place of the list. */
function open(row) {
  page.screen = 'group';
  choose(row);
  if (isWide()) currentRow()?.focus({ preventScroll: true });
  else {
    focusGroup();
    // The list stays in the history, so that the way back leads there.
    history.pushState(null, '', `#${filtersInWords()}`);
  }
  keepAddress();
}

/** Where the list is hidden: to the chosen file, or to the heading of the sheet. */
const focusGroup = () => (byId('sheet').hidden ? fileRow() ?? byId('files') : byId('sheet').querySelector('h2') ?? byId('sheet')).focus({ preventScroll: true });

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
  page.screen = 'group';
  choose(row, place);
  if (isWide()) currentRow()?.focus({ preventScroll: true });
  else focusGroup();
  keepAddress();
}

/** Show a group in the list of a tab. */
function goTo(tab, group, place) {
  if (page.tab !== tab || !page.shown.includes(group)) showTab(tab);
  if (!page.shown.includes(group)) resetSearch();
  go(group, place);
}

/** Go to the next row in which something is undecided, wherever that is; at the end to the overview. */
function goToUndecided() {
  if (page.tab === 'overview') return pressKey('a');
  const from = page.chosen ? page.shown.indexOf(page.chosen) + 1 : 0;
  const next = [...page.shown.slice(from), ...page.shown.slice(0, from)].find((row) => openIn(row).length);
  return next ? go(next) : showTab('overview');
}
