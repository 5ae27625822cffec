// `svc stream …` as real processes against a real engine.

import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { StreamClient } from '../../support/clients/stream-client.ts';
import { CutProxy } from '../../support/load/cut-proxy.ts';
import { PRICES, writeUntilOneIsLeft } from '../../support/random/many-prices.ts';
import { startStreamEngine } from '../../support/stores/stream-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { runSvc, spawnSvc } from './cli-process.ts';

/** `svc stream watch` once it is connected; by default of one group, with --json. */
async function startWatch(streamUrl: string, ...args: string[]) {
  const asked = args.length > 0 ? args : ['chat/room', '--json'];
  const child = spawnSvc(['stream', 'watch', ...asked, '--stream-url', streamUrl]);
  const watch = {
    out: '',
    err: '',
    ended: new Promise((resolve) => child.once('close', resolve)),
    interrupt: () => child.kill('SIGINT'),
    stop: () => child.kill('SIGSTOP'),
    goOn: () => child.kill('SIGCONT'),
  };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    watch.out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    watch.err += text;
  });
  await waitFor('it watches', () => watch.err.includes('Watching'), 15_000);
  return watch;
}

describe('svc stream', () => {
  test('[console 6.5] writes, reads and lists items, groups and streams', { timeout: 60_000 }, async () => {
    await using engine = await startStreamEngine();
    const svc = (...args: string[]) => runSvc(['stream', ...args, '--url', engine.url]);
    expect(await svc('set', 'chat/room/1', 'm1', '{"text":"hello"}')).toMatchObject({ code: 0, stdout: '' });
    expect(JSON.parse((await svc('get', 'chat/room/1', 'm1')).stdout)).toEqual({ text: 'hello' });
    expect((await svc('list')).stdout).toContain('chat');
    expect((await svc('groups', 'chat', '-o', 'jsonl')).stdout).toBe('{"group":"room/1"}\n');
    expect((await svc('items', 'chat/room/1', '-o', 'jsonl')).stdout).toBe('{"id":"m1","data":{"text":"hello"}}\n');
    expect(await svc('delete', 'chat/room/1', 'm1')).toMatchObject({ code: 0, stdout: '' });
    expect((await svc('get', 'chat/room/1', 'm1')).stdout).toBe('null\n');
    expect(await svc('set', 'chat', 'm1', '1')).toMatchObject({ code: 2 });
    expect(await svc('set', 'chat/room', 'm1', '{broken')).toMatchObject({ code: 2 });
  });

  test('[console 6.5] [S4] lists a group that is too large for one answer', {
    timeout: 60_000,
  }, async () => {
    await using engine = await startStreamEngine();
    await using worker = await RawWorker.connect(engine.url);
    const place = { stream_name: 'files', group_id: 'large' };
    const data = 'x'.repeat(1_500_000);
    for (const item_id of ['a', 'b', 'c', 'd']) await worker.call('stream::set', { ...place, item_id, data });
    const { code, stdout } = await runSvc(['stream', 'items', 'files/large', '-o', 'jsonl', '--url', engine.url]);
    expect(code).toBe(0);
    const ids = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    expect(ids).toEqual(['a', 'b', 'c', 'd']);
  });

  test('[console 6.5] watch prints changes and events until it is interrupted', { timeout: 60_000 }, async () => {
    await using engine = await startStreamEngine();
    await using worker = await RawWorker.connect(engine.url);
    const watch = await startWatch(engine.streams);
    const place = { stream_name: 'chat', group_id: 'room' };
    await worker.call('stream::set', { ...place, item_id: 'a', data: 1 });
    await worker.call('stream::send', { ...place, type: 'typing', data: 'ann' });
    await waitFor('both are printed', () => watch.out.trim().split('\n').length === 2, 15_000);
    const lines = watch.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { type: 'create', id: 'a', data: 1, seq: 1 },
      { type: 'typing', id: null, data: 'ann', seq: 2 },
    ]);
    watch.interrupt();
    await watch.ended;
  });

  test('[console 6.5] [T4] watch prints the missed events after a lost connection', { timeout: 60_000 }, async () => {
    await using engine = await startStreamEngine();
    await using proxy = await CutProxy.start(Number(new URL(engine.streams).port));
    await using worker = await RawWorker.connect(engine.url);
    const watch = await startWatch(proxy.url);
    proxy.cut();
    const place = { stream_name: 'chat', group_id: 'room' };
    await worker.call('stream::set', { ...place, item_id: 'a', data: 1 });
    await waitFor('it prints what was missed', () => watch.out.includes('"create"'), 15_000);
    expect(watch.err).toContain('Reconnected; the missed events follow');
    watch.interrupt();
    expect(await watch.ended).toBe(130);
  });

  test('[T5] watch --conflate stays connected when it is slow, and prints how many events were left out', {
    timeout: 60_000,
  }, async () => {
    await using engine = await startStreamEngine();
    await using worker = await RawWorker.connect(engine.url);
    const watch = await startWatch(engine.streams, 'prices/all', '--conflate');
    await using other = await StreamClient.connect(engine.streams, '/stream/prices/all');
    other.socket.pause();
    watch.stop();
    await writeUntilOneIsLeft(worker);
    watch.goOn();
    await worker.call('stream::send', { ...PRICES, type: 'end', data: null });
    await waitFor('all is printed', () => watch.out.includes('  end  '), 15_000);
    // Compared as a boolean: a failure must not print the long output.
    expect(/ {2}(create|update|delete) \+\d+ {2}i\d+ {2}\{/.test(watch.out)).toBe(true);
    expect(watch.err).not.toContain('Connection lost');
    watch.interrupt();
    await watch.ended;
  });

  test('[CLI-9] watch reports a stream server that cannot be reached', { timeout: 60_000 }, async () => {
    const { code, stdout, stderr } = await runSvc(['stream', 'watch', 'chat/room', '--stream-url', 'ws://127.0.0.1:1']);
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
    expect(stderr).toContain('Cannot reach the stream server at ws://127.0.0.1:1');
  });
});

test('[T4] watch continues when the server is back', { timeout: 60_000 }, async () => {
  await using engine = await startStreamEngine();
  await using proxy = await CutProxy.start(Number(new URL(engine.streams).port));
  const watch = await startWatch(proxy.url);
  proxy.close();
  await waitFor('it says that it was lost', () => watch.err.includes('reconnecting'), 15_000);
  proxy.reopen();
  await waitFor('it is back', () => watch.err.includes('Reconnected'), 30_000);
  watch.interrupt();
  expect(await watch.ended).toBe(130);
});
