// What the reader decided: which files are removed, and which groups are not duplicates.
//
// A file is removed only for one that is kept, so the last one of a group is always kept.

// Decisions that can be taken back, one by one.
const MOST_STEPS = 50;

const decisions = {
  // By group and place, as "7:1": null for a file that is kept, or {keep, hand} for one that is removed.
  of: new Map(),
  // The numbers of groups that are not duplicates.
  unrelated: new Set(),
  steps: [],
};

const placeKey = (group, place) => `${group.id}:${place}`;
const decisionOf = (group, place) => decisions.of.get(placeKey(group, place));
const goes = (group, place) => Boolean(decisionOf(group, place));

const TERMS = [{ kind: KINDS[0], needs: [] }, { kind: KINDS[1], needs: ['--text'] }, { kind: KINDS[2], needs: ['--formats-too'] }, { kind: KINDS[3], needs: ['--near'] }];

/** How one file may be removed for another of its group: {kind, needs, refusal, at}. */
function termsOf(group, place, other) {
  const [file, keep] = [group.members[place].file, group.members[other].file];
  const term = (at) => ({ ...TERMS[at], refusal: '', at });
  const refused = (refusal) => ({ kind: KINDS[3], needs: [], refusal, at: 9 });
  if (file.bytes === keep.bytes) return term(0);
  if (group.different.some((pair) => isOfTexts(group, pair, file, keep))) return refused('DIFFERENT');
  if (!file.certain || !keep.certain) return refused('UNCERTAIN');
  if (file.whole && keep.whole && file.text === keep.text) return term(1);
  if (file.unread !== keep.unread) return refused('OTHER_CONTENT');
  if (file.words && file.words === keep.words && !(file.whole && keep.whole)) return term(2);
  if (file.isShort || keep.isShort) return refused('SHORT');
  return data.settings.verified ? term(3) : refused('UNVERIFIED');
}

/** Whether two members at these places have the texts of these files. */
function isOfTexts({ members }, pair, one, two) {
  const texts = pair.map((place) => members[place].file.text);
  return one.text !== two.text && texts.includes(one.text) && texts.includes(two.text);
}

/** What is offered for a file: the kept file it stands against, and what its removal needs; null for a kept file. */
function offerOf(group, place) {
  if (!place) return null;
  const copy = group.members.findIndex((other, at) => at < place && termsOf(group, place, at).at === 0);
  const keep = copy >= 0 ? copy : 0;
  return { keep, ...termsOf(group, place, keep), why: group.why, depth: 0 };
}

const isSuggested = (group, place) => !group.members[place].file.refused && offerOf(group, place)?.at === 0 && group.kind !== RELATED;
const orderNow = () => ({ name: 'reasons', options: [] });

/** Remove all suggested files of these groups. */
function acceptSuggested(list) {
  acceptWhere(list, (group, place) => isSuggested(group, place));
}

function acceptNeeding(list, option) {
  acceptWhere(list, (group, place) => { const offer = offerOf(group, place); return offer && !offer.refusal && offer.needs.join() === option; });
}

function acceptWhere(list, isWanted) {
  remember();
  for (const group of list) {
    group.members.forEach((member, place) => {
      if (!member.file.refused && decisionOf(group, place) === undefined && !decisions.unrelated.has(group.id) && isWanted(group, place)) decisions.of.set(placeKey(group, place), { keep: offerOf(group, place).keep, hand: false });
    });
  }
  changed();
}

/** The file that is kept for one that is removed: {place, kind, needs, at}, or {refusal}. */
function keeperOf(group, place) {
  const wanted = decisionOf(group, place)?.keep ?? null;
  if (wanted !== null && !goes(group, wanted) && !termsOf(group, place, wanted).refusal) return { place: wanted, ...termsOf(group, place, wanted) };
  const kept = group.members.map((_, at) => at).filter((at) => at !== place && !goes(group, at));
  if (!kept.length) return { refusal: 'LAST_ONE' };
  const found = kept.map((at) => ({ place: at, ...termsOf(group, place, at) }));
  return found.filter(({ refusal }) => !refusal).sort((a, b) => a.at - b.at)[0] ?? { refusal: found[0].refusal };
}

