// The connection of a client command. It serves one command, does not register as a worker, and never reconnects; a
// command that polls opens a new one when it is lost.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { redactUrl } from '../../core/config-fields/redaction.ts';
import type { Action } from '../../sdk/calls/actions.ts';
import { isSvcError, type SvcError } from '../../sdk/calls/errors.ts';
import type { StateClient } from '../../sdk/data/state-client.ts';
import type { SvcStream } from '../../sdk/streams/streams.ts';
import type { TlsOptions } from '../../sdk/worker/options.ts';
import type { Platform } from '../../sdk/worker/platform.ts';
import type { SvcWorker } from '../../sdk/worker/svc-worker.ts';
import type { Context } from '../kernel/command.ts';
import { CliFailure, EXIT, usageFailure } from '../kernel/failures.ts';
import type { CONNECTION_FLAGS } from '../kernel/flags.ts';
import { printedNumber, withNumberWatch } from '../text/number-loss.ts';
import { formatDuration } from '../text/times.ts';
import { callFailure } from './call-failure.ts';
import { MissingEngines } from './missing-engines.ts';
import { tlsOf } from './tls.ts';

export interface CallSettings {
  readonly timeoutMs?: number;
  readonly action?: Action | undefined;
  /** The trace context of the call; by default there is none. */
  readonly traceparent?: string | undefined;
}

export interface EngineConnection {
  /** Without user info and query, so that it can be shown. */
  readonly address: string;
  readonly state: StateClient;
  stream(name: string): SvcStream;
  /** A number in an answer that is printed with other digits than stored; only searched when values are printed. */
  readonly lostNumber: string | undefined;
  /** Rejects when the connection is lost; for commands that keep running. */
  readonly lost: Promise<never>;
  /** The answer, or an `SvcError`. */
  call(functionId: string, payload: unknown, settings?: CallSettings): Promise<unknown>;
}

type ConnectionContext = Pick<Context<typeof CONNECTION_FLAGS>, 'flags' | 'output' | 'terminal'>;

/**
 * Connects, passes the connection to `use`, and always closes it. `printsValues`: the command prints stored values, so
 * it warns of a number that loses digits.
 */
export async function withEngine<T>(
  context: ConnectionContext,
  use: (engine: EngineConnection) => Promise<T>,
  { printsValues = false } = {},
): Promise<T> {
  const { flags, output, terminal } = context;
  const address = checkAddress(flags.url);
  const token = await readToken(context);
  const startedMs = terminal.elapsedMs();
  // The socket library is slow to load: help texts and usage errors do not need it.
  const { createWorker, nodePlatform, withTls } = await import('../../sdk/internal.ts');
  const secured = withTlsOf(context, (tls) => withTls(nodePlatform, flags.url, { tls }));
  const shown = output.showsWire ? await loggedPlatform(secured, output) : secured;
  const loss: { number?: string } = {};
  const missing = new MissingEngines();
  const noteLoss = (number: string): void => {
    loss.number ??= number;
  };
  const platform = printsValues ? withNumberWatch(shown, noteLoss) : shown;
  const contexts = platform.createContextStorage();
  const caller = createWorker(
    flags.url,
    {
      announce: false,
      reconnect: false,
      handle_signals: false,
      timeout_ms: flags.timeout,
      ...(token === undefined ? {} : { token }),
      log: (_level, message) => output.detail(message),
    },
    { ...platform, createContextStorage: () => contexts },
  );
  const call = async (functionId: string, payload: unknown, settings: CallSettings = {}) => {
    const { timeoutMs, action, traceparent } = settings;
    const request = { function_id: functionId, payload, timeout_ms: timeoutMs ?? flags.timeout };
    const trigger = () => (action === undefined ? caller.trigger(request) : caller.trigger({ ...request, action }));
    const carrier = { traceparent, baggage: undefined, depth: undefined };
    try {
      const answered = traceparent === undefined ? trigger() : contexts.run(carrier, trigger, undefined, undefined);
      const answer: unknown = await answered;
      missing.note(answer);
      return answer;
    } catch (error) {
      // The connection was lost, whatever error the call reports.
      throw isSvcError(error) && caller.state_of_connection === 'closed' ? lostEngine(error.message, address) : error;
    }
  };
  const lost = lossOf(caller, address);
  try {
    await withinTime(caller.ready(), flags.timeout, address);
    output.detail(`connected to ${address} in ${formatDuration(terminal.elapsedMs() - startedMs)}`);
    return await use({
      address,
      state: caller.state,
      stream: (name) => caller.stream(name),
      get lostNumber() {
        return loss.number;
      },
      lost,
      call,
    });
  } catch (error) {
    throw isSvcError(error) ? explain(error, address, output.verbose) : error;
  } finally {
    for (const warning of missing.warnings) output.warn(warning);
    if (loss.number !== undefined) output.warn(lossText(loss.number));
    await caller.shutdown();
  }
}

/** Rejects when the connection is lost. */
function lossOf(caller: SvcWorker, address: string): Promise<never> {
  const lost = new Promise<never>((_, reject) => {
    caller.on('disconnected', ({ code, reason }) =>
      reject(lostEngine(`code ${code}${reason && ` ${reason}`}`, address)),
    );
  });
  // Most commands only make calls, and a failed call reports the loss.
  lost.catch(() => {});
  return lost;
}

