import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { isProtectedPath, PROTECTED_PLACES } from '../../../../src/agent/preview/resolve/protectedPlaces.ts';

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
  '.husky/pre-commit',
  '.devcontainer/devcontainer.json',
  '.devcontainer.json',
  'sub/.envrc',
  '.idea/workspace.xml',
  '.mcp.json',
  'CLAUDE.md',
  'docs/gemini.md',
  '.cursorrules',
  '.cursor/rules/a.mdc',
  '.v\u017Fcode/settings.json', // a long s
  '.hus\u212Ay/pre-commit', // the Kelvin sign
  '.\uFF56\uFF53\uFF43\uFF4F\uFF44\uFF45/settings.json', // full-width letters
  '\uFF0Evscode/settings.json', // a full-width full stop
  '.g\u200Cit/hooks/pre-commit', // HFS+ skips what joins and parts letters
  '.\uFEFFvscode/tasks.json',
  'CLAUDE.md ::$DATA',
  '/home/me/.redline/tools/mine/src/a.ts',
  'C:/Users/me/.VSCODE/a.json',
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
  'husky/pre-commit',
  'src/.envrc.example',
  'CLAUDE.mdx',
  'cursor/a',
  'xmcp.json',
  '.mcp-json',
  'C:/Users/me/a.ts',
];

for (const path of humanOnly) {
  test(`a change of ${path} is always a human's`, () => {
    assert.equal(isProtectedPath(path), true);
  });
}
for (const path of anybody) {
  test(`a change of ${path} is an ordinary one`, () => {
    assert.equal(isProtectedPath(path), false);
  });
}

test('docs/who-decides.md shows the whole list', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../../../docs/who-decides.md'), 'utf8');
  const [, section = ''] = page.split('## What always waits for you\n');
  const [, shown = ''] = section.split('\n\n').filter(each => each.trim() !== '');
  assert.deepEqual(
    [...shown.matchAll(/`([^`]+)`/g)].map(([, place]) => place),
    PROTECTED_PLACES,
  );
});
