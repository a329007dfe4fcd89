import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  ripgrepLabel,
  searchWithRipgrep,
  type RipgrepResult,
} from '../../../../../src/views/chat/search/ripgrep.ts';

const posix = { skip: process.platform === 'win32' && 'POSIX only' };
const query = {
  query: 'x',
  isRegex: true,
  include: [],
  exclude: [],
  limit: 10,
  timeLimitMs: 60_000,
};

/** Searches with a script in place of ripgrep. */
async function searchWith(t: TestContext, script: string): Promise<RipgrepResult> {
  const folder = await mkdtemp(path.join(tmpdir(), 'ripgrep-'));
  t.after(() => rm(folder, { recursive: true }));
  const command = path.join(folder, 'rg');
  await writeFile(command, `#!/bin/sh\n${script}\n`);
  await chmod(command, 0o755);
  return searchWithRipgrep(command, { ...query, folder }, AbortSignal.timeout(60_000));
}

test('a match has its line, however the output is cut, and whatever stands beside it', posix, async t => {
  const output = String.raw`./two\nlines\0001\0001\000x y x\r\n./bin: WARNING: stopped searching binary file after match (at 9)\n./ä.ts\00012\0005\000ä\377 x:1:\n./ä.ts\00013\000end\n./log\0003\0001\000x: WARNING: stopped searching binary file y\n`;
  for (const script of [`printf '${output}'`, `printf '${output}' | dd bs=3 2>/dev/null`])
    assert.deepEqual(await searchWith(t, script), {
      matches: [
        { path: 'two\nlines', line: 1, text: 'x y x', at: 0 },
        { path: 'ä.ts', line: 12, text: 'ä\ufffd x:1:', at: 3 },
        { path: 'ä.ts', line: 13, text: 'end', at: 0 },
        { path: 'log', line: 3, text: 'x: WARNING: stopped searching binary file y', at: 0 },
      ],
    });
});

test('a file that cannot be read does not make the pattern invalid', posix, async t => {
  const search = (script: string): Promise<unknown> => searchWith(t, script);
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
