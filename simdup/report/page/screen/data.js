// The groups that the page was given, as objects with names.

const KINDS = ['identical bytes', 'identical text', 'same words', 'near'];

// Between a folder and a name, or the file of a row and its number.
const SEPARATOR = data.page === 'rows' ? ':' : '/';

const SAME_PATTERN = 'same pattern';

// Groups and members that are alike, but perhaps only of one series.
const RELATED = 'related';

// From which similarity on texts are here, exact or estimated from the distance; null where the
// nearest documents were asked for, however little they are alike.
const LEAST = data.settings.nearest ? null : data.settings.similarity
  ?? Math.max(0, Math.cos((Math.PI * data.settings.k) / data.settings.bits));

// From which share of one of two texts in the other it is mostly in it, as in reports of text.
const MOSTLY = 0.8;

const sizeOf = (list) => list.reduce((sum, { bytes }) => sum + bytes, 0);

// Groups whose texts look like versions of one document.
const VERSIONS = 'versions';

function memberOf([place, name, bytes, mtime, coding, features, short, damaged, doubt, kind, distance, alike, exact, own, fingerprint, label]) {
  const folder = data.folders[place];
  const path = folder ? folder.replace(/\/$/, '') + SEPARATOR + name : name;
  return {
    ...{ folder, name, path, bytes, mtime, features, damaged, distance, alike, own, fingerprint, doubt },
    // The id of a row, if it has one.
    label,
    // The number that the reader sees: how much of it stands in the first file of its group.
    share: alike,
    score: null,
    searched: `${label ?? ''} ${path}`.toLowerCase(),
    coding: data.codings[coding],
    short: Boolean(short),
    kind: kind === RELATED ? KINDS[3] : kind,
    isRelated: kind === RELATED,
    exact: Boolean(exact),
  };
}

/**
 * Tell each member its set, if its words have copies here, and how it is the same as the one before.
 * A set has the number of files with each content, below 0 where the text differs from the one before.
 */
function placeInSets(members, sets) {
  let place = 0;
  for (const [number, signed] of sets.entries()) {
    const contents = signed.map(Math.abs);
    const size = contents.reduce((sum, count) => sum + count, 0);
    const isHeaded = size > 1 && (size < members.length || (contents.length > 1 && contents.length < size));
    if (isHeaded) members[place].heads = signed;
    for (const member of members.slice(place, place + size)) Object.assign(member, { text: number, inSet: isHeaded });
    contents.forEach((count, content) => {
      for (let copy = 0; copy < count; copy += 1, place += 1) {
        if (copy || content) members[place].same = KINDS[copy ? 0 : signed[content] > 0 ? 1 : 2];
      }
    });
  }
}

/** How many of these files have the same bytes as another one; `sets` as in placeInSets. */
function identicalOf(sets) {
  return sets.flat().map(Math.abs).filter((count) => count > 1).reduce((sum, count) => sum + count, 0);
}

/** The least and the most share of members, and whether all are exact; null without members. */
function spanOf(members) {
  const shares = members.map(({ share }) => share).sort((one, other) => one - other);
  return members.length ? { least: shares[0], most: shares.at(-1), exact: members.every(({ exact }) => exact) } : null;
}

