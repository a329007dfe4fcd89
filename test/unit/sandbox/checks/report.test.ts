import { suite, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import fc from 'fast-check';
import { reportIn, reportOf } from '../../../../src/agent/sandbox/checks/report/readReport.ts';
import {
  countFailures,
  isAsBefore,
  type TestReport,
} from '../../../../src/agent/sandbox/checks/report/testReport.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

/** The tests of a report in a few words: `a passed`, `b failed ×2`. */
function words(report: TestReport | undefined): readonly string[] | undefined {
  return (
    report &&
    [...report.tests].map(([id, { outcome, count }]) => `${id} ${outcome}${count > 1 ? ` ×${count}` : ''}`)
  );
}

const PYTEST = `<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="0" failures="1" skipped="1" tests="3" time="0.021" timestamp="2026-01-01T00:00:00" hostname="vm"><testcase classname="test_a" name="test_good" time="0.001" /><testcase classname="test_a" name="test_odd[&lt;1&gt;]" time="0.001"><failure message="assert 1 == 2&#10;">def test_odd(): &gt; assert <![CDATA[1 < 2]]></failure></testcase><testcase classname="test_a" name="test_later" time="0.000"><skipped type="pytest.skip" message="why" /></testcase></testsuite></testsuites>`;
const GO = `{"Time":"2026-01-01T00:00:00Z","Action":"start","Package":"m/p"}
{"Action":"run","Package":"m/p","Test":"TestA"}
{"Action":"run","Package":"m/p","Test":"TestA/sub_one"}
{"Action":"output","Package":"m/p","Test":"TestA/sub_one","Output":"    p_test.go:5: no\\n"}
{"Action":"fail","Package":"m/p","Test":"TestA/sub_one","Elapsed":0.01}
{"Action":"fail","Package":"m/p","Test":"TestA","Elapsed":0.01}
{"Action":"run","Package":"m/p","Test":"TestB"}
{"Action":"skip","Package":"m/p","Test":"TestB","Elapsed":0}
{"Action":"run","Package":"m/p","Test":"TestC"}
{"Action":"pass","Package":"m/p","Test":"TestC","Elapsed":0}
{"Action":"fail","Package":"m/p","Elapsed":0.2}`;
const JEST = JSON.stringify({
  numTotalTests: 3,
  numFailedTests: 1,
  numFailedTestSuites: 2,
  success: false,
  wasInterrupted: false,
  testResults: [
    {
      name: '/w/a.test.js',
      status: 'failed',
      message: 'at a.test.js:3',
      assertionResults: [
        { ancestorTitles: ['sum'], title: 'adds', fullName: 'sum adds', status: 'passed' },
        { ancestorTitles: ['sum'], title: 'fails', fullName: 'sum fails', status: 'failed' },
        { ancestorTitles: [], title: 'later', fullName: 'later', status: 'todo' },
      ],
    },
    { name: '/w/b.test.js', status: 'failed', message: 'SyntaxError', assertionResults: [] },
  ],
});
const SARIF = JSON.stringify(
  {
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'ESLint' } },
        results: ['a.js', 'b.js'].map(uri => ({
          ruleId: 'no-undef',
          level: 'error',
          message: { text: "'x' is not defined." },
          locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine: 3 } } }],
        })),
      },
    ],
  },
  undefined,
  2,
);
const TAP = `TAP version 13
# Subtest: outer
    # Subtest: inner
    not ok 1 - inner \\# 1
      ---
      stack: |-
        ok 7 - not a result
      ...
    ok 2 - later # TODO
    1..2
not ok 1 - outer
ok 2 - top # time=3ms
1..2
# tests 4`;

const FORMATS: Readonly<
  Record<string, { readonly text: string; readonly says: readonly string[]; readonly failures: number }>
> = {
  'JUnit of pytest': {
    text: PYTEST,
    says: [
      'pytest > test_a > test_good passed',
      'pytest > test_a > test_odd[<1>] failed',
      'pytest > test_a > test_later skipped',
    ],
    failures: 1,
  },
  'go test -json': {
    text: GO,
    says: [
      'm/p failed',
      'm/p/TestA failed',
      'm/p/TestA/sub_one failed',
      'm/p/TestB skipped',
      'm/p/TestC passed',
    ],
    failures: 1,
  },
  'Jest and Vitest': {
    text: JEST,
    says: [
      ...[
        '/w/a.test.js > sum > adds passed',
        '/w/a.test.js > sum > fails failed',
        '/w/a.test.js > later skipped',
      ],
      ...['/w/a.test.js failed', '/w/b.test.js failed'],
    ],
    failures: 1,
  },
  SARIF: {
    text: SARIF,
    says: ['a.js', 'b.js'].map(file => `ESLint > no-undef > ${file} > 'x' is not defined. failed`),
    failures: 2,
  },
  TAP: {
    text: TAP,
    says: ['outer failed', 'outer > inner \\# 1 failed', 'outer > later skipped', 'top passed'],
    failures: 1,
  },
};

for (const [name, { text, says, failures }] of Object.entries(FORMATS))
  suite(name, () => {
    test('is read, between what else a command writes', () => {
      const report = reportIn(`> app@1.0.0 test\n> runner\n\n${text}\nnpm error code 1, after 2.5s\n`);
      assert.deepEqual(words(report), says);
      assert.equal(report && countFailures(report), failures);
      assert.ok(report?.others.has('npm error code #, after #'), [...(report?.others ?? [])].join('\n'));
    });

    test('is not read if it is cut off', () => {
      for (let length = 1; length < text.trimEnd().length; length++) {
        const cut = text.slice(0, length);
        const report = reportIn(cut);
        if (!report) continue;
        // Only what follows the last test may be missing.
        assert.deepEqual(words(report), says, cut);
      }
    });

    test('no damage to it is an error', () => {
      const lines = text.split(/(?<=[\n>}])/);
      fc.assert(
        fc.property(fc.array(fc.nat({ max: lines.length - 1 }), { maxLength: lines.length }), kept => {
          assert.doesNotThrow(() => reportIn(kept.map(n => lines[n]).join('')));
        }),
      );
    });
  });

