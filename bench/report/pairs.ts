// Figures of two trees, measured in the same rounds: how they compare, and whether the difference exceeds the spread.

/** By workload and figure, in the order of the rounds. */
export type Pairs = ReadonlyMap<string, { readonly before: readonly number[]; readonly now: readonly number[] }>;

const HEADER = [
  '| workload | figure | before | now | ratio of the medians | median of the ratios by round | verdict |',
  '|---|---|---|---|---|---|---|',
];

export function compared(pairs: Pairs): string {
  const rows = [...pairs].map(([key, { before, now }]) => {
    const ratios = now.map((value, round) => value / (before[round] ?? Number.NaN));
    const figures = [spread(before), spread(now), (median(now) / median(before)).toFixed(3), median(ratios).toFixed(3)];
    return `| ${[key, ...figures, verdict(key, before, now)].join(' | ')} |`;
  });
  return `${[...HEADER, ...rows].join('\n')}\n`;
}

/**
 * Whether the middle halves of both sides do not overlap. A single slow round of a shared machine then decides nothing.
 */
function verdict(key: string, before: readonly number[], now: readonly number[]): string {
  if (Math.min(before.length, now.length) < ROUNDS_MIN) return 'too few rounds to tell';
  if (quartile(now, 0.25) > quartile(before, 0.75)) return isRate(key) ? 'better' : '**worse**';
  if (quartile(now, 0.75) < quartile(before, 0.25)) return isRate(key) ? '**worse**' : 'better';
  return 'within the spread';
}

/** For quartiles that differ from the extremes. */
const ROUNDS_MIN = 4;

function isRate(key: string): boolean {
  return key.endsWith('per second');
}

function spread(values: readonly number[]): string {
  const digits = median(values) < 100 ? 1 : 0;
  const figures = [median(values), Math.min(...values), Math.max(...values)];
  const [middle, least, most] = figures.map((figure) => figure.toFixed(digits));
  return `${middle} (${least} to ${most})`;
}

function median(values: readonly number[]): number {
  return quartile(values, 0.5);
}

function quartile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
