import { redactUrl } from '../../../core/config-fields/redaction.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { contextsFile, readContexts, unknownContext } from '../../engine/contexts.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { formatPairs } from '../../text/two-columns.ts';

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
