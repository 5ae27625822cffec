// A failed call in words (CLI-22): what failed, its code, where in the handler, and which trace to look at.

import type { SvcError } from '../sdk/errors.ts';
import { exitCodeOfError } from './exit-codes.ts';
import { CliFailure } from './failures.ts';

const FRAMES_MAX = 3;

export interface CallFailureContext {
  readonly functionId: string;
  readonly verbose: boolean;
  /** The engine has the trace of the call. */
  readonly hasTrace?: boolean;
}

export function callFailure(
  error: SvcError,
  { functionId, verbose, hasTrace = false }: CallFailureContext,
): CliFailure {
  const { code, message, reason, trace_id: traceId, retryable } = error;
  const frames = stackFrames(error.remote?.stack, verbose);
  const seen = hasTrace && traceId !== undefined ? `See what it did with: svc trace show ${traceId} --logs` : undefined;
  const hint = hintFor(error) ?? seen;
  const labels = [`code ${code}`, ...(reason === undefined ? [] : [`reason ${reason}`])];
  if (traceId !== undefined) labels.push(`trace ${traceId}`);
  return new CliFailure({
    code,
    message: `${functionId} failed: ${message}`,
    exitCode: exitCodeOfError(code, reason),
    lines: [...frames.map((frame) => `  ${frame}`), `  ${labels.join('  ')}`],
    details: {
      function_id: functionId,
      retryable,
      ...(reason === undefined ? {} : { reason }),
      ...(traceId === undefined ? {} : { trace_id: traceId }),
      ...(frames.length === 0 ? {} : { stack: frames }),
    },
    ...(hint === undefined ? {} : { hint }),
  });
}

/** What to do now, where that is known. */
function hintFor({ code, reason, message, function_id: id = '' }: SvcError): string | undefined {
  // It is in the configuration all the same: adding it again would be refused.
  if (code === 'WORKER_FAILED') {
    const [, name = '<name>'] = /^The worker ([\w.-]+) /.exec(message) ?? [];
    return `Correct it, then: svc worker start ${name}. In time it is tried again by itself.`;
  }
  if (id === 'worker::add' && message.startsWith('There is no file')) {
    return 'Name a folder with a worker project, or make one: svc worker init <dir>';
  }
  if (reason === 'QUEUE_NOT_FOUND' && message.includes('no queue module')) return missingModule('svc-queue');
  if (reason === 'QUEUE_NOT_FOUND') {
    return 'List the queues with: svc queue list. A new one goes under queue_configs of svc-queue.';
  }
  const module = code === 'function_not_found' ? MODULES.find(([prefix]) => id.startsWith(prefix))?.[1] : undefined;
  return module === undefined ? undefined : missingModule(module);
}

function missingModule(name: string): string {
  return `The engine runs without that module. Add it: svc worker add ${name}, or an entry with name: ${name}`;
}

/** Functions of modules that an engine may be without. */
const MODULES: readonly (readonly [prefix: string, module: string])[] = [
  ['state::', 'svc-state'],
  ['stream::', 'svc-stream'],
  ['engine::queue::', 'svc-queue'],
  ['svc::queue::', 'svc-queue'],
  ['engine::events::', 'svc-pubsub'],
];

/** The frames of the handler's own code: libraries and Node itself left out, unless everything was asked for. */
export function stackFrames(stack: string | undefined, everything: boolean): string[] {
  const frames = (stack ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '));
  if (everything) return frames;
  return frames
    .filter((frame) => !/node_modules|node:|<anonymous>|\/sdk\/dist\/sdk\//.test(frame))
    .slice(0, FRAMES_MAX);
}
