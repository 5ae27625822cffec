// A failed call in words (CLI-22): what failed, its code, where in the handler, and which trace to look at.

import type { SvcError } from '../sdk/errors.ts';
import { exitCodeOfError } from './exit-codes.ts';
import { CliFailure } from './failures.ts';

const FRAMES_MAX = 3;

export interface CallFailureContext {
  readonly functionId: string;
  readonly verbose: boolean;
  /** What to do now, where that is known. */
  readonly hint?: string | undefined;
}

export function callFailure(error: SvcError, { functionId, verbose, hint }: CallFailureContext): CliFailure {
  const { code, message, reason, trace_id: traceId, retryable } = error;
  const frames = stackFrames(error.remote?.stack, verbose);
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

/** The frames of the handler's own code: libraries and Node itself left out, unless everything was asked for. */
export function stackFrames(stack: string | undefined, everything: boolean): string[] {
  const frames = (stack ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '));
  if (everything) return frames;
  return frames.filter((frame) => !/node_modules|node:|<anonymous>/.test(frame)).slice(0, FRAMES_MAX);
}
