// The texts in the page: compressed, a block a group, and opened only when asked for.

/** The texts of a group, or null if the page does not have them. */
async function textsOf(group) {
  const block = byId(`texts-${group.id}`);
  return block ? JSON.parse(await inflated(block.textContent)) : null;
}

async function inflated(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).text();
}

/** The text of one member of a group: {text, cut} or {reason}. */
function textAt(texts, place) {
  if (texts === null) return { reason: data.texts ? t('noRoom') : t('withoutTexts') };
  const found = texts.found[place];
  if (typeof found === 'number') return { text: texts.texts[found], cut: Boolean(texts.cut[found]) };
  return { reason: found === null ? t('noRoom') : t('reasons')[found] ?? found };
}
