import { test } from 'node:test';
import assert from 'node:assert/strict';
import { alwaysHuman, modelMay } from '../../../src/agent/preview/authority.ts';
import type { FileChange } from '../../../src/agent/preview/fileChange.ts';
import type { ModelAuthority, Preview, ResolveAction } from '../../../src/agent/preview/preview.ts';
import { create, modify, remove, rename } from '../../support/changes.ts';
import { draft } from '../../support/drafts.ts';

const preview = (changes: readonly FileChange[] | null, sourceToolName = 'edit_file'): Preview => ({
  ...draft({ changes, sourceToolName }),
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
    assert.equal(modelMay(authority, action, subject), expected);
  });
}

const humanOnly = [
  '.vscode./settings.json',
  '.vscode /settings.json',
  'AGENTS.md.',
  'AGENTS.md::$DATA',
  '.vscode::$INDEX_ALLOCATION/settings.json',
  '.redline/tools/a.ts',
  '.redline',
  '.vscode/tasks.json',
  'web/.vscode/settings.json',
  '.VSCode/settings.json',
  'AGENTS.md',
  'packages/a/agents.MD',
  'my.code-workspace',
  'sub/my.code-workspace',
  '.gitignore',
  '.gitattributes',
  '.gitmodules',
  '.github/workflows/ci.yml',
  'sub/.githooks/pre-commit',
];
const anybody = [
  'src/vscode/a.ts',
  'src/.vscodeignore',
  'a.redline/x',
  'MY-AGENTS.md.txt',
  'docs/NOT-AGENTS.md',
  'my.code-workspaces',
  'git/a',
  'a.git',
];

for (const path of humanOnly) {
  test(`a change of ${path} is always a human's`, () => {
    assert.equal(alwaysHuman(preview([modify('src/a.ts', 'a', 'b'), create(path, 'x')])), true);
  });
}
for (const path of anybody) {
  test(`a change of ${path} is an ordinary one`, () => {
    assert.equal(alwaysHuman(preview([modify(path, 'a', 'b')])), false);
  });
}

test('deleting such a file, and renaming one in either direction, is always a human’s too', () => {
  for (const change of [
    remove('AGENTS.md', 'x'),
    rename('AGENTS.md', 'notes.md', 'x'),
    rename('notes.md', 'AGENTS.md', 'x'),
  ]) {
    assert.equal(alwaysHuman(preview([change])), true, change.kind);
  }
});

test("running a command is always a human's; another opaque preview is not", () => {
  assert.equal(alwaysHuman(preview(null, 'run_command')), true);
  assert.equal(alwaysHuman(preview(null, 'deploy')), false);
});
