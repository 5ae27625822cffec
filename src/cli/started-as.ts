// What somebody types to start this program: `svc` where the shell finds it, else `npx svc`. Texts are written with
// `svc`; whatever tells people what to do next passes through here, so that it works as pasted.

import { delimiter, dirname, resolve } from 'node:path';
import { firstWords } from './route.ts';

export type StartedAs = 'svc' | 'npx svc';

/**
 * A program that npm linked into a project is started from `node_modules/.bin`. npm puts that folder on the PATH of
 * what it runs itself, so under npm the PATH tells nothing about the shell.
 */
export function startedAs(entry: string | undefined, env: Readonly<Record<string, string | undefined>>): StartedAs {
  if (entry === undefined || !/[\\/]node_modules[\\/]\.bin[\\/][^\\/]+$/.test(entry)) return 'svc';
  const isRunByNpm = env.npm_execpath !== undefined;
  const folders = (env.PATH ?? '').split(delimiter).map((folder) => resolve(folder));
  return !isRunByNpm && folders.includes(dirname(resolve(entry))) ? 'svc' : 'npx svc';
}

/** The text with its commands as they are typed here. */
export function asTyped(text: string, start: StartedAs): string {
  return start === 'svc' ? text : text.replace(commandsOfOurs(), start);
}

/** `svc` before a word that it knows; the name of the program alone stays. */
function commandsOfOurs(): RegExp {
  return new RegExp(`(?<!npx )(?<![\\w./-])svc(?= (?:--config|${firstWords().join('|')})\\b)`, 'g');
}
