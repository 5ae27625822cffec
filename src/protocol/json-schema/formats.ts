// The string formats of JSON Schema as tests, for a form that helps to fill in a value. A check of calls takes formats
// as annotations and does not load this file.

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
/** A leap second is the last second of a day in UTC, which is 00:59:60 or 05:29:60 elsewhere. */
const TIME = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.\d+)?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i;
const DATE_AND_TIME = /^(\S+)[T ](\S+)$/i;
/** Only neighbouring units follow each other: no days after years without months. */
const DURATION_DATE = '\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D';
const DURATION_TIME = 'T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)';
const DURATION = new RegExp(`^P(?:\\d+W|(?:${DURATION_DATE})(?:${DURATION_TIME})?|${DURATION_TIME})$`);
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const HOST_NAME = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*$`, 'i');
const QUOTED_USER = /^"(?:[^"\\]|\\.)*"$/;
const USER = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
/** The characters of a URI, and percent codes that are complete. */
const URI_TEXT = /^(?:[\w\-.~:/?[\]@!$&'()*+,;=]|%[0-9a-f]{2})*(?:#(?:[\w\-.~:/?@!$&'()*+,;=]|%[0-9a-f]{2})*)?$/i;
const SCHEME = /^[a-z][a-z\d+.-]*:/i;
const TEMPLATE = /^(?:[^\s"'<>\\^`{|}]|\{[+#./;?&=,!@|]?[\w.%]+(?::\d{1,4}|\*)?(?:,[\w.%]+(?::\d{1,4}|\*)?)*\})*$/;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;
const RELATIVE_POINTER = /^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/;
const USER_CHARS_MAX = 64;

export const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date', isDate],
  ['time', isTime],
  ['date-time', isDateTime],
  ['duration', (text: string) => DURATION.test(text)],
  ['email', isEmail],
  ['hostname', (text: string) => HOST_NAME.test(text)],
  ['ipv4', (text: string) => IPV4.test(text)],
  ['ipv6', isIpv6],
  ['uri', isUri],
  ['url', (text: string) => /^(?:https?|ftp):\/\//i.test(text) && isUri(text)],
  ['uri-reference', isUriReference],
  ['uri-template', (text: string) => TEMPLATE.test(text)],
  ['uuid', (text: string) => UUID.test(text)],
  ['regex', isExpression],
  ['json-pointer', (text: string) => POINTER.test(text)],
  ['relative-json-pointer', (text: string) => RELATIVE_POINTER.test(text)],
]);

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? [];
  // A day that the month does not have would end up in the next month.
  const at = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return year !== undefined && at.getUTCMonth() + 1 === Number(month) && at.getUTCDate() === Number(day);
}

function isTime(text: string): boolean {
  const [whole, hour, minute, second, sign, hours, minutes] = TIME.exec(text) ?? [];
  if (whole === undefined || second !== '60') return whole !== undefined;
  const aheadMinutes = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * (sign === '-' ? -1 : 1);
  return (Number(hour) * 60 + Number(minute) - aheadMinutes + DAY_MINUTES) % DAY_MINUTES === DAY_MINUTES - 1;
}

const DAY_MINUTES = 24 * 60;

function isDateTime(text: string): boolean {
  const [, date = '', time = ''] = DATE_AND_TIME.exec(text) ?? [];
  return isDate(date) && isTime(time);
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  const user = text.slice(0, at);
  const host = text.slice(at + 1);
  if (at < 1 || user.length > USER_CHARS_MAX) return false;
  if (!USER.test(user) && !QUOTED_USER.test(user)) return false;
  const address = /^\[(?:(ipv6:)(.+)|(.+))\]$/i.exec(host);
  if (address === null) return HOST_NAME.test(host);
  return address[1] === undefined ? IPV4.test(address[3] ?? '') : isIpv6(address[2] ?? '');
}

/** Eight groups of hexadecimal digits. `::` is one or more groups of zeros, an IPv4 address the last two groups. */
function isIpv6(text: string): boolean {
  const lastGroups = text.slice(text.lastIndexOf(':') + 1);
  const plain = IPV4.test(lastGroups) ? `${text.slice(0, -lastGroups.length)}0:0` : text;
  const halves = plain.split('::');
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false;
  return halves.length === 1 ? groups.length === 8 : halves.length === 2 && groups.length < 8;
}

function isUri(text: string): boolean {
  return SCHEME.test(text) && URI_TEXT.test(text) && URL.canParse(text);
}

function isUriReference(text: string): boolean {
  return URI_TEXT.test(text) && URL.canParse(text, 'http://host/');
}

function isExpression(text: string): boolean {
  try {
    new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}
