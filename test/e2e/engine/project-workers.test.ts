// Worker projects: the engine starts them, restarts them, and stops them.

import { describe, expect, test } from 'vitest';
import { ProjectEngine, pidWorker, processesWith } from '../../support/engine/project-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ANY_PORT, runSvc } from '../cli/cli-process.ts';

const withOrders = `${ANY_PORT}  - name: orders\n    path: ./orders\n`;

const pidOf = async (engine: ProjectEngine, functionId = 'orders::pid'): Promise<number> => {
  const answer = await engine.call(functionId);
  return Number((answer as { pid: number }).pid);
};

const isThere = (engine: ProjectEngine, functionId: string) => async () =>
  await engine.call(functionId).then(
    () => true,
    () => false,
  );

/** An engine whose worker `orders` has registered. The tests of this file start several at once. */
async function startWithOrders(script?: string): Promise<ProjectEngine> {
  const engine = await ProjectEngine.start(withOrders, { orders: pidWorker('orders', script) });
  await waitFor('the worker registers', isThere(engine, 'orders::pid'), 30_000);
  return engine;
}

describe.concurrent('a worker of the configuration', { timeout: 60_000 }, () => {
  test('[PD-24] starts with the engine, knows its name, and ends with the engine', async () => {
    await using engine = await startWithOrders();
    expect(await engine.call('orders::pid')).toMatchObject({ name: 'orders' });
    const pid = await pidOf(engine);
    expect((await engine.stop()).code).toBe(0);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  test('is started again when it is killed, and its log continues', async () => {
    await using engine = await startWithOrders();
    const first = await pidOf(engine);
    process.kill(first, 'SIGKILL');
    await waitFor('another process answers', async () => (await pidOf(engine).catch(() => first)) !== first, 30_000);
    const { stdout } = await engine.svc('worker', 'logs', 'orders', '--json');
    const lines: { stream: string; text: string }[] = JSON.parse(stdout);
    // The shell in between writes about the signal to stderr.
    const texts = lines.filter(({ stream }) => stream !== 'stderr').map(({ text }) => text);
    expect(texts).toEqual([
      'starting: node worker.mjs',
      'orders is up',
      'ended: signal SIGKILL',
      'starting: node worker.mjs',
      'orders is up',
    ]);
  });

  test('[PD-24] gets the bridge token of the engine from its environment', async () => {
    const token = 'a-token-of-more-than-thirty-two-bytes';
    const config = `bridge_token: ${token}\n${withOrders}`;
    await using engine = await ProjectEngine.start(config, { orders: pidWorker('orders') });
    const env = { SVC_URL: engine.url, SVC_TOKEN: token };
    const call = () => runSvc(['trigger', 'orders::pid'], { cwd: engine.folder, env });
    await waitFor('the worker answers', async () => (await call()).code === 0, 30_000);
  });

  test('[CLI-14] has a log that --since limits by duration, expression or time', async () => {
    await using engine = await startWithOrders();
    const linesSince = async (since: string) => await engine.svc('worker', 'logs', 'orders', '--since', since);
    for (const since of ['10m', 'now-10m', new Date(Date.now() - 600_000).toISOString()]) {
      expect((await linesSince(since)).stdout).toContain('orders is up');
    }
    expect(await linesSince(String(Date.now() + 60_000))).toMatchObject({ code: 0, stdout: '' });
    expect((await linesSince('yesterday')).code).toBe(2);
  });

  test('[R6] leaves no process when the engine is killed', async () => {
    const marker = `grandchild-${process.pid}-${Date.now()}`;
    const script = `import { spawn } from 'node:child_process';
spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', '${marker}'], { stdio: 'ignore' });`;
    await using engine = await startWithOrders(script);
    expect(processesWith(marker)).not.toEqual([]);
    await engine.kill();
    await waitFor('its processes are gone', () => processesWith(marker).length === 0, 10_000);
  });

  test('that cannot be started shows the reason, and the engine keeps running', async () => {
    await using engine = await ProjectEngine.start(withOrders, {
      orders: { 'svc.worker.yaml': 'name: orders\nruntime: {kind: node}\n' },
    });
    const { stdout } = await engine.svc('worker', 'info', 'orders');
    expect(stdout).toContain("Give 'runtime.entry' or 'scripts.start'");
    expect(stdout).toContain('svc.worker.yaml');
  });
});

describe.concurrent('svc worker', { timeout: 60_000 }, () => {
  test('add writes the configuration, installs and starts the worker, and prints its functions', async () => {
    const config = `# mine\n${ANY_PORT}\n# the end\n`;
    const project = pidWorker('mail');
    project['svc.worker.yaml'] += 'scripts: {install: echo installed > installed.txt}\n';
    await using engine = await ProjectEngine.start(config, { mail: project });
    expect(await engine.svc('worker', 'add', './mail')).toMatchObject({
      code: 0,
      stdout: 'Started mail.\n  mail::pid\n',
    });
    expect(await engine.config).toBe(`# mine\n${ANY_PORT}  - name: mail\n    path: ./mail\n\n# the end\n`);
    expect(await engine.svc('worker', 'add', './mail')).toMatchObject({ code: 7 });
    const lines = (await engine.svc('worker', 'logs', 'mail')).stdout;
    expect(lines).toContain('installing: echo installed > installed.txt');
    // A restart does not install again.
    await engine.svc('worker', 'restart', 'mail');
    expect((await engine.svc('worker', 'logs', 'mail')).stdout.match(/installing:/g)).toHaveLength(1);
  });

  test('add prints why a worker does not start, with the end of its output', async () => {
    await using engine = await ProjectEngine.start(ANY_PORT, {
      bad: {
        'svc.worker.yaml': 'name: bad\nruntime: {kind: node, entry: w.mjs}\n',
        'w.mjs': 'console.error("no database"); process.exit(3);\n',
      },
    });
    const { code, stderr } = await engine.svc('worker', 'add', './bad');
    expect(code).toBe(1);
    expect(stderr).toContain('exit code 3');
    expect(stderr).toContain('no database');
    expect(stderr).toContain('then run: svc worker start bad.');
    const { checks } = JSON.parse((await engine.svc('doctor', '--json')).stdout);
    expect(checks).toContainEqual({
      name: 'worker bad',
      level: 'warn',
      text: expect.stringContaining('exit code 3'),
      fix: expect.stringContaining('worker logs bad'),
    });
    await engine.svc('worker', 'stop', 'bad');
    // The output is of this start only.
    expect((await engine.svc('worker', 'start', 'bad')).stderr.match(/no database/g)).toHaveLength(1);
  });

  test('[CLI-30] doctor warns of a worker that ended and was started again', async () => {
    await using engine = await ProjectEngine.start(ANY_PORT, {
      bad: {
        'svc.worker.yaml': 'name: bad\nruntime: {kind: node, entry: w.mjs}\n',
        'w.mjs': `import { existsSync, writeFileSync } from 'node:fs';
          const wasHere = existsSync('tried');
          writeFileSync('tried', '');
          if (!wasHere) process.exit(3);
          setInterval(() => {}, 1_000_000);`,
      },
    });
    await engine.svc('worker', 'add', './bad', '--no-wait');
    const status = async () => JSON.stringify(await engine.call('worker::status', { name: 'bad' }));
    await waitFor(
      'the worker is started again',
      async () => /"state":"running".*"restarts":1/.test(await status()),
      10_000,
    );
    const { checks } = JSON.parse((await engine.svc('doctor', '--json')).stdout);
    expect(checks).toContainEqual(
      expect.objectContaining({ name: 'worker bad', level: 'warn', text: 'running (exit code 3)' }),
    );
  });

  test('add --dry-run shows the change and makes none', async () => {
    await using engine = await ProjectEngine.start(ANY_PORT, { mail: pidWorker('mail') });
    expect((await engine.svc('worker', 'add', './mail', '--dry-run')).stdout).toMatch(
      /would change:\n\+ {3}- name: mail/,
    );
    expect(await engine.config).toBe(ANY_PORT);
  });

  test('[PD-30] add without an engine changes the configuration and prints how to start the engine', async () => {
    await using engine = await ProjectEngine.start(ANY_PORT, { mail: pidWorker('mail') });
    await engine.stop();
    const { code, stderr } = await engine.svc('worker', 'add', './mail');
    expect(code).toBe(5);
    expect(stderr).toContain('start it with: svc --config svc-config.yaml');
    expect(await engine.config).toBe(`${ANY_PORT}  - name: mail\n    path: ./mail\n`);
  });

  test('[PD-30] add without an engine refuses an unknown module and leaves the configuration unchanged', async () => {
    await using engine = await ProjectEngine.start(ANY_PORT);
    await engine.stop();
    const { code, stderr } = await engine.svc('worker', 'add', 'svc-stat');
    expect(code).toBe(2);
    expect(stderr).toContain("Unknown module 'svc-stat'. Did you mean 'svc-state'?");
    expect(await engine.config).toBe(ANY_PORT);
  });

  test('remove stops a module of the running engine', async () => {
    const state = '{adapter: {name: kv, config: {store_method: in_memory}}}';
    await using engine = await ProjectEngine.start(ANY_PORT);
    expect((await engine.svc('worker', 'add', 'svc-events')).stderr).toContain('Unknown module');
    await engine.writeConfig(`${ANY_PORT}  - name: svc-state\n    config: ${state}\n`);
    await waitFor('the state module runs', isThere(engine, 'state::list_groups'), 20_000);
    expect(await engine.svc('worker', 'remove', 'svc-state')).toMatchObject({ code: 2 });
    expect(await engine.svc('worker', 'remove', 'svc-state', '--yes')).toMatchObject({ code: 0 });
    expect(await engine.config).toBe(ANY_PORT);
    await expect(engine.call('state::list_groups')).rejects.toThrow('state::list_groups');
  });

  test('stop, start and remove change a running worker', async () => {
    await using engine = await startWithOrders();
    expect((await engine.svc('worker', 'stop', 'orders')).stdout).toMatch(/state\s+stopped/);
    await expect(engine.call('orders::pid')).rejects.toThrow();
    expect((await engine.svc('worker', 'start', 'orders')).stdout).toMatch(/functions\s+orders::pid/);
    expect(await engine.svc('worker', 'remove', 'orders', '-y')).toMatchObject({ code: 0 });
    expect(await engine.config).toBe(ANY_PORT);
    expect(await engine.svc('worker', 'info', 'orders')).toMatchObject({ code: 3 });
  });
});

describe.concurrent('a reload', { timeout: 60_000 }, () => {
  test('[K1] of an invalid file changes nothing, and health is degraded until the file is valid', async () => {
    await using engine = await startWithOrders();
    const pid = await pidOf(engine);
    const healthStatus = async () => ((await engine.call('engine::health::check')) as { status: string }).status;
    await engine.writeConfig(`${withOrders}  - name: svc-sate\n`);
    await waitFor('health is degraded', async () => (await healthStatus()) === 'degraded');
    await expect(engine.call('engine::config::reload')).rejects.toThrow("Did you mean 'svc-state'");
    expect(await pidOf(engine)).toBe(pid);
    await engine.writeConfig(withOrders);
    await waitFor('health is healthy again', async () => (await healthStatus()) === 'healthy');
    expect(await pidOf(engine)).toBe(pid);
  });

  test('[K1] refuses a setting that can only change with a new start', async () => {
    await using engine = await ProjectEngine.start(ANY_PORT);
    await engine.writeConfig(`threads: 3\n${ANY_PORT}`);
    await expect(engine.call('engine::config::reload')).rejects.toThrow('threads can only change with a new start');
    await engine.writeConfig(ANY_PORT.replace('port: 0', 'port: 1'));
    await expect(engine.call('engine::config::reload')).rejects.toThrow(
      'svc-worker-manager: port can only change with a new start',
    );
  });

  test('starts, restarts and stops the worker projects that changed in the file', async () => {
    await using engine = await ProjectEngine.start(ANY_PORT, { orders: pidWorker('orders'), mail: pidWorker('mail') });
    await engine.writeConfig(`${withOrders}  - {name: mail, path: ./mail}\n`);
    await waitFor(
      'both register',
      async () => (await isThere(engine, 'orders::pid')()) && (await isThere(engine, 'mail::pid')()),
      30_000,
    );
    const [orders, mail] = [await pidOf(engine), await pidOf(engine, 'mail::pid')];
    await engine.writeConfig(`${withOrders.trimEnd()}\n    env: {A: b}\n  - {name: mail, path: ./mail}\n`);
    await waitFor(
      'the changed worker is restarted',
      async () => (await pidOf(engine).catch(() => orders)) !== orders,
      30_000,
    );
    expect(await pidOf(engine, 'mail::pid')).toBe(mail);
    await engine.writeConfig(ANY_PORT);
    await waitFor('both are gone', async () => !(await isThere(engine, 'mail::pid')()));
  });
});
