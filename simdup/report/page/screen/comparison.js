// The right column: the kept file and the selected one, of which only what differs is open.

// Unchanged passages shown on each side of a changed one.
const CONTEXT = 1;

// Milliseconds before texts are opened, so that whoever only passes by does not wait for them.
const REST = 60;

/** The file with which the selected one is compared: the kept one, or for a copy the file that is kept for it. */
function comparedWith(group, place) {
  return group.members[place].sort === 'identical' && place !== keptOf(group) ? keeperOfCopy(group, place) : keptOf(group);
}

/** Lay out both heads and what can be decided; the texts follow. */
async function drawComparison() {
  const [group, place] = [page.chosen, page.place];
  const other = comparedWith(group, place);
  const isAlone = other === place;
  const [chips, text] = [make('div', { class: 'chips' }), make('div', { class: 'text', tabindex: 0, role: 'region', 'aria-label': t('texts') }, make('p', { class: 'verdict' }, t('loading')))];
  replace(byId('comparison'), make('div', { class: isAlone ? 'heads alone' : 'heads' }, isAlone ? headOf(group, place, true) : [headOf(group, other, true), headOf(group, place, false)]),
    chips, decisionOfPair(group, place, isAlone), text);
  const isPassed = () => page.chosen !== group || page.place !== place || !text.isConnected;
  await new Promise((done) => { setTimeout(done, REST); });
  const texts = isPassed() ? null : await textsOf(group);
  if (isPassed()) return;
  const sides = [other, place].map((at) => ({ ...textAt(texts, at), member: group.members[at] }));
  showTexts(group, sides, chips, text, { isAlone });
}

function headOf(group, place, isKept) {
  const member = group.members[place];
  const mark = isKept ? t(data.plan && page.tab !== 'related' ? 'keep' : 'firstOne') : dotted([t('sorts')[member.sort] ?? '', ['near', RELATED].includes(member.sort) ? shareOf(member) : '']).join('').replace(' · ', ', ');
  return make('div', { class: isKept ? 'head keep' : `head other ${member.sort}` }, make('p', { class: 'mark' }, isKept ? icon('check') : sign(sortNow(group, place, keptOf(group))), mark),
    make('p', { class: 'title' }, nameOf(member.name)), make('p', { class: 'note' }, dotted([member.mtime ? dayOf(member.mtime) : member.folder, member.mtime && !isKept ? ageOf(group.members[comparedWith(group, place)], member) : ''])));
}

/** How many days older or newer a file is than the kept one. */
function ageOf(kept, { mtime }) {
  const days = kept.mtime === null ? 0 : Math.round(Math.abs(kept.mtime - mtime) / 86400);
  return days ? t(mtime < kept.mtime ? 'older' : 'newer', days) : '';
}

/** What only the selected file has, and what can be decided about it. */
function decisionOfPair(group, place, isAlone) {
  const member = group.members[place];
  const [, right = [], , , , , sentence] = data.differences[group.id]?.[place] ?? [];
  const only = keptOf(group) === 0 ? [...right, sentence].filter(Boolean) : [];
  const isOfCopies = page.tab === 'identical';
  const { file } = member;
  const canDecide = data.plan && !isAlone && page.tab !== 'related' && !decisions.unrelated.has(group.id) && (isOfCopies ? openIn(group).length > 0 || isSuggested(group, place) : mayRemove(group, place));
  const state = stateOf(group, place, isAlone);
  return make('div', { class: 'decision', role: 'group', 'aria-label': t('decisionLabel') },
    canDecide ? make('div', { class: 'acts' }, isOfCopies
      ? [openIn(group).length ? button(t('removeCopies', openIn(group).length), removeSuggested, 'main', 'a') : null, button(t('keepAll'), keepCopies, '', 'b')]
      : [button(t(state === 'removed' ? 'isRemoved' : 'remove'), removeHere, 'remove', 'r', { 'aria-pressed': String(state === 'removed') }),
        button(t('keepBoth'), keepHere, '', 'b', { 'aria-pressed': String(state === 'kept too') }), button(t('keepInstead'), keepInstead, 'quiet instead', 'o')]) : null,
    make('div', { class: 'only' }, only.length ? make('p', {}, t('onlyHere'), make('b', {}, only.join(page.language === 'zh' ? '、' : ', '))) : null,
      make('p', { class: 'note' }, data.plan && hasTexts(group) && !isOfCopies && page.tab !== 'related' ? button(t(decisions.unrelated.has(group.id) ? 'areDuplicates' : 'unrelated'), markUnrelated, 'link', 'i') : null, canDecide && !isOfCopies ? button(t('keepInstead'), keepInstead, 'link narrow') : null, file ? toolsOf(file) : null)));
}

