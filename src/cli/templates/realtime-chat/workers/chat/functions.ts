// A chat room: pages send messages by calling `chat::send`, which writes them into a stream that all pages watch.

import { readFile } from 'node:fs/promises';
import { type HttpReply, type HttpRequest, http, type SvcWorker } from 'svc-sdk';

const CHARS_MAX = 500;

export interface Message {
  readonly from: string;
  readonly text: string;
  readonly at: string;
}

export function register(svc: SvcWorker): void {
  // svc-config.yaml allows pages to call this function.
  svc.registerFunction(
    { id: 'chat::send', description: 'Sends a message to a room' },
    async ({ room, from, text }: { room: string; from: string; text: string }) => {
      if (typeof text !== 'string' || text === '' || text.length > CHARS_MAX) {
        throw new Error(`A message has 1 to ${CHARS_MAX} characters`);
      }
      const at = new Date().toISOString();
      const message: Message = { from: String(from).slice(0, 50), text, at };
      // Ids sort by time.
      const id = `${at}-${Math.random().toString(36).slice(2, 8)}`;
      await svc.stream('chat').group<Message>(room).set(id, message);
      return { id };
    },
  );

  const page = svc.registerFunction({ id: 'chat::page', description: 'The page' }, async (): Promise<HttpReply> => {
    const text = await readFile(new URL('page.html', import.meta.url), 'utf8');
    const ports = { browser: process.env.SVC_BROWSER_PORT ?? '49135', stream: process.env.STREAM_PORT ?? '3112' };
    const body = text.replace('{{ports}}', JSON.stringify(ports));
    return { status_code: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
  });

  // The installed SDK for pages.
  const sdk = svc.registerFunction(
    { id: 'chat::sdk', description: 'Files of svc-browser-sdk' },
    async ({ path_params }: HttpRequest): Promise<HttpReply> => {
      const file = path_params.file ?? '';
      if (!/^[a-z-]+\.js$/.test(file)) return { status_code: 404, body: 'not found' };
      const body = await readFile(new URL(file, import.meta.resolve('svc-browser-sdk')), 'utf8');
      return { status_code: 200, headers: { 'content-type': 'text/javascript; charset=utf-8' }, body };
    },
  );
  svc.registerTrigger({ ...http('GET', '/'), function_id: page });
  svc.registerTrigger({ ...http('GET', '/sdk/:file'), function_id: sdk });
}
