// Small commands of the engine itself, whose answer is parsed here.

import { Buffer } from 'node:buffer';
import { Refusal } from '../../core/calls/refusal.ts';
import { ERROR_CODES, type ErrorCode } from '../../protocol/frames/errors.ts';
import type { Store } from './contract.ts';

/** The answer of the command, parsed; rejects with its refusal. */
export function runCommand(store: Store, command: string, input: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    store.run(command, Buffer.from(JSON.stringify(input)), ({ result, error }) => {
      if (error !== undefined) reject(new Refusal(codeOf(error.code), error.message));
      else resolve(result === undefined ? undefined : JSON.parse(Buffer.from(result).toString('utf8')));
    });
  });
}

function codeOf(code: string): ErrorCode {
  const known = Object.hasOwn(ERROR_CODES, code);
  // A key of the table is one of its keys.
  return known ? (code as ErrorCode) : 'invocation_failed';
}
