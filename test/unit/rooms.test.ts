import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

const root = path.resolve(import.meta.dirname, '../..');

/** A folder with more files than this is hard to find one's way in: split it by what its files are about. */
const MAX_FILES = 15;

/** The files of each folder, by its path relative to the repository's root. */
function filesByFolder(top: string): Map<string, string[]> {
  const folders = new Map<string, string[]>();
  for (const entry of fs.readdirSync(path.join(root, top), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const folder = path.relative(root, entry.parentPath);
    folders.set(folder, [...(folders.get(folder) ?? []), entry.name]);
  }
  return folders;
}

for (const top of ['src', 'scripts'])
  test(`no folder of ${top} holds more than ${MAX_FILES} files`, () => {
    const crowded = [...filesByFolder(top)].filter(([, files]) => files.length > MAX_FILES);
    assert.deepEqual(
      crowded.map(([folder, files]) => `${folder}: ${files.length}`),
      [],
    );
  });
