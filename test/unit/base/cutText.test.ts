import { test } from 'node:test';
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import * as fc from 'fast-check';
import { beginningOf, endOf, shortened } from '../../../src/agent/base/cutText.ts';
import { english } from '../../../src/agent/base/localiser.ts';
import { commandLabel } from '../../../src/agent/sandbox/commands/commandPlan.ts';
import { OutputBuffer } from '../../../src/agent/sandbox/commands/outputBuffer.ts';
import { faultOf } from '../../../src/agent/session/model/languageModel/fault.ts';
import { failureOf } from '../../../src/agent/session/model/openai/failure.ts';
import { HttpFailure } from '../../../src/agent/session/model/openai/faults.ts';
import { setOfPrompt } from '../../../src/agent/hold/preview/changeSet.ts';
import { planTitle } from '../../../src/agent/session/planText.ts';
import { rewriteSummary } from '../../../src/agent/hold/text/rewriteSummary.ts';
import { problemLine } from '../../../src/agent/session/tools/problems.ts';
import { givenTitle } from '../../../src/agent/session/tools/titles.ts';

/** Texts of characters that need one unit and of those that need two. */
const text = fc.string({
  unit: fc.constantFrom('a', ' ', '\n', 'é', '😀', '𝒳', '\u{10ffff}'),
  maxLength: 60,
});

test('a text that is cut is well formed, as long as it may be, and the beginning or the end of the whole', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: -2, max: 130 }), (whole, max) => {
      const room = Math.max(0, max);
      for (const [part, isPart] of [
        [beginningOf(whole, max), whole.startsWith(beginningOf(whole, max))],
        [endOf(whole, max), whole.endsWith(endOf(whole, max))],
      ] as const) {
        assert.ok(isPart && part.isWellFormed());
        assert.ok(part.length <= room && part.length >= Math.min(whole.length, room) - 1);
      }
      const short = shortened(whole, max);
      assert.ok(short.isWellFormed() && short.length <= Math.max(1, room));
      assert.ok(short === whole || (whole.length > max && short.endsWith('…')));
    }),
    { numRuns: 2_000 },
  );
});

const context = { baseUrl: 'http://h/v1', model: 'm', hasKey: false, secrets: [], l10n: english };
const failure = (body: string) => failureOf(new HttpFailure(400, body), context);
const problem = { path: 'a.ts', severity: 'error', line: 1, column: 1 } as const;

/** What is made of a long text: for a model, the log and a person. */
const made: Readonly<Record<string, (long: string) => string | Promise<string>>> = {
  'the output of a command': long => {
    const buffer = new OutputBuffer();
    for (let at = 0; at < long.length; at += 4_096) buffer.add(long.slice(at, at + 4_096));
    return buffer.text() + buffer.end(101) + buffer.end(100);
  },
  'the label of a command': commandLabel,
  'the title of a change': long => givenTitle(long) ?? '',
  'the title of a plan': long => planTitle(long, ''),
  'the prompt of a change set': long => setOfPrompt('s', long).setTitle ?? '',
  'the diff of a rewrite': long => rewriteSummary('a.txt', '', long),
  'a problem': message => problemLine({ ...problem, message }),
  "a server's words": long => failure(long).message,
  "a server's words in the log": long => failure(long).detail,
  "a model's words": long => faultOf(new Error(long)).said,
};

for (const [name, make] of Object.entries(made))
  test(`half a character is nowhere in ${name}`, async () => {
    // One of the two has the limit within a pair, wherever it is.
    for (const start of ['', 'a']) {
      const shown = await make(start + '😀'.repeat(40_000));
      assert.ok(shown.length < 79_000, 'it was cut');
      assert.ok(shown.isWellFormed(), JSON.stringify(shown.slice(-30)));
    }
  });

/** A text that is cut by a number of characters, or before an ellipsis. A hash has no such characters. */
const CUT =
  /\.(?:slice|substring|substr)\((?:0, |-)\w*CHARS\b|(?<!hash)\.(?:slice|substring|substr)\([^()]*\)\}\s*…/;

test('only one file cuts texts', () => {
  const src = path.join(import.meta.dirname, '../../../src');
  const found = globSync('**/*.ts', { cwd: src }).flatMap(file =>
    readFileSync(path.join(src, file), 'utf8')
      .split('\n')
      .flatMap((line, i) => (CUT.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : [])),
  );
  assert.deepEqual(found, []);
});