/** A file of TLS that cannot be read is the user's to correct. */
export function withTlsOf<T>(context: ConnectionContext, use: (tls: TlsOptions | undefined) => T): T {
  try {
    return use(tlsOf(context.flags.url, context));
  } catch (error) {
    throw isSvcError(error) ? usageFailure(`${error.message}.`) : error;
  }
}

function lossText(number: string): string {
  const printed = printedNumber(number);
  return `The answer holds the number ${number}, which is printed as ${printed}: this program cannot keep its digits.`;
}

async function loggedPlatform(platform: Platform, output: ConnectionContext['output']): Promise<Platform> {
  const { withWireLog } = await import('./wire-log.ts');
  return withWireLog(platform, (line) => output.detail(line));
}

function checkAddress(url: string): string {
  const protocol = URL.canParse(url) ? new URL(url).protocol : '';
  if (protocol === 'ws:' || protocol === 'wss:') return redactUrl(url);
  throw usageFailure(`The engine address is '${redactUrl(url)}': expected ws://host:port or wss://host:port.`);
}

export async function readToken({ flags, terminal }: ConnectionContext): Promise<string | undefined> {
  const file = flags['token-file'];
  // An empty variable counts as absent.
  if (file === undefined) return checkToken(terminal.env.SVC_TOKEN || undefined, 'SVC_TOKEN');
  const path = resolve(terminal.cwd, file);
  try {
    return checkToken((await readFile(path, 'utf8')).trim(), path);
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    const reason = error instanceof Error && 'code' in error ? error.code : error;
    throw usageFailure(`Cannot read the token from ${path} (${reason}).`);
  }
}

/** Refuses a token that is not valid in a header. The message does not contain the token. */
function checkToken(token: string | undefined, source: string): string | undefined {
  if (token === undefined || /^[\x21-\x7e]+$/.test(token)) return token;
  const found = token === '' ? 'is empty' : 'has spaces, line breaks or letters beyond ASCII';
  throw usageFailure(`The token in ${source} ${found}.`);
}

/** An address that drops packets must not block the command longer than the timeout. */
async function withinTime(connected: Promise<void>, timeoutMs: number, address: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unreachable(address, `no answer within ${formatDuration(timeoutMs)}`)), timeoutMs);
  });
  try {
    await Promise.race([connected, late]);
  } finally {
    clearTimeout(timer);
  }
}

function explain(error: SvcError, address: string, verbose: boolean): CliFailure {
  if (error.code === 'UNREACHABLE') return unreachable(address, readReason(error.message));
  if (error.code === 'UNAUTHORIZED' || (error.code === 'FORBIDDEN' && error.function_id === undefined)) {
    return new CliFailure({
      code: error.code,
      message: `The engine at ${address} refused the connection: ${error.message}.`,
      exitCode: EXIT.refused,
      hint: 'Give its bridge token with --token-file <file> or in the variable SVC_TOKEN.',
    });
  }
  const functionId = error.function_id ?? 'The call';
  return callFailure(error, { functionId, verbose });
}

function unreachable(address: string, reason: string): CliFailure {
  return new CliFailure({
    code: 'ENGINE_UNREACHABLE',
    message: `Cannot reach the engine at ${address} (${reason}).`,
    exitCode: EXIT.unreachable,
    hint: 'Start it with: svc --config svc-config.yaml',
    details: { address },
  });
}

/** For an engine that has answered before. */
export function lostEngine(reason: string, address: string): CliFailure {
  return new CliFailure({
    code: 'ENGINE_UNREACHABLE',
    message: `Lost the engine at ${address}: ${reason}.`,
    exitCode: EXIT.unreachable,
    details: { address },
  });
}

/** The SDK appends the system's error in parentheses. */
export function readReason(message: string): string {
  const reason = /^[^(]*\((.*)\)$/.exec(message)?.[1] ?? message;
  const known = Object.entries(SYSTEM_ERRORS).find(([code]) => reason.includes(code));
  return known?.[1] ?? reason;
}

const SYSTEM_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'no such host',
  ETIMEDOUT: 'no answer',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
};

type FollowContext = Pick<Context<typeof CONNECTION_FLAGS>, 'flags' | 'output' | 'terminal'>;

const RECONNECT_MS = 1_000;

/** Calls `poll` every `intervalMs`, never twice at a time. Ends only by a failure that is not a lost connection. */
export async function follow(
  context: FollowContext,
  intervalMs: number,
  poll: (engine: EngineConnection) => Promise<void>,
  options: { readonly printsValues?: boolean } = {},
): Promise<never> {
  let isLost = false;
  for (let hasConnected = false; ; ) {
    try {
      await withEngine(
        context,
        async (engine) => {
          if (isLost) context.output.note(`Reconnected to ${engine.address}.`);
          isLost = false;
          hasConnected = true;
          for (;;) {
            await poll(engine);
            await Promise.race([engine.lost, pause(intervalMs)]);
          }
        },
        options,
      );
    } catch (error) {
      const isLoss = error instanceof CliFailure && error.report.code === 'ENGINE_UNREACHABLE';
      if (!hasConnected || !isLoss) throw error;
      if (!isLost) context.output.note(`${error.message} Reconnecting.`);
      isLost = true;
      await pause(RECONNECT_MS);
    }
  }
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}
