// The user's shell: the command that starts this program there, and words quoted for it. Every run loads this file.
//
// The program is `svc` if the shell finds it, else `npx svc`. Texts are written with `svc`; hints pass through
// `asTyped`, so that they work when pasted.

import { delimiter, dirname, resolve } from 'node:path';

export type StartedAs = 'svc' | 'npx svc';

/**
 * npm links a program of a project into `node_modules/.bin`, and puts that folder on the PATH of its own child
 * processes. So under npm the PATH says nothing about the shell.
 */
export function startedAs(entry: string | undefined, env: Readonly<Record<string, string | undefined>>): StartedAs {
  if (entry === undefined || !/[\\/]node_modules[\\/]\.bin[\\/][^\\/]+$/.test(entry)) return 'svc';
  const isRunByNpm = env.npm_execpath !== undefined;
  const folders = (env.PATH ?? '').split(delimiter).map((folder) => resolve(folder));
  return !isRunByNpm && folders.includes(dirname(resolve(entry))) ? 'svc' : 'npx svc';
}

/**
 * The text with its commands as the user has to type them. `commandWords`: the first words of all commands. Before any
 * other word, `svc` is the name of the program and stays.
 */
export function asTyped(text: string, start: StartedAs, commandWords: readonly string[]): string {
  if (start === 'svc') return text;
  const known = ['--config', ...commandWords].join('|');
  return text.replace(new RegExp(`(?<!npx )(?<![\\w./-])svc(?= (?:${known})\\b)`, 'g'), start);
}

/** Quotes a word for a POSIX shell, if it needs quotes. */
export function quoteForShell(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
