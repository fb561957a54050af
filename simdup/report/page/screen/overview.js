// The first screen: one suggestion, then what is left, then the export.

const MOST_PLACES = 4;

/** How far the reader is: 'nothing', 'identical', 'look', or 'end'. */
function stageNow() {
  if (!every.length && !folderPairs.length && !forms.length && !parts.length) return 'nothing';
  if (!data.plan) return copies.length ? 'identical' : looks.length ? 'look' : 'end';
  return undecided(suggestion()).length ? 'identical' : leftIn('look').length ? 'look' : 'end';
}

function drawOverview() {
  const hadFocus = byId('overview').contains(document.activeElement);
  const stage = stageNow();
  const isExport = data.plan && every.length && (page.isExporting || (stage === 'end' && canExport()));
  byId('overview').dataset.stage = isExport ? 'export' : stage;
  replace(byId('overview'), warnings().map((text) => make('p', { class: 'warning' }, text)),
    isExport ? exportCards() : [{ nothing: heroOfNothing, identical: heroOfCopies, look: heroOfLooks, end: heroOfEnd }[stage](), restCards(stage)]);
  if (hadFocus) focusOverview();
}

const focusOverview = () => byId('overview').querySelector('h2')?.focus({ preventScroll: true });

/** The card that leads: what it is about, a heading, a sentence, buttons, small print; and something beside it. */
function hero({ mark, title, lead, acts = null, small = null, beside = null }) {
  return make('section', { class: 'card hero' }, make('div', {}, make('p', { class: 'mark' }, mark), make('h2', { tabindex: -1 }, title), make('p', { class: 'lead' }, lead),
    acts ? make('div', { class: 'acts' }, acts) : null, small ? make('div', { class: 'small note' }, small) : null), beside ? make('div', { class: 'beside' }, beside) : null);
}

function heroOfNothing() {
  return hero({ mark: data.complete ? [icon('check'), t('filesRead', data.read)] : t('interrupted'), title: t(data.complete ? 'nothing' : 'nothingYet'), lead: t(data.complete ? 'nothingLead' : 'incomplete') });
}

function heroOfCopies() {
  const all = data.plan ? undecided(suggestion()) : copies.flatMap((group) => group.identical.map((place) => ({ group, place, bytes: group.members[place].bytes })));
  const bytes = data.plan ? size(sizeOf(all)) : amount(sizeOf(all));
  const see = [t('seeAll', countOf('identical')), () => showTab('identical')];
  const order = data.plan && orderNow();
  return hero({
    mark: [sign('identical'), t('byteForByte')],
    title: t(data.plan ? 'copiesTitle' : 'copiesFound', all.length, bytes),
    lead: t(data.plan ? 'copiesLead' : data.page === 'files' ? 'noPlan' : 'noDecisions'),
    acts: data.plan ? [button(t('removeCopies', all.length), acceptAll, 'main', 'a'), button(...see, 'quiet', '2')] : button(...see, 'main', 'a'),
    small: data.plan ? [make('p', {}, t('sameAs'), make('code', {}, ['simdup clean found.json', ...order.options].join(' '))), textsToo(), workTrees()] : null,
    beside: [make('h3', {}, t(data.plan ? 'removedFrom' : 'copiesIn')), foldersIn(all), data.plan ? keptIn(all) : null],
  });
}

function acceptAll() {
  const { length } = undecided(suggestion());
  acceptSuggested(every);
  say(t('inPlan', length), true);
}

/** Files that plain text in another encoding repeats; one word adds them. */
function textsToo() {
  const list = undecided(every.flatMap((group) => group.members.map((_, place) => ({ group, place })))).filter(({ group, place }) => isOffered(group, place, '--text'));
  return list.length ? make('p', {}, t('textsToo', list.length), ' ', button(t('addThem'), () => acceptNeeding(every, '--text'), 'link')) : null;
}

/** How many files are left alone because a whole belongs together: work trees, packages, saved pages. */
function workTrees() {
  const count = every.flatMap(({ members }) => members).filter(({ file }) => ['WORK_TREE', 'PACKAGE', 'SAVED_PAGE'].includes(file.kept?.[0])).length;
  return count ? make('p', {}, t('workTrees', count)) : null;
}

