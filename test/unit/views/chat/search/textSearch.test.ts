import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import { MemoryBlobs } from '../../../../../src/agent/hold/preview/blobs.ts';
import type { VsCodeWorkspace } from '../../../../../src/views/workspace/workspace.ts';
import { Uri, useVscodeStub } from '../../../../support/fuzz/vscodeStub.ts';

useVscodeStub();
const { WorkspaceTextSearch } = await import('../../../../../src/views/chat/search/textSearch.ts');

const worker = fileURLToPath(new URL('../../../../../src/views/chat/search/lineWorker.ts', import.meta.url));

test('files on a slow disk are read until the time is over; what was read is searched', async context => {
  context.mock.timers.enable({ apis: ['Date'] });
  const paths = Array.from({ length: 500 }, (_, n) => `${100 + n}.txt`);
  let reads = 0;
  const workspace: Partial<Record<keyof VsCodeWorkspace, unknown>> = {
    folders: () => [],
    folderRoots: () => [{ name: 'a', fsPath: '/a' }],
    unsaved: () => [],
    uriOf: (path: string) => Uri.file(`/a/${path}`),
    listForSearch: () => Promise.resolve({ paths, truncated: false }),
    resolvePath: (path: string) => Promise.resolve(path),
    read: () => {
      reads++;
      context.mock.timers.setTime(Date.now() + 1_000);
      return Promise.resolve(Buffer.from('found'));
    },
  };
  const search = new WorkspaceTextSearch(workspace as never, silentLogger, worker, '/nowhere');
  const pending = { at: () => undefined, paths: () => [], blobs: new MemoryBlobs() };
  const query = { query: 'found', isRegex: false };
  const { matches, cutBy } = await search.search(query, 1_000, new AbortController().signal, pending);
  assert.equal(cutBy, 'time');
  assert.ok(reads < 30, `${reads} files were read`);
  assert.equal(matches.length, reads);
});
