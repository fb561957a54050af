// The groups that the page was given, as objects with names.

const KINDS = ['identical bytes', 'identical text', 'same words', 'near'];

// Between a folder and a name, or the file of a row and its number.
const SEPARATOR = data.page === 'rows' ? ':' : '/';

// Groups and members that are alike, but perhaps only of one series.
const RELATED = 'related';

// From which similarity on texts are here; null where the nearest documents were asked for.
const LEAST = data.settings.nearest ? null : data.settings.similarity
  ?? Math.max(0, Math.cos((Math.PI * data.settings.k) / data.settings.bits));

const sizeOf = (list) => list.reduce((sum, { bytes }) => sum + bytes, 0);

function memberOf([place, name, bytes, mtime, coding, features, short, damaged, doubt, kind, distance, alike, exact, own, fingerprint, label]) {
  const folder = data.folders[place];
  const path = folder ? folder.replace(/\/$/, '') + SEPARATOR + name : name;
  return {
    ...{ folder, name: label ?? (data.page === 'rows' ? path : name), path, bytes, mtime, features, short: Boolean(short), damaged, doubt, distance, alike, own, fingerprint },
    // How much of its text is in the kept file, as far as is known; else the similarity.
    share: alike,
    searched: `${label ?? ''} ${path} ${data.codings[coding] ?? ''}`.toLowerCase(),
    coding: data.codings[coding],
    isRelated: kind === RELATED,
    exact: Boolean(exact),
  };
}

/**
 * Tell each member the number of its words, and how it is the same as the member before. A set has the
 * number of files with each content, below 0 where the text differs from the content before.
 */
function placeInSets(members, sets) {
  let place = 0;
  for (const [number, signed] of sets.entries()) {
    signed.forEach((count, content) => {
      for (let copy = 0; copy < Math.abs(count); copy += 1, place += 1) {
        members[place].text = number;
        if (copy || content) members[place].same = KINDS[copy ? 0 : count > 0 ? 1 : 2];
      }
    });
  }
}

/** How a member is the same as the kept file, or for a copy as the file before it. */
function sortOf(member, first) {
  const isCopy = member.same === KINDS[0] || (data.page === 'rows' && member.same === KINDS[1]);
  return isCopy ? 'identical' : member.text === first.text ? 'words' : member.isRelated ? RELATED : 'near';
}

function groupOf([id, kind, list, sets, chain, sharing, more, remarks, why, different, held, shares, because]) {
  const members = list.map(memberOf);
  placeInSets(members, sets);
  // What members hold besides the words of the first one, and besides their text.
  for (const [place, others] of Object.entries(remarks ?? {})) members[place].others = others;
  for (const [place, unread] of Object.entries(held ?? {})) members[place].unread = unread;
  for (const [place, share] of (shares ?? []).entries()) members[place].share = share ?? members[place].share;
  const [first] = members;
  members.forEach((member, place) => { member.sort = place ? sortOf(member, first) : 'kept'; });
  // How the text of a row begins is found where the row is.
  const beginning = data.beginnings?.[id];
  if (beginning) first.searched += ` ${beginning.toLowerCase()}`;
  const placesOfSort = (...sorts) => members.map((_, place) => place).filter((place) => sorts.includes(members[place].sort));
  const look = placesOfSort('words', 'near');
  const best = look.toSorted((one, other) => members[other].share - members[one].share)[0] ?? 1;
  return {
    ...{ id, kind, members, first, beginning, why, because, sharing, different: different ?? [], more: more ?? 0 },
    ...{ look, best, identical: placesOfSort('identical'), isSameWords: look.length > 0 && look.every((place) => members[place].sort === 'words') },
    chain: chain && [chain[0].map((path) => stemOf(path.split('/').pop())), chain[1]],
    title: data.page === 'files' ? stemOf(first.name) : first.name,
    share: members[best]?.share ?? 0,
    bytes: sizeOf(placesOfSort('identical').map((place) => members[place])),
  };
}

const stemOf = (name) => name.replace(/(?<=.)\.[^. ]{1,5}$/, '');

const every = data.groups.map(groupOf);

