import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { redactUrl } from '../../../core/config-fields/redaction.ts';
import type { StreamHandlers, StreamSubscription } from '../../../sdk/streams/stream-subscription.ts';
import { readReason } from '../../engine/connection.ts';
import { tlsOf } from '../../engine/tls.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { CliFailure, EXIT, exitCodeOfError, usageFailure } from '../../kernel/failures.ts';
import { type FlagTable, TLS_FLAGS } from '../../kernel/flags.ts';
import { stripUnsafe } from '../../text/display-text.ts';
import { formatTime } from '../../text/times.ts';
import { groupOperand } from './stream.ts';

const FLAGS = {
  'stream-url': {
    kind: 'text',
    placeholder: '<address>',
    env: 'SVC_STREAM_URL',
    fallback: 'ws://127.0.0.1:3112',
    help: 'Address of the stream server.',
  },
  'stream-token-file': {
    kind: 'text',
    placeholder: '<file>',
    help: 'File that holds the token for its auth function.',
  },
  ...TLS_FLAGS,
  item: { kind: 'text', placeholder: '<item>', help: 'Only this item.' },
  conflate: { kind: 'switch', help: 'When events come too fast, receive only the newest change of each item.' },
} as const satisfies FlagTable;

type WatchContext = Context<typeof FLAGS>;

export const streamWatch = defineCommand({
  name: 'stream watch',
  summary: 'Print the events of a group as they happen.',
  operands: { usage: '<stream>/<group>', min: 1, max: 1, help: 'The group.' },
  details: [
    'Runs until interrupted. After a lost connection it reconnects and prints the missed events, or a line that says ' +
      'they are no longer available. With --json, one object per line.',
    'With --conflate, an event shows how many events before it were left out: "+3", in JSON "conflated": 3.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc stream watch chat/room1', shows: 'Every change and every custom event.' },
    { line: 'svc stream watch chat/room1 --item topic --json', shows: 'Those of one item, one JSON object per line.' },
    {
      line: 'svc stream watch prices/all --conflate',
      shows: 'Only the newest change of each item when there are too many.',
    },
  ],
  exitCodes: [EXIT.failed, EXIT.unreachable, EXIT.refused, EXIT.interrupted],
  async run(context) {
    const { flags, operands } = context;
    const url = flags['stream-url'];
    const protocol = URL.canParse(url) ? new URL(url).protocol : '';
    if (protocol !== 'ws:' && protocol !== 'wss:') {
      throw usageFailure(`The stream address is '${redactUrl(url)}': expected ws://host:port or wss://host:port.`);
    }
    const target = groupOperand(operands);
    const token = await readToken(context);
    const { nodePlatform, watchStream, withTls } = await import('../../../sdk/internal.ts');
    const platform = withTls(nodePlatform, url, { tls: tlsOf(url, context) });
    const address = redactUrl(url);
    let watch: StreamSubscription<unknown> | undefined;
    try {
      return await new Promise<never>((_resolve, reject) => {
        const handlers = handlersFor(context, address, ({ code, message }) =>
          reject(new CliFailure({ code, message: `${message}.`, exitCode: exitCodeOfError(code) })),
        );
        const onNotReached = (reason: string): void => reject(notReached(address, reason));
        const options = { item: flags.item, token, conflate: flags.conflate || undefined };
        watch = watchStream({ url, ...target, options, handlers, onNotReached }, platform);
      });
    } finally {
      watch?.close();
    }
  },
});

/** A lost server is waited for; a first connection that fails may have the wrong address. */
function notReached(address: string, reason: string): CliFailure {
  return new CliFailure({
    code: 'ENGINE_UNREACHABLE',
    message: `Cannot reach the stream server at ${address} (${stripUnsafe(readReason(reason))}).`,
    exitCode: EXIT.unreachable,
    hint: 'It needs the module svc-stream. Give another address with --stream-url ws://host:port',
    details: { address },
  });
}

async function readToken({ flags, terminal }: WatchContext): Promise<string | undefined> {
  const file = flags['stream-token-file'];
  if (file === undefined) return undefined;
  const path = resolve(terminal.cwd, file);
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    throw usageFailure(
      `Cannot read the token from ${path} (${error instanceof Error && 'code' in error ? error.code : error}).`,
    );
  }
}

function handlersFor(
  context: WatchContext,
  address: string,
  onError: NonNullable<StreamHandlers<unknown>['onError']>,
): StreamHandlers<unknown> {
  const { output } = context;
  let isFirst = true;
  return {
    onError,
    onSync(items, { recovered, isGap }) {
      if (isGap) output.warn('Some missed events are no longer available; the items show their current data.');
      else if (isFirst) output.note(`Watching ${items.size} item(s) at ${address}. Stop with Ctrl-C.`);
      else if (recovered) output.note('Reconnected; the missed events follow.');
      isFirst = false;
    },
    onDisconnect: (reason) => output.note(`Connection lost (${stripUnsafe(reason)}); reconnecting.`),
    onChange: (change) => print(context, change.timestamp, change.type, change.id, change),
    onEvent: (event) => print(context, event.timestamp, event.type, event.id ?? '-', event),
  };
}

function print(
  { output, terminal }: WatchContext,
  timestamp: number,
  type: string,
  id: string,
  event: { data: unknown; conflated?: number },
): void {
  if (output.jsonAsked) return output.printLine(event);
  // The line stays on the screen, so a relative time would soon be wrong.
  const time = formatTime(timestamp, output.timeStyle === 'utc' ? 'utc' : 'local', terminal.now());
  const paint = type === 'delete' ? output.paintOut.red : output.paintOut.green;
  const leftOut = event.conflated === undefined ? '' : output.paintOut.dim(` +${event.conflated}`);
  const data = stripUnsafe(JSON.stringify(event.data) ?? 'null');
  terminal.out.write(
    `${output.paintOut.dim(time)}  ${paint(stripUnsafe(type))}${leftOut}  ${stripUnsafe(id)}  ${data}\n`,
  );
}
