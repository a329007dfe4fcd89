import { writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, test } from 'node:test';
import assert from 'node:assert/strict';
import { FolderWatch } from '../../../../src/views/customTools/folderWatch.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

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

test('a change in a folder is noticed, also if the folder was created together with its parent', async () => {
  await folder.file('outer/inner/t.ts', 'old');
  watching.watch([folder.at('outer/inner')]);
  const change = nextChange();
  await folder.file('outer/inner/t.ts', 'new');
  await change;
});

test('a folder that was deleted and created again is watched', async () => {
  watching.watch([await folder.folder('a')]);
  await rm(folder.at('a'), { recursive: true });
  watching.watch([await folder.folder('a')]);
  const change = nextChange();
  await folder.file('a/t.ts', 'new');
  await change;
});

test('folders that do not exist or are no longer watched are ignored', async () => {
  const others = new FolderWatch(() => assert.fail('it is no longer watched'));
  others.watch([folder.at('nowhere'), await folder.folder('a')]);
  others.watch([]);
  watching.watch([await folder.folder('b')]);
  const change = nextChange();
  await folder.file('a/t.ts', 'x');
  await folder.file('b/t.ts', 'x');
  await change;
});

test('folders that are already watched stay so without a gap', { timeout: 10_000 }, async () => {
  const folders = [await folder.folder('a'), await folder.folder('b')];
  watching.watch(folders);
  const more = [...folders, await folder.folder('c')];
  const change = nextChange();
  // Both synchronously: the event is still pending, and would be lost if the watcher were replaced.
  writeFileSync(folder.at('a/t.ts'), 'new');
  watching.watch(more);
  await change;
});

test('an entry with the name of its folder does not end the watching', { timeout: 10_000 }, async () => {
  watching.watch([await folder.folder('a')]);
  for (const inner of ['a/a', 'a/b']) {
    const change = nextChange();
    await folder.folder(inner);
    await change;
  }
});

test('folders beyond the limit are not watched', async () => {
  const many = await Promise.all(Array.from({ length: 257 }, (_, n) => folder.folder(`f${n}`)));
  const last = many.at(-1) ?? assert.fail('there are some');
  const all = new FolderWatch(() => assert.fail('it is over the limit'));
  all.watch(many);
  watching.watch([last]);
  const change = nextChange();
  await folder.file('f256/t.ts', 'x');
  await change;
  all.dispose();
});
