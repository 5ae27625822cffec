// The engine's own log lines, one per event, with secrets taken out on the way (X22).

import { redactFields } from '../core/redaction.ts';
import type { Clock } from './clock.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFields = Readonly<Record<string, unknown>>;

/** How the lines on the console look, for others who write there. */
export interface ConsoleStyle {
  readonly level: LogLevel;
  readonly format: 'default' | 'json';
}

export interface Logger {
  /** Of a logger that writes to the console of this process. */
  readonly console?: ConsoleStyle | undefined;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Tells each line that is written, as it is written: one listener, from now on. */
  observe?(listen: LineListener): void;
}

/** `fields` hold no secrets any more. */
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
  const render = format === 'json' ? renderJson : renderText;
  const windows = new Map<string, Window>();
  let listen: LineListener | undefined;
  const log = (lineLevel: LogLevel, message: string, given: LogFields = {}): void => {
    if (LOG_LEVELS.indexOf(lineLevel) < lowest) return;
    const suppressed = enter(windows, message, clock.monotonicMs());
    if (suppressed === undefined) return;
    const fields = redactFields(suppressed > 0 ? { ...given, suppressed } : given);
    write(render(new Date(clock.nowMs()).toISOString(), lineLevel, message, fields));
    listen?.(lineLevel, message, fields);
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

/** How often one message was written, and swallowed, within the present second. */
interface Window {
  startMs: number;
  written: number;
  suppressed: number;
}

/** What strangers can cause as often as they like must not fill a disk: lines of one message per second. */
const LINES_PER_SECOND_MAX = 20;

/** Whether a line may be written: the number of its like that were swallowed before it, or `undefined` for no. */
function enter(windows: Map<string, Window>, message: string, nowMs: number): number | undefined {
  const window = windows.get(message);
  if (window === undefined || nowMs - window.startMs >= 1000) {
    windows.set(message, { startMs: nowMs, written: 1, suppressed: 0 });
    return window?.suppressed ?? 0;
  }
  if (window.written < LINES_PER_SECOND_MAX) {
    window.written++;
    return 0;
  }
  window.suppressed++;
  return undefined;
}

function renderJson(time: string, level: LogLevel, message: string, fields: LogFields): string {
  return oneLine(JSON.stringify({ time, level, message, ...fields }, shortenWithin));
}

function renderText(time: string, level: LogLevel, message: string, fields: LogFields): string {
  const details = Object.entries(fields).map(([key, value]) => ` ${key}=${renderValue(value)}`);
  return `${time} ${level.toUpperCase().padEnd(5)} ${oneLine(message)}${details.join('')}`;
}

/** A value on one line: text from workers must not be able to forge log lines or steer a terminal. */
function renderValue(value: unknown): string {
  const text = typeof value === 'string' ? shorten(value) : (JSON.stringify(value, shortenWithin) ?? 'undefined');
  return /^[\w.:/@+-]+$/.test(text) ? text : JSON.stringify(oneLine(text));
}

/** Workers choose how long a text is: an id that is refused for its 16 MiB must not fill the log. */
function shorten(text: string): string {
  if (text.length <= VALUE_CHARS_MAX) return text;
  return `${text.slice(0, VALUE_CHARS_MAX)}… (cut, ${text.length} characters)`;
}

/** The same for every text within a value; what `JSON.stringify` asks for each. */
function shortenWithin(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? shorten(value) : value;
}

const VALUE_CHARS_MAX = 4096;

/** Escapes that are right in JSON too, where these characters can only stand inside of texts. */
function oneLine(text: string): string {
  return text.replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: characters that end lines or turn text are the subject.
const UNPRINTABLE = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