/** Open a file, and copy its path; a page from a server could not open it. */
function toolsOf(file) {
  const link = location.protocol === 'file:' && data.plan.sep === '/' ? make('a', { class: 'link', href: addressOf(file), target: '_blank', rel: 'noopener noreferrer', 'aria-label': t('openFile', file.shown) }, t('open')) : null;
  return [link, button(t('copyPath'), () => copyText(file.shown), 'link', null, { 'aria-label': t('copyThisPath', file.shown) })];
}

/** Say how two texts differ, and lay out the passages; with `inLayout` layout too. */
function showTexts(group, sides, chips, text, { isAlone = false, inLayout = false } = {}) {
  const [left, right] = sides;
  const held = sides.filter(({ member }) => member.unread && !isAlone).map(({ member }) => t('holds', member.name, member.unread));
  const place = group.members.indexOf(right.member);
  const missing = sides.find(({ reason }) => reason !== undefined);
  const known = place && group.members.indexOf(left.member) === 0 && right.member.sort !== 'identical' ? differencesOf(group, place) : [];
  if (missing) {
    replace(chips, known.map((said) => chipOf(said)));
    return replace(text, parted([missing.reason, ...held]));
  }
  const isEqual = left.text === right.text;
  const passages = isAlone || isEqual ? [] : passagesOf(left.text, right.text, inLayout);
  const changes = passages.filter(({ changed: isChanged }) => isChanged).length;
  const isOnlyLayout = !isEqual && !inLayout && (!changes || left.member.text === right.member.text);
  const verdict = isAlone ? '' : isEqual ? t('equal') : isOnlyLayout ? t('onlyLayout') : '';
  const more = isOnlyLayout ? button(t('showLayout'), () => showTexts(group, sides, chips, text, { inLayout: true }), 'link') : null;
  const cut = left.cut || right.cut ? t('cut', data.longestText) : null;
  replace(chips, known.map((said) => chipOf(said)), changes && !isOnlyLayout ? make('span', { class: 'changes' }, make('output', { id: 'change' }, t('differences', changes)),
    [['previousChange', -1, 'up'], ['nextChange', 1, 'down']].map(([label, step, name]) => make('button', { type: 'button', class: 'quiet', tabindex: -1, 'aria-label': t(label), title: t(label), onclick: () => stepChange(step) }, icon(name)))) : null);
  replace(text, parted([verdict, more, cut, ...held]), isAlone || isEqual ? wholeText(left.text) : isOnlyLayout ? null : [legend(), tableOf(passages, inLayout)]);
  return undefined;
}

const parted = (list) => (list.some(Boolean) ? make('p', { class: 'verdict' }, list.filter(Boolean).map((part) => make('span', {}, part))) : null);

const wholeText = (text) => make('div', { class: 'whole', dir: 'auto' }, visible(text));

const legend = () => make('p', { class: 'legend note' }, make('ins', {}, t('legend').kept), ` ${t('legend').inKept} `, make('del', {}, t('legend').other), ` ${t('legend').inOther}`);

/** A difference in a frame: what the kept file has and what the other has, or a text. A click goes to it. */
function chipOf(said) {
  const words = typeof said === 'string' ? [] : said.filter(Boolean);
  return make('button', { type: 'button', class: 'chip', tabindex: -1, onclick: (event) => goToWords(words, event.currentTarget) },
    typeof said === 'string' ? said : [make('ins', {}, said[0] || t('none')), ' / ', make('del', {}, said[1] || t('none'))]);
}

/** Go to the first change that has one of these words. */
function goToWords(words, chip) {
  const rows = [...byId('comparison').querySelectorAll('.changed')];
  const row = rows.find((each) => words.some((word) => each.textContent.includes(word)));
  if (row) goToChange(rows, rows.indexOf(row));
  for (const each of byId('comparison').querySelectorAll('.chip')) each.classList.toggle('here', each === chip);
}

