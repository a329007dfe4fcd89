import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { changeOf, sideOfText } from '../../../../../src/agent/hold/preview/fileChange.ts';
import type { LedgerEntry } from '../../../../../src/agent/hold/preview/ledger.ts';
import type { Preview, PreviewState } from '../../../../../src/agent/hold/preview/preview.ts';
import { ledgerRows } from '../../../../../src/views/review/ledger/ledgerRows.ts';

const by = { actor: 'human', reason: 'r', at: '2026-01-01T00:00:00.000Z' } as const;

function preview(id: string, state: PreviewState, withChanges = true): Preview {
  const change = changeOf('a.ts', null, sideOfText('x')) ?? assert.fail();
  return {
    id,
    revision: 1,
    label: id,
    sourceToolName: 'test',
    ...(withChanges ? { kind: 'files', changes: [change] } : { kind: 'action', changes: null }),
    dependsOn: [],
    origin: null,
    stagedAt: by.at,
    state,
  };
}

function entry(previewId: string, outcome: LedgerEntry['outcome']): LedgerEntry {
  const action = outcome === 'discarded' ? 'discard' : 'apply';
  const about = { previewId, label: previewId, kind: 'files', sourceToolName: 'test' } as const;
  return { ...about, action, ...by, outcome, files: [] };
}

describe('rows of the ledger', () => {
  const previews = [
    preview('p1', { kind: 'applied', by }),
    preview('p2', { kind: 'discarded', by }),
    preview('p3', { kind: 'applied', by }, false),
    preview('p4', { kind: 'pending', stale: [] }),
  ];
  const rows = (entries: readonly LedgerEntry[]) => {
    const get = (id: string) => previews.find(one => one.id === id);
    return ledgerRows({ get, all: () => previews }, entries).map(
      ({ entry: { previewId, outcome }, offers, shows }) => ({
        previewId,
        outcome,
        offers,
        shows,
      }),
    );
  };

  test('newest first, each with the button it offers', () => {
    const entries = [
      entry('p1', 'failed'),
      entry('p1', 'applied'),
      entry('p2', 'discarded'),
      entry('p3', 'applied'),
      entry('p4', 'failed'),
      entry('p9', 'applied'),
    ];
    assert.deepEqual(rows(entries), [
      { previewId: 'p9', outcome: 'applied', offers: undefined, shows: false },
      { previewId: 'p4', outcome: 'failed', offers: undefined, shows: true },
      { previewId: 'p3', outcome: 'applied', offers: undefined, shows: true },
      { previewId: 'p2', outcome: 'discarded', offers: 'reopen', shows: true },
      { previewId: 'p1', outcome: 'applied', offers: 'undo', shows: true },
      { previewId: 'p1', outcome: 'failed', offers: undefined, shows: true },
    ]);
  });

  test('what was undone says so, and offers to be applied again; its undo is undone as well then', () => {
    const undo = { ...preview('p5', { kind: 'applied', by: { ...by, actor: 'model' } }), undoes: ['p1'] };
    const all = [...previews, undo];
    const entries = [entry('p1', 'failed'), entry('p1', 'applied'), entry('p5', 'applied')];
    const store = { get: (id: string) => all.find(one => one.id === id), all: () => all };
    assert.deepEqual(
      ledgerRows(store, entries).map(({ undoneBy, offers, target }) => [undoneBy, offers, target]),
      [
        [undefined, 'undo', 'p5'],
        ['model', 'redo', 'p5'],
        [undefined, undefined, 'p1'],
      ],
    );
  });
});
