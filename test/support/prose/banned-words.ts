// The words that docs/contributing/style.md bans, and their correct uses.

const BANNED: readonly (readonly [string, RegExp])[] = [
  ['whoever', /\bwho(?:m|so)?ever\b/gi],
  ['nobody, somebody', /\b(?:nobody|somebody|anybody|everybody)(?:'s|’s)?\b/gi],
  ['tell', /\b(?:tell|tells|told|telling)\b/gi],
  ['anew', /\banew\b/gi],
  ['behind', /\bbehind\b/gi],
  ['beside', /\bbeside\b/gi],
  ['stands', /\b(?:stands|stood)\b/gi],
  ['mended', /\bmend(?:s|ed|ing)?\b/gi],
  ['goes by', /\b(?:goes|go|went|going) by\b/gi],
  ['he', /\b(?:he|him|his|himself)\b/gi],
  ['the peer', /\bthe peer['’]?s?\b(?! (?:address|of the (?:connection|socket)))/gi],
  ['at most … may', /\bat most \S+(?: \S+)? may\b/gi],
  ['reckoned', /\breckon(?:s|ed)?\b/gi],
  ['come back', /\b(?:com(?:e|es|ing)|came) back\b(?! to)/gi],
  ['go on', /\b(?:go|goes|going|went) on\b/gi],
  ['under way', /\bunder way\b/gi],
  ['oftener', /\b(?:oftener|seldom|thereof|hereby|be it)\b/gi],
];

/** Phrases that may contain a banned word. */
const CORRECT = [
  'behind a proxy',
  'behind a load balancer',
  'behind a reverse proxy',
  'stands for',
  'stand for',
  'falls behind',
  'fell behind',
  'falling behind',
  'fall behind',
];

/** The banned words of a text, as they occur in it. */
export function bannedWords(text: string): string[] {
  let rest = text;
  for (const phrase of CORRECT) rest = rest.replaceAll(phrase, ' ');
  return BANNED.flatMap(([, pattern]) => [...rest.matchAll(pattern)].map(([word]) => word));
}
