import { writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, test } from 'node:test';
import assert from 'node:assert/strict';
import { FolderWatch } from '../../../src/views/tools/folderWatch.ts';
import { TempFolder } from '../../support/tempFolder.ts';

let folder: TempFolder;
let watching: FolderWatch;
let heard = (): void => undefined;
beforeEach(async () => {
  folder = await TempFolder.create();
  watching = new FolderWatch(() => heard());
});
afterEach(async () => {
  watching.dispose();
  await folder.remove();
});
const nextChange = (): Promise<void> => new Promise(resolve => (heard = resolve));

test('a change in a folder is told, also in one that was made together with the one around it', async () => {
  await folder.file('outer/inner/t.ts', 'old');
  watching.watch([folder.at('outer/inner')]);
  const change = nextChange();
  await folder.file('outer/inner/t.ts', 'new');
  await change;
});

test('a folder that was made anew is watched as it is now', async () => {
  watching.watch([await folder.folder('a')]);
  await rm(folder.at('a'), { recursive: true });
  watching.watch([await folder.folder('a')]);
  const change = nextChange();
  await folder.file('a/t.ts', 'new');
  await change;
});

test('what is not there, or no longer watched, is left out', async () => {
  const others = new FolderWatch(() => assert.fail('it is no longer watched'));
  others.watch([folder.at('nowhere'), await folder.folder('a')]);
  others.watch([]);
  watching.watch([await folder.folder('b')]);
  const change = nextChange();
  await folder.file('a/t.ts', 'x');
  await folder.file('b/t.ts', 'x');
  await change;
});

test('folders that are named again are watched without a gap', { timeout: 10_000 }, async () => {
  const folders = [await folder.folder('a'), await folder.folder('b')];
  watching.watch(folders);
  const more = [...folders, await folder.folder('c')];
  const change = nextChange();
  // In one breath: what was told meanwhile would be lost with the watcher that was to hear of it.
  writeFileSync(folder.at('a/t.ts'), 'new');
  watching.watch(more);
  await change;
});

test('what is named as its folder is does not end the watching of it', { timeout: 10_000 }, async () => {
  watching.watch([await folder.folder('a')]);
  for (const inner of ['a/a', 'a/b']) {
    const change = nextChange();
    await folder.folder(inner);
    await change;
  }
});

test('of very many folders only some are watched', async () => {
  const many = await Promise.all(Array.from({ length: 257 }, (_, n) => folder.folder(`f${n}`)));
  const last = many.at(-1) ?? assert.fail('there are some');
  const all = new FolderWatch(() => assert.fail('it is one too many'));
  all.watch(many);
  watching.watch([last]);
  const change = nextChange();
  await folder.file('f256/t.ts', 'x');
  await change;
  all.dispose();
});
