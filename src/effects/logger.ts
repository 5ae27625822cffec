// The engine's own log lines, one per event, with secrets removed (X22), and a rate limit for them: the number of lines
// left out is reported once, when its second is over.

import { redactFields } from '../core/config-fields/redaction.ts';
import { type LeftOut, LineLimit } from '../core/limits/line-limit.ts';
import type { Clock } from './clock.ts';

const SECOND_MS = 1_000;

export class LimitedLines {
  readonly #limit: LineLimit;
  readonly #clock: Clock;
  readonly #report: (leftOut: LeftOut) => boolean;
  #isReportPlanned = false;

  /** `report` returns whether the report was written; otherwise it is repeated later. */
  constructor(limit: LineLimit, clock: Clock, report: (leftOut: LeftOut) => boolean) {
    this.#limit = limit;
    this.#clock = clock;
    this.#report = report;
  }

  /** Whether one more line of that kind may be written. */
  admits(kind: string): boolean {
    if (this.#limit.take(kind, this.#clock.monotonicMs())) return true;
    this.#planReport();
    return false;
  }

  /** An admitted line could not be written. */
  notWritten(kind: string): void {
    this.#limit.leaveOut(kind, 1, this.#clock.monotonicMs());
    this.#planReport();
  }

  #planReport(): void {
    if (this.#isReportPlanned) return;
    this.#isReportPlanned = true;
    this.#clock.after(SECOND_MS, () => {
      this.#isReportPlanned = false;
      this.#reportUntil(this.#clock.monotonicMs());
      if (this.#limit.hasLeftOut) this.#planReport();
    });
  }

  /** No more lines come: the lines left out in this second are reported now. */
  end(): void {
    this.#reportUntil(this.#clock.monotonicMs() + SECOND_MS);
  }

  #reportUntil(nowMs: number): void {
    for (const leftOut of this.#limit.takeLeftOut(nowMs)) {
      if (!this.#report(leftOut)) this.#limit.leaveOut(leftOut.kind, leftOut.count, nowMs);
    }
  }
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFields = Readonly<Record<string, unknown>>;

/** The style of console lines, for other code that writes there. */
export interface ConsoleStyle {
  readonly level: LogLevel;
  readonly format: 'default' | 'json';
}

export interface Logger {
  /** Set on a logger that writes to the console of this process. */
  readonly console?: ConsoleStyle | undefined;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Passes each written line to one listener, from now on. */
  observe?(listen: LineListener): void;
}

/** `fields` contain no secrets any more. */
export type LineListener = (level: LogLevel, message: string, fields: LogFields) => void;

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: 'default' | 'json';
  readonly clock: Clock;
  readonly write: (line: string) => void;
  /** Whether `write` is the console of this process. */
  readonly isConsole?: boolean;
}

export function createLogger({ level, format, clock, write, isConsole = false }: LoggerOptions): Logger {
  const lowest = LOG_LEVELS.indexOf(level);
  let listen: LineListener | undefined;
  const put = (lineLevel: LogLevel, message: string, fields: LogFields): void => {
    write(renderLine({ format }, clock, lineLevel, message, fields));
    listen?.(lineLevel, message, fields);
  };
  const lines = new LimitedLines(new LineLimit(OWN_LINES, 'all others'), clock, ({ kind, count }) => {
    const fields = { line: kind, left_out: count, limit: `${OWN_LINES.perSecond} lines a second` };
    put(levelOfSummary(level), 'Lines with the same message were left out', fields);
    return true;
  });
  const log = (lineLevel: LogLevel, message: string, given: LogFields = {}): void => {
    if (LOG_LEVELS.indexOf(lineLevel) < lowest || !lines.admits(message)) return;
    put(lineLevel, message, redactFields(given));
  };
  return {
    ...(isConsole && { console: { level, format } }),
    debug: (message, fields) => log('debug', message, fields),
    info: (message, fields) => log('info', message, fields),
    warn: (message, fields) => log('warn', message, fields),
    error: (message, fields) => log('error', message, fields),
    observe: (listener) => {
      listen = listener;
    },
  };
}

/** Messages that any client can cause at any rate must not fill a disk. Nearly all messages are constants. */
const OWN_LINES = { perSecond: 20, kindsMax: 256, totalPerSecond: Number.POSITIVE_INFINITY };

/** A report of left-out lines is a warning, and goes to the same place as those lines. */
export function levelOfSummary(lowest: LogLevel): LogLevel {
  return lowest === 'error' ? 'error' : 'warn';
}

/** One line of the console. `fields` contain no secrets any more. */
export function renderLine(
  { format }: Pick<ConsoleStyle, 'format'>,
  clock: Clock,
  level: LogLevel,
  message: string,
  fields: LogFields,
): string {
  const render = format === 'json' ? renderJson : renderText;
  const time = new Date(clock.nowMs()).toISOString();
  const line = render(time, level, message, fields);
  return line.length <= LINE_CHARS_MAX ? line : render(time, level, message, fieldsThatFit(fields));
}

/** The first fields of a line that is too long with all of them, and how many are left out. */
function fieldsThatFit(fields: LogFields): LogFields {
  const kept: [string, unknown][] = [];
  const entries = Object.entries(fields);
  let left = FIELDS_CHARS_MAX;
  for (const [key, value] of entries) {
    const size = renderJson('', 'info', '', { [key]: value }).length;
    if (size > left) continue;
    kept.push([key, value]);
    left -= size;
  }
  return Object.fromEntries([...kept, ['fields_cut', entries.length - kept.length]]);
}

function renderJson(time: string, level: LogLevel, message: string, fields: LogFields): string {
  return oneLine(JSON.stringify({ time, level, message, ...fields }, shortenWithin));
}

function renderText(time: string, level: LogLevel, message: string, fields: LogFields): string {
  const details = Object.entries(fields).map(([key, value]) => ` ${oneLine(shorten(key))}=${renderValue(value)}`);
  return `${time} ${level.toUpperCase().padEnd(5)} ${oneLine(shorten(message))}${details.join('')}`;
}

/** A value on one line: text from workers must not be able to forge log lines or control a terminal. */
function renderValue(value: unknown): string {
  const text = typeof value === 'string' ? shorten(value) : (JSON.stringify(value, shortenWithin) ?? 'undefined');
  return /^[\w.:/@+-]+$/.test(text) ? text : JSON.stringify(oneLine(text));
}

/** Workers choose the length of a text: a refused id of 16 MiB must not fill the log. */
function shorten(text: string): string {
  if (text.length <= VALUE_CHARS_MAX) return text;
  return `${text.slice(0, VALUE_CHARS_MAX)}… (cut, ${text.length} characters)`;
}

/** The same for every text within a value; called by `JSON.stringify` for each. */
function shortenWithin(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? shorten(value) : value;
}

const VALUE_CHARS_MAX = 4096;
/**
 * A line over this length keeps the fields that fit; its message is bounded already. An escape takes six characters.
 */
const LINE_CHARS_MAX = 16 * 1024;
const FIELDS_CHARS_MAX = 12 * 1024;

/** Escapes that are valid in JSON too, where these characters only occur inside texts. */
function oneLine(text: string): string {
  return text.replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: characters that end lines or turn text are the subject.
const UNPRINTABLE = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
