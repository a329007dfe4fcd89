import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import type { Preview, ResolveAction } from '../../../../src/agent/hold/preview/preview.ts';
import { modelMay } from '../../../../src/agent/hold/preview/resolveSettings.ts';
import type { ModelAuthority } from '../../../../src/agent/hold/preview/resolveSettings.ts';
import { modify } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';

const preview = (changes: readonly FileChange[] | null, humanOnly?: true): Preview => ({
  ...draft({ changes, ...(humanOnly ? { humanOnly } : {}) }),
  id: 'p1',
  revision: 1,
  state: { kind: 'pending', stale: [] },
});
const ordinary = preview([modify('src/a.ts', 'a', 'b')]);
const guarded = preview([modify('.vscode/settings.json', 'a', 'b')]);

const rules: readonly [ModelAuthority, ResolveAction, Preview, 'execute' | 'recommend'][] = [
  ['recommend', 'apply', ordinary, 'recommend'],
  ['recommend', 'discard', ordinary, 'execute'],
  ['apply', 'apply', ordinary, 'execute'],
  ['apply', 'discard', ordinary, 'execute'],
  ['none', 'apply', ordinary, 'recommend'],
  ['none', 'discard', ordinary, 'recommend'],
  ['apply', 'apply', guarded, 'recommend'],
  ['apply', 'discard', guarded, 'execute'],
];

for (const [authority, action, subject, expected] of rules) {
  const what = subject === guarded ? "a human's preview" : 'an ordinary preview';
  test(`with authority ${authority}, the model's ${action} of ${what} is to ${expected}`, () => {
    assert.equal(modelMay(authority, action, subject, { isProtected: subject === guarded }), expected);
  });
}

test("running a command is always a human's; another opaque preview is not", () => {
  assert.equal(modelMay('apply', 'apply', preview(null, true), { isProtected: false }), 'recommend');
  assert.equal(modelMay('apply', 'apply', preview(null), { isProtected: false }), 'execute');
});
