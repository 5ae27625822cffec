// Times and measures in readable form. Pure: the current time is a parameter.

export type TimeDisplay = 'relative' | 'local' | 'utc';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function formatTime(ms: number, display: TimeDisplay, nowMs: number): string {
  if (display === 'relative') return formatAge(ms, nowMs);
  return display === 'utc' ? formatUtc(ms) : formatLocal(ms);
}

/** `4 s ago`, `in 3 min`: the two largest units that matter, cut and not rounded, so that it is never early. */
export function formatAge(ms: number, nowMs: number): string {
  const distance = Math.abs(nowMs - ms);
  if (distance < SECOND) return 'now';
  const text = formatSpan(distance);
  return ms <= nowMs ? `${text} ago` : `in ${text}`;
}

export function formatSpan(ms: number): string {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${Math.floor((ms % HOUR) / MINUTE)} min`;
  return `${Math.floor(ms / DAY)} d ${Math.floor((ms % DAY) / HOUR)} h`;
}

export function formatUtc(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ');
}

export function formatLocal(ms: number): string {
  const date = new Date(ms);
  const two = (part: number): string => String(part).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return `${day} ${time}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** Hours and minutes. */
export function formatClock(ms: number): string {
  return formatLocal(ms).slice(11, 16);
}

/** Three significant digits: `0.21 ms`, `182 ms`, `1.82 s`, `3 min 4 s`. */
export function formatDuration(ms: number): string {
  if (ms < 0.001) return `${Math.round(ms * 1e6)} ns`;
  if (ms < 0.1) return `${Math.round(ms * 1_000)} µs`;
  if (ms < SECOND) return `${threeDigits(ms)} ms`;
  if (ms < MINUTE) return `${threeDigits(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ${Math.floor((ms % MINUTE) / SECOND)} s`;
  return formatSpan(ms);
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes / 1_024;
  let unit = 0;
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024;
    unit++;
  }
  return `${threeDigits(value)} ${units[unit]}`;
}

/** `12 804`: thousands are separated by a thin space that does not break. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ' ');
}

/** `1 span`, `12 804 spans`. */
export function formatCountOf(count: number, one: string): string {
  return `${formatCount(count)} ${one}${count === 1 ? '' : 's'}`;
}

/** A rate per second or the like: `0.4`, `12.8`, `4 120`. */
export function formatRate(rate: number): string {
  if (rate === 0) return '0';
  if (rate < 0.1) return rate.toFixed(2);
  return rate < 100 ? rate.toFixed(1) : formatCount(Math.round(rate));
}

/** `0 %`, `0.3 %`, `12 %`. A share above zero is never written as zero. */
export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent === 0) return '0 %';
  if (percent < 0.1) return '<0.1 %';
  return `${percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`;
}

function threeDigits(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
