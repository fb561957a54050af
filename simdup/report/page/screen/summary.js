// About the scan: what was found, how, and what was left out. The help shows it.

/** All that is known about the scan, below the keys. */
function aboutScan() {
  return make('section', { id: 'about' },
    make('h2', {}, t('summary')), make('div', { id: 'figures' }, figures()),
    make('h2', {}, t('settings')), make('p', { id: 'settings' }, settingsInWords().join(page.language === 'zh' ? '' : ' ')),
    doubts(), make('h2', {}, t('skippedTitle')), skips());
}

function warnings() {
  return [
    data.complete || !every.length ? null : t('incomplete'),
    data.narrowed ? t('narrowed', ...data.narrowed) : null,
    ...Object.entries(data.missing).map(([command, count]) => t('missingExtra', count, command)),
    data.moreGroups ? t('moreGroups', data.moreGroups, size(data.largestPage)) : null,
    data.leftOut ? t('leftOut', data.leftOut, size(data.largestPage)) : null,
  ].filter((text) => text !== null);
}

function figures() {
  if (data.figures) return data.figures.map(([key, value, note, ...more]) => figure(key, number(value), note ? t(note, ...more) : ''));
  const near = every.filter(({ kind }) => kind !== RELATED);
  const skipped = Object.values(data.skips).reduce((total, count) => total + count, 0);
  const rows = [
    [data.complete && data.known ? 'compared' : 'read', number(data.read), t('ofFound', data.found, size(data.bytes))],
    ['groups', number(near.length), t('inSeconds', data.seconds.toFixed(1), data.known)],
    ['members', number(near.reduce((total, { members }) => total + members.length, 0)), ''],
    ['skipped', number(skipped), ''],
  ];
  return rows.map((row) => figure(...row));
}

const figure = (key, value, note) => make('p', {}, make('b', {}, value), ` ${t('figures')[key]} `, make('span', { class: 'note' }, note));

function settingsInWords() {
  const { recipe, bits, verified, similarity, own_share: ownShare, parts, k, nearest, most, linkage, encoding } = data.settings;
  return [
    nearest ? t('nearest', nearest) : verified ? t('verified', percent(similarity)) : t('bare', k, bits, percent(LEAST)),
    most ? t('atMost', most) : '',
    ownShare ? t('ownShare', percent(ownShare)) : '',
    parts ? t('partsAsked', percent(parts)) : '',
    data.nearFrom ? t('scoreMeans', percent(data.nearFrom)) : '',
    data.siblings ? t('siblings', data.siblings) : '',
    data.identityOnly.length ? t('identityOnly', data.identityOnly.map(([kind, count]) => [t('noise')[kind] ?? kind, count])) : '',
    data.recall ? t('recall', ...data.recall.map(percent)) : '',
    t('recipe', bits, t('features')[recipe.features](recipe.ngram, recipe.top)),
    linkage ? t('linkage')[linkage] : '',
    encoding ? t('encoding', encoding) : '',
  ].filter(Boolean);
}

/** How many were left out for each reason, and their names when asked for. */
function skips() {
  const counts = Object.entries(data.skips);
  if (!counts.length) return [make('p', {}, t('nothingSkipped'))];
  const all = counts.reduce((total, [, count]) => total + count, 0);
  const reasons = counts.map(([reason, count]) => make('li', {}, make('b', {}, number(count)), ` ${inWords(reason)}`));
  const names = data.skipped.map(([path, reason, detail]) => [path, `${inWords(reason)}${detail ? t('bracketed', detail) : ''}`]);
  return [make('ul', { class: 'reasons' }, reasons), namesOfFiles(names, all)];
}

/** The files whose texts are doubtful, each with the reason; nothing if there are none. */
function doubts() {
  if (!data.doubts) return [];
  const names = data.doubtful.map(([path, doubt]) => [path, inWords(doubt)]);
  return [make('h2', {}, t('doubtfulTitle')), make('p', {}, t('doubtfulMeaning')), namesOfFiles(names, data.doubts)];
}

/** The first of so many files, each with a note, laid out when asked for. */
function namesOfFiles(names, all) {
  const list = make('ul', { class: 'names' });
  const lay = () => list.childElementCount || list.append(...names.map(([path, note]) =>
    make('li', {}, make('bdi', { class: 'path' }, path), make('span', { class: 'note' }, ` ${note}`))));
  return make('details', { ontoggle: lay }, make('summary', {}, t('skippedShown', names.length, all)), list);
}

const inWords = (reason) => t('reasons')[reason] ?? reason;
