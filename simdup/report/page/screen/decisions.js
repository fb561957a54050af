// What the reader decided: which files are removed, and which groups are not duplicates.
//
// `clean` decided what may be removed for which file, under which terms: here it is looked up in
// `data.plan`. A file is removed only for one that is kept, so the last one of a group is kept.

// Decisions that can be taken back, one by one.
const MOST_STEPS = 50;

const BY_HAND = 'chosen by hand';

const decisions = {
  // By group and place, as "7:1": null for a file that is kept, or {keep, hand} for one that is removed.
  of: new Map(),
  // The numbers of groups that are not duplicates.
  unrelated: new Set(),
  // The place of the order by which files are suggested.
  order: 0,
  steps: [],
};

const placeKey = (group, place) => `${group.id}:${place}`;
const decisionOf = (group, place) => decisions.of.get(placeKey(group, place));
const goes = (group, place) => Boolean(decisionOf(group, place));
const orderNow = () => data.plan.orders[decisions.order];

const groupPlaces = new Map(every.map(({ id }, at) => [id, at]));

function termsAt(at) {
  const [kind, needs, refusal] = data.plan.terms[at];
  return { at, kind, needs, refusal };
}

const DIFFERENT = data.plan?.terms.findIndex(([, , refusal]) => refusal === 'DIFFERENT');

/** Under which terms one file may be removed for another one of its group: {kind, needs, refusal, at}. */
function termsOf(group, place, other) {
  const [file, keep] = [group.members[place].file, group.members[other].file];
  if (group.different.some((pair) => isOfTexts(group, pair, file, keep))) return termsAt(DIFFERENT);
  const cells = data.plan.table[file.sort][keep.sort];
  const same = file.contents.findIndex((content, level) => content === keep.contents[level]);
  const level = same < 0 ? cells.length / 2 - 1 : same;
  return termsAt(cells[2 * level + Number(file.unread !== keep.unread)]);
}

/** Whether two members at these places have the texts of these files. */
function isOfTexts({ members }, pair, one, two) {
  const texts = pair.map((place) => members[place].file.text);
  return one.text !== two.text && texts.includes(one.text) && texts.includes(two.text);
}

/** What is offered for a file: {keep, kind, needs, refusal, at, why, depth}; null without another file. */
function offerOf(group, place) {
  const at = groupPlaces.get(group.id);
  // An order lists only groups in which it offers something else than the first one.
  const offer = (orderNow().groups[at] ?? data.plan.orders[0].groups[at])?.[place];
  if (!offer) return null;
  const [keep, term, why, depth = 0] = offer;
  return { keep, ...termsAt(term), why: data.plan.reasons[why], depth };
}

/** Whether `clean` removes a file with these options, and no others. */
function isOffered(group, place, ...options) {
  const offer = offerOf(group, place);
  return Boolean(offer) && !offer.refusal && !group.members[place].file.kept && String(offer.needs) === String(options);
}

const isSuggested = (group, place) => isOffered(group, place);

const canBeKept = ({ members }, place) => members[place].file.mayBeKept;

/** The file that is kept for one that is removed: {place, kind, needs, at}, or {refusal}. */
function keeperOf(group, place) {
  const wanted = decisionOf(group, place)?.keep;
  const kept = [...group.members.keys()].filter((other) => other !== place && !goes(group, other) && canBeKept(group, other));
  if (!kept.length) return { refusal: 'LAST' };
  const options = kept.map((other) => ({ place: other, ...termsOf(group, place, other) }));
  const chosen = options.find((each) => each.place === wanted && !each.refusal);
  // Of those that ask for the least, the one that is offered, or else one that the reader keeps.
  const offered = offerOf(group, place)?.keep;
  const rank = ({ at, place: other }) => 3 * at + (other === offered ? 0 : decisionOf(group, other) === null ? 1 : 2);
  return chosen ?? options.sort((a, b) => rank(a) - rank(b))[0];
}

/** Remember how things are and where the reader is, so that a change can be taken back. */
function remember() {
  decisions.steps.push([new Map(decisions.of), new Set(decisions.unrelated), decisions.order, page.chosen, page.place]);
  if (decisions.steps.length > MOST_STEPS) decisions.steps.shift();
}

function undoStep() {
  const step = decisions.steps.pop();
  if (!step) return;
  const [of, unrelated, order, row, place] = step;
  Object.assign(decisions, { of, unrelated, order });
  changed();
  if (row && page.shown.includes(row)) go(row, place);
}

/** Remove a file by hand, for this one if it can be; `clean` may remove its whole folder too. */
function remove(group, place, keep) {
  const offer = offerOf(group, place);
  decisions.of.set(placeKey(group, place), { keep, hand: true, depth: offer?.keep === keep ? offer.depth : 0 });
}

const keep = (group, place) => decisions.of.set(placeKey(group, place), null);

