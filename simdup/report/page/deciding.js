// The controls of deciding: in the rows of an open group, by rule, and the count of what goes.

const RULES_OFFERED = ['newest', 'oldest', 'longest', 'largest', 'shortest-path', 'original-name', 'first', 'representative', 'format', 'under'];

// What a key does in the row of a member.
const DECIDING = {
  k: (group, place) => decide(group, place, 'keep'),
  d: (group, place) => decide(group, place, 'drop'),
  u: (group, place) => decide(group, place, ''),
  o: (group, place) => keepOnly(group, place),
};

/** Keep and drop, pressed as was decided. */
function choiceOf(group, member, place) {
  const { file } = member;
  const about = file.unfit || file.stays;
  if (about) return make('span', { class: 'note', title: about }, t('untouchable'));
  const decision = decisionOf(group, place);
  return [['keep', 'keepThis', decision === null], ['drop', 'dropThis', Boolean(decision)]].map(([wish, label, isSo]) => make('button', {
    type: 'button', class: wish, 'aria-pressed': String(isSo), 'aria-label': t(label, member.path), onclick: () => decide(group, place, wish),
  }, t(wish)));
}

/** Below the members: that they are not duplicates. */
function unrelatedOf(group) {
  if (!isDecidable(group) || !hasTexts(group)) return null;
  const isSo = decisions.unrelated.has(group.id);
  return make('p', { class: 'unrelated' }, make('button', {
    type: 'button', 'aria-pressed': String(isSo), onclick: () => toggleUnrelated(group),
  }, t('unrelated')));
}

/** What was decided about a group, in its row. */
function decidedInWords(group) {
  if (decisions.unrelated.has(group.id)) return t('unrelatedShort');
  const count = group.members.filter((_, place) => goes(group, place)).length;
  return count ? t('going', count) : '';
}

function drawRuling() {
  byId('ruling').hidden = !data.plan;
  byId('decisions').hidden = !data.plan;
  if (!data.plan) return;
  setOptions('rule', RULES_OFFERED.map((rule) => [rule, t('rules')[rule]]));
  setOptions('scope', KINDS.map((kind) => [kind, t('scopes')[kind]]));
  const folders = [...new Set(groups.flatMap(({ members }) => members.flatMap(({ file }) => foldersAbove(file.path))))].sort();
  setOptions('ruleFolder', folders.map((folder) => [folder, folder]));
  byId('ruleFolder').hidden = byId('rule').value !== 'under';
  drawDecisions();
}

/** The folders of a path below the folder of the scan that it lies in. */
function foldersAbove(path) {
  const roots = data.plan.header.roots.map((root) => root.path);
  const list = [];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const folder = path.slice(0, end);
    list.push(folder);
    if (roots.includes(folder)) break;
  }
  return list;
}

function applyRule(event) {
  event.preventDefault();
  const rule = byId('rule').value;
  const list = page.shown.flatMap((row) => (row.pair ? row.groups : [row])).filter(({ kind }) => ![SAME_PATTERN, RELATED].includes(kind));
  decideByRule(list, rule === 'under' ? `under=${byId('ruleFolder').value}` : rule, byId('scope').value);
}

/** Show what changed: in one group, or in all that are laid out. */
function changed(group) {
  keepDecisions();
  drawDecisions();
  if (!group) {
    redrawAll();
    return;
  }
  const place = document.activeElement.closest('.member')?.dataset.place;
  const role = document.activeElement.className;
  redraw(group);
  const row = byId(`group-${group.id}`).querySelector(`.member[data-place="${place}"]`);
  if (row) (role === 'keep' || role === 'drop' ? row.querySelector(`.${role}`) : row).focus({ preventScroll: true });
  else headOf(group).focus({ preventScroll: true });
}

/** Lay out again what is laid out. */
function redrawAll() {
  const all = new Map(listed().map((group) => [`group-${group.id}`, group]));
  for (const item of byId('list').querySelectorAll('.group')) item.replaceWith(itemOf(all.get(item.id)));
}

/** The running count, and what can be done about it. */
function drawDecisions() {
  const actions = actionsOf();
  const bytes = actions.reduce((sum, { file }) => sum + file.size, 0);
  const isIdle = !decisions.of.size && !decisions.unrelated.size;
  const words = [
    t('filesGo', actions.length, size(bytes)),
    decisions.unrelated.size ? t('groupsUnrelated', decisions.unrelated.size) : '',
  ].filter(Boolean).join(' · ');
  byId('going').textContent = isIdle ? t('nothingDecided') : words;
  byId('kept').textContent = t(decisions.isKept ? 'keptHere' : 'notKept');
  byId('kept').hidden = isIdle && decisions.isKept;
  byId('undo').disabled = !decisions.steps.length;
  for (const id of ['clear', 'export']) byId(id).disabled = isIdle;
}

/** Say something that has no place of its own, such as why a file cannot go. */
function say(text) {
  byId('said').textContent = text;
}

function onDecidingKey(target, key) {
  const item = target.closest('.group');
  const group = item && groups.find(({ id }) => `group-${id}` === item.id);
  if (!data.plan || !group || target.closest('.comparison')) return false;
  const row = target.closest('.member');
  if (key === 'x') toggleUnrelated(group);
  else if (row && DECIDING[key]) DECIDING[key](group, Number(row.dataset.place));
  else return false;
  return true;
}

function listenToDecisions() {
  byId('ruling').querySelector('form').addEventListener('submit', applyRule);
  byId('rule').addEventListener('change', () => { byId('ruleFolder').hidden = byId('rule').value !== 'under'; });
  byId('undo').addEventListener('click', undoStep);
  byId('clear').addEventListener('click', clearDecisions);
  byId('export').addEventListener('click', openExport);
}
