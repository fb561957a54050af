// Pairs of folders: how much of each is in the other, by kind and by subfolder, and one button for the identical files.

const FOLDER_SORTS = ['identical', 'words', 'near', 'only'];

const folderPairs = data.folderPairs.map(([[one, two], rows, same, remaining, remains, unread, newer], place) => {
  const [path, other] = [one[0], two[0]].map((name) => name || (data.places[0] ?? '').split('/').pop());
  const sums = FOLDER_SORTS.map((_, at) => rows.reduce((sum, row) => sum + row[at + 1], 0));
  return { id: `folders-${place}`, path, other, one, two, rows, same, remaining, remains, unread, newer, sums };
}).sort((a, b) => b.sums[0] / b.one[1] - a.sums[0] / a.one[1]);

const barOf = (counts, whole) => bar(FOLDER_SORTS.map((sort, at) => [sort, counts[at]]), whole);

function cellsOfPair(pair) {
  return [sign('folders'), make('span', { class: 'title' }, nameOf(pair.path, page.words)), make('span', { class: 'figure' }, wholePercent(shareIn(pair))),
    make('span', { class: 'line' }, t('inFolder', pair.other)), barOf(pair.sums.slice(0, 3), pair.one[1])];
}

/** How much of the first folder is in the second one with the same bytes; if nothing is, how much at all. */
const shareIn = ({ sums, one }) => (sums[0] || sums[1] + sums[2]) / Math.max(1, one[1]);

/** Which folder the copies are removed from: what the reader chose, else the one from which the suggestion removes more. */
function removedSide(pair) {
  if (pair.side !== undefined) return pair.side;
  const counts = [0, 1].map((side) => pair.same.filter(([group, ...places]) => data.plan && isSuggested(every[group], places[side])).length);
  return Number(counts[1] > counts[0]);
}

/** The identical files of one folder of a pair that may be removed for the file in the other: {group, place, keep}. */
function copiesIn(pair, side) {
  if (!data.plan) return [];
  return pair.same.map(([at, ...places]) => ({ group: every[at], place: places[side], keep: places[1 - side] }))
    .filter(({ group, place, keep }) => !group.members[place].file.kept && canBeKept(group, keep) && termsOf(group, place, keep).at === 0);
}

function sheetOfPair(pair) {
  const side = removedSide(pair);
  const folders = [pair.one, pair.two].map(([, files, bytes, mtime], at) => ({ files, bytes, mtime, name: at ? pair.other : pair.path, isFirst: !at }));
  const [gone, kept] = [folders[side], folders[1 - side]];
  const list = copiesIn(pair, side);
  const open = undecided(list);
  const bytes = sizeOf(open.map(({ group, place }) => group.members[place]));
  const both = pair.sums[0] + pair.sums[1] + pair.sums[2];
  return [
    make('h2', { tabindex: -1 }, t('folderTitle', wholePercent((pair.sums[0] || both) / Math.max(1, gone.files)), gone.name, kept.name)),
    make('p', { class: 'lead' }, t('folderLead', pair.sums[0], gone.files, pair.unread, pair.newer)),
    make('div', { class: 'cards' }, folderCard(pair, kept, true, both), folderCard(pair, gone, false, both)),
    data.plan ? make('div', { class: 'acts' },
      open.length ? button(t('removeBytes', open.length, size(bytes)), () => removePair(pair, open), 'main', 'a') : list.length ? make('p', { class: 'mark' }, icon('check'), t('inPlan', list.length)) : null,
      pair.one[1] && copiesIn(pair, 1 - side).length ? button(t('otherWay'), () => turnPair(pair), 'quiet', 'o') : null) : null,
    partOfSuggestion(open),
    make('div', { class: 'halves' }, tableOfFolders(pair), gone.isFirst ? remainingIn(pair) : null),
  ];
}

/** That copies are among the suggested ones. */
function partOfSuggestion(open) {
  const count = open.filter(({ group, place }) => isSuggested(group, place)).length;
  return count ? make('p', { class: 'note' }, t('partOf', count, suggestion().length)) : null;
}

/** One folder with its bar: how much of it is in the other. */
function folderCard(pair, { name, files, bytes, mtime, isFirst }, isKept, both) {
  const counts = isFirst ? pair.sums : [...pair.sums.slice(0, 3), files - both];
  return make('section', { class: isKept ? 'card keep' : 'card gone' },
    make('p', { class: 'mark' }, icon(isKept ? 'check' : 'minus'), t(isKept ? 'keep' : 'removeHere')),
    make('h3', {}, pathOf(name)), make('p', { class: 'note' }, dotted([t('files', files), bytes === null ? '' : size(bytes), mtime === null ? '' : t('lastChanged', dayOf(mtime))])),
    barOf(isKept ? counts.slice(0, 3) : counts, files),
    make('p', {}, make('b', {}, wholePercent((isKept ? both : counts[0] || both) / Math.max(1, files))), t('ofItIn', isKept ? (isFirst ? pair.other : pair.path) : (isFirst ? pair.other : pair.path)), isKept ? null : make('span', { class: 'note' }, t('andElse', ...counts.slice(1)))));
}

function tableOfFolders({ rows, path }) {
  const shown = [1, 2, 3, 4].filter((at) => at === 1 || rows.some((row) => row[at]));
  const most = Math.max(...rows.map((row) => row[1] + row[2] + row[3] + row[4]), 1);
  return make('section', {}, make('h3', {}, t('byFolder')), make('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': t('byFolder') }, make('table', {}, make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, path), make('td', { class: 'space' }),
    shown.map((at) => make('th', { scope: 'col' }, sign(FOLDER_SORTS[at - 1]), t('sorts')[FOLDER_SORTS[at - 1]].toLowerCase())))),
  make('tbody', {}, rows.map((row) => make('tr', {}, make('th', { scope: 'row' }, row[0] === null ? t('notListed') : pathOf(row[0] || t('here'))), make('td', {}, barOf(row.slice(1), most)),
    shown.map((at) => make('td', {}, row[at] ? number(row[at]) : '–'))))))));
}

/** The files of the first folder that are not identical to those in the other, with what differs. */
function remainingIn({ path: name, remaining, remains }) {
  if (!remains) return null;
  const list = make('ul', { class: 'lines' });
  layOut(list, remaining, ([path, sort, at]) => make('li', {}, sign(FOLDER_SORTS[sort]), make('span', {}, at === null || !TABS.look.all().includes(every[at]) ? pathOf(path)
    : make('button', { type: 'button', class: 'link', onclick: () => goTo('look', every[at]) }, pathOf(path)),
  make('span', { class: 'note' }, at === null ? t('notInOther') : lineOf(every[at])))), (left, onclick) => make('li', {}, button(t('more', left), onclick, 'link')), 5);
  return make('section', {}, make('h3', {}, t('remain', remains, name)), list);
}

function removePair(pair, open) {
  removeCopies([0, 1].flatMap((side) => copiesIn(pair, side)), copiesIn(pair, removedSide(pair)));
  say(t('removed', open.length), true);
}

/** Remove the copies from the other folder instead. */
function turnPair(pair) {
  pair.side = 1 - removedSide(pair);
  drawGroup();
}
