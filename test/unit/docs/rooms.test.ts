import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

const root = path.join(import.meta.dirname, '..', '..', '..');
const pages = fs.globSync('src/**/README.md', { cwd: root });
const sources = fs.globSync('src/**/*.ts', { cwd: root });
const declared = new Set(
  sources.flatMap(file =>
    [
      ...fs
        .readFileSync(path.join(root, file), 'utf8')
        .matchAll(/^export (?:abstract )?(?:async )?(?:class|interface|type|function|const) (\w+)/gm),
    ].map(([, name]) => name ?? ''),
  ),
);
/** Names of tools, settings and other programs. */
const FOREIGN = [
  'vscode',
  'l10n',
  'tool_choice',
  'redline-mcp',
  'search_text',
  'ast_edit',
  'run_command',
  'resolve',
];

/** What a page names in backticks that its room, or the source, does not have. */
function unknownNames(page: string): string[] {
  const places = fs
    .globSync('**', { cwd: path.join(root, path.dirname(page)) })
    .concat(fs.globSync(['src/**', 'docs/*.md', 'scripts/**', 'esbuild.mjs'], { cwd: root }))
    .map(each => each.split(path.sep).join('/'));
  const text = fs.readFileSync(path.join(root, page), 'utf8');
  const names = [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '');
  return names.filter(name => {
    if (FOREIGN.includes(name)) return false;
    const place = name.replace(/\/$/, '');
    return !declared.has(name) && !places.some(each => each === place || each.endsWith(`/${place}`));
  });
}

test('the page of each room names what is there, in 400 words at most', () => {
  assert.ok(pages.length >= 9);
  for (const page of pages) {
    assert.deepEqual(unknownNames(page), [], page);
    assert.ok(fs.readFileSync(path.join(root, page), 'utf8').split(/\s+/).length <= 400, page);
  }
});
