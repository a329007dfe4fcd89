import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { ripgrepLabel, searchWithRipgrep } from '../../../../../src/views/chat/search/ripgrep.ts';

const posix = { skip: process.platform === 'win32' && 'POSIX only' };
const query = {
  ...{ query: 'x', isRegex: true, include: [], exclude: [], limit: 10, timeLimitMs: 60_000 },
};

test('a file that cannot be read does not make the pattern invalid', posix, async t => {
  const folder = await mkdtemp(path.join(tmpdir(), 'ripgrep-'));
  t.after(() => rm(folder, { recursive: true }));
  const search = async (script: string): Promise<unknown> => {
    const command = path.join(folder, 'rg');
    await writeFile(command, `#!/bin/sh\n${script}\n`);
    await chmod(command, 0o755);
    return searchWithRipgrep(command, { ...query, folder }, AbortSignal.timeout(60_000));
  };
  assert.deepEqual(await search('exit 2'), { matches: [] });
  await assert.rejects(search('echo "rg: regex parse error" >&2; exit 2'), /^ToolError: query is not a/);
});

test('ripgrep knows most encodings by a label', () => {
  for (const [name, label] of [
    ['windows1252', 'windows-1252'],
    ['iso885915', 'iso885915'],
    ['shiftjis', 'shift_jis'],
    ['gbk', 'gbk'],
    ['cp866', 'cp866'],
    ['cp437', undefined],
    ['koi8t', undefined],
  ] as const)
    assert.equal(ripgrepLabel(name), label);
});