function groupOf([id, kind, list, sets, chain, sharing, more, remarks, why, different, held, figures, because]) {
  const members = list.map(memberOf);
  placeInSets(members, sets);
  // What members hold besides their text, where that is other content than the first one has.
  for (const [place, others] of Object.entries(remarks ?? {})) members[place].others = others;
  // What each member holds besides its text, whatever the others do.
  for (const [place, unread] of Object.entries(held ?? {})) members[place].unread = unread;
  // Pairs of places that the user called different.
  for (const [one, other] of different ?? []) (members[other].unlike ??= []).push(members[one].name);
  for (const [place, [score, share]] of (figures ?? []).entries()) Object.assign(members[place], { score, share });
  const identical = identicalOf(sets);
  const [first, ...others] = members;
  first.isFirst = true;
  first.why = why;
  // How the text of a row begins is found where the row is.
  const beginning = data.beginnings?.[id];
  if (beginning) first.searched += ` ${beginning.toLowerCase()}`;
  // A question may have no answer.
  const span = spanOf(others);
  const ofAnswers = data.page === 'answers' ? others.map((member) => member.kind) : [];
  return {
    id,
    kind,
    // The kinds of sameness that there are in it.
    kinds: [...ofAnswers, kind, chain ? VERSIONS : '', identical ? KINDS[0] : '', ...KINDS.slice(1, 3).filter((_, place) => sets.some((contents) => contents.slice(1).some((count) => count < 0 === Boolean(place))))],
    identical,
    // Why it is near, and how many members are only related to the first one.
    because,
    aside: kind === RELATED ? 0 : members.filter((member) => member.isRelated).length,
    // Names of versions from the oldest to the newest, and what changed; null for other groups.
    chain,
    sharing,
    members,
    different: different ?? [],
    // How many members the page does not have.
    more: more ?? 0,
    first,
    beginning,
    least: span?.least ?? first.share,
    // What its row says: of a group all shares, of an answer the best one; null without any.
    told: data.page === 'answers' ? spanOf(others.slice(0, 1)) : span,
    // What could be had back: all but the representative, where these are duplicates.
    copies: kind === SAME_PATTERN ? 0 : sizeOf(others),
    // What can go safely: copies of the same bytes or text.
    safe: data.page === 'answers' ? 0 : sizeOf(others.filter(({ same }) => KINDS.indexOf(same) >= 0 && same !== KINDS[2])),
  };
}

const every = data.groups.map(groupOf);

// Groups that wait for a decision, and those of texts that are perhaps only of one series.
const groups = every.filter(({ kind }) => kind !== RELATED);
const related = every.filter(({ kind }) => kind === RELATED);

// Files of one pattern, which are not duplicates and shown only when asked for.
const patterns = data.patterns.map(groupOf);

/** How alike two members of a group are: {alike, exact}, with the other one if one is the first; by their fingerprints if not known better, or null. */
function alikeOf({ members }, one, two) {
  const [a, b] = [members[one], members[two]];
  if (a.text === b.text) return { alike: 1, exact: true };
  const other = a.text === members[0].text ? b : b.text === members[0].text ? a : null;
  if (other) return { alike: other.alike, exact: other.exact, other };
  if (!a.fingerprint || !b.fingerprint) return null;
  const bits = distanceOf(atob(a.fingerprint), atob(b.fingerprint));
  return { alike: Math.max(0, Math.cos((Math.PI * bits) / data.settings.bits)), exact: false };
}

/** The bits that differ in two fingerprints, strings of a byte a character. */
function distanceOf(a, b) {
  let bits = 0;
  for (let i = 0; i < a.length; i++) {
    for (let left = a.charCodeAt(i) ^ b.charCodeAt(i); left; left &= left - 1) bits += 1;
  }
  return bits;
}

/** A share in words, or the least and the most; with a tilde if the distance only estimates it. */
function likeness(least, exact, most = least) {
  return (exact ? '' : '~') + t('span', least, most);
}

/** The number of a member, or the similarity of two members. */
function shareInWords({ alike, exact, share }) {
  return share === undefined ? t('alike', likeness(alike, exact)) : t('ofIt', likeness(share, exact));
}

/** How much of one member stands in another one: exact in the first one, elsewhere by their similarity. */
function shareOf(group, place, other) {
  const [one, two] = [group.members[place], group.members[other]];
  if (two.text === group.first.text) return one.share;
  return Math.min(1, alikeOf(group, place, other).alike * Math.sqrt(two.features / one.features));
}

/** Whether the other member, in which most of this one stands, is more than twice as long. */
function isPart({ members }, place, other) {
  return members[other].features > 2 * members[place].features;
}

/** How much of the first file stands in a member; null where that is not known. */
function ofFirstIn(member, first) {
  if (member.score === null || data.settings.recipe.features !== 'shingles') return null;
  return Math.min(1, member.alike * Math.sqrt(member.features / Math.max(1, first.features)));
}

/** The figures behind the number that the reader sees. */
function figuresOf(member, first) {
  const ofFirst = ofFirstIn(member, first);
  return [
    t('ofIt', likeness(member.share, member.exact)),
    member.score === null ? '' : t('score', percent(member.score)),
    member.score === null ? '' : t('alike', percent(member.alike)),
    member.own === null ? '' : t('own', percent(member.own)),
    ofFirst === null ? '' : t('ofFirst', percent(ofFirst)),
    member.distance ? t('bits', member.distance) : '',
  ].filter(Boolean);
}
