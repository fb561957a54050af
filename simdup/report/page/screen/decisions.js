// What the reader decided: which files go, and which groups are not duplicates.
//
// A file goes only for one that stays, so the last one of a group always stays.

// The least share in the kept file from which near files go by a rule; as in `simdup clean`.
const LEAST_IN_BULK = 0.8;

// Decisions that can be taken back, one by one.
const MOST_STEPS = 50;

const BY_HAND = 'chosen by hand';

const decisions = {
  // By group and place, as "7:1": null for a file that is kept, or {keep, why} for one that goes.
  of: new Map(),
  // The numbers of groups that are not duplicates.
  unrelated: new Set(),
  rules: [],
  steps: [],
};

const placeKey = (group, place) => `${group.id}:${place}`;
const decisionOf = (group, place) => decisions.of.get(placeKey(group, place));
const goes = (group, place) => Boolean(decisionOf(group, place));

/** How one file is the same as another of its group, if it may go for it: {kind, contained} or {refusal}. */
function sameness(group, place, other) {
  const [file, keep] = [group.members[place].file, group.members[other].file];
  if (file.bytes === keep.bytes) return { kind: KINDS[0], contained: null };
  if (group.different.some((pair) => isOfTexts(group, pair, file, keep))) return { refusal: 'different' };
  if (!file.certain || !keep.certain) return { refusal: 'uncertain' };
  if (file.whole && keep.whole && file.text === keep.text) return { kind: KINDS[1], contained: null };
  if (file.unread !== keep.unread) return { refusal: 'otherContent' };
  // Two texts with the same words are only near: they may differ in signs, such as == and !=.
  if (file.words && file.words === keep.words && !(file.whole && keep.whole)) return { kind: KINDS[2], contained: null };
  if (file.isShort || keep.isShort) return { refusal: 'tooShort' };
  if (!data.settings.verified) return { refusal: 'unverified' };
  return { kind: KINDS[3], contained: shareOf(group, place, other) };
}

/** Whether two members at these places have the texts of these files. */
function isOfTexts({ members }, pair, one, two) {
  const texts = pair.map((place) => members[place].file.text);
  return one.text !== two.text && texts.includes(one.text) && texts.includes(two.text);
}

/** The places of the files about which nothing was decided and something can be. */
function undecidedOf(group) {
  if (!isDecidable(group)) return [];
  return group.members.map((_, place) => place).filter((place) => {
    const { unfit, stays } = group.members[place].file;
    return decisionOf(group, place) === undefined && !unfit && !stays;
  });
}

/** Whether nothing is left to decide: the last file stays where all others go. */
function isDecided(group) {
  if (decisions.unrelated.has(group.id)) return true;
  const open = undecidedOf(group);
  return !open.length || (open.length === 1 && !group.members.some(({ file }, place) => place !== open[0] && !file.unfit && !goes(group, place)));
}

/** Whether a row of the list is a group of which something is left to decide. */
const isLeft = (row) => Boolean(row.members) && isDecidable(row) && !isDecided(row);

/** The file that stays for one that goes: {place, kind, contained}, or {refusal}. */
function keeperOf(group, place) {
  const wanted = decisionOf(group, place)?.keep ?? null;
  if (wanted !== null && !goes(group, wanted)) {
    const same = sameness(group, place, wanted);
    if (same.kind) return { place: wanted, ...same };
  }
  const kept = group.members.map((_, each) => each)
    .filter((each) => each !== place && !goes(group, each) && !group.members[each].file.unfit);
  if (!kept.length) return { refusal: 'lastOne' };
  // Of the strongest kind, one that the reader keeps, or else the first.
  const rank = ({ kind, place: each }) => KINDS.indexOf(kind) * 2 + Number(decisionOf(group, each) !== null);
  const found = kept.map((each) => ({ place: each, ...sameness(group, place, each) }));
  const able = found.filter(({ kind }) => kind);
  return able.sort((a, b) => rank(a) - rank(b))[0] ?? { refusal: found[0].refusal };
}

/** Remember how things are and where the reader is, so that a change can be taken back. */
function remember() {
  decisions.steps.push([new Map(decisions.of), new Set(decisions.unrelated), decisions.rules, page.chosen, page.place]);
  if (decisions.steps.length > MOST_STEPS) decisions.steps.shift();
}

function undoStep() {
  const step = decisions.steps.pop();
  if (!step) return;
  const [of, unrelated, rules, row, place] = step;
  Object.assign(decisions, { of, unrelated, rules });
  changed();
  if (page.shown.includes(row)) go(row, place);
}

/** Keep a file, or let it go; the same again takes it back. Returns whether something was decided. */
function decide(group, place, wish) {
  const { file } = group.members[place];
  const now = decisionOf(group, place);
  const isSame = wish === 'drop' ? Boolean(now) : now === null;
  const refusal = wish === 'drop' && !isSame ? (file.unfit || file.stays || keeperOf(group, place).refusal) : wish === 'keep' && file.unfit;
  if (refusal) {
    say(t('refusals')[refusal] ?? t('untouched', refusal));
    return false;
  }
  remember();
  decisions.unrelated.delete(group.id);
  if (isSame) decisions.of.delete(placeKey(group, place));
  else decisions.of.set(placeKey(group, place), wish === 'keep' ? null : { keep: null, why: BY_HAND });
  changed(group);
  return !isSame;
}

