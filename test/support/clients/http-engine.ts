// An engine with an HTTP port, and requests to it.

import { request } from 'node:http';
import { startTestEngine, type TestEngine, type TestEngineOptions } from '../engine/test-engine.ts';

export interface HttpEngine extends TestEngine {
  readonly httpUrl: string;
  readonly httpPort: number;
}

export interface HttpEngineOptions extends Omit<TestEngineOptions, 'yaml'> {
  /** More lines of the file. */
  readonly top?: string;
  readonly drainTimeoutMs?: number;
  /** More entries of `workers`, as flow YAML. */
  readonly workers?: readonly string[];
}

/** `http`: config of the module as flow YAML, in addition to `{port: 0}`. */
export async function startHttpEngine(
  http = '',
  { top = '', workers = [], drainTimeoutMs = 100, ...world }: HttpEngineOptions = {},
): Promise<HttpEngine> {
  const entries = [
    '  - {name: svc-worker-manager, config: {port: 0}}',
    `  - {name: svc-http, config: {port: 0${http === '' ? '' : `, ${http}`}}}`,
    ...workers.map((entry) => `  - ${entry}`),
  ];
  const yaml = [`drain_timeout_ms: ${drainTimeoutMs}`, ...(top === '' ? [] : [top]), 'workers:', ...entries, ''].join(
    '\n',
  );
  const engine = await startTestEngine({ yaml, ...world });
  const httpUrl = engine.urls.find((url) => url.startsWith('http:'));
  if (httpUrl === undefined) throw new Error('The engine has no HTTP port');
  return { ...engine, httpUrl, httpPort: Number(new URL(httpUrl).port) };
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface HttpAsk {
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Uint8Array;
}

/** One request on a connection of its own, by the library that lets a test send what it likes. */
export function ask(engine: Pick<HttpEngine, 'httpPort'>, path: string, options: HttpAsk = {}): Promise<HttpReply> {
  const { method = 'GET', headers = {}, body } = options;
  return new Promise((resolve, reject) => {
    const sent = request({
      host: '127.0.0.1',
      port: engine.httpPort,
      path,
      method,
      agent: false,
      headers,
    });
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

export async function askJson(
  engine: Pick<HttpEngine, 'httpPort'>,
  path: string,
  options: HttpAsk = {},
): Promise<{ readonly status: number; readonly body: unknown }> {
  const { status, text } = await ask(engine, path, options);
  return { status, body: text === '' ? undefined : JSON.parse(text) };
}
