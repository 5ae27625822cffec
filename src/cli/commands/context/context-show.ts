// `svc context list` and `show`: the saved engines, and the one that commands connect to.

import { redactUrl } from '../../../core/config-fields/redaction.ts';
import { contextsFile, readContexts, unknownContext } from '../../engine/contexts.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS } from '../../kernel/flags.ts';
import { formatPairs } from '../../text/display-text.ts';
import { textIn } from '../../text/records.ts';

export const contextList = defineCommand({
  name: 'context list',
  summary: 'List the saved engines.',
  flags: {},
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc context list', shows: 'Names and addresses; the star marks the current one.' },
    { line: 'svc context list --json', shows: 'The same for a script.' },
  ],
  async run({ output, terminal }) {
    const { current, byName } = readContexts(terminal.env);
    const records = [...byName].map(([name, context]) => ({ name, ...context, current: name === current }));
    output.printRows({
      columns: [
        { name: 'current', text: (row) => (row.current ? '*' : '') },
        { name: 'name', text: ({ name }) => name },
        { name: 'url', text: (row) => textIn(row, 'url') },
        { name: 'http_url', text: (row) => textIn(row, 'http_url') },
        { name: 'token_file', wideOnly: true, text: (row) => textIn(row, 'token_file') },
        { name: 'ca_file', wideOnly: true, text: (row) => textIn(row, 'ca_file') },
      ],
      rows: records,
      records,
    });
    if (records.length === 0) output.note('No context. Add one with: svc context add <name> --url <address>');
    return EXIT.done;
  },
});

const HTTP_URL_DEFAULT = 'http://127.0.0.1:3111';

export const contextShow = defineCommand({
  name: 'context show',
  summary: 'Show which engine commands connect to, and why.',
  flags: { context: CONNECTION_FLAGS.context },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc context show', shows: 'Addresses and token file, each with its source.' },
    { line: 'svc context show --context prod --json', shows: 'The same for another context.' },
  ],
  exitCodes: [EXIT.notFound],
  async run({ flags, output, terminal }) {
    const { env } = terminal;
    const contexts = readContexts(env);
    const name = flags.context ?? contexts.current;
    const context = name === undefined ? {} : contexts.byName.get(name);
    if (context === undefined) throw unknownContext(name ?? '', contexts);
    const from = (variable: string, own: string | undefined, fallback?: string) => {
      if (env[variable]) return { value: env[variable], source: `environment (${variable})` };
      if (own !== undefined) return { value: own, source: `context (${name})` };
      return fallback === undefined ? { value: null, source: 'none' } : { value: fallback, source: 'default' };
    };
    const values = {
      url: from('SVC_URL', context.url, CONNECTION_FLAGS.url.fallback),
      http_url: from('SVC_HTTP_URL', context.http_url, HTTP_URL_DEFAULT),
      token: env.SVC_TOKEN
        ? { value: '[redacted]', source: 'environment (SVC_TOKEN)' }
        : from('SVC_TOKEN_FILE', context.token_file),
      ca_file: from('SVC_CA_FILE', context.ca_file),
    };
    const rows = Object.entries(values).map(([key, { value, source }]): [string, string] => [
      key,
      value === null ? 'none' : `${redactUrl(value)}   ${source}`,
    ]);
    const file = contextsFile(env);
    const document = { context: name ?? null, file, ...values };
    output.printDocument(document, formatPairs([['context', name ?? 'none'], ...rows, ['file', file]]).join('\n'));
    return EXIT.done;
  },
});