test('what Node.js itself writes is read, as TAP and as JUnit', async t => {
  const temp = await TempFolder.create();
  t.after(() => temp.remove());
  fs.writeFileSync(
    temp.at('a.test.mjs'),
    `import { suite, test } from 'node:test';
suite('outer', () => {
  test('good', () => console.log('ok 9 - not a result'));
  test('bad', () => { throw new Error('no'); });
  test('left out', { skip: 'why' }, () => {});
});
test('top', t => t.test('sub', () => {}));
`,
  );
  const [inTap, inXml] = ['tap', 'junit'].map(reporter => {
    const { stdout } = spawnSync(
      process.execPath,
      ['--test', `--test-reporter=${reporter}`, temp.at('a.test.mjs')],
      {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'] },
      },
    );
    return reportIn(stdout);
  });
  assert.deepEqual(words(inTap), [
    ...['outer failed', 'outer > good passed', 'outer > bad failed', 'outer > left out skipped'],
    ...['top passed', 'top > sub passed'],
  ]);
  assert.deepEqual(
    words(inXml)?.map(each => each.replace(`${path.dirname(temp.at('x'))}/`, '')),
    [
      ...['outer > outer > a.test.mjs > good passed', 'outer > outer > a.test.mjs > bad failed'],
      ...['outer > outer > a.test.mjs > left out skipped', 'top > top > a.test.mjs > sub passed'],
    ],
  );
});

for (const [what, output] of Object.entries({
  'plain text': 'FAIL a.test.js\n1 failed, 2 passed',
  'a test without a name': 'ok 1 - a\nnot ok 2\n1..2',
  'more tests than planned': 'ok 1 - a\nnot ok 2 - b\n1..1',
  'tests below their group': 'not ok 1 - a {\n    not ok 1 - b\n    1..1\n}\n1..1',
  'two plans': '1..1\nnot ok 1 - a\n1..1',
  'a run that bailed out': 'not ok 1 - a\n1..1\nBail out! no',
  'only tests that did not run': 'ok 1 - a # SKIP\n1..1',
  'two tests of one name that differ': 'ok 1 - a\nnot ok 2 - a\n1..2',
  'a package that did not end': GO.slice(0, GO.lastIndexOf('\n')),
  'two roots': '<testsuites/>\n<testsuites/>',
  'a document type':
    '<!DOCTYPE a [<!ENTITY x "y">]><testsuite><testcase name="a"><failure/></testcase></testsuite>',
  'more failures than tests that failed':
    '<testsuite failures="2"><testcase name="a"><failure/></testcase></testsuite>',
  'one report that is whole and one that is not': `${TAP}\n<testsuite><testcase name="a">`,
  'a run that was interrupted': JEST.replace('"wasInterrupted":false', '"wasInterrupted":true'),
  'fewer tests than counted': JEST.replace('"numTotalTests":3', '"numTotalTests":4'),
}))
  test(`${what} is no report`, () => assert.equal(reportIn(output), undefined));

test('files are read by what is in them, all or none', () => {
  assert.equal(reportOf([PYTEST, JEST])?.tests.size, 8);
  assert.equal(reportOf([PYTEST, '<testsuite>']), undefined);
  assert.equal(reportOf([PYTEST, '{"other": 1}']), undefined);
  assert.equal(reportOf(['1..1\nok 1 - a\n'])?.tests.size, 1);
  assert.equal(reportOf(['all is well\n']), undefined);
  assert.equal(reportOf([]), undefined);
});

test('a group that begins to fail by itself is new, although tests in it failed before', () => {
  const run = (inner: string): TestReport => {
    const report = reportIn(`    ${inner} 1 - inner\n    1..1\nnot ok 1 - outer\nok 2 - other\n1..2`);
    assert.ok(report);
    return report;
  };
  const [test, hook] = [run('not ok'), run('ok')];
  assert.equal(isAsBefore(test, test), true);
  assert.equal(isAsBefore(hook, test), false);
});

test('every run that is not worse is as before, and no other', () => {
  const outcome = fc.constantFrom('ok', 'not ok', 'skip', 'gone');
  const tap = (outcomes: readonly string[]): TestReport | undefined => {
    const lines = outcomes.flatMap((each, n) =>
      each === 'gone' ? [] : each === 'skip' ? [`ok 1 - t${n} # SKIP`] : [`${each} 1 - t${n}`],
    );
    return reportIn([...lines, `1..${lines.length}`].join('\n'));
  };
  fc.assert(
    fc.property(fc.array(fc.tuple(outcome, outcome), { minLength: 1, maxLength: 6 }), pairs => {
      const [before, now] = [tap(pairs.map(([was]) => was)), tap(pairs.map(([, is]) => is))];
      if (!before || !now) return;
      const isGood = pairs.every(([was, is]) => {
        if (is === 'not ok') return was === 'not ok';
        if (was === 'ok' || was === 'not ok') return is === 'ok';
        return true;
      });
      assert.equal(isAsBefore(now, before), isGood, JSON.stringify(pairs));
    }),
  );
});
