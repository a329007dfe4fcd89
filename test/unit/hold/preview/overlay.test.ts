import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { linkTo, type FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import type { LedgerEntry } from '../../../../src/agent/hold/preview/ledger.ts';
import { Overlay } from '../../../../src/agent/hold/preview/overlay.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import type { Workspace } from '../../../../src/agent/hold/preview/workspace.ts';
import { create, modify, remove, rename } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

const PATHS = ['a', 'b', 'c', 'd'];
const SESSIONS = ['s1', 's2'];
const path = fc.constantFrom(...PATHS);
const text = fc.constantFrom('1', '2', '3');
const change = fc
  .tuple(path, text, fc.constantFrom('modify', 'create', 'remove', 'rename'))
  .map(([at, one, kind]) =>
    kind === 'modify'
      ? modify(at, one, `${one}!`)
      : kind === 'create'
        ? { ...create(at, one), ...(one === '1' ? { mode: 0o755 } : {}) }
        : kind === 'rename'
          ? rename(at, at === 'a' ? 'b' : 'a', one)
          : remove(at, one),
  );
const changes = fc.oneof(fc.constant(null), fc.array(change, { minLength: 1, maxLength: 2 }));
const which = fc.nat({ max: 5 });
const step = fc.oneof(
  fc.record({ do: fc.constant('stage' as const), changes, session: fc.constantFrom(...SESSIONS, null) }),
  fc.record({
    do: fc.constantFrom('stale' as const, 'fresh' as const, 'begin' as const, 'recommend' as const),
    which,
  }),
  fc.record({ do: fc.constant('end' as const), which, final: fc.boolean() }),
  fc.record({
    do: fc.constant('revise' as const),
    which,
    changes: fc.array(change, { minLength: 1, maxLength: 2 }),
  }),
);

test('the overlay always equals one that is built from scratch', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), steps => {
      const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
      const kept = new Overlay(store);
      const seen = (overlay: Overlay) =>
        SESSIONS.flatMap(session => {
          const own = overlay.of(session);
          return PATHS.map(one => [session, one, own.at(one)]);
        });
      for (const one of steps) {
        if (one.do === 'stage') {
          const origin = one.session === null ? null : { sessionId: one.session, asksModel: true };
          const dependsOn = kept.of(one.session ?? undefined).dependenciesOf(one.changes ?? []);
          store.stage(draft({ changes: one.changes, origin, dependsOn }));
        } else {
          const preview = store.list('oldestFirst')[one.which];
          if (!preview) continue;
          const isPending = preview.state.kind === 'pending';
          if (one.do === 'stale') void store.markStale(preview.id, ['a']);
          if (one.do === 'fresh') void store.markStale(preview.id, []);
          if (one.do === 'recommend') void store.recommend(preview.id, { action: 'apply', reason: 'Fine.' });
          if (one.do === 'begin' && isPending) store.beginResolving(preview.id, 'apply', 'human');
          if (one.do === 'revise' && isPending) void store.revise(preview.id, one.changes, [], 'rebase');
          if (one.do === 'end' && !isPending) {
            const pending = { ...preview, state: { kind: 'pending' as const, stale: [] } };
            const outcome = one.final ? ('applied' as const) : ('failed' as const);
            const entry: LedgerEntry = {
              previewId: preview.id,
              label: '',
              kind: preview.kind,
              sourceToolName: '',
              action: 'apply',
              actor: 'human',
              reason: '',
              outcome,
              at: '2026-01-01T00:00:00.000Z',
              files: [],
            };
            void store.endResolving([entry], [pending]);
          }
        }
        assert.deepEqual(seen(kept), seen(new Overlay(store)));
      }
    }),
    { numRuns: 2_000 },
  );
});

test('a preview that is recommended leaves the index of thousands as it is', () => {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  let built = 0;
  const counted = Object.assign(Object.create(store) as PreviewStore, {
    list: (order: 'oldestFirst') => {
      built++;
      return store.list(order);
    },
    onDidChange: store.onDidChange,
  });
  const overlay = new Overlay(counted).of('s1');
  assert.equal(overlay.at('a'), undefined);
  const {
    preview: { id },
  } = store.stage(draft({ changes: [create('a', '1')], origin: { sessionId: 's1', asksModel: true } }));
  void store.recommend(id, { action: 'apply', reason: 'Fine.' });
  assert.equal(overlay.at('a')?.previewId, id);
  assert.equal(built, 1);
});

test('a path is spelled with a view to the files that pending previews make', async () => {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const workspace = new MemoryWorkspace();
  let planned: readonly string[] | undefined;
  const resolvePath: Workspace['resolvePath'] = async (input, options) => {
    planned = options?.planned?.();
    return input;
  };
  const overlay = new Overlay(store).of('s1');
  const seen = overlay.on(Object.assign(Object.create(workspace) as Workspace, { resolvePath }));
  store.stage(draft({ changes: [create('A.ts', 'new')], origin: { sessionId: 's1', asksModel: true } }));
  await seen.resolvePath('a.ts');
  assert.deepEqual(planned, ['A.ts']);
});

test('files are listed as they are with the pending previews applied, up to the limit', async () => {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const origin = { sessionId: 's1', asksModel: true };
  for (const change of [
    rename('a', 'z/moved', '1'),
    remove('b', '1'),
    create('new', '1'),
    modify('c', '1', '2'),
  ])
    store.stage(draft({ changes: [change], origin }));
  const overlay = new Overlay(store);
  const disk = new MemoryWorkspace({ a: '1', b: '1', c: '1', d: '1' });
  const list = (session: string, glob: string, limit = 9): Promise<object> =>
    overlay.of(session).on(disk).list(glob, limit, new AbortController().signal);
  assert.deepEqual(await list('s1', '**'), { paths: ['c', 'd', 'new', 'z/moved'], truncated: false });
  assert.deepEqual(await list('s1', '*'), { paths: ['c', 'd', 'new'], truncated: false });
  assert.deepEqual(await list('s1', '**', 4), { paths: ['c', 'd', 'new', 'z/moved'], truncated: false });
  assert.deepEqual(await list('s1', '**', 3), { paths: ['c', 'd', 'new'], truncated: true });
  assert.deepEqual(await list('s2', '**'), { paths: ['a', 'b', 'c', 'd'], truncated: false });
});

test('a link or a binary file that is pending cannot be read as text, and the error says what it is', async () => {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const changes: FileChange[] = [
    { kind: 'create', path: 'link', before: null, after: linkTo('a') },
    { kind: 'create', path: 'i.png', before: null, after: await store.blobs.put(Uint8Array.of(0)) },
  ];
  store.stage(draft({ changes, origin: { sessionId: 's1', asksModel: true } }));
  const workspace = new Overlay(store).of('s1').on(new MemoryWorkspace({ a: 'text' }));
  await assert.rejects(
    workspace.read('link'),
    /link is a symbolic link to a with the pending preview p1 applied, so it cannot be read or edited here\./,
  );
  await assert.rejects(
    workspace.read('i.png'),
    /i\.png is a binary file with the pending preview p1 applied/,
  );
});
