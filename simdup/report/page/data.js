// What the page was given, as objects with names.

const data = JSON.parse(byId('data').textContent);

const KINDS = ['identical bytes', 'identical text', 'near'];

function memberOf([folder, name, bytes, mtime, coding, features, short, damaged, kind, distance, alike, exact]) {
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
  };
}

function groupOf([id, kind, diameter, list]) {
  const members = list.map(memberOf);
  const [first, ...others] = members;
  for (const member of members) member.path = member.folder ? `${member.folder.replace(/\/$/, '')}/${member.name}` : member.name;
  const least = others.reduce((low, each) => (each.alike < low.alike ? each : low));
  return {
    id,
    kind,
    diameter,
    members,
    first,
    least: least.alike,
    exact: least.exact,
    // What could be had back: all but the representative.
    copies: others.reduce((sum, each) => sum + each.bytes, 0),
    searched: members.map((each) => each.path.toLowerCase()),
  };
}

const groups = data.groups.map(groupOf);

/** How alike in words: exact, or with a tilde what the distance stands for. */
function likeness(alike, exact) {
  return (exact ? '' : '~') + percent(alike);
}
