import { describe, expect, test } from 'vitest';
import { CATALOGUE } from '../../../../src/cli/catalogue.ts';
import { routeArguments } from '../../../../src/cli/kernel/catalogue.ts';

describe('the command for a line', () => {
  test.each([
    [['trigger', 'a::b', 'x=1'], 'trigger', ['a::b', 'x=1']],
    [['function', 'list', '--ns', 'a'], 'function list', ['--ns', 'a']],
    [['worker', 'list'], 'worker list', []],
    [['--json', 'functions', 'list'], 'function list', ['--json']],
    [['--url', 'ws://x', 'functions', '-q', 'list'], 'function list', ['--url', 'ws://x', '-q']],
    [['--url=ws://x', 'trigger', 'a::b'], 'trigger', ['--url=ws://x', 'a::b']],
    [['-o', 'json', 'functions', 'list'], 'function list', ['-o', 'json']],
    [['-ojson', 'functions', 'list'], 'function list', ['-ojson']],
    [['--help', 'trigger'], 'trigger', ['--help']],
    [['trigger', 'help'], 'trigger', ['help']],
    [['queue', 'dlq', 'list', 'mail'], 'queue dlq list', ['mail']],
    [['queue', '--json', 'list', 'mail'], 'queue list', ['--json', 'mail']],
    [['queues', 'dlq', 'list'], 'queue dlq list', []],
    [['trigger', 'list'], 'trigger', ['list']],
    [['triggers', 'list'], 'triggers list', []],
    [['runs', 'mail::send'], 'runs', ['mail::send']],
    [['run', 'show', 'last'], 'run show', ['last']],
  ])('[CLI-7] [CLI-15] %j means %s', (args, name, rest) => {
    const route = routeArguments(args, CATALOGUE);
    expect(route).toMatchObject({ kind: 'command', args: rest, named: true, entry: { name } });
  });

  test.each([[[]], [['--config', 'trigger']], [['--json', '--config=x', '--check']], [['--confg', 'x']]])(
    '[CLI-7] %j starts the engine without the word start',
    (args) => {
      expect(routeArguments(args, CATALOGUE)).toMatchObject({
        kind: 'command',
        args,
        named: false,
        entry: { name: 'start' },
      });
    },
  );

  test.each([
    [['--version'], { kind: 'version' }],
    [['-V', '--json'], { kind: 'version' }],
    [['--help'], { kind: 'help', words: [] }],
    [['-h'], { kind: 'help', words: [] }],
    [['help'], { kind: 'help', words: [] }],
    [['help', 'exit-codes'], { kind: 'help', words: ['exit-codes'] }],
    [['help', 'functions', 'list'], { kind: 'help', words: ['functions', 'list'] }],
    [['functions'], { kind: 'group', group: 'functions' }],
    [['queue', 'dlq'], { kind: 'group', group: 'queue dlq' }],
  ])('[CLI-7] %j is routed to %j', (args, expected) => {
    expect(routeArguments(args, CATALOGUE)).toEqual(expected);
  });

  test.each([
    [['trigge'], "Unknown command 'trigge'.", 'Did you mean: svc trigger?'],
    [['functions', 'lst'], "Unknown command 'functions lst'.", 'Did you mean: svc function list?'],
    [['queue', 'dlq', 'redriv'], "Unknown command 'queue dlq redriv'.", 'Did you mean: svc queue dlq redrive?'],
    [['functon', 'list'], "Unknown command 'functon'.", 'Did you mean: svc function?'],
    [['qqqqqqqqqq'], "Unknown command 'qqqqqqqqqq'.", 'List the commands with: svc --help'],
  ])('[CLI-8] %j is unknown, and the nearest command is suggested', (args, message, hint) => {
    expect(() => routeArguments(args, CATALOGUE)).toThrow(expect.objectContaining({ message }));
    expect(() => routeArguments(args, CATALOGUE)).toThrow(
      expect.objectContaining({ report: expect.objectContaining({ hint }) }),
    );
  });
});
