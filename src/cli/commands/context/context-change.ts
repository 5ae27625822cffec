// `svc context add`, `use` and `remove`: changes of the saved engines.

import { resolve } from 'node:path';
import { CONTEXT_NAME, readContexts, unknownContext, writeContexts } from '../../engine/contexts.ts';
import { defineCommand } from '../../kernel/command.ts';
import { CliFailure, EXIT, usageFailure } from '../../kernel/failures.ts';

export const contextAdd = defineCommand({
  name: 'context add',
  summary: 'Save the address of an engine under a name.',
  operands: { usage: '<name>', min: 1, max: 1, help: 'Letters, digits, dot, dash and underscore.' },
  details: [
    'Saved in the configuration folder of the user, readable only by the user. Commands connect to it with --use, ' +
      'after svc context use, or with --context.',
  ],
  flags: {
    url: { kind: 'text', placeholder: '<address>', help: 'Address of the engine for workers: ws://host:49134.' },
    'http-url': { kind: 'text', placeholder: '<address>', help: 'HTTP address of the engine: http://host:3111.' },
    'token-file': { kind: 'text', placeholder: '<file>', help: 'File that holds the bridge token of the engine.' },
    'ca-file': { kind: 'text', placeholder: '<file>', help: 'Authority to trust for wss:// and https://, PEM.' },
    'cert-file': { kind: 'text', placeholder: '<file>', help: 'Your certificate, for an engine that requires one.' },
    'key-file': { kind: 'text', placeholder: '<file>', help: 'Its private key.' },
    'server-name': { kind: 'text', placeholder: '<name>', help: 'Name in its certificate, if not the host.' },
    use: { kind: 'switch', help: 'Also choose it for all further commands.' },
    force: { kind: 'switch', help: 'Replace an existing context of this name.' },
  },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc context add staging --url wss://svc.staging.example:49134', shows: 'Saves the address.' },
    { line: 'svc context add prod --url wss://svc.example --token-file ~/.token', shows: 'With a token.' },
    { line: 'svc context add lab --url wss://10.0.0.7:49134 --ca-file ca.pem', shows: 'With its own authority.' },
  ],
  exitCodes: [EXIT.conflict],
  async run({ flags, operands, output, terminal }) {
    const name = operands[0] ?? '';
    if (!CONTEXT_NAME.test(name))
      throw usageFailure(`'${name}' is not a valid context name: use letters, digits, dot, dash and underscore.`);
    const { url, 'http-url': http, 'token-file': token } = flags;
    if (url === undefined && http === undefined) throw usageFailure('Give --url, --http-url, or both.');
    checkUrl(url, '--url', ['ws:', 'wss:']);
    checkUrl(http, '--http-url', ['http:', 'https:']);
    const contexts = readContexts(terminal.env);
    if (contexts.byName.has(name) && !flags.force) {
      const message = `A context named '${name}' already exists.`;
      throw new CliFailure({ code: 'CONFLICT', message, exitCode: EXIT.conflict, hint: 'Replace it with --force.' });
    }
    const fileOf = (field: string, file: string | undefined) =>
      file === undefined ? {} : { [field]: resolve(terminal.cwd, file) };
    const context = {
      ...(url !== undefined && { url }),
      ...(http !== undefined && { http_url: http }),
      ...fileOf('token_file', token),
      ...fileOf('ca_file', flags['ca-file']),
      ...fileOf('cert_file', flags['cert-file']),
      ...fileOf('key_file', flags['key-file']),
      ...(flags['server-name'] !== undefined && { server_name: flags['server-name'] }),
    };
    const byName = new Map(contexts.byName).set(name, context);
    const current = flags.use ? name : contexts.current;
    await writeContexts(terminal.env, { current, byName });
    output.printDocument({ name, ...context, current: current === name }, `Added ${name}.`);
    if (current !== name) output.note(`Choose it for all commands with: svc context use ${name}`);
    return EXIT.done;
  },
});

function checkUrl(url: string | undefined, flag: string, protocols: readonly string[]): void {
  if (url === undefined || (URL.canParse(url) && protocols.includes(new URL(url).protocol))) return;
  throw usageFailure(`${flag} must be ${protocols.map((protocol) => `${protocol}//host:port`).join(' or ')}.`);
}

export const contextUse = defineCommand({
  name: 'context use',
  summary: 'Choose the engine that commands connect to.',
  operands: { usage: '<name>', min: 1, max: 1, help: 'A name from svc context list.', kinds: ['context'] },
  details: ['Flags and environment variables take precedence. For one command only: svc function list --context prod.'],
  flags: {},
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc context use staging', shows: 'All further commands connect to that engine.' },
    { line: 'svc context use prod --json', shows: 'The same for a script.' },
  ],
  exitCodes: [EXIT.notFound],
  async run({ operands, output, terminal }) {
    const name = operands[0] ?? '';
    const contexts = readContexts(terminal.env);
    if (!contexts.byName.has(name)) throw unknownContext(name, contexts);
    await writeContexts(terminal.env, { ...contexts, current: name });
    output.printDocument({ current: name }, `Using ${name}.`);
    return EXIT.done;
  },
});

export const contextRemove = defineCommand({
  name: 'context remove',
  summary: 'Remove a saved engine.',
  operands: { usage: '<name>', min: 1, max: 1, help: 'A name from svc context list.', kinds: ['context'] },
  flags: {},
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc context remove staging', shows: 'Removes its addresses; the token file stays.' },
    { line: 'svc context remove staging --json', shows: 'The same for a script.' },
  ],
  exitCodes: [EXIT.notFound],
  async run({ operands, output, terminal }) {
    const name = operands[0] ?? '';
    const contexts = readContexts(terminal.env);
    const byName = new Map(contexts.byName);
    if (!byName.delete(name)) throw unknownContext(name, contexts);
    const current = contexts.current === name ? undefined : contexts.current;
    await writeContexts(terminal.env, { current, byName });
    output.printDocument({ removed: name }, `Removed ${name}.`);
    return EXIT.done;
  },
});
