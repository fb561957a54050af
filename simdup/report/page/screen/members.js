// The files of the chosen group, each with what was decided about it.

/** Whether files of the group can be kept or dropped: no files of one pattern can. */
function isDecidable(group) {
  return Boolean(data.plan) && group.kind !== SAME_PATTERN;
}

/** The list with the members of a group; one that was searched for is laid out in any case. */
function filled(list, group) {
  const least = Math.max(AT_ONCE, (page.found.get(group.id) ?? 0) + 1, list.querySelectorAll('.member').length);
  const isMixed = !group.members.every((member) => isWanted(member, page.wanted));
  list.replaceChildren();
  layOut(list, [...group.members.entries()], ([place, member]) => [member.heads ? setHead(member, place) : null, cardOf(group, member, place, isMixed && isWanted(member, page.wanted))],
    (left, onclick) => wideButton('li', t('moreMembers', left), onclick), least);
  if (group.more) list.append(make('li', { class: 'note' }, t('moreRows', group.more)));
  return list;
}

/** The heading of an identical set, before its first member. */
function setHead(member, place) {
  const contents = member.heads.map(Math.abs);
  const size = contents.reduce((sum, count) => sum + count, 0);
  const words = contents.length === 1 ? t('identicalFiles', size)
    : t(member.heads.some((count) => count < 0) ? 'sameWords' : 'sameText', size, identicalOf([contents]), contents.filter((count) => count > 1).length);
  return make('li', { class: 'set' }, dotted([words, place ? shareInWords(member) : '']));
}

function cardOf(group, member, place, isSought) {
  const state = ['member', member.inSet ? 'inside' : '', isSought ? 'sought' : '', goes(group, place) ? 'goes' : ''];
  return make('li', { class: state.filter(Boolean).join(' '), tabindex: -1, 'data-place': place, onclick: () => stand(place) },
    isDecidable(group) ? make('div', { class: 'decide' }, choiceOf(group, member, place)) : null,
    make('div', { class: 'file' }, pathOf(member, page.wanted.words), make('div', { class: 'facts' }, dotted(factsOf(group, place)))),
    make('div', { class: 'alike', title: place ? figuresOf(member, group.first).join(', ') : null }, place ? likeness(member.share, member.exact) : t('representative')),
    make('div', { class: 'tools' }, toolsOf(member), place ? make('button', {
      type: 'button', class: 'compare tool', 'aria-label': t('compareWith', member.path), onclick: (event) => {
        event.stopPropagation();
        compareHere(place);
      },
    }, t('compare')) : null));
}

/** Be at a file that was clicked, and compare it. */
function stand(place) {
  page.place = place;
  markFile();
  if (place && page.chosen.members && !page.pair.includes(place)) comparePlaces([0, place]);
}

/** Date, size, format and what is the same in a member, and what else is to be said of it. */
function factsOf(group, place) {
  const member = group.members[place];
  const isMixed = member.isRelated && group.kind !== RELATED && !group.chain;
  return [
    member.mtime === null ? '' : moment(member.mtime),
    amount(member.bytes),
    member.coding,
    place ? closeness(member) : '',
    member.why ? t('toKeep', whyInWords(member.why)) : '',
    isMixed ? t('kinds')[RELATED] : '',
    place ? mostlyInside(member, group.first) : '',
    member.short ? t('short') : '',
    member.damaged ? t('damaged', member.damaged) : '',
    member.others ? t('otherContent', member.others) : '',
    member.unlike ? t('unlike', member.unlike.join(', ')) : '',
    member.doubt ? t('doubtful', inWords(member.doubt)) : '',
  ];
}

/** Copy the path of a member, and open it as a file; a page from a server could not open it. */
function toolsOf({ file }) {
  if (!file) return null;
  const copy = make('button', { type: 'button', class: 'tool', title: t('copyPath', file.shown), 'aria-label': t('copyPath', file.shown), onclick: () => copyText(file.shown) }, t('copy'));
  const open = location.protocol === 'file:' && data.plan.sep === '/' ? make('a', {
    class: 'tool', href: addressOf(file), target: '_blank', rel: 'noopener noreferrer', title: t('openFile', file.shown), 'aria-label': t('openFile', file.shown),
  }, t('open')) : null;
  return [copy, open];
}

/** What is the same in a member and its representative, or in a set the one before; '' if it is near. */
function closeness(member) {
  const kind = member.same ?? member.kind;
  return [KINDS[3], SAME_PATTERN].includes(kind) ? '' : t('kinds')[kind];
}

/** That most of the first file stands in a member, but not most of the member in the first. */
function mostlyInside(member, first) {
  const ofFirst = ofFirstIn(member, first);
  return ofFirst >= MOSTLY && member.share < MOSTLY ? t('ofFirst', percent(ofFirst)) : '';
}

/** Keep and drop, pressed as was decided. */
function choiceOf(group, member, place) {
  const about = member.file.unfit || member.file.stays;
  if (about) return make('span', { class: 'note', title: about }, t('untouchable'));
  const decision = decisionOf(group, place);
  return [['keep', 'keepThis', decision === null], ['drop', 'dropThis', Boolean(decision)]].map(([wish, label, isSo]) => make('button', {
    type: 'button', class: wish, 'aria-pressed': String(isSo), 'aria-label': t(label, member.path), onclick: (event) => {
      event.stopPropagation();
      page.place = place;
      decideHere(wish);
    },
  }, t(wish)));
}

/** Below the members: that they are not duplicates. */
function unrelatedOf(group) {
  if (!isDecidable(group) || !hasTexts(group)) return null;
  return make('p', {}, make('button', {
    type: 'button', class: 'unrelated', 'aria-pressed': String(decisions.unrelated.has(group.id)), onclick: () => toggleUnrelated(group),
  }, t('unrelated')));
}
