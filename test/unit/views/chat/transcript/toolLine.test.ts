import assert from 'node:assert/strict';
import { test } from 'node:test';
import { interruptions } from '../../../../../src/agent/session/model/interruptions.ts';
import { toolLine } from '../../../../../src/views/chat/transcript/toolLine.ts';
import { call, result } from '../../../../support/chatFixtures.ts';

const line = (args: unknown, content = 'ok') => {
  const made = call('c1', 'some_tool', args);
  return toolLine('k', made, result(made, content));
};

test('the summary is what the call is about', () => {
  assert.equal(line({ limit: 3, path: 'src/a.ts' }).summary, 'src/a.ts');
  assert.equal(line({ first: 'one', second: 'two' }).summary, 'one');
  assert.equal(line({ paths: ['a.ts', 'b.ts'] }).summary, 'a.ts, b.ts');
  assert.equal(line({ nested: { path: 'a.ts' } }).summary, '');
  assert.equal(line({}).summary, '');
});

test('the summary is one line of bounded length', () => {
  const { summary } = line({ command: `printf 'a'\n\n${'x'.repeat(5_000)}` });
  assert.ok(summary.length <= 120 && !summary.includes('\n') && summary.endsWith('…'), summary);
});

test('malformed arguments are shown as they are', () => {
  const { summary, input } = line('{"path": "a');
  assert.deepEqual([summary, input.text], ['{"path": "a', '{"path": "a']);
  assert.equal(line('[1,2]').input.text, '[1,2]');
});

test('arguments that are nested too deeply are shown as they are', () => {
  const nested = (levels: number): string => `{"path":"a.ts","n":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  assert.equal(line(nested(99)).summary, 'a.ts');
  for (const levels of [100, 4_000, 1_000_000]) {
    const {
      summary,
      input: { text: input },
    } = line(nested(levels));
    assert.match(summary, /^\{"path":"a\.ts","n":\[\[/);
    assert.ok(input.startsWith('{"path":"a.ts","n":[[') && input.length < 6_100);
  }
});

test('a huge result is truncated and says how much is missing', () => {
  const { output } = line({}, 'x'.repeat(100_000));
  assert.deepEqual([output.text.length, output.length], [6_000, 100_000]);
  assert.equal(line({}, 'x'.repeat(6_000)).output.length, undefined);
});

test('a running call shows the last line of its progress, and all of it if there are more lines', () => {
  const made = call('c1', 'some_tool', {});
  const running = (progress: string) => {
    const item = toolLine('k', made, undefined, progress);
    return [item.status, item.progress, item.output.text];
  };
  assert.deepEqual(running('half'), ['running', 'half', '']);
  assert.deepEqual(running('one\ntwo  three\n'), ['running', 'two three', 'one\ntwo  three\n']);
  assert.equal(toolLine('k', made, undefined).progress, undefined);
  const done = toolLine('k', made, result(made, 'ok'), 'half');
  assert.deepEqual([done.progress, done.output.text], [undefined, 'ok']);
});

test('an interrupted call says so without the text that is for the model', () => {
  const made = call('c1', 'some_tool', {});
  for (const text of Object.values(interruptions)) {
    const { status, output } = toolLine('k', made, result(made, text, { isError: true }));
    assert.deepEqual([status, output], ['interrupted', { text: '' }]);
  }
});
