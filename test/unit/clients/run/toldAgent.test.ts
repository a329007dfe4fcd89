import assert from 'node:assert/strict';
import { test } from 'node:test';
import { told, viewInstructions } from '../../../../src/agent/clients/run/toldAgent.ts';

const STATUS = '/code/one/REDLINE.md';
const INSTRUCTIONS = viewInstructions(STATUS);
const start = (...args: string[]) => ({ args, env: {} });

test('Claude Code, Codex and opencode are told of the view by their own options', () => {
  assert.match(INSTRUCTIONS, / \/code\/one\/REDLINE\.md lists what the user applied or refused/);
  assert.deepEqual(told('claude', start('--resume'), '', STATUS).args, [
    '--append-system-prompt',
    INSTRUCTIONS,
    '--resume',
  ]);
  assert.deepEqual(told('codex', start('resume'), '', STATUS).args, [
    '-c',
    `developer_instructions=${JSON.stringify(INSTRUCTIONS)}`,
    'resume',
  ]);
  const { env } = told(
    'opencode',
    { args: [], env: { OPENCODE_CONFIG_CONTENT: '{"model":"x","instructions":["mine.md"]}' } },
    '',
    STATUS,
  );
  assert.deepEqual(JSON.parse(env['OPENCODE_CONFIG_CONTENT'] ?? ''), {
    model: 'x',
    instructions: ['mine.md', STATUS],
  });
});

test('an agent in copies is told which folder each of them stands for', () => {
  const copies = [
    { root: '/code/one', copy: '/views/copies-1/one' },
    { root: '/code/two', copy: '/views/copies-1/two' },
  ];
  const [, text = ''] = told('claude', start(), '', STATUS, copies).args;
  assert.ok(text.startsWith(INSTRUCTIONS));
  for (const { root, copy } of copies)
    assert.ok(
      text.includes(
        `You work in a copy: ${copy} stands for ${root}. For any path in ${root} that you read or are given, use the same path in the copy.`,
      ),
      text,
    );
  assert.deepEqual(told('codex', start(), '', STATUS, copies).args, [
    '-c',
    `developer_instructions=${JSON.stringify(text)}`,
  ]);
});

test('what the user tells by the same option stays, and commands and other programs are left alone', () => {
  const left: readonly [string, readonly string[], string][] = [
    ['claude', ['mcp', 'list'], ''],
    ['claude', ['--append-system-prompt=Be brief.'], ''],
    ['codex', ['-c', 'developer_instructions="Be brief."'], ''],
    ['codex', [], 'developer_instructions = "Be brief."\n'],
    ['sh', ['-c', 'ls'], ''],
  ];
  for (const [program, args, settings] of left) {
    const given = { args, env: {} };
    assert.deepEqual(told(program, given, settings, STATUS), given, program);
  }
  const odd = { args: [], env: { OPENCODE_CONFIG_CONTENT: 'no json' } };
  assert.deepEqual(told('opencode', odd, '', STATUS), odd);
});
