// A history of appends and reads of lists by many clients, and what of it would contradict one list that changes one
// operation after the other (S1).

interface Span {
  readonly begunMs: number;
  readonly endedMs: number;
}

interface Append extends Span {
  readonly key: string;
  readonly item: string;
  /** The list as the answer showed it, which ends with the item. */
  readonly list: readonly string[];
}

interface Read extends Span {
  readonly key: string;
  readonly list: readonly string[];
}

export class CheckedHistory {
  readonly appends: Append[] = [];
  readonly reads: Read[] = [];

  /** `final`: the lists when all is over. Returns what contradicts them, and each other. */
  contradictions(final: ReadonlyMap<string, readonly string[]>): string[] {
    const keys = new Set([...this.appends, ...this.reads].map(({ key }) => key));
    return [...keys].flatMap((key) =>
      contradictionsOf(
        key,
        final.get(key) ?? [],
        this.appends.filter((one) => one.key === key),
        this.reads.filter((one) => one.key === key),
      ),
    );
  }
}

function contradictionsOf(
  key: string,
  final: readonly string[],
  appends: readonly Append[],
  reads: readonly Read[],
): string[] {
  const found: string[] = [];
  const places = new Map(final.map((item, place) => [item, place]));
  if (places.size < final.length) found.push(`${key} has an item twice`);
  for (const { item, list } of appends) {
    if (!places.has(item)) found.push(`${key} lost ${item}, which was acknowledged`);
    if (list.at(-1) !== item) found.push(`${key}: the answer to the append of ${item} does not end with it`);
  }
  for (const { list } of [...appends, ...reads]) {
    if (list.some((item, place) => final[place] !== item))
      found.push(`${key}: a list that was seen is no beginning of it`);
  }
  return [...found, ...overtaken(key, appends, reads)];
}

/** What ended before another operation began has to be seen by it: lists only grow. */
function overtaken(key: string, appends: readonly Append[], reads: readonly Read[]): string[] {
  const ended = [...appends, ...reads].toSorted((one, other) => one.endedMs - other.endedMs);
  const begun = [...reads, ...appends].toSorted((one, other) => one.begunMs - other.begunMs);
  const found: string[] = [];
  let [longest, next] = [0, 0];
  for (const { begunMs, list } of begun) {
    for (let before = ended[next]; before !== undefined && before.endedMs < begunMs; before = ended[++next]) {
      longest = Math.max(longest, before.list.length);
    }
    if (list.length < longest) found.push(`${key}: a list of ${list.length} was seen after one of ${longest}`);
  }
  return found;
}
