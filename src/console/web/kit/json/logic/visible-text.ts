// Makes untrusted text safe to read: invisible characters and those that change the text direction are shown as their
// codes, so that a name cannot look like another one. Nothing is removed.

/** Controls other than tab and line feed, zero-width and direction marks, the byte order mark. */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** The zero-width joiner of combined emoji: there it hides nothing. */
const JOINT = /(?<=\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d(?=\p{Extended_Pictographic})/uy;

export function visibleText(text: string): string {
  return text.replace(HIDDEN, (mark, at: number) => {
    JOINT.lastIndex = at;
    return mark === '\u200d' && JOINT.test(text) ? mark : codeOf(mark);
  });
}

function codeOf(mark: string): string {
  return `⟨${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}
