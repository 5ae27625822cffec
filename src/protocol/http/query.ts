// The query of a URL as its members. Shared by the engine and the SDKs, so it uses no Node built-in.

/** The members in the order of their first occurrence: a repeated name has a list, any other a string. */
export function queryMembers(query: string): Map<string, string | string[]> {
  const members = new Map<string, string | string[]>();
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const sign = pair.indexOf('=');
    const name = decodeForm(sign < 0 ? pair : pair.slice(0, sign));
    const value = sign < 0 ? '' : decodeForm(pair.slice(sign + 1));
    const known = members.get(name);
    if (known === undefined) members.set(name, value);
    else if (typeof known === 'string') members.set(name, [known, value]);
    else known.push(value);
  }
  return members;
}

/** Decodes form encoding; an invalid escape stays as it is. */
function decodeForm(text: string): string {
  if (!/[%+]/.test(text)) return text;
  return new URLSearchParams(`=${text.replaceAll('&', '%26')}`).get('') ?? '';
}
