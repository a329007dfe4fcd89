import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

const root = path.join(import.meta.dirname, '..', '..', '..');

test('each input of the page of corners has the test that it names', () => {
  const page = fs.readFileSync(path.join(root, 'docs', 'corners.md'), 'utf8');
  const rows = [...page.matchAll(/^\|.*\| `(test\/[^`]+)`: (.+?) *\|$/gm)];
  assert.ok(rows.length > 40);
  const missing = rows.filter(([, file = '', title = '']) => {
    const source = fs.readFileSync(path.join(root, file), 'utf8');
    return !source.includes(title);
  });
  assert.deepEqual(
    missing.map(([row]) => row),
    [],
  );
});
