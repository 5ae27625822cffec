import { describe, expect, test } from 'vitest';
import { effectiveConfig } from '../../../../src/config/describe.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import { declareModules, securityWarnings } from '../../../../src/engine/start-checks.ts';

describe('the entry of a port for browsers', () => {
  test('[X5] every setting is accepted, the auth function in two places', () => {
    for (const auth of ['rbac: {auth_function_id: auth', 'auth_function_id: auth, rbac: {']) {
      const { modules } = configOf(`{port: 49135, ${auth}}, middleware_function_id: mw}`);
      const ports = modules.filter(({ name }) => name === 'svc-worker-manager');
      expect(ports.map(({ config }) => config)).toMatchObject([{ port: 49_134 }, { port: 49_135 }]);
    }
    const full = [
      '{rbac: {auth_function_id: auth, allow_trigger_types: [cron]',
      'expose_functions: [match("api::*"), {metadata: {public: true}}, {match: "ui::*", namespace: default}]',
      'on_function_registration_function_id: a, on_trigger_registration_function_id: b',
      'on_trigger_type_registration_function_id: c}, allowed_origins: ["https://app.example"]}',
    ].join(', ');
    const ports = configOf(full).modules.filter(({ name }) => name === 'svc-worker-manager');
    expect(ports).toHaveLength(2);
  });

  test('[PD-25] an entry with rbac does not replace the bridge, and one without rbac does', () => {
    const portsOf = (...configs: string[]) =>
      configOf(...configs)
        .modules.filter(({ name }) => name === 'svc-worker-manager')
        .map(({ config }) => Reflect.get(Object(config), 'port'));
    expect(portsOf('{port: 49135, rbac: {}}')).toEqual([49_134, 49_135]);
    expect(portsOf('{port: 49135, rbac: {}}', '{port: 50000}')).toEqual([49_135, 50_000]);
    expect(portsOf('{port: 50000}')).toEqual([50_000]);
    expect(portsOf()).toEqual([49_134]);
  });

  test.each([
    ['{rbac: {expose_function: []}}', "Unknown key 'expose_function'. Did you mean 'expose_functions'?"],
    ['{rbac: {expose_functions: ["api::*"]}}', 'Must be match("…"); for one function write match("api::*").'],
    ['{rbac: {expose_functions: [{matches: "x"}]}}', "Unknown key 'matches'. Did you mean 'match'?"],
    ['{rbac: {expose_functions: [{match: x, metadata: {a: 1}}]}}', "Give either 'match' or 'metadata'."],
    ['{rbac: {expose_functions: match("api::*")}}', 'Must be a list'],
    [`{rbac: {expose_functions: ['match("${'*'.repeat(17)}")']}}`, 'The pattern has 17 stars; the limit is 16.'],
    ['{auth_function_id: auth}', 'Needs rbac'],
    ['{auth_function_id: a, rbac: {auth_function_id: b}}', 'Differs from rbac.auth_function_id'],
    ['{rbac: }', 'Must be a map, found nothing.'],
    ['{rbac: true}', 'Must be a map'],
  ])('[K4] %s is refused with its position and the reason', (config, message) => {
    const problems = problemsOf(config);
    expect(problems.map((problem) => problem.message).join('\n')).toContain(message);
    expect(problems[0]?.line).toBe(3);
  });

  test('[CLI-8] svc config show prints it in full', () => {
    const shown = effectiveConfig(
      configOf('{rbac: {auth_function_id: my::token_check, expose_functions: [match("a")]}}'),
    );
    expect(JSON.stringify(shown)).toContain('"auth_function_id":"my::token_check"');
    expect(JSON.stringify(shown)).toContain('match(\\"a\\")');
  });
});

describe('[X8] a pattern that opens functions of the engine to pages', () => {
  const warningsOf = (rules: string, module: string) => {
    const port = `  - {name: svc-worker-manager, config: {rbac: {auth_function_id: a, expose_functions: [${rules}]}}}`;
    const text = `workers:\n${port}\n  - {name: ${module}}\n`;
    const loaded = loadConfig({ text, file: 'svc-config.yaml', env: {}, ...declareModules() });
    if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join('\n'));
    return securityWarnings(loaded.config).join('\n');
  };

  test.each([
    ['svc-state', 'state::delete'],
    ['svc-queue', 'svc::queue::purge'],
  ])('causes a warning next to %s, with its position and what it exposes', (module, opened) => {
    expect(warningsOf('match("*")', module)).toMatch(
      /svc-config\.yaml:2:\d+: workers\[0\]\.config\.rbac\.expose_functions\[0\]: /,
    );
    expect(warningsOf('match("*")', module)).toContain(`exposes ${opened} as well`);
  });

  test.each([
    ['of one family', 'match("api::*")', 'svc-state'],
    ['that names those of the engine', 'match("state::*")', 'svc-state'],
    ['where no module has any', 'match("*")', 'svc-http'],
    ['by metadata', '{metadata: {public: true}}', 'svc-state'],
  ])('a pattern %s causes none', (_what, rules, module) => {
    expect(warningsOf(rules, module)).toBe('');
  });
});

function load(configs: readonly string[]) {
  const entries = configs.map((config) => `  - name: svc-worker-manager\n    config: ${config}\n`);
  const text = `workers:\n${entries.join('')}`;
  return loadConfig({ text, file: 'svc-config.yaml', env: {}, ...declareModules() });
}

function configOf(...configs: string[]) {
  const loaded = load(configs);
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join('\n'));
  return loaded.config;
}

function problemsOf(config: string) {
  const loaded = load([config]);
  if (loaded.ok) throw new Error('It was accepted');
  return loaded.problems;
}