/** The first folder of a path below the root, or the root's own name; of two levels where all share the first. */
function topOf(path) {
  const at = path.indexOf('/', 1);
  return at < 0 ? titleInWords()[0] : path.slice(0, at);
}

/** How many files and bytes each top folder has of a list, most first: [name, files, bytes]. */
function byFolder(list) {
  const counts = new Map();
  for (const { group, place } of list) {
    const { path, bytes } = group.members[place];
    const [files, sum] = counts.get(topOf(path)) ?? [0, 0];
    counts.set(topOf(path), [files + 1, sum + (bytes ?? 0)]);
  }
  return [...counts].map(([name, [files, bytes]]) => [name, files, bytes]).sort((a, b) => b[1] - a[1]);
}

function foldersIn(list) {
  const rows = byFolder(list);
  const shown = rows.length > MOST_PLACES ? rows.slice(0, MOST_PLACES - 1) : rows;
  const rest = rows.slice(shown.length);
  const all = rest.length ? [...shown, [t('otherFolders', rest.length), rest.reduce((sum, row) => sum + row[1], 0), rest.reduce((sum, row) => sum + row[2], 0)]] : shown;
  return make('ul', { class: 'bars' }, all.map(([name, files, bytes]) => make('li', {}, make('span', {}, pathOf(name)), make('span', { class: 'note' }, dotted([t('files', files), amount(bytes)])), bar([['grey', files]], list.length))));
}

/** Where the files are that are kept for these. */
function keptIn(list) {
  const kept = new Map(list.map(({ group, keep }) => [`${group.id}:${keep}`, { group, place: keep }]));
  const rows = byFolder([...kept.values()]);
  return rows.length ? make('p', { class: 'kept' }, make('span', {}, icon('check'), t('keptIn', rows.length > 1 ? t('morePlaces', rows[0][0], rows.length - 1) : rows[0][0])), make('span', { class: 'note' }, t('files', kept.size))) : null;
}

function heroOfLooks() {
  const planned = data.plan ? suggestion().filter(({ group, place }) => goes(group, place)).length : 0;
  const left = data.plan ? leftIn('look') : looks;
  const sides = ['words', 'near'].map((sort) => [sort, TABS.look[sort]().filter((group) => left.includes(group))]).filter(([, rows]) => rows.length);
  return hero({
    mark: planned ? [icon('check'), t('inPlan', planned), button(t('undo'), undoStep, 'link', 'u')] : [sign('near'), t('partNames').look],
    title: t(planned ? 'looksNext' : 'looksTitle', left.length), lead: t('looksLead'),
    acts: [button(t(data.plan ? 'beginLooks' : 'seeLooks'), () => goTo('look', left[0]), 'main', 'a'), data.plan && canExport() ? button(t('exportNow'), openExport, 'quiet', 'e') : null],
    small: data.plan ? make('p', {}, t(page.isKept ? 'mayStop' : 'notKept')) : null,
    beside: [make('h3', {}, t('toLookAt')), make('ul', { class: 'bars' }, sides.map(([sort, rows]) => make('li', {}, make('span', {}, sign(sort), make('b', {}, t('sorts')[sort].toLowerCase())),
      make('span', { class: 'note' }, dotted([t('groups', rows.length), amount(bytesOfLooks(rows))])), bar([[sort, rows.length]], left.length)))),
    planned ? make('p', { class: 'kept' }, make('span', {}, icon('check'), t('sorts').identical.toLowerCase()), make('span', { class: 'note' }, t('inPlanShort', planned))) : null],
  });
}

const bytesOfLooks = (rows) => rows.reduce((sum, { look, members }) => sum + sizeOf(look.map((place) => members[place])), 0);

/** Everything is decided and every file is kept, or there is nothing to decide. */
function heroOfEnd() {
  const isOfKnown = data.plan && (copies.length || looks.length);
  return hero({ mark: [icon('check'), t(isOfKnown ? 'everythingDecided' : 'filesRead', data.read)], title: t(isOfKnown ? 'allKeptTitle' : 'noCopies'), lead: t(isOfKnown ? 'allKept' : 'noCopiesLead'),
    acts: related.length || forms.length || parts.length ? button(t('seeRelated'), () => showTab('related'), 'main', 'a') : folderPairs.length ? button(t('tabs').folders, () => showTab('folders'), 'main', 'a') : null });
}

