// What the page was given, as objects with names.

const data = JSON.parse(byId('data').textContent);

const KINDS = ['identical bytes', 'identical text', 'near'];

const SAME_PATTERN = 'same pattern';

// An own share from here on says nothing that the reader would not expect.
const EXPECTED = 0.95;

function memberOf([folder, name, bytes, mtime, coding, features, short, damaged, kind, distance, alike, exact, own]) {
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
  };
}

function groupOf([id, kind, diameter, list, sharing]) {
  const members = list.map(memberOf);
  const [first, ...others] = members;
  for (const member of members) member.path = member.folder ? `${member.folder.replace(/\/$/, '')}/${member.name}` : member.name;
  const least = others.reduce((low, each) => (each.alike < low.alike ? each : low));
  return {
    id,
    kind,
    diameter,
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