/** Remember how things are and where the reader is, so that a change can be taken back. */
function remember() {
  decisions.steps.push([new Map(decisions.of), new Set(decisions.unrelated), page.chosen, page.place]);
  if (decisions.steps.length > MOST_STEPS) decisions.steps.shift();
}

function undoStep() {
  const step = decisions.steps.pop();
  if (!step) return;
  const [of, unrelated, row, place] = step;
  Object.assign(decisions, { of, unrelated });
  changed();
  if (row && page.shown.includes(row)) go(row, place);
}

/** Keep a file, or remove it; the same again takes it back. Returns whether something was decided. */
function decide(group, place, wish) {
  const now = decisionOf(group, place);
  const isSame = wish === 'drop' ? Boolean(now) : now === null;
  const refused = group.members[place].file.refused;
  const refusal = wish === 'drop' && !isSame ? refused?.name || keeperOf(group, place).refusal : '';
  if (refusal) {
    say(t('refusals')[refusal] ?? refusal);
    return false;
  }
  remember();
  decisions.unrelated.delete(group.id);
  if (isSame) decisions.of.delete(placeKey(group, place));
  else decisions.of.set(placeKey(group, place), wish === 'keep' ? null : { keep: null, hand: true });
  changed(group);
  return !isSame;
}

/** Keep this file, and remove the other one. */
function exchange(group, place, other) {
  if (group.members[other].file.refused || termsOf(group, other, place).refusal) {
    say(t('refusals')[termsOf(group, other, place).refusal] ?? '');
    return false;
  }
  remember();
  decisions.of.set(placeKey(group, place), null);
  decisions.of.set(placeKey(group, other), { keep: place, hand: true });
  changed(group);
  return true;
}

/** Keep all copies of a group. */
function keepAll(group) {
  remember();
  for (const place of group.identical) decisions.of.set(placeKey(group, place), null);
  changed(group);
}

/** Remove these files, each for the one that is kept. */
function removeAll(list) {
  remember();
  for (const { group, place, keep } of list) decisions.of.set(placeKey(group, place), { keep, hand: false });
  changed();
}

/** Whether a group has several texts; files with the same words may have different texts. */
function hasTexts(group) {
  return group.members.some(({ file }) => file.text !== group.first.file.text);
}

/** Say that the texts of a group are not duplicates of each other, or take that back. */
function toggleUnrelated(group) {
  if (!hasTexts(group)) {
    say(t('refusals').SAME_TEXT);
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

/** Every file that is removed, as {group, file, keep, kind, needs, why, hand, depth}. */
function actionsOf() {
  const ids = new Set([...decisions.of.keys()].map((key) => Number(key.split(':')[0])));
  return every.filter(({ id }) => ids.has(id)).flatMap((group) => group.members.flatMap((member, place) => {
    const decision = decisionOf(group, place);
    if (!decision) return [];
    const { place: keep, kind, needs, refusal } = keeperOf(group, place);
    return refusal ? [] : [{ group, file: member.file, keep: group.members[keep].file, kind, needs, why: decision.hand ? 'chosen by hand' : group.why, hand: decision.hand }];
  }));
}

// ----- Kept in the browser, for this page alone.

const storageKey = data.plan && `simdup ${data.plan.header.of_digest}`;

function keepDecisions() {
  try {
    const { of, unrelated } = decisions;
    localStorage.setItem(storageKey, JSON.stringify({ of: [...of], unrelated: [...unrelated] }));
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
    if (saved) Object.assign(decisions, { of: new Map(saved.of), unrelated: new Set(saved.unrelated) });
  } catch {
    page.isKept = false;
  }
}