/** Below the suggestion: what wants a look, with what differs; folders; and what is only to know. */
function restCards(stage) {
  const isNext = stage === 'look';
  const cards = [looks.length ? looksCard(isNext) : null, folderPairs.length ? foldersCard() : null, countOf('related') ? relatedCard() : null].filter(Boolean);
  if (!cards.length) return null;
  return [make('p', { class: 'after' }, make('b', {}, t(isNext ? 'whatIsLeft' : 'afterThat')), make('span', { class: 'note' }, t('atYourPace', Boolean(data.plan)))),
    make('div', { class: looks.length ? 'rest' : 'rest alone' }, looks.length ? cards[0] : null, make('div', {}, cards.slice(looks.length ? 1 : 0)))];
}

/** The head of a card, which is a button that opens a tab. */
function cardHead(title, tab) {
  const place = tabsHere().indexOf(tab) + 1;
  return make('h3', {}, make('button', { type: 'button', class: 'open', onclick: () => showTab(tab), 'aria-keyshortcuts': place }, title, make('span', {}, make('kbd', { 'aria-hidden': 'true' }, place), icon('next'))));
}

function looksCard(isNext) {
  const [words, near] = ['words', 'near'].map((sort) => TABS.look[sort]());
  // Some of each kind, so that a reader sees what there is; then in the order of the list.
  const some = new Set([...near.slice(0, 3), ...words.slice(0, 2), ...near.slice(3), ...words.slice(2)].slice(0, 5));
  return make('section', { class: 'card' }, cardHead(t(isNext ? 'whatDiffersInThem' : 'looksTitle', looks.length), 'look'),
    make('p', { class: 'note' }, isNext ? t('mostAlikeFirst') : t('looksSplit', words.length, near.length, amount(bytesOfLooks(looks)))),
    make('ul', { class: 'looks' }, [...some].map((group) => make('li', {}, make('button', { type: 'button', class: 'head', onclick: () => goTo('look', group) },
      data.plan && !openIn(group, 'look').length ? make('span', { class: 'sign done' }, icon('check')) : sign(group.isSameWords ? 'words' : 'near'),
      make('span', { class: 'title' }, nameOf(group.title)), make('span', { class: 'line' }, richLine(group)), make('span', { class: 'figure' }, group.isSameWords ? t('files', group.members.length) : shareOf(group.members[group.best])))))));
}

/** What a row says, with the numbers that differ in bold. */
function richLine(group) {
  const [first] = group.chain?.[0].length > 2 ? [] : differencesOf(group, group.best);
  return Array.isArray(first) && !group.isSameWords ? [t('otherNumbersAre'), make('b', {}, first[0] || t('none')), ' / ', make('b', {}, first[1] || t('none'))] : lineOf(group);
}

function foldersCard() {
  return make('section', { class: 'card' }, cardHead(t('foldersCard', folderPairs.length), 'folders'), make('ul', { class: 'bars' }, folderPairs.slice(0, 3).map((pair) =>
    make('li', {}, make('span', {}, pathOf(pair.path)), barOf(pair.sums.slice(0, 3), pair.one[1]), make('span', { class: 'note' }, t('alsoIn', pair.sums[0] + pair.sums[1] + pair.sums[2], pair.one[1], pair.other, folderState(pair)))))));
}

/** Whether the copies of a pair are in the plan, or part of the suggestion. */
function folderState(pair) {
  const list = copiesIn(pair, removedSide(pair));
  if (!list.length) return '';
  return list.every(({ group, place }) => goes(group, place)) ? t('allInPlan') : list.some(({ group, place }) => isSuggested(group, place)) ? t('partOfThem', suggestion().length) : '';
}

function relatedCard() {
  return make('section', { class: 'card' }, cardHead(t('relatedCard'), 'related'), make('p', { class: 'note' }, t('relatedSplit', related.length, forms.length, data.allParts)));
}