/** Go to the next changed passage, or with -1 to the one before. */
function stepChange(step) {
  const rows = () => [...byId('comparison').querySelectorAll('.changed')];
  const at = rows().findIndex((row) => row.matches('.here'));
  const next = at < 0 && step < 0 ? -1 : at + step;
  if (next >= rows().length) byId('comparison').querySelector('.rest button')?.click();
  goToChange(rows(), next);
}

function goToChange(rows, at) {
  if (!rows[at]) return;
  for (const row of rows) row.classList.toggle('here', row === rows[at]);
  rows[at].tabIndex = -1;
  rows[at].focus({ preventScroll: true });
  rows[at].scrollIntoView({ block: 'center' });
  byId('change').textContent = t('placeOf', at + 1, rows.length);
}

function tableOf(passages, inLayout) {
  const table = make('div', { class: 'diff' });
  layOut(table, rowsOf(passages), (row) => (row.folded ? foldOf(row.folded, inLayout) : rowOf(row, inLayout)),
    (_, onclick) => make('div', { class: 'fold rest' }, button(t('moreDifferences'), onclick)));
  return table;
}

/** Passages, and runs of unchanged ones that are folded, in their order. */
function rowsOf(passages) {
  const rows = [];
  const isNear = (place) => passages.slice(Math.max(0, place - CONTEXT), place + CONTEXT + 1).some((passage) => passage.changed);
  passages.forEach((passage, place) => {
    if (isNear(place)) rows.push(passage);
    else if (rows.at(-1)?.folded) rows.at(-1).folded.push(passage);
    else rows.push({ folded: [passage] });
  });
  // A line that stands for a single passage would save nothing.
  return rows.flatMap((row) => (row.folded?.length === 1 ? row.folded : [row]));
}

/** A line that stands for unchanged passages, until somebody wants to see them. */
function foldOf(passages, inLayout) {
  const line = make('div', { class: 'fold' }, make('button', { type: 'button', onclick: () => {
    const rows = passages.map((passage) => rowOf(passage, inLayout));
    line.replaceWith(...rows);
    rows[0].tabIndex = -1;
    rows[0].focus();
  } }, icon('down'), t('folded', passages.length)));
  return line;
}

function rowOf(passage, inLayout) {
  const state = `line ${passage.changed ? 'changed' : 'same'}${passage.isParagraph ? ' paragraph' : ''}`;
  return make('div', { class: state }, ['left', 'right'].map((side) => cellOf(passage, side, inLayout)), make('div', { class: 'both', dir: 'auto' }, piecesOf(merged(passage), inLayout)));
}

/** One side of a passage, with the number of its line. */
function cellOf(passage, side, inLayout) {
  const pieces = trimmedPieces(passage[side]).map(([text, isChanged]) => [text, isChanged ? (side === 'left' ? 'ins' : 'del') : '']);
  return make('div', { class: `side ${side}`, dir: 'auto', 'data-line': pieces.length ? passage.lines[side] : null }, piecesOf(pieces, inLayout));
}

/** Pieces of text as nodes; where layout counts, changed white space has signs. */
const piecesOf = (pieces, inLayout) => pieces.flatMap(([text, tag]) => (tag ? make(tag, {}, visible(inLayout ? signed(text) : text)) : visible(text)));

/** Both sides of a passage in one text: what only the kept file has stands before what only the other has. */
function merged({ left, right }) {
  const pieces = [];
  const isApart = (piece) => piece && (piece[1] || !piece[0].trim());
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    for (; isApart(left[i]); i += 1) pieces.push([left[i][0], left[i][1] ? 'ins' : '']);
    for (; isApart(right[j]); j += 1) if (right[j][1]) pieces.push([(pieces.at(-1)?.[1] === 'ins' ? ' ' : '') + right[j][0], 'del']);
    if (left[i] ?? right[j]) pieces.push([(left[i] ?? right[j])[0], '']);
    [i, j] = [i + 1, j + 1];
  }
  return pieces;
}

const signed = (text) => text.replaceAll(' ', '·').replaceAll('\t', '→').replaceAll('\n', '↵\n');

/** The pieces without the white space at both ends, which is layout. */
function trimmedPieces(pieces) {
  const list = pieces.map((piece) => [...piece]);
  if (!list.length) return list;
  if (!list[0][1]) list[0][0] = list[0][0].trimStart();
  if (!list.at(-1)[1]) list.at(-1)[0] = list.at(-1)[0].trimEnd();
  return list;
}