/** Keep this file, and let all others go that may. */
function keepOnly(group, place) {
  if (group.members[place].file.unfit) return;
  remember();
  decisions.unrelated.delete(group.id);
  decisions.of.set(placeKey(group, place), null);
  group.members.forEach(({ file }, other) => {
    if (other === place || file.unfit || file.stays) return;
    if (sameness(group, other, place).kind) decisions.of.set(placeKey(group, other), { keep: place, why: BY_HAND });
  });
  changed(group);
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
  decisions.rules = [];
  changed();
}

/** Whether something in a group was decided by hand. */
function isByHand(group) {
  return decisions.unrelated.has(group.id)
    || group.members.some((_, place) => decisionOf(group, place) === null || decisionOf(group, place)?.why === BY_HAND);
}

/** What `simdup clean` would decide by a rule: {group, gone} for each group in which a file goes. `scope` is the weakest kind. */
function proposalsOf(list, rule, scope) {
  const rules = rulesOf([rule]);
  return list.filter((group) => !isByHand(group)).map((group) => {
    const file = (place) => group.members[place].file;
    const gone = [...goneBy(group, rules, KINDS.indexOf(scope))].map(([place, keep]) => [place, { keep, why: preference(file(keep), file(place), rules).why }]);
    return { group, gone };
  }).filter(({ gone }) => gone.length);
}

/** Decide as was proposed. */
function accept(proposals, rule) {
  remember();
  for (const { group, gone } of proposals) {
    group.members.forEach((_, place) => decisions.of.delete(placeKey(group, place)));
    for (const [place, decision] of gone) decisions.of.set(placeKey(group, place), decision);
  }
  decisions.rules = [...decisions.rules.filter((each) => each !== rule), ...(rule ? [rule] : [])];
  changed();
}

/** The files of a group that go by rules, each with the one that stays for it: a map of places. */
function goneBy(group, rules, weakest) {
  const file = (place) => group.members[place].file;
  const pool = group.members.map((_, place) => place).filter((place) => !file(place).unfit);
  pool.sort((a, b) => preference(file(a), file(b), rules).order);
  const kept = [];
  const gone = new Map();
  for (const place of [...pool.filter((each) => file(each).stays), ...pool.filter((each) => !file(each).stays)]) {
    const copy = kept.find((each) => file(each).bytes === file(place).bytes)
      ?? (weakest > 0 ? kept.find((each) => [KINDS[1], KINDS[weakest > 1 ? 2 : 1]].includes(sameness(group, place, each).kind)) : undefined);
    if (copy !== undefined && !file(place).stays) gone.set(place, copy);
    else kept.push(place);
  }
  if (weakest > 2 && pool.length) addNear(group, pool[0], kept, gone);
  return gone;
}

/** Let near files go too, for the one file that the rules prefer to all others. */
function addNear(group, first, kept, gone) {
  const top = gone.get(first) ?? first;
  const { file: best } = group.members[first];
  for (const place of kept) {
    const { file } = group.members[place];
    if (place === top || sameness(group, place, first).kind !== KINDS[3] || file.stays) continue;
    const { kind, contained } = sameness(group, place, top);
    if ([place, top].some((each) => group.members[each].isRelated)) continue;
    if (kind !== KINDS[3] || contained < LEAST_IN_BULK || isPart(group, place, top)) continue;
    for (const [other, keep] of gone) if (keep === place) gone.set(other, top);
    gone.set(place, top);
  }
}

/** The groups about which something was decided. */
function touchedGroups() {
  const ids = new Set([...decisions.of.keys()].map((key) => Number(key.split(':')[0])));
  return every.filter(({ id }) => ids.has(id) || decisions.unrelated.has(id));
}

/** Every file that goes, as {group, file, keep, kind, contained, why}. */
function actionsOf() {
  return touchedGroups().flatMap((group) => group.members.flatMap((member, place) => {
    const decision = decisionOf(group, place);
    if (!decision) return [];
    const { place: keep, kind, contained, refusal } = keeperOf(group, place);
    return refusal ? [] : [{ group, file: member.file, keep: group.members[keep].file, kind, contained, why: decision.why }];
  }));
}

// ----- Kept in the browser, for this page alone.

const storageKey = data.plan && `simdup ${data.plan.header.of_digest}`;

function keepDecisions() {
  try {
    const { of, unrelated, rules } = decisions;
    localStorage.setItem(storageKey, JSON.stringify({ of: [...of], unrelated: [...unrelated], rules }));
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
    if (saved) Object.assign(decisions, { of: new Map(saved.of), unrelated: new Set(saved.unrelated), rules: saved.rules });
  } catch {
    page.isKept = false;
  }
}
