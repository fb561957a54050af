// Folders that are copies of others: one row for all their groups, which it shows when opened.

const folderPairs = data.folderPairs.map(([path, other, numbers, ...figures], place) => ({
  id: `folders-${place}`, path, other, numbers, figures,
}));

// By the number of a group: the place of the first pair that stands for it.
const pairOfGroup = new Map(folderPairs.flatMap(({ numbers }, place) => numbers.map((each) => [each, place])).reverse());

/** Rows of the list: pairs of folders with those of the groups that they stand for, then the other groups. */
function folded(found, wanted) {
  const rows = folderPairs.map((pair) => ({ pair, groups: [] }));
  const others = [];
  for (const group of found) (rows[pairOfGroup.get(group.id)]?.groups ?? others).push(group);
  const shown = rows.filter(({ pair, groups: inside }) => {
    const names = `${pair.path} ${pair.other}`.toLowerCase();
    const isNamed = isOpenTo(wanted) && wanted.words.every((word) => names.includes(word));
    return inside.length || isNamed;
  });
  return [...shown, ...others];
}

/** Whether nothing is chosen but words. */
function isOpenTo({ kind, folder, coding, low, high }) {
  return !(kind || folder || coding || low > 0 || high < 100);
}

function pairItem(row) {
  const { pair, groups: inside } = row;
  const [copies, files] = pair.figures;
  const isOpen = page.open.has(pair.id);
  const cells = [
    make('span', { class: 'id' }),
    make('span', { class: 'alike' }, percent(copies / files)),
    make('span', { class: 'kind folders' }, t('folders')),
    make('span', {}, make('bdi', { class: 'name' }, pair.path), ' ~ ', make('bdi', { class: 'name' }, pair.other),
      make('span', { class: 'note' }, t('folderPair', ...pair.figures))),
    make('span', { class: 'count' }, inside.length ? t('groupsInside', inside.length) : ''),
    make('span', { class: 'copies' }),
  ];
  const head = inside.length
    ? make('button', { type: 'button', class: 'head', 'aria-expanded': String(isOpen), onclick: () => togglePair(row) }, cells)
    : make('div', { class: 'head still' }, cells);
  return make('li', { class: 'pair', id: pair.id }, head, isOpen ? make('ol', { class: 'inside' }, inside.map(itemOf)) : null);
}

function togglePair(row) {
  if (!page.open.delete(row.pair.id)) page.open.set(row.pair.id, null);
  byId(row.pair.id).replaceWith(pairItem(row));
  byId(row.pair.id).querySelector('.head').focus();
}
