// Two files of the chosen group side by side: what differs is marked, what does not is folded.

// Unchanged passages shown on each side of a changed one.
const CONTEXT = 1;

// Milliseconds before texts are opened, so that whoever only passes by does not wait for them.
const REST = 60;

/** Compare a file with the first one of its group, and go there. */
function compareHere(place = page.place) {
  const box = byId('pane').querySelector('.comparison');
  if (!box) return;
  page.left = byId('pane').scrollTop;
  if (place) page.place = place;
  comparePlaces([0, place || 1]);
  box.focus({ preventScroll: true });
  box.scrollIntoView({ block: 'start' });
}

/** From the comparison back to the file, and to where the pane was. */
function leaveComparison() {
  fileRow().focus({ preventScroll: true });
  byId('pane').scrollTop = page.left ?? 0;
}

/** Compare the files at two places. */
function comparePlaces(pair) {
  if (pair.join() === page.pair.join()) return;
  page.pair = pair;
  drawComparison();
}

/** Lay out the choice of both files; their texts follow. */
async function drawComparison() {
  const [group, pair] = [page.chosen, page.pair];
  const box = byId('pane').querySelector('.comparison');
  if (!box) return;
  const known = alikeOf(group, ...pair);
  const [verdict, table] = [make('p', { class: 'verdict', role: 'status' }, t('loading')), make('div', {})];
  replace(box,
    make('h2', {}, t('comparison'), known ? make('span', { class: 'note' }, ` ${shareInWords(known.other ?? known)}`) : null),
    known?.other ? make('p', { class: 'note figures' }, dotted(figuresOf(known.other, group.first))) : null,
    group.members.length > 2 ? make('div', { class: 'sides' }, [0, 1].map((side) => sideOf(group, side))) : null,
    verdict, table);
  const isPassed = () => page.chosen !== group || page.pair !== pair || !box.isConnected;
  await new Promise((done) => { setTimeout(done, REST); });
  const texts = isPassed() ? null : await textsOf(group);
  if (isPassed()) return;
  showTexts(group, pair.map((place) => ({ ...textAt(texts, place), member: group.members[place] })), verdict, table);
}

/** The choice of the file on one side. */
function sideOf(group, side) {
  const choice = make('select', {
    'aria-label': t(side ? 'right' : 'left'),
    onchange: (event) => comparePlaces(page.pair.map((place, each) => (each === side ? Number(event.target.value) : place))),
  }, group.members.map((member, place) => make('option', { value: place }, member.label ?? member.path)));
  choice.value = String(page.pair[side]);
  return choice;
}

/** Say how two texts differ, and lay out the passages; with `inLayout` layout too. */
function showTexts(group, sides, verdict, table, inLayout = false) {
  const held = sides.map(({ member }) => member).filter(({ unread }) => unread).map(({ name, unread }) => t('holds', name, unread));
  const missing = sides.find((side) => side.reason !== undefined);
  if (missing) {
    verdict.replaceChildren(...parted([missing.reason, ...held]));
    return;
  }
  const [left, right] = sides;
  const passages = passagesOf(left.text, right.text, inLayout);
  const changed = passages.filter((passage) => passage.changed).length;
  const isOnlyLayout = left.text !== right.text && !inLayout && (!changed || left.member.text === right.member.text);
  const summary = left.text === right.text ? t('equal')
    : isOnlyLayout ? t(left.member.text === right.member.text ? 'onlyLayout' : 'equalWords') : t('differences', changed);
  const more = isOnlyLayout ? make('button', { type: 'button', onclick: () => showTexts(group, sides, verdict, table, true) }, t('showLayout')) : null;
  const cut = left.cut || right.cut ? t('cut', data.longestText) : null;
  const facts = left.member === group.members[0] && right.facts ? t('otherFacts', ...right.facts) : null;
  verdict.replaceChildren(...parted([summary, facts, more, changed && !isOnlyLayout ? changeTools() : null, cut, ...held]));
  replace(table, isOnlyLayout ? null : tableOf(passages, sides, inLayout));
}

const parted = (parts) => parts.filter(Boolean).map((part) => make('span', {}, part));

/** Buttons that go to the change before and the next one. */
function changeTools() {
  return [['previousChange', -1, '↑'], ['nextChange', 1, '↓']].map(([label, step, sign]) => make('button', {
    type: 'button', class: 'tool', 'aria-label': t(label), title: t(label), onclick: () => stepChange(step),
  }, sign));
}

/** Go to the next changed passage, or with -1 to the one before. */
function stepChange(step) {
  const box = byId('pane').querySelector('.diff');
  const rows = () => [...(box?.querySelectorAll('.changed') ?? [])];
  const at = rows().findIndex((row) => row.matches('.here'));
  const next = at < 0 && step < 0 ? -1 : at + step;
  if (next >= rows().length) box?.querySelector('.rest button')?.click();
  const row = rows()[next];
  if (!row) return;
  rows()[at]?.classList.remove('here');
  row.classList.add('here');
  row.tabIndex = -1;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: 'center' });
}

function tableOf(passages, sides, inLayout) {
  const { del, ins } = t('legend');
  const body = make('tbody');
  layOut(body, rowsOf(passages), (row) => (row.folded ? foldOf(row.folded, inLayout) : rowOf(row, inLayout)),
    (_, onclick) => buttonRow('rest', t('moreDifferences'), onclick));
  return make('table', { class: 'diff' }, make('thead', {}, make('tr', {}, sides.map(({ member }, side) => make('th', { scope: 'col' },
    pathOf(member), passages.some(({ changed }) => changed) ? [' ', make(side ? 'ins' : 'del', {}, side ? ins : del)] : null)))), body);
}

/** Passages, and runs of unchanged ones that are folded, in their order. */
function rowsOf(passages) {
  const rows = [];
  const isNear = (place) => passages.slice(Math.max(0, place - CONTEXT), place + CONTEXT + 1).some((each) => each.changed);
  passages.forEach((passage, place) => {
    if (isNear(place)) rows.push(passage);
    else if (rows.at(-1)?.folded) rows.at(-1).folded.push(passage);
    else rows.push({ folded: [passage] });
  });
  // A line that stands for a single one would save nothing.
  return rows.flatMap((row) => (row.folded?.length === 1 ? row.folded : [row]));
}

/** A line that stands for unchanged passages, until somebody wants to see them. */
function foldOf(passages, inLayout) {
  const line = buttonRow('', t('folded', passages.length), () => {
    const rows = passages.map((passage) => rowOf(passage, inLayout));
    line.replaceWith(...rows);
    rows[0].tabIndex = -1;
    rows[0].focus();
  });
  return line;
}

/** A row of the table that is one button. */
function buttonRow(name, words, onclick) {
  return make('tr', { class: `fold ${name}` }, make('td', { colspan: 2 }, make('button', { type: 'button', onclick }, words)));
}

function rowOf(passage, inLayout) {
  const state = [passage.changed ? 'changed' : 'same', passage.isParagraph ? 'paragraph' : ''].join(' ').trim();
  return make('tr', { class: state }, cellOf(passage, 'left', 'del', inLayout), cellOf(passage, 'right', 'ins', inLayout));
}

/** One side of a passage, with the number of its line; where layout counts, changed white space has signs. */
function cellOf(passage, side, tag, inLayout) {
  const pieces = trimmedPieces(passage[side]);
  const nodes = pieces.map(([text, changed]) => (changed ? make(tag, {}, visible(inLayout ? signed(text) : text)) : visible(text)));
  return make('td', { dir: 'auto', 'data-line': pieces.length ? passage.lines[side] : null }, nodes.flat());
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
