// Which trigger types a connection of a restricted port may bind when neither the port nor the auth function lists any.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const REFUSED = "trigger type 'event' not allowed (add to rbac.allow_trigger_types)";

interface Case {
  readonly top?: string;
  readonly rbac: string;
  readonly grant?: object;
  readonly refusal?: string;
}

const CASES: Readonly<Record<string, Case>> = {
  'an auth function, with compat': { top: 'compat: iii', rbac: 'auth_function_id: auth' },
  'an auth function, without compat': { rbac: 'auth_function_id: auth', refusal: REFUSED },
  'a hook, with compat': { top: 'compat: iii', rbac: 'on_trigger_registration_function_id: hook' },
  'a hook, without compat': { rbac: 'on_trigger_registration_function_id: hook', refusal: REFUSED },
  'a hook that refuses, with compat': {
    top: 'compat: iii',
    rbac: 'on_trigger_registration_function_id: refusing',
    refusal: 'refused',
  },
  'neither, with compat': { top: 'compat: iii', rbac: 'expose_functions: []', refusal: REFUSED },
  'an empty list of the port, with compat': {
    top: 'compat: iii',
    rbac: 'auth_function_id: auth, allow_trigger_types: []',
    refusal: REFUSED,
  },
  'another list of the port, with compat': {
    top: 'compat: iii',
    rbac: 'on_trigger_registration_function_id: hook, allow_trigger_types: [http]',
    refusal: REFUSED,
  },
  'an empty list of the auth function, with compat': {
    top: 'compat: iii',
    rbac: 'auth_function_id: auth',
    grant: { allowed_trigger_types: [] },
    refusal: REFUSED,
  },
};

test.each(Object.entries(CASES))('[X9] %s', async (_name, { top = '', rbac, grant = { context: {} }, refusal }) => {
  const ports = ['{port: 0}', `{port: 0, rbac: {${rbac}}}`];
  const entries = ports.map((config) => `  - {name: svc-worker-manager, config: ${config}}`);
  await using engine = await startTestEngine({
    yaml: [top, 'workers:', ...entries, '  - {name: svc-pubsub}', ''].join('\n'),
  });
  await using backend = await RawWorker.connect(engine.url);
  await backend.serve('auth', () => grant);
  await backend.serve('hook', (input) => input);
  await backend.serve('refusing', () => null);
  await using page = await RawWorker.connect(engine.urls[1] ?? '');
  await page.register('page::on');
  const config = { topic: 'orders' };
  page.send({ type: 'registertrigger', id: 'a', trigger_type: 'event', function_id: 'page::on', config });
  if (refusal === undefined) {
    const delivered = page.next('invokefunction');
    await waitFor('the trigger is bound', async () => {
      const { result } = await backend.call('engine::registered-triggers::list', { id: 'a' });
      return (result as { registered_triggers: object[] }).registered_triggers.length === 1;
    });
    await backend.call('publish', { topic: 'orders', data: 1 });
    expect(await delivered).toMatchObject({ function_id: 'page::on' });
  } else {
    const { error } = await page.next('triggerregistrationresult');
    expect((error as { message: string }).message).toContain(refusal);
  }
  const warnings = engine.warnings.filter((line) => line.includes('No allow_trigger_types'));
  expect(warnings).toHaveLength(top !== '' && !rbac.includes('allow_trigger') && !rbac.includes('expose') ? 1 : 0);
});
