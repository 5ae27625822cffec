// "Copy as": texts that run when they are pasted.

import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import {
  asCommand,
  asCurl,
  asTypeScript,
  type CopiedCall,
} from '../../../../../../src/console/web/kit/inputs/call-text.ts';

const PLACES = { httpUrl: 'http://127.0.0.1:3111', bridgeUrl: 'ws://127.0.0.1:49134', needsToken: true };
const CALL: CopiedCall = {
  functionId: 'odd::"name\'',
  payloadText: '{"a": "it\'s $HOME `id` \\n 😀 \\"quoted\\"",\n "n": 1.0}',
  mode: 'wait',
};

/** The arguments that a program gets from a POSIX shell that runs the text, with `printf` in place of the command. */
function wordsOf(text: string): string[] {
  const script = text.replace(/^(?:svc|curl)/, "printf '%s\\0'");
  return execFileSync('sh', ['-c', script], { encoding: 'utf8', env: { SVC_TOKEN: 'secret' } })
    .split('\0')
    .slice(0, -1);
}

describe('Copy as', () => {
  test('[APP-10] A command keeps quotes, dollars, line breaks and emoji in a shell', () => {
    const words = wordsOf(asCommand(CALL, PLACES));
    expect(words).toContain(CALL.functionId);
    expect(words).toContain(`--payload=${CALL.payloadText}`);
  });

  test('[APP-10] curl sends the payload as it was typed, and reads the token from $SVC_TOKEN', () => {
    const text = asCurl(CALL, PLACES);
    expect(text).not.toContain('secret');
    const words = wordsOf(text);
    expect(words).toContain('authorization: Bearer secret');
    const body = words.at(-1) ?? '';
    expect(body).toContain(CALL.payloadText);
    expect(JSON.parse(body)).toMatchObject({ function_id: CALL.functionId });
  });

  test('[APP-10] Copied code enqueues or does not wait when the page does', () => {
    expect(asTypeScript({ ...CALL, mode: 'enqueue', queue: 'mail' }, PLACES, 'svc-sdk')).toContain(
      'action: Enqueue({ queue: "mail" })',
    );
    expect(asTypeScript({ ...CALL, mode: 'void' }, PLACES, 'svc-browser-sdk')).toContain('action: Void()');
  });
});
