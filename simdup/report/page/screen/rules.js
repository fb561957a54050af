// Which of several files is kept: the rules of `simdup clean --prefer`, held to the same examples.

const nameIn = (path) => path.slice(path.lastIndexOf('/') + 1);
// The place of a file by one of the reasons of `findings.keeper`.
const placeBy = (file, reason) => file.reasons[data.plan.reasons.indexOf(reason)];
const among = (name, names) => (names.includes(name) ? names.indexOf(name) : names.length);

// The place of a file by each rule: the lower, the rather it is kept.
const PLAIN_RULES = {
  newest: (file) => -file.mtime,
  oldest: (file) => file.mtime,
  longest: (file) => -file.features,
  largest: (file) => -file.size,
  'shortest-path': (file) => [...file.path].length,
  shallowest: (file) => file.path.split('/').length,
  deepest: (file) => -file.path.split('/').length,
  first: (file) => file.root,
  representative: (file) => (file.isFirst ? 0 : 1),
  'original-name': (file) => placeBy(file, 'its name has no mark of a copy'),
  format: (file) => placeBy(file, 'a format that holds more'),
};

const TAKING_RULES = {
  format: (file, names) => among(file.format, names),
  encoding: (file, names) => among(file.encoding, names),
  name: (file, [glob]) => (patternOf(glob).test(nameIn(file.path)) ? 0 : 1),
  under: (file, [folder]) => (file.path === folder || file.path.startsWith(folder.replace(/\/?$/, '/')) ? 0 : 1),
};

/** A rule from NAME or NAME=VALUE: its place of a file, and itself in words. */
function ruleOf(text) {
  const [name, ...rest] = text.split('=');
  if (!rest.length) return { words: name, placeOf: PLAIN_RULES[name] };
  const value = rest.join('=');
  const values = name === 'format' || name === 'encoding' ? value.split(',') : [value];
  const known = name === 'encoding' ? values.map((each) => (/^(gbk|gb2312|cp936)$/i.test(each) ? 'gb18030' : each)) : values;
  return { words: `${name} ${known.join(', ')}`, placeOf: (file) => TAKING_RULES[name](file, known) };
}

/** The rules in their order; then the reasons, which decide where no rule does. */
function rulesOf(texts) {
  return [...texts.map(ruleOf), ...data.plan.reasons.map((words) => ({ words, placeOf: (file) => placeBy(file, words) }))];
}

/** Which of two files is kept: {order, why}; the order is below 0 for the first one. */
function preference(one, two, rules) {
  for (const { words, placeOf } of rules) {
    const [a, b] = [placeOf(one), placeOf(two)];
    if (a !== b) return { order: a < b ? -1 : 1, why: words };
  }
  return { order: compareBytes(one.raw ?? bytesOf(one.path), two.raw ?? bytesOf(two.path)), why: 'order of names' };
}

function bytesOf(text) {
  return new TextEncoder().encode(text);
}

function compareBytes(a, b) {
  const at = a.findIndex((byte, place) => byte !== b[place]);
  if (at < 0) return a.length - b.length;
  return at < b.length ? a[at] - b[at] : 1;
}

/** A glob as a pattern: * and ? and [sets]; it tells capitals from small letters. */
function patternOf(glob) {
  const source = glob.replace(/\[(!?)(\]?[^\]]*)\]|[*?]|[\\^$.|+(){}[\]]/g, (piece, not, set) => {
    if (set) return `[${not ? '^' : ''}${set.replace(/[\\\]^[]/g, '\\$&')}]`;
    return { '*': '.*', '?': '.' }[piece] ?? `\\${piece}`;
  });
  return new RegExp(`^(?:${source})$`, 'su');
}
