import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { after, before, test } from 'node:test';
import { commitChanges } from '../../../../src/agent/hold/preview/commit/commitChanges.ts';
import type { FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import { builtInTools } from '../../../../src/agent/session/tools/builtIn.ts';
import { create, modify, remove } from '../../../support/changes.ts';
import { DiskWorkspace } from '../../../support/diskWorkspace.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const posix = { skip: process.platform === 'win32' ? 'links need a privilege there' : false };
let temp: TempFolder;
before(async () => {
  temp = await TempFolder.create();
  await temp.file('real/a.txt', 'a');
  await temp.file('closed.txt', 'c');
  await temp.file('file', 'f');
  fs.chmodSync(temp.at('closed.txt'), 0o444);
  fs.symlinkSync('real', temp.at('folder'));
  fs.symlinkSync('real/a.txt', temp.at('link.txt'));
  fs.linkSync(temp.at('real/a.txt'), temp.at('second.txt'));
});
after(() => temp.remove());

/** The error of a call of a tool, which must stage nothing. */
async function refusal(name: string, args: object): Promise<string> {
  const workspace = new DiskWorkspace(temp.root);
  const tool = builtInTools({ isRevertEnabled: () => false }).get(name) ?? assert.fail(name);
  const context = {
    workspace,
    pending: { at: () => undefined, paths: () => [] },
    signal: new AbortController().signal,
    stage: () => assert.fail('nothing is staged'),
  };
  const failed = await Promise.resolve(tool.execute(args as never, context as never)).catch(
    (e: unknown) => e,
  );
  assert.ok(failed instanceof Error, `${name} is refused`);
  return failed.message;
}

const refused: readonly (readonly [what: string, tool: string, args: object, expected: RegExp])[] = [
  [
    'an edit of a read-only file',
    'edit_file',
    { path: 'closed.txt', edits: [{ old: 'c', new: 'd' }] },
    /closed\.txt is read-only/,
  ],
  [
    'a new content of a read-only file',
    'write_file',
    { path: 'closed.txt', content: 'd' },
    /closed\.txt is read-only/,
  ],
  ['the deletion of a read-only file', 'delete_file', { path: 'closed.txt' }, /closed\.txt is read-only/],
  [
    'the renaming of a read-only file',
    'rename_file',
    { from: 'closed.txt', to: 'open.txt' },
    /closed\.txt is read-only/,
  ],
  ['the deletion of a link', 'delete_file', { path: 'link.txt' }, /link\.txt is a symbolic link/],
  [
    'the renaming of a link',
    'rename_file',
    { from: 'link.txt', to: 'other.txt' },
    /link\.txt is a symbolic link/,
  ],
];
for (const [what, tool, args, expected] of refused)
  test(`${what} is refused when it is proposed`, posix, async () => {
    assert.match(await refusal(tool, args), expected);
  });

async function applied(...changes: FileChange[]): Promise<string> {
  const failed = await commitChanges(new DiskWorkspace(temp.root), changes).catch((error: unknown) => error);
  assert.ok(failed instanceof Error, 'it is refused');
  return failed.message;
}

test(
  'changes of one file under two names are refused as that, and not as changed meanwhile',
  posix,
  async () => {
    for (const other of ['folder/a.txt', 'link.txt', 'second.txt']) {
      const text = await applied(modify('real/a.txt', 'a', 'A'), modify(other, 'a', 'B'));
      assert.match(
        text,
        new RegExp(`${[other, 'real/a.txt'].sort().join(' and ')} are two names of one file`),
      );
      assert.equal(fs.readFileSync(temp.at('real/a.txt'), 'utf8'), 'a');
    }
  },
);

test('a failure of the file system names workspace paths only', posix, async () => {
  const texts = [await applied(create('file/in/x.txt', 'x')), await applied(remove('link.txt', 'a'))];
  assert.match(texts[0] ?? '', /a file stands where a folder of file\/in\/x\.txt would be/);
  for (const text of texts) assert.ok(!text.includes(temp.root), text);
});
