import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

const root = path.join(import.meta.dirname, '..', '..', '..');

test('each input of the page of corners has one test whose title begins so', () => {
  const page = fs.readFileSync(path.join(root, 'test', 'corners.md'), 'utf8');
  const rows = [...page.matchAll(/^\|.*\| `(test\/[^`]+)`: (.+?) *\|$/gm)];
  assert.ok(rows.length > 40);
  const missing = rows.filter(([, file = '', title = '']) => {
    const source = fs.readFileSync(path.join(root, file), 'utf8');
    // A title begins at a quote, or behind the inserted value of a title that is made.
    return (
      source.split(title).filter((_, index, parts) => index > 0 && /['"`}],? ?$/.test(parts[index - 1] ?? ''))
        .length !== 1
    );
  });
  assert.deepEqual(
    missing.map(([row]) => row),
    [],
  );
});
