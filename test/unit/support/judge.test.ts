import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndedTest } from '../../../scripts/stages/fileLanes.mjs';
import { judge } from '../../../scripts/windows/judge.mjs';

const listed = {
  reasons: { links: 'there are no links', slow: 'it takes long', git: 'there is no git' },
  notRun: { slow: ['b.test.ts'] },
  errors: { git: 'spawnSync git ENOENT' },
  fail: { links: { 'a.test.ts': ['a link', 'links: *', 'gone'] } },
};
const ended = (name: string, outcome: EndedTest['outcome'], error?: string): EndedTest => ({
  file: 'a.test.ts',
  name,
  outcome,
  ...(error === undefined ? {} : { error }),
});

test('a failure is told with its error unless it is listed; what is listed is counted by its reason', () => {
  const tests = [
    ended('works', 'passed'),
    ended('a link', 'failed', 'no link'),
    ended('links: to a folder', 'failed', 'no link'),
    ended('asks git', 'failed', 'Error: spawnSync git ENOENT\n  at b'),
    ended('breaks', 'failed', 'Error: broken\n  at a'),
  ];
  const { passed, failed, text } = judge(tests, listed, { isPart: false });
  assert.deepEqual([passed, failed], [1, 1]);
  assert.match(text, /✖ a\.test\.ts: breaks\n {4}Error: broken/);
  assert.match(
    text,
    /2 failed: there are no links\n.*1 left out: it takes long\n.*1 failed: there is no git/,
  );
  assert.match(text, /is listed, but is not there \(links\): a\.test\.ts: gone/);
  assert.doesNotMatch(text, /no link$/m);
});

test('a listed test that passes is told, and does not fail the run', () => {
  const { passed, failed, text } = judge([ended('a link', 'passed')], listed, { isPart: true });
  assert.deepEqual([passed, failed], [1, 0]);
  assert.match(text, /passes although it is listed \(links\): a\.test\.ts: a link/);
  assert.doesNotMatch(text, /is not there/);
});
