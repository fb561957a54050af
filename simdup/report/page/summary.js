// What was found, how, and what was left out.

/** Where and when the scan was, in words. */
function titleInWords() {
  const places = data.places.length > 2 ? [data.places[0], t('morePlaces', data.places.length - 1)] : data.places;
  return t('title', places, data.read, data.day === null ? '' : dayOf(data.day));
}

function drawSummary() {
  byId('warnings').replaceChildren(...warnings().map((text) => make('p', { class: 'warning' }, text)));
  byId('figures').replaceChildren(...figures());
  byId('settings').replaceChildren(
    make('h2', {}, t('settings')),
    make('p', {}, settingsInWords().join(page.language === 'zh' ? '' : ' ')),
    ...doubts(),
    make('h2', {}, t('skippedTitle')),
    ...skips(),
  );
}

function warnings() {
  return [
    data.complete ? null : t('incomplete'),
    data.narrowed ? t('narrowed', ...data.narrowed) : null,
    ...Object.entries(data.missing).map(([command, count]) => t('missingExtra', count, command)),
    data.moreGroups ? t('moreGroups', data.moreGroups, size(data.largestPage)) : null,
    data.leftOut ? t('leftOut', data.leftOut, size(data.largestPage)) : null,
  ].filter((text) => text !== null);
}

function figures() {
  if (data.figures) return data.figures.map(([key, value, note, ...more]) => figure(key, number(value), note ? t(note, ...more) : ''));
  const sum = (of) => groups.reduce((total, group) => total + of(group), 0);
  const skipped = Object.values(data.skips).reduce((total, count) => total + count, 0);
  const rows = [
    [data.complete && data.known ? 'compared' : 'read', number(data.read), t('ofFound', data.found, size(data.bytes))],
    ['groups', number(groups.length), t('inSeconds', data.seconds.toFixed(1), data.known)],
    ['members', number(sum((group) => group.members.length)), ''],
    ['copies', size(sum((group) => group.copies)), t('allButFirst')],
    ['skipped', number(skipped), ''],
  ];
  return rows.map((row) => figure(...row));
}

function figure(key, value, note) {
  return make('div', {},
    make('dt', {}, t('figures')[key]), make('dd', { class: 'value' }, value), make('dd', { class: 'note' }, note));
}

function settingsInWords() {
  const { recipe, bits, verified, similarity, own_share: ownShare, parts, k, nearest, most, linkage, encoding } = data.settings;
  return [
    nearest ? t('nearest', nearest) : verified ? t('verified', percent(similarity)) : t('bare', k, bits, percent(LEAST)),
    most ? t('atMost', most) : '',
    ownShare ? t('ownShare', percent(ownShare)) : '',
    parts ? t('partsAsked', percent(parts)) : '',
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
  const list = make('ul', { class: 'names' });
  const details = make('details', { ontoggle: () => list.childElementCount || list.append(...skippedNames()) },
    make('summary', {}, t('skippedShown', data.skipped.length, all)), list);
  return [
    make('ul', { class: 'reasons' }, counts.map(([reason, count]) =>
      make('li', {}, make('b', {}, number(count)), ` ${inWords(reason)}`))),
    details,
  ];
}

function skippedNames() {
  return data.skipped.map(([path, reason, detail]) => nameOf(path, `${inWords(reason)}${detail ? ` (${detail})` : ''}`));
}

function nameOf(path, note) {
  return make('li', {}, make('bdi', { class: 'path' }, path), make('span', { class: 'note' }, ` ${note}`));
}

/** The files whose texts are doubtful, each with the reason; nothing if there are none. */
function doubts() {
  if (!data.doubts) return [];
  return [
    make('h2', {}, t('doubtfulTitle')),
    make('p', {}, t('doubtfulMeaning')),
    make('details', {},
      make('summary', {}, t('skippedShown', data.doubtful.length, data.doubts)),
      make('ul', { class: 'names' }, data.doubtful.map(([path, doubt]) => nameOf(path, inWords(doubt))))),
  ];
}

function inWords(reason) {
  return t('reasons')[reason] ?? reason;
}
