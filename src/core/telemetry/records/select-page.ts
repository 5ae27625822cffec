// One page of a sorted list without sorting the list: clients request a hundred traces out of a hundred thousand.
// Linear on average (quickselect); an adversarial list is sorted as a whole.

export type Compare<T> = (a: T, b: T) => number;

/** The items from `offset` on, at most `limit`, in order. The list itself is reordered. */
export function selectPage<T>(items: T[], compare: Compare<T>, offset: number, limit: number): T[] {
  const end = Math.min(items.length, offset + limit);
  if (offset >= end) return [];
  if (offset > 0) placeFirst(items, offset, 0, compare);
  if (end < items.length) placeFirst(items, end, offset, compare);
  return items.slice(offset, end).sort(compare);
}

/** Afterwards the items of [`from`, `count`) are the smallest of those from `from` on. */
function placeFirst<T>(items: T[], count: number, from: number, compare: Compare<T>): void {
  let low = from;
  let high = items.length - 1;
  let rounds = 2 * Math.ceil(Math.log2(items.length + 1));
  while (low < high) {
    if (rounds-- === 0) return sortRange(items, low, high, compare);
    const pivot = medianOfThree(items, low, high, compare);
    let left = low;
    let right = high;
    while (left <= right) {
      while (compare(at(items, left), pivot) < 0) left++;
      while (compare(at(items, right), pivot) > 0) right--;
      if (left <= right) swap(items, left++, right--);
    }
    if (count - 1 <= right) high = right;
    else if (count - 1 >= left) low = left;
    else return;
  }
}

function medianOfThree<T>(items: readonly T[], low: number, high: number, compare: Compare<T>): T {
  const first = at(items, low);
  const middle = at(items, (low + high) >>> 1);
  const last = at(items, high);
  if (compare(first, middle) > 0) {
    return compare(first, last) < 0 ? first : compare(middle, last) > 0 ? middle : last;
  }
  return compare(middle, last) < 0 ? middle : compare(first, last) > 0 ? first : last;
}

function sortRange<T>(items: T[], low: number, high: number, compare: Compare<T>): void {
  for (const [index, item] of items
    .slice(low, high + 1)
    .sort(compare)
    .entries())
    items[low + index] = item;
}

function swap<T>(items: T[], a: number, b: number): void {
  const kept = at(items, a);
  items[a] = at(items, b);
  items[b] = kept;
}

function at<T>(items: readonly T[], index: number): T {
  // Both ends stay within the list: the caller has compared them with its length.
  return items[index] as T;
}
