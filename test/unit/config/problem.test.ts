import { describe, expect, test } from 'vitest';
import { fileProblem, formatPath, formatProblem } from '../../../src/config/problem.ts';
import { problemsOf } from './fixture-declarations.ts';

function formatted(text: string): string {
  return problemsOf(text).map(formatProblem).join('\n');
}

describe('a problem on the terminal', () => {
  test('[K4] It names file, line, column and path, and shows the place with a caret', () => {
    expect(formatted('workers:\n  - name: svc-stream\n    config:\n      prot: 3112\n      port: abc\n')).toBe(
      [
        "svc-config.yaml:4:7: workers[0].config.prot: Unknown key 'prot'. Did you mean 'port'?",
        '          prot:',
        '          ^',
        "svc-config.yaml:5:13: workers[0].config.port: Must be an integer from 0 to 65535, found the text 'abc'.",
        '          port: abc',
        '                ^',
      ].join('\n'),
    );
  });

  test('[K4] In a line of several entries only the one in question is shown', () => {
    expect(formatted('limits: {engine: {in_flight: 0}}')).toContain('\n    in_flight: 0\n               ^');
  });

  test('[K4] An item of a list keeps its dash', () => {
    expect(formatted('allowed_hosts:\n  - a\n  - 5\n')).toContain('\n      - 5\n        ^');
  });

  test('[K4] A value of the wrong shape is marked where it begins', () => {
    expect(formatted('threads:\n  a: 1\n')).toContain('\n      …\n      ^');
  });

  test('[K4] The root has no path, and a file as a whole no line', () => {
    expect(formatted('text')).toMatch(/^svc-config\.yaml:1:1: Must be a map/);
    expect(formatProblem(fileProblem('a.yaml', 'There is no file /x/a.yaml.'))).toBe(
      'a.yaml: There is no file /x/a.yaml.',
    );
  });

  test('[K4] Of broken syntax the whole line is shown', () => {
    expect(formatted('threads: 2\nallowed_hosts: [a, b\n')).toMatch(/\n {4}\n {4}\^$/);
    expect(formatted('threads: 2\nstrict: "a" b\n')).toContain('\n    strict: "a" b\n');
  });
});

describe('paths', () => {
  test.each([
    [[], ''],
    [['workers'], 'workers'],
    [['workers', 1, 'config', 'port'], 'workers[1].config.port'],
    [['queue_configs', 'my-queue', 'type'], 'queue_configs.my-queue.type'],
    [['queue_configs', 'a.b', 'type'], 'queue_configs["a.b"].type'],
    [['queue_configs', 'a "b"\n'], 'queue_configs["a \\"b\\"\\n"]'],
    [['', 0, 1], '[""][0][1]'],
  ])('[K4] %j is written as %s', (path, text) => {
    expect(formatPath(path)).toBe(text);
  });

  test('[K4] A key of a thousand letters is shortened', () => {
    expect(formatPath(['x'.repeat(1000)]).length).toBeLessThan(250);
  });
});
