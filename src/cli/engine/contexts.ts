// Saved engines: addresses and a token file, in the user's configuration folder. Order of precedence: flag,
// environment, context, default.

import { readFileSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { nearestWords } from '../../core/config-fields/nearest.ts';
import { CliFailure, EXIT } from '../kernel/failures.ts';
import { isRecord, type JsonRecord, textIn } from '../text/records.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface SvcContext {
  readonly url?: string;
  readonly http_url?: string;
  readonly token_file?: string;
  readonly ca_file?: string;
  /** The user's own, for an engine that requires one. */
  readonly cert_file?: string;
  readonly key_file?: string;
  readonly server_name?: string;
}

export interface Contexts {
  readonly current: string | undefined;
  readonly byName: ReadonlyMap<string, SvcContext>;
}

const CONTEXT_FIELDS = [
  'url',
  'http_url',
  'token_file',
  'ca_file',
  'cert_file',
  'key_file',
  'server_name',
] as const satisfies readonly (keyof SvcContext)[];

export const CONTEXT_NAME = /^[\w.-]{1,64}$/;

export function contextsFile(env: Environment): string {
  const base = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config');
  return join(base, 'svc', 'contexts.json');
}

export function readContexts(env: Environment): Contexts {
  const file = contextsFile(env);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return { current: undefined, byName: new Map() };
  }
  const value = parse(text, file);
  const entries = isRecord(value.contexts) ? Object.entries(value.contexts) : [];
  const byName = new Map(entries.flatMap(([name, entry]) => (isRecord(entry) ? [[name, readContext(entry)]] : [])));
  return { current: textIn(value, 'current') || undefined, byName };
}

/** Readable only by the user (0600), because it names the token file. */
export async function writeContexts(env: Environment, { current, byName }: Contexts): Promise<void> {
  const file = contextsFile(env);
  const value = { ...(current !== undefined && { current }), contexts: Object.fromEntries(byName) };
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(`${file}.next`, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.next`, file);
}

/** The environment, with empty variables filled from the context. */
export function withContext(env: Environment, wanted: string | undefined): Environment {
  const contexts = readContexts(env);
  const name = wanted ?? contexts.current;
  if (name === undefined) return env;
  const context = contexts.byName.get(name);
  if (context === undefined) throw unknownContext(name, contexts);
  const filled: Record<string, string | undefined> = { ...env };
  const fill = (variable: string, value: string | undefined): void => {
    if (!env[variable] && value !== undefined) filled[variable] = value;
  };
  fill('SVC_URL', context.url);
  fill('SVC_HTTP_URL', context.http_url);
  fill('SVC_CA_FILE', context.ca_file);
  fill('SVC_CERT_FILE', context.cert_file);
  fill('SVC_KEY_FILE', context.key_file);
  fill('SVC_SERVER_NAME', context.server_name);
  // A token in the environment takes precedence over the file of the context.
  if (!env.SVC_TOKEN) fill('SVC_TOKEN_FILE', context.token_file);
  return filled;
}

export function unknownContext(name: string, { byName }: Contexts): CliFailure {
  const [nearest] = nearestWords(name, [...byName.keys()]);
  return new CliFailure({
    code: 'NOT_FOUND',
    message: `There is no context named '${name}'.`,
    exitCode: EXIT.notFound,
    hint: nearest === undefined ? 'Add it with: svc context add <name> --url <address>' : `Did you mean '${nearest}'?`,
  });
}

function readContext(entry: JsonRecord): SvcContext {
  const given = CONTEXT_FIELDS.map((field) => [field, textIn(entry, field)] as const).filter(([, text]) => text);
  return Object.fromEntries(given);
}

function parse(text: string, file: string): JsonRecord {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // Reported below, like a value of a wrong type.
  }
  throw new CliFailure({
    code: 'CONTEXTS_INVALID',
    message: `${file} is not a valid file of svc context.`,
    exitCode: EXIT.usage,
    hint: 'Correct or remove the file.',
  });
}
