// What is left to decide in each list, the line that counts the plan, and what follows a decision.

/** The places of a group that the present list is about: its copies, or what differs. */
function placesIn(group, tab = page.tab) {
  if (!group.members || tab !== 'look') return tab === 'identical' ? group.identical ?? [] : [];
  const kept = keptOf(group);
  return group.look.includes(kept) ? [0, ...group.look.filter((place) => place !== kept)] : group.look;
}

/** The places of these that are undecided and that may be removed: of copies the suggested ones. */
function openIn(group, tab = page.tab) {
  if (!data.plan || decisions.unrelated.has(group.id)) return [];
  return placesIn(group, tab).filter((place) => decisionOf(group, place) === undefined && (tab === 'identical' ? isSuggested(group, place) : mayRemove(group, place)));
}

/** Whether a file may be removed for the kept one, perhaps by hand. */
function mayRemove(group, place) {
  const offer = offerOf(group, place);
  return !group.members[place].file.kept && Boolean(offer) && !offer.refusal;
}

/** The rows of a tab in which something is left to decide. */
const leftIn = (tab) => TABS[tab].all().filter((group) => openIn(group, tab).length);

/** The file of a group that is kept for the others: the first one without an offer, unless the reader removed it. */
function keptOf(group) {
  const first = data.plan ? Math.max(0, group.members.findIndex((_, place) => !offerOf(group, place))) : 0;
  return data.plan && goes(group, first) ? keeperOf(group, first).place ?? first : first;
}

let suggested = null;

/** Every file of the suggestion by the present order: {group, place, keep, bytes}. */
function suggestion() {
  if (suggested?.order === decisions.order) return suggested.list;
  const list = every.flatMap((group) => group.members.flatMap((member, place) => (isSuggested(group, place) ? [{ group, place, keep: offerOf(group, place).keep, bytes: member.bytes }] : [])));
  suggested = { order: decisions.order, list };
  return list;
}

const undecided = (list) => list.filter(({ group, place, keep }) => decisionOf(group, place) === undefined && !decisions.unrelated.has(group.id) && !goes(group, keep));

/** The line at the bottom: what is in the plan, and how many groups still want a look. */
function drawPlan() {
  byId('plan').hidden = !every.length && !forms.length;
  if (!data.plan) return replace(byId('plan'), make('p', {}, make('span', { class: 'note' }, t(data.page === 'files' ? 'noPlan' : 'noDecisions'))));
  const actions = actionsOf();
  const looking = looks.map((group) => openIn(group, 'look').length);
  const left = looking.filter(Boolean).length;
  const all = suggestion().length + looks.reduce((sum, group) => sum + group.look.length, 0);
  const open = undecided(suggestion()).length + looking.reduce((sum, count) => sum + count, 0);
  const hasSteps = decisions.steps.length > 0;
  return replace(byId('plan'), actions.length ? bar([['act', all - open]], all || 1) : null,
    make('p', {}, make('b', { id: 'planned' }, actions.length ? t('planned', actions.length, size(sizeOf(actions.map(({ file }) => ({ bytes: file.size }))))) : t('nothingPlanned')),
      ' ', make('span', { class: 'note' }, left ? t('stillLook', left) : actions.length ? t('allLooked') : t('filesRead', data.read))),
    hasSteps ? button(t('undo'), undoStep, 'quiet', 'u') : null,
    page.isExporting ? null : button(t('export'), openExport, '', 'e', { disabled: !canExport() }));
}

/** Show what changed: in one group, or everywhere. */
function changed(group) {
  keepDecisions();
  drawPlan();
  drawTabs();
  if (page.tab === 'overview') return drawOverview();
  if (group) redraw(group);
  else drawList();
  if (!group || group === page.chosen) drawGroup();
  return undefined;
}

let toasting;

/** Say for some seconds what was done, with the way back. */
function say(text, isDone = false) {
  clearTimeout(toasting);
  replace(byId('toast'), text ? make('span', {}, text) : null, text && isDone ? button(t('undo'), undoStep, 'link') : null);
  if (text) toasting = setTimeout(() => byId('toast').replaceChildren(), 8000);
}

/** After a decision: on to the next undecided file of the group, and from the last one to the next group. */
function moveOn(group, words) {
  const open = openIn(group);
  const next = open.find((place) => place > page.place) ?? open[0];
  if (next === undefined) goToUndecided();
  else stand(next);
  say(words, true);
}

/** Remove the selected file, and move on. */
function removeHere() {
  const { chosen, place } = page;
  if (goes(chosen, place) || decide(chosen, place, 'drop')) moveOn(chosen, t('removedOne', chosen.members[place].name));
}

/** Keep the selected file beside the kept one, and move on. */
function keepHere() {
  const { chosen, place } = page;
  if (decisionOf(chosen, place) === null || decide(chosen, place, 'keep')) moveOn(chosen, t('keptOne', chosen.members[place].name));
}

/** Keep the selected file in place of the kept one, which is removed. */
function keepInstead() {
  const { chosen, place } = page;
  const kept = keptOf(chosen);
  if (place === kept) return;
  if (exchange(chosen, place, kept)) moveOn(chosen, t('keptOne', chosen.members[place].name));
}

/** Remove the copies of a group that are suggested, and move on. */
function removeSuggested() {
  const group = page.chosen;
  const count = openIn(group).length;
  acceptSuggested([group]);
  moveOn(group, t('removed', count));
}

/** Keep all copies of a group, and move on. */
function keepCopies() {
  const group = page.chosen;
  keepCopiesOf(group);
  moveOn(group, t('allKept'));
}

/** The circle of a file: removed, kept, or undecided; the same again takes it back. */
function turnCircle(place) {
  const { chosen } = page;
  if (!data.plan || !chosen?.members || page.tab === 'related') return;
  stand(place);
  if (place !== keptOf(chosen)) decide(chosen, place, goes(chosen, place) ? 'drop' : decisionOf(chosen, place) === null ? 'keep' : 'drop');
}

function markUnrelated() {
  const group = page.chosen;
  toggleUnrelated(group);
  if (decisions.unrelated.has(group.id)) moveOn(group, t('unrelatedShort'));
}
