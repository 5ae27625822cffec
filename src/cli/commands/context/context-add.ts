import { resolve } from 'node:path';
import { CONTEXT_NAME, readContexts, writeContexts } from '../../engine/contexts.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { CliFailure, usageFailure } from '../../kernel/failures.ts';

export const contextAdd = defineCommand({
  name: 'context add',
  summary: 'Save the address of an engine under a name.',
  operands: { usage: '<name>', min: 1, max: 1, help: 'Letters, digits, dot, dash and underscore.' },
  details: [
    'Saved in the configuration folder of the user, readable only by the user. The first context is the current one.',
  ],
  flags: {
    url: { kind: 'text', placeholder: '<address>', help: 'Address of the engine for workers: ws://host:49134.' },
    'http-url': { kind: 'text', placeholder: '<address>', help: 'HTTP address of the engine: http://host:3111.' },
    'token-file': { kind: 'text', placeholder: '<file>', help: 'File that holds the bridge token of the engine.' },
    force: { kind: 'switch', help: 'Replace an existing context of this name.' },
  },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc context add staging --url wss://svc.staging.example:49134', shows: 'Saves the address.' },
    { line: 'svc context add prod --url wss://svc.example --token-file ~/.token', shows: 'With a token.' },
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
    const context = {
      ...(url !== undefined && { url }),
      ...(http !== undefined && { http_url: http }),
      ...(token !== undefined && { token_file: resolve(terminal.cwd, token) }),
    };
    const byName = new Map(contexts.byName).set(name, context);
    const current = contexts.current ?? name;
    await writeContexts(terminal.env, { current, byName });
    output.printDocument({ name, ...context, current: current === name }, `Added ${name}.`);
    return EXIT.done;
  },
});

function checkUrl(url: string | undefined, flag: string, protocols: readonly string[]): void {
  if (url === undefined || (URL.canParse(url) && protocols.includes(new URL(url).protocol))) return;
  throw usageFailure(`${flag} must be ${protocols.map((protocol) => `${protocol}//host:port`).join(' or ')}.`);
}
