// What the page was given, as objects with names.

const data = JSON.parse(byId('data').textContent);

const KINDS = ['identical bytes', 'identical text', 'near'];

const SAME_PATTERN = 'same pattern';

// An own share from here on says nothing that the reader would not expect.
const EXPECTED = 0.95;

function memberOf([folder, name, bytes, mtime, coding, features, short, damaged, doubt, kind, distance, alike, exact, own]) {
  return {
    folder: data.folders[folder],
    name,
    bytes,
    mtime,
    coding: data.codings[coding],
    features,
    short: Boolean(short),
    damaged,
    kind,
    distance,
    alike,
    exact: Boolean(exact),
    own,
    doubt,
  };
}

/** Tell each member its set, if its text has copies here, and how it is the same as the one before. */
function placeInSets(members, sets) {
  let place = 0;
  for (const contents of sets) {
    const size = contents.reduce((sum, count) => sum + count, 0);
    const isHeaded = size > 1 && (size < members.length || (contents.length > 1 && contents.length < size));
    if (isHeaded) members[place].heads = contents;
    for (const member of members.slice(place, place + size)) member.inSet = isHeaded;
    contents.forEach((count, number) => {
      for (let copy = 0; copy < count; copy += 1, place += 1) {
        if (copy || number) members[place].same = copy ? 'identical bytes' : 'identical text';
      }
    });
  }
}

/** How many of these files have the same bytes as another one; `sets` as in placeInSets. */
function identicalOf(sets) {
  return sets.flat().filter((count) => count > 1).reduce((sum, count) => sum + count, 0);
}

function groupOf([id, kind, diameter, list, sets, chain, sharing]) {
  const members = list.map(memberOf);
  placeInSets(members, sets);
  const identical = identicalOf(sets);
  const [first, ...others] = members;
  for (const member of members) member.path = member.folder ? `${member.folder.replace(/\/$/, '')}/${member.name}` : member.name;
  const least = others.reduce((low, each) => (each.alike < low.alike ? each : low));
  return {
    id,
    kind,
    // The kinds of sameness that there are in it.
    kinds: [kind, identical ? KINDS[0] : '', sets.some((contents) => contents.length > 1) ? KINDS[1] : ''],
    identical,
    diameter,
    // Names of versions from the oldest to the newest, and what changed; null for other groups.
    chain,
    sharing,
    members,
    first,
    least: least.alike,
    exact: least.exact,
    // What could be had back: all but the representative, where these are duplicates.
    copies: kind === SAME_PATTERN ? 0 : others.reduce((sum, each) => sum + each.bytes, 0),
    searched: members.map((each) => each.path.toLowerCase()),
  };
}

const groups = data.groups.map(groupOf);

// Files of one pattern, which are no duplicates and shown only when asked for.
const patterns = data.patterns.map(groupOf);

/** How alike in words: exact, or with a tilde what the distance stands for. */
function likeness(alike, exact) {
  return (exact ? '' : '~') + percent(alike);
}