// Groups of texts that are perhaps only of one series, and files of one pattern: no duplicates.
const related = every.filter(({ kind }) => kind === RELATED);
const forms = data.patterns.map(groupOf);

// The groups with identical files, those with the largest copies first; and the groups that want a look, the most alike first.
const copies = every.filter(({ identical }) => identical.length).sort((a, b) => b.bytes - a.bytes);
const looks = every.filter(({ kind, look }) => kind !== RELATED && look.length).sort((a, b) => b.share - a.share);

const parts = data.parts.map(([path, whole, share, start, end], place) => ({ id: `part-${place}`, title: path.split('/').pop(), path, whole, share, start, end }));

/** How similar two members are: known if one is the first, else estimated by their fingerprints. */
function alikeOf({ members }, one, two) {
  const [a, b] = [members[one], members[two]];
  if (a.text === b.text) return { alike: 1, exact: true };
  const other = a.text === members[0].text ? b : b.text === members[0].text ? a : null;
  if (other) return other;
  return { alike: Math.max(0, Math.cos((Math.PI * distanceOf(atob(a.fingerprint), atob(b.fingerprint))) / data.settings.bits)), exact: false };
}

/** The bits that differ in two fingerprints, strings of a byte a character. */
function distanceOf(a, b) {
  let bits = 0;
  for (let at = 0; at < a.length; at += 1) {
    for (let left = a.charCodeAt(at) ^ b.charCodeAt(at); left; left &= left - 1) bits += 1;
  }
  return bits;
}

/** The figures behind the share that the reader sees. */
function figuresOf(member) {
  return dotted([
    t('alike', `${member.exact ? '' : '~'}${percent(member.alike)}`), member.own === null ? '' : t('own', percent(member.own)), member.distance ? t('bits', member.distance) : '',
  ]).join('');
}

/** How much of one member is in another one: known of the first one, and estimated of others. */
function containedIn(group, place, kept) {
  const [one, other] = [group.members[place], group.members[kept]];
  return other.text === group.first.text ? one.share : Math.min(1, alikeOf(group, place, kept).alike * Math.sqrt(other.features / one.features));
}

/** How much of a member is in the kept file; with a tilde if only the fingerprints tell. */
const shareOf = (member) => (member.exact ? '' : '~') + wholePercent(member.share);

/** What differs between a file and the first one of its group: a list of texts, or of [text of the first, text of the file]. */
function differencesOf(group, place) {
  const member = group.members[place];
  const known = data.differences[group.id]?.[place];
  const said = [];
  if (known) {
    const [left, right, facts, onlyKept, onlyOther, changed] = known;
    const shown = Math.max(left.length, right.length);
    for (let at = 0; at < shown; at += 1) said.push([left[at] ?? '', right[at] ?? '']);
    if (facts > shown) said.push(t('moreNumbers', facts - shown));
    // First what would be lost.
    if (onlyOther) said.push(t('onlyOther', onlyOther));
    if (onlyKept) said.push(t('onlyKept', onlyKept));
    if (changed && !facts) said.push(t('changedPlaces', changed));
  }
  if (member.others) said.push(t('otherContent', member.others.map((kind) => t('contents')[kind] ?? kind)));
  if (member.sort === 'words' && !said.length) said.push(member.same === KINDS[1] && member.coding !== group.first.coding ? t('otherEncoding', member.coding) : member.coding === group.first.coding ? t('otherLayout') : t('otherFormat', member.coding));
  return said;
}

/** The first difference of a file as one line of text. */
function differenceInWords(group, place) {
  const [first] = differencesOf(group, place);
  if (!first) return '';
  return typeof first === 'string' ? first : t('otherNumbers', first[0] || t('none'), first[1] || t('none'));
}

/** What the row of a group says: its versions, or what differs in the file that is most alike. */
function lineOf(group) {
  const [difference] = differencesOf(group, group.best);
  // Two versions with other numbers are shown by these.
  if (group.chain && (group.chain[0].length > 2 || !Array.isArray(difference))) return t('chain', ...group.chain);
  const words = differenceInWords(group, group.best);
  const best = group.members[group.best];
  return best?.sort === 'words' && best.same !== KINDS[1] ? t('sameWordsBut', words) : words || t('sorts').near;
}
