import { test } from 'node:test';
import assert from 'node:assert/strict';
import {
  checkSentence,
  checksText,
  checkText,
  worstOf,
  type ShownCheck,
} from '../../../../src/views/texts/checkWords.ts';

const check = (state: ShownCheck['state'], more: Partial<ShownCheck> = {}): ShownCheck => ({
  name: 'test',
  state,
  isCurrent: true,
  seconds: 12.34,
  problems: 0,
  isFlaky: false,
  ...more,
});
const changed = (...first: readonly string[]): ShownCheck =>
  check('changedFiles', { changed: { first, count: first.length } });

test('a mark says in a few words how a check ended', () => {
  const marks = [
    check('passed'),
    check('asBefore', { failures: 2 }),
    check('failed'),
    check('failed', { problems: 3 }),
    check('notRun'),
    changed('src/a.snap'),
    changed('a', 'b'),
    check('passed', { isCurrent: false }),
  ];
  assert.equal(
    checksText(marks, String),
    [
      ...['✔ test 12 s', '✘ test: 2 failures, as before', '✘ test failed'],
      ...['✘ test 3 problems', '– test could not run', '✘ test changed a.snap'],
      ...['✘ test changed 2 files', '✔ test 12 s (out of date)'],
    ].join(' · '),
  );
});

test('checks that have not run yet are told once, after the results', () => {
  const waits = (name: string): ShownCheck => check('notTested', { name, isCurrent: false });
  assert.equal(
    checksText([waits('types'), check('failed'), waits('lint')], String),
    '✘ test failed · – types, lint not run yet',
  );
  assert.equal(checkSentence(waits('types'), String), 'The check types has not run on this yet.');
});

test('a sentence says the rest', () => {
  assert.equal(
    checkSentence(check('asBefore', { failures: 2 }), String),
    'The check test fails in 2 tests that fail without these changes, too. Every other test still passes.',
  );
  const many = check('changedFiles', { changed: { first: ['a', 'b', 'c'], count: 7 } });
  assert.match(checkSentence(many, String), /^The check test changed a, b, c and 4 more itself, /);
});

test('names of files are cleaned, too', () => {
  const clean = (text: string): string => text.replaceAll('\n', '⏎');
  for (const said of [checkText, checkSentence]) assert.doesNotMatch(said(changed('x\ny'), clean), /\n/);
});

test('what fails as before matters less than what fails, runs or is out of date', () => {
  const before = check('asBefore');
  for (const worse of [
    check('failed'),
    changed('a'),
    check('running'),
    check('passed', { isCurrent: false }),
  ])
    assert.equal(worstOf([before, worse]), worse);
  const passed = check('passed');
  assert.equal(worstOf([passed, before])?.state, 'asBefore');
});
