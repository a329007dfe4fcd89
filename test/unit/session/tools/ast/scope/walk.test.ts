import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findFiles } from '../../../../../../src/agent/session/tools/ast/scope/walk.ts';
import { TempFolder } from '../../../../../support/tempFolder.ts';

let temporary: TempFolder;

before(async () => {
  temporary = await TempFolder.create();
  await temporary.file('outside/secret.json', '{}');
  await temporary.file('inside/src/[id].ts');
  await temporary.file('inside/src/i.ts');
  await temporary.file('inside/x.ts');
  await temporary.file('inside/[dir]/.git/config.json', '{}');
  await temporary.file('inside/[dir]/a.ts');
  await temporary.link('inside/[x]', '../outside');
  await temporary.link('inside/[x].json', '../outside/secret.json');
  await temporary.link('inside/[gone]', 'nowhere');
  await temporary.link('inside/[src]', 'src');
});
after(() => temporary.remove());

async function found(selected: string): Promise<string[]> {
  const roots = [{ folder: temporary.at('inside'), prefix: '', paths: [selected], exclude: [] }];
  const paths: string[] = [];
  for await (const batch of findFiles(roots)) paths.push(...batch.map(file => file.path));
  return paths.sort();
}

const cases: readonly [what: string, selected: string, paths: readonly string[]][] = [
  ['a name with brackets is a path where it is there', 'src/[id].ts', ['src/[id].ts']],
  ['and a glob where it is not', 'src/[i].ts', ['src/i.ts']],
  ['so is a folder with such a name', '[dir]', ['[dir]/a.ts']],
  ['a link inside the folder is followed when it is named', '[src]', ['[src]/[id].ts', '[src]/i.ts']],
  ['a link to a folder outside is not', '[x]', []],
  ['nor is a path through it', '[x]/secret.json', []],
  ['nor a link to a file outside', '[x].json', []],
  ['nor one that leads nowhere', '[gone]', []],
  ["git's own files are not read by such a path either", '[dir]/.git/config.json', []],
];
for (const [what, selected, paths] of cases)
  test(what, async () => {
    assert.deepEqual(await found(selected), paths);
  });
