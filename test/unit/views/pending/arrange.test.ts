import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileChange } from '../../../../src/agent/preview/fileChange.ts';
import type { Preview } from '../../../../src/agent/preview/preview.ts';
import { PreviewStore } from '../../../../src/agent/preview/previewStore.ts';
import {
  arrange,
  filterChoices,
  isFilter,
  noFilter,
  type ArrangeFacts,
  type PendingFilter,
  type SortKey,
} from '../../../../src/views/pending/arrange.ts';
import { CONFLICT_LABELS } from '../../../../src/agent/preview/rebase/conflictMarkers.ts';
import { create } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

const { current, proposed } = CONFLICT_LABELS;
const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
const agent = (name: string) => ({
  origin: { sessionId: name, asksModel: false, agent: { name, version: '' } },
});
const stage = (paths: readonly string[], more: object = {}): string =>
  store.stage(draft({ changes: paths.map((path): FileChange => create(path, 'x')), ...more })).preview.id;

const ten = stage(['src/part10.ts', 'lib/x.ts']);
const two = stage(['src/part2.ts'], agent('Codex'));
const deep = stage(['src/deep/a.ts'], agent('Claude'));
const conflicted = stage(['docs/b.md'], {
  changes: [create('docs/b.md', `<<<<<<< ${current}\nx\n=======\ny\n>>>>>>> ${proposed}\n`)],
});
await store.recommend(two, 'apply', 'Fine.');
await store.markStale(deep, ['src/deep/a.ts']);

const facts: ArrangeFacts = {
  sizeOf: ({ id }) =>
    new Map([
      [ten, 5],
      [deep, 900],
      [conflicted, 5],
    ]).get(id),
  riskOf: ({ id }) =>
    new Map([
      [deep, 0],
      [two, 3],
    ]).get(id),
  isDoneWith: ({ id }) => id === ten || id === deep,
};
const shown = (filter: Partial<PendingFilter> = {}, sort: SortKey = 'proposed'): string[] =>
  arrange([...store.open], sort, { ...noFilter, ...filter }, facts).map(({ id }: Preview) => id);

test('without a filter all are shown, in the order proposed', () => {
  assert.deepEqual(shown(), [ten, two, deep, conflicted]);
  assert.equal(isFilter(noFilter), false);
});

test('sorted by path, the names come in the order in which people read them', () => {
  assert.deepEqual(shown({}, 'path'), [conflicted, deep, two, ten]);
});

test('sorted by risk the gravest comes first, and what has none last, as proposed', () => {
  assert.deepEqual(shown({}, 'risk'), [deep, two, ten, conflicted]);
});

test('sorted by size the largest comes first, equal ones as proposed, and what is not counted yet last', () => {
  assert.deepEqual(shown({}, 'size'), [deep, ten, conflicted, two]);
});

test('a folder shows what changes a file in it, at any depth, not what only begins with its name', () => {
  assert.deepEqual(shown({ folders: ['src'] }), [ten, two, deep]);
  assert.deepEqual(shown({ folders: ['src/deep'] }), [deep]);
  assert.deepEqual(shown({ folders: ['src/de'] }), []);
  assert.deepEqual(shown({ folders: ['lib', 'docs'] }), [ten, conflicted]);
});

test('a filter by agent, by state or by what was not looked at', () => {
  assert.deepEqual(shown({ agents: ['Codex', ''] }), [ten, two, conflicted]);
  assert.deepEqual(shown({ states: ['stale'] }), [deep]);
  assert.deepEqual(shown({ states: ['conflicts', 'recommended'] }), [two, conflicted]);
  assert.deepEqual(shown({ states: ['failed'] }), []);
  assert.deepEqual(shown({ notLookedAt: true }), [two, conflicted]);
});

test('values of one kind widen a filter, several kinds narrow it, and it is sorted too', () => {
  assert.deepEqual(shown({ folders: ['src'], states: ['stale', 'recommended'] }, 'path'), [deep, two]);
  assert.deepEqual(shown({ folders: ['src'], states: ['stale'], notLookedAt: true }), []);
});

test('what is being resolved stays among what is shown', () => {
  const other = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const { id } = other.stage(draft({ changes: [create('a', 'x')] })).preview;
  const filter: PendingFilter = { ...noFilter, states: ['stale'] };
  assert.equal(arrange([...other.open], 'proposed', filter, facts).length, 0);
  other.beginResolving(id, 'apply', 'human');
  assert.equal(arrange([...other.open], 'proposed', filter, facts).length, 1);
});

test('each choice of a filter has the number of previews that it would show', () => {
  const { agents, folders, states } = filterChoices([...store.open]);
  assert.deepEqual(
    [...agents],
    [
      ['', 2],
      ['Codex', 1],
      ['Claude', 1],
    ],
  );
  assert.deepEqual(
    [...folders],
    [
      ['docs', 1],
      ['lib', 1],
      ['src', 3],
      ['src/deep', 1],
    ],
  );
  assert.deepEqual(
    [...states],
    [
      ['recommended', 1],
      ['stale', 1],
      ['conflicts', 1],
    ],
  );
});
