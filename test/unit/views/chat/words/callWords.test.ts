import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sayCalls, sayRunning, type SaidCall } from '../../../../../src/views/chat/words/callWords.ts';

const said = (...calls: (Partial<SaidCall> & { readonly name: string })[]): string =>
  sayCalls(calls.map(call => ({ failed: false, ...call })));

test('one file is named, several are counted, each of them once', () => {
  assert.equal(said({ name: 'read_file', path: 'src/cart.ts' }), 'Read cart.ts');
  assert.equal(
    said({ name: 'read_file', path: 'a.ts' }, { name: 'read_file', path: 'b.ts' }),
    'Read 2 files',
  );
  const again = { name: 'read_file', path: 'b.ts' };
  assert.equal(said({ name: 'read_file', path: 'a.ts' }, again, again), 'Read 2 files');
  assert.equal(said(again, again), 'Read b.ts');
});

test('what is proposed and checked is said in words, not by the names of tools', () => {
  assert.equal(said({ name: 'edit_file', path: 'src/cart.ts' }), 'Proposed a change to cart.ts');
  assert.equal(said({ name: 'ast_edit' }, { name: 'edit_file', path: 'a.ts' }), 'Proposed 2 changes');
  assert.equal(said({ name: 'run_command' }), 'Proposed a command');
  assert.equal(said({ name: 'run_checks' }, { name: 'run_checks' }), 'Ran the checks 2 times');
});

test('a running call says what it does; only a custom tool has its name', () => {
  assert.equal(sayRunning('ask_user'), 'Asking you a question');
  assert.equal(sayRunning('run_checks'), 'Running the checks');
  assert.equal(sayRunning('weather'), 'Calling weather');
});

test('searches with the same argument are several; kinds are in the order in which they began; failures are counted', () => {
  assert.equal(
    said(
      { name: 'search_text', path: 'src' },
      { name: 'read_file', path: 'a.ts', failed: true },
      { name: 'ast_grep', path: 'src' },
      { name: 'weather' },
    ),
    'Searched 2 times · Read a.ts · Called weather · 1 failed',
  );
});

test('a name with characters that cannot be seen shows them', () => {
  assert.equal(said({ name: 'read_file', path: 'src/a\u202ets.exe' }), 'Read a\\u{202e}ts.exe');
});
