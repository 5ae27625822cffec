/** A group of a stream as one string. */
export function groupKey(stream = '', group = ''): string {
  return `${stream}\0${group}`;
}
