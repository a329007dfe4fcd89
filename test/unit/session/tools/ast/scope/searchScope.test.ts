import * as path from 'node:path';
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { searchRoots } from '../../../../../../src/agent/session/tools/ast/scope/searchScope.ts';
import { MemoryWorkspace } from '../../../../../support/memoryWorkspace.ts';

const folder = (name: string, ...below: string[]) => ({
  name,
  fsPath: path.resolve('/project', ...below),
  exclude: ['out'],
});
const folders = [folder('web', 'web'), folder('api', 'web', 'packages', 'api'), folder('lib', 'library')];

async function searched(...paths: string[]): Promise<Record<string, readonly [string[], string[]]>> {
  const roots = await searchRoots(paths, folders, new MemoryWorkspace({}));
  return Object.fromEntries(
    roots.map(({ prefix, paths: own, exclude }) => [prefix, [[...own], exclude.slice(1)] as const]),
  );
}

test('files of a folder inside another one are searched once, as those of the inner one', async () => {
  assert.deepEqual(await searched('.'), {
    'web/': [[''], ['packages/api']],
    'api/': [[''], []],
    'lib/': [[''], []],
  });
  assert.deepEqual(await searched('web'), { 'web/': [[''], ['packages/api']], 'api/': [[''], []] });
  assert.deepEqual(await searched('web/packages'), {
    'web/': [['packages'], ['packages/api']],
    'api/': [[''], []],
  });
  assert.deepEqual(await searched('web/**/*.ts'), {
    'web/': [['**/*.ts'], ['packages/api']],
    'api/': [['**/*.ts'], []],
  });
  assert.deepEqual(await searched('lib'), { 'lib/': [[''], []] });
});

test('a glob that can match in the inner one otherwise loses nothing', async () => {
  assert.deepEqual(await searched('web/pack*/**'), { 'web/': [['pack*/**'], []] });
});