/** Keep a file, or remove it; the same again takes it back. Returns whether something was decided. */
function decide(group, place, wish) {
  const { file } = group.members[place];
  const now = decisionOf(group, place);
  const isSame = wish === 'drop' ? Boolean(now) : now === null;
  const refusal = isSame || (wish === 'keep' && file.mayBeKept) ? '' : file.kept?.[0] ?? keeperOf(group, place).refusal;
  if (refusal) {
    say(t('refusals')[refusal] ?? t('untouched', file.kept?.[1] ?? refusal));
    return false;
  }
  remember();
  decisions.unrelated.delete(group.id);
  if (isSame) decisions.of.delete(placeKey(group, place));
  else if (wish === 'keep') keep(group, place);
  else remove(group, place, null);
  changed(group);
  return !isSame;
}

/** Keep one file in place of another one, which is removed. Returns whether that was possible. */
function exchange(group, place, other) {
  const refusal = group.members[other].file.kept?.[0] ?? termsOf(group, other, place).refusal;
  if (refusal || !canBeKept(group, place)) {
    say(t('refusals')[refusal] ?? t('untouched', refusal));
    return false;
  }
  remember();
  keep(group, place);
  remove(group, other, place);
  changed(group);
  return true;
}

/** Keep all copies of a group. */
function keepCopiesOf(group) {
  remember();
  for (const place of group.identical) keep(group, place);
  changed(group);
}

/** Remove the copies in a folder of a pair, {group, place, keep}; nothing else is decided about both folders. */
function removeCopies(both, copies) {
  remember();
  for (const { group, place } of both) decisions.of.delete(placeKey(group, place));
  for (const each of copies) remove(each.group, each.place, each.keep);
  changed();
}

/** Whether a group has several texts; files with the same words may have different texts. */
function hasTexts(group) {
  return group.members.some(({ file }) => file.text !== group.first.file.text);
}

/** Say that the texts of a group are not duplicates of each other, or take that back. */
function toggleUnrelated(group) {
  if (!hasTexts(group)) {
    say(t('refusals').sameText);
    return;
  }
  remember();
  if (!decisions.unrelated.delete(group.id)) {
    decisions.unrelated.add(group.id);
    group.members.forEach((_, place) => decisions.of.delete(placeKey(group, place)));
  }
  changed(group);
}

function clearDecisions() {
  remember();
  decisions.of.clear();
  decisions.unrelated.clear();
  changed();
}

/** Suggest files by another order. What was accepted is taken back, and what was chosen by hand is not. */
function setOrder(at) {
  remember();
  for (const [key, decision] of decisions.of) if (decision && !decision.hand) decisions.of.delete(key);
  decisions.order = at;
  changed();
}

/** Remove the files of these groups that `clean` removes with these options, where nothing was decided. */
function acceptNeeding(list, ...options) {
  remember();
  for (const group of list.filter(({ id }) => !decisions.unrelated.has(id))) {
    for (const place of group.members.keys()) {
      const offer = offerOf(group, place);
      if (decisionOf(group, place) !== undefined || !isOffered(group, place, ...options) || goes(group, offer.keep)) continue;
      decisions.of.set(placeKey(group, place), { keep: offer.keep, hand: false, why: offer.why, depth: offer.depth });
    }
  }
  changed();
}

const acceptSuggested = (list) => acceptNeeding(list);

/** Every file that is removed, as {group, place, file, keep, kind, contained, needs, why, hand, depth}. */
function actionsOf() {
  const ids = new Set([...decisions.of.keys()].map((key) => Number(key.split(':')[0])));
  return every.filter(({ id }) => ids.has(id)).flatMap((group) => group.members.flatMap((member, place) => {
    const decision = decisionOf(group, place);
    if (!decision) return [];
    const { place: kept, kind, needs, refusal } = keeperOf(group, place);
    if (refusal) return [];
    const contained = kind === KINDS[3] ? containedIn(group, place, kept) : null;
    // A file that is no longer removed for its copy in the other folder is removed for itself.
    const depth = kept === decision.keep ? decision.depth ?? 0 : 0;
    return [{ group, place, file: member.file, keep: group.members[kept].file, kind, contained, needs, why: decision.why ?? BY_HAND, hand: decision.hand, depth }];
  }));
}

// ----- Kept in the browser, for this page alone.

const storageKey = data.plan && `simdup ${data.plan.header.of_digest}`;

function keepDecisions() {
  try {
    const { of, unrelated, order } = decisions;
    localStorage.setItem(storageKey, JSON.stringify({ of: [...of], unrelated: [...unrelated], order }));
    page.isKept = true;
  } catch {
    // The browser keeps nothing for files, or is full: the page says so.
    page.isKept = false;
  }
}

async function readDecisions() {
  // Chromium gives a page of a file that asks too early an empty localStorage, and never the right
  // one again. It is not too early once the browser has answered any question of the page.
  await navigator.storage?.persisted().catch(() => {});
  try {
    const saved = JSON.parse(localStorage.getItem(storageKey) ?? 'null');
    if (saved) Object.assign(decisions, { of: new Map(saved.of), unrelated: new Set(saved.unrelated), order: saved.order ?? 0 });
  } catch {
    page.isKept = false;
  }
}
