// A call as text that can be run (APP-10): pasted into a POSIX shell, or into a program. The payload stays as it was
// typed. The text never contains a token: a shell reads it from `$SVC_TOKEN`.

export interface CopiedCall {
  readonly functionId: string;
  /** JSON, or empty where there is no payload. */
  readonly payloadText: string;
  readonly mode: 'wait' | 'void' | 'enqueue';
  readonly queue?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface CallEndpoints {
  /** Of the engine: `http://127.0.0.1:3111`. */
  readonly httpUrl: string;
  readonly bridgeUrl: string;
  readonly needsToken: boolean;
}

/** Quotes a word so that a POSIX shell reads it unchanged. */
export function shellQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function asCommand(call: CopiedCall, endpoints: CallEndpoints): string {
  const words = ['svc', 'trigger', call.functionId];
  if (call.payloadText.trim() !== '') words.push(`--payload=${call.payloadText}`);
  if (call.mode === 'void') words.push('--void');
  if (call.mode === 'enqueue') words.push('--queue', call.queue ?? '');
  if (call.timeoutMs !== undefined) words.push('--timeout', `${call.timeoutMs}ms`);
  words.push('--url', endpoints.bridgeUrl);
  return words.map(shellQuote).join(' ');
}

export function asCurl(call: CopiedCall, endpoints: CallEndpoints): string {
  const words = ['curl', '-sS', '-X', 'POST', `${endpoints.httpUrl}/_console/invoke`];
  const token = endpoints.needsToken ? ` -H "authorization: Bearer $SVC_TOKEN"` : '';
  const rest = ['-H', 'content-type: application/json', '--data-raw', invokeText(call)];
  return `${words.map(shellQuote).join(' ')}${token} ${rest.map(shellQuote).join(' ')}`;
}

/** The body of the invoke route, with the payload as it was typed. */
export function invokeText({ functionId, payloadText, mode, queue, timeoutMs }: CopiedCall): string {
  const members = [`"function_id":${JSON.stringify(functionId)}`];
  if (payloadText.trim() !== '') members.push(`"payload":${payloadText}`);
  if (mode === 'void') members.push('"action":{"type":"void"}');
  if (mode === 'enqueue') members.push(`"action":${JSON.stringify({ type: 'enqueue', queue: queue ?? '' })}`);
  if (timeoutMs !== undefined) members.push(`"timeout_ms":${timeoutMs}`);
  return `{${members.join(',')}}`;
}

export function asTypeScript(call: CopiedCall, endpoints: CallEndpoints, sdk: 'svc-sdk' | 'svc-browser-sdk'): string {
  const names = ['registerWorker'];
  if (call.mode === 'enqueue') names.push('Enqueue');
  if (call.mode === 'void') names.push('Void');
  const members = [`function_id: ${JSON.stringify(call.functionId)}`];
  if (call.payloadText.trim() !== '') members.push(`payload: ${call.payloadText}`);
  if (call.mode === 'enqueue') members.push(`action: Enqueue({ queue: ${JSON.stringify(call.queue ?? '')} })`);
  if (call.mode === 'void') members.push('action: Void()');
  if (call.timeoutMs !== undefined) members.push(`timeout_ms: ${call.timeoutMs}`);
  const auth = sdk === 'svc-browser-sdk' && endpoints.needsToken ? ', { auth: () => token }' : '';
  const result = call.mode === 'void' ? '' : 'const result = ';
  return `import { ${names.join(', ')} } from '${sdk}';

const svc = registerWorker(${JSON.stringify(endpoints.bridgeUrl)}${auth});
${result}await svc.trigger({
${members.map((member) => `  ${member},\n`).join('')}});
`;
}
