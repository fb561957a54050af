// The line that counts what was decided, and the orders, which show what they suggest before it is accepted.

/** Fill the choices of orders, in the present language. */
function drawRuling() {
  byId('decisions').hidden = !data.plan || !every.length;
  if (byId('decisions').hidden) return;
  setOptions('rule', data.plan.orders.map(({ name }, at) => [String(at), t('rules')[name]]));
  drawDecisions();
}

/** Show what the chosen order suggests for the groups of the list; each can be unticked. */
function drawProposals() {
  const list = page.shown.filter((row) => row.members && isDecidable(row));
  page.proposals = list.map((group) => ({ group, isTicked: true, gone: undecidedOf(group).filter((place) => isSuggested(group, place)) }))
    .filter(({ gone }) => gone.length);
  byId('proposals').replaceChildren();
  layOut(byId('proposals'), page.proposals, proposalItem, (left, onclick) => wideButton('li', t('more', left), onclick));
  countProposals();
}

/** One group: the file that stays with the reason, and the files that go. */
function proposalItem(proposal) {
  const { group, gone } = proposal;
  const box = make('input', { type: 'checkbox', onchange: (event) => {
    proposal.isTicked = event.target.checked;
    countProposals();
  } });
  box.checked = proposal.isTicked;
  const kept = Map.groupBy(gone, (place) => offerOf(group, place).keep);
  return make('li', {}, make('label', {}, box, make('span', {}, [...kept].map(([keep, others]) => [
    make('span', { class: 'stays' }, t('stays'), pathOf(group.members[keep]), make('span', { class: 'note' }, t('bracketed', whyInWords(offerOf(group, others[0]).why)))),
    others.map((place) => make('span', { class: 'goes' }, t('goes'), pathOf(group.members[place]))),
  ]).flat(2))));
}

/** The reason of a rule or of `findings.keeper`, in the present language. */
const whyInWords = (why) => t('rules')[why] ?? t('keepers')[why] ?? why;

const tickedProposals = () => page.proposals.filter(({ isTicked }) => isTicked);

function countProposals() {
  const ticked = tickedProposals();
  const files = ticked.flatMap(({ group, gone }) => gone.map((place) => group.members[place]));
  byId('proposed').textContent = t(page.proposals.length ? 'proposed' : 'nothingProposed', ticked.length, page.proposals.length);
  byId('apply').textContent = t('applyRule', files.length, size(sizeOf(files)));
  byId('apply').disabled = !files.length;
}

/** Show what changed: in one group, or in all that are laid out. */
function changed(group) {
  keepDecisions();
  drawDecisions();
  if (group) redraw(group);
  else drawList();
  if (!group || group === page.chosen) redrawMembers();
}

/** How far the reader is, and what can be done about it. */
function drawDecisions() {
  const decidable = groups.filter(isDecidable);
  const decided = decidable.filter(isDecided).length;
  const actions = actionsOf();
  byId('going').textContent = t('progress', decided, decidable.length, size(sizeOf(actions.map(({ file }) => ({ bytes: file.size })))));
  Object.assign(byId('bar'), { max: Math.max(1, decidable.length), value: decided });
  byId('undo').disabled = !decisions.steps.length;
  byId('clear').disabled = !decisions.of.size && !decisions.unrelated.size;
  byId('export').disabled = !canExport();
  if (!page.isKept) say(t('notKept'));
}

/** Say something that has no place of its own, such as why a file cannot go. */
function say(text) {
  byId('said').textContent = text;
}

/** Keep or drop the file at which the reader is, and move on; of a pair of folders, all files of one. */
function decideHere(wish) {
  const { chosen, place } = page;
  say('');
  if (chosen && !chosen.members) decidePair(chosen, place, wish);
  else if (chosen && isDecidable(chosen) && decide(chosen, place, wish)) moveOn(chosen);
}

function listenToDecisions() {
  byId('rule').addEventListener('change', () => {
    setOrder(Number(byId('rule').value));
    drawProposals();
  });
  byId('rules').addEventListener('click', () => {
    drawProposals();
    byId('ruling').showModal();
  });
  byId('apply').addEventListener('click', () => acceptSuggested(tickedProposals().map(({ group }) => group)));
  byId('undo').addEventListener('click', undoStep);
  byId('clear').addEventListener('click', clearDecisions);
  byId('export').addEventListener('click', openExport);
}
