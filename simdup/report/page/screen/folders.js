// Folders that are copies of others: a tree of pairs, each decided as one.

// Groups of a pair that are named because they cannot be decided with it.
const MOST_NAMED = 100;

const isWhole = ([copies, files, identical, unread]) => !unread && copies === files && identical === files;

// Whole copies first, then those with the most identical files.
const folderPairs = data.folderPairs.map(([path, other, numbers, ...figures], place) => ({
  id: `folders-${place}`, path, other, numbers, same: figures.pop(), figures, safe: 0,
})).sort((a, b) => isWhole(b.figures) - isWhole(a.figures) || b.figures[2] - a.figures[2]);

const isInside = (path, folder) => path !== folder && (!folder || path.startsWith(`${folder}/`));

/** Pairs in the order of a tree, with their level: below each pair those of the folders inside its first one. */
function treeOf(pairs, above = null, level = 0) {
  const parentOf = (pair) => pairs.filter((each) => isInside(pair.path, each.path)).sort((a, b) => b.path.length - a.path.length)[0] ?? null;
  const children = pairs.filter((pair) => parentOf(pair) === above);
  return children.flatMap((pair) => [Object.assign(pair, { level }), ...treeOf(pairs, pair, level + 1)]);
}

/** The pairs that have these words in their names; those without an identical file only when asked for. */
function pairsNamed({ words }) {
  const found = folderPairs.filter(({ path, other }) => words.every((word) => `${path} ${other}`.toLowerCase().includes(word)));
  const strong = treeOf(found.filter(({ figures }) => figures[2]));
  const weak = found.filter(({ figures }) => !figures[2]);
  page.weak = page.isAllPairs ? 0 : weak.length;
  return page.isAllPairs ? [...strong, ...treeOf(weak)] : strong;
}

const folderName = (path) => make('bdi', { class: 'name' }, path || '.');

function cellsOfPair(pair) {
  const [, files, identical] = pair.figures;
  const going = copiesIn(pair, 0).filter(({ group, place }) => goes(group, place)).length;
  return [
    make('span', { class: 'title' }, folderName(pair.path), ' ~ ', folderName(pair.other)),
    make('span', { class: 'alike' }, percent(identical / files)),
    make('span', { class: 'note' }, t('folderPair', ...pair.figures)),
    make('span', { class: 'state' }, going ? t('going', going) : ''),
  ];
}

/** The files of one folder of a pair that may be removed for their identical copy in the other: {group, place, keep}. */
function copiesIn(pair, side) {
  if (!data.plan) return [];
  return pair.same.flatMap(([at, ...both]) => {
    const [place, keep] = side ? both.reverse() : both;
    const group = every[at];
    const isFree = !group.members[place].file.kept && canBeKept(group, keep) && !termsOf(group, place, keep).at;
    return isFree ? [{ group, place, keep }] : [];
  });
}

const groupsById = new Map(every.map((group) => [group.id, group]));

const groupsOf = ({ numbers }) => numbers.map((id) => groupsById.get(id)).filter(Boolean);

/** The two folders of a pair, and the groups that have to be looked at by themselves. */
function pairParts(pair) {
  const covered = new Set(copiesIn(pair, 0).map(({ group }) => group));
  const others = groupsOf(pair).filter((group) => !covered.has(group));
  return [
    make('p', { class: 'note' }, t('folderPair', ...pair.figures)),
    make('ol', { class: 'members' }, [0, 1].map((side) => folderCard(pair, side))),
    others.length ? make('p', {}, t('lookAlone', others.length)) : null,
    make('ul', { class: 'alone' }, others.slice(0, MOST_NAMED).map((group) => make('li', {}, make('button', { type: 'button', onclick: () => goToGroup(group) }, pathOf(group.first))))),
  ];
}

function folderCard(pair, side) {
  const copies = copiesIn(pair, side);
  const [isGoing, isKept] = [side, 1 - side].map((each) => copiesIn(pair, each)).map((list) => list.length > 0 && list.every(({ group, place }) => goes(group, place)));
  const bytes = sizeOf(copies.map(({ group, place }) => group.members[place]));
  const path = side ? pair.other : pair.path;
  const choices = [['keep', 'keepThis', isKept], ['drop', 'dropThis', isGoing]].map(([wish, label, isSo]) => make('button', {
    type: 'button', class: wish, 'aria-pressed': String(isSo), 'aria-label': t(label, path || '.'), onclick: () => decidePair(pair, side, wish),
  }, t(wish)));
  return make('li', { class: isGoing ? 'member goes' : 'member', tabindex: -1, 'data-place': side },
    data.plan ? make('div', { class: 'decide' }, copies.length ? choices : make('span', { class: 'note' }, t('untouchable'))) : null,
    make('div', { class: 'file' }, make('span', { class: 'path' }, folderName(path)),
      data.plan ? make('div', { class: 'facts' }, t('canGo', copies.length, size(bytes))) : null));
}

/** Let all files of one folder go that have their copy at the same place in the other, or keep them. */
function decidePair(pair, side, wish) {
  const copies = copiesIn(pair, side);
  if (!copies.length) return;
  page.place = side;
  removeCopies([...copies, ...copiesIn(pair, 1 - side)], wish === 'drop' ? copies : []);
}

/** Show a group in the list of groups. */
function goToGroup(group) {
  showView('groups');
  if (!page.shown.includes(group)) resetFilters();
  go(group);
}
