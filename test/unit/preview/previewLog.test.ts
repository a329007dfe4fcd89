import { test } from 'node:test';
import assert from 'node:assert/strict';
import { encodeEntry, encodeHeader } from '../../../src/agent/base/jsonLines.ts';
import type { LedgerEntry } from '../../../src/agent/preview/ledger.ts';
import type { Preview } from '../../../src/agent/preview/preview.ts';
import {
  parseEntry,
  previewLogHeader,
  reduce,
  type PreviewLogEntry,
  type StagedPreview,
} from '../../../src/agent/preview/previewLog.ts';
import { create, modify, remove, rename } from '../../support/changes.ts';
import { decodeLog } from '../../support/decodeLog.ts';

const staged: StagedPreview = {
  id: 'p1',
  label: 'Edit',
  sourceToolName: 'edit_file',
  changes: [
    modify('a', '1', '2', [{ start: 0, end: 1, text: '2' }]),
    create('b', '\ufeff\r\n\ud800'),
    remove('c', ''),
    rename('d', 'e', 'x', 'y'),
  ],
  dependsOn: ['p9'],
  details: { deep: [1, null] },
  origin: { sessionId: 's', messageId: 'm', toolCallId: 't' },
  stagedAt: '2026-01-01T00:00:00.000Z',
};
const ledgerEntry: LedgerEntry = {
  previewId: 'p1',
  label: 'Edit',
  sourceToolName: 'edit_file',
  action: 'apply',
  actor: 'human',
  reason: 'because',
  extra: { title: 't' },
  outcome: 'applied',
  message: 'Applied.',
  details: { deep: [1, null] },
  at: '2026-01-02T00:00:00.000Z',
  hunks: { applied: 1, refused: 2 },
  files: [{ path: 'a', before: 'h1', after: null }],
};
const opaque: StagedPreview = { ...staged, id: 'p2', changes: null, origin: null };
const entries: readonly PreviewLogEntry[] = [
  { type: 'staged', preview: staged },
  { type: 'staged', preview: opaque },
  { type: 'revised', id: 'p1', revision: 2, changes: [modify('a', '1', '3')], dependsOn: [], by: 'rebase' },
  { type: 'stale', id: 'p1', paths: ['a'] },
  { type: 'recommended', id: 'p1', recommendation: { action: 'discard', reason: 'no' } },
  { type: 'resolved', entries: [ledgerEntry], final: true },
  { type: 'expired', id: 'p2' },
];

for (const entry of entries) {
  test(`a stored entry of type ${entry.type} comes back as it was`, () => {
    assert.deepEqual(parseEntry(JSON.parse(JSON.stringify(entry))), entry);
  });
}

const refused: readonly [name: string, value: unknown][] = [
  ['an unknown type', { type: 'exploded', id: 'p1' }],
  ['an id that is none', { type: 'staged', preview: { ...staged, id: 'p0' } }],
  [
    'a change without its side',
    { type: 'staged', preview: { ...staged, changes: [{ kind: 'modify', path: 'a' }] } },
  ],
  [
    'a creation with a base',
    { type: 'staged', preview: { ...staged, changes: [{ ...modify('a', '1', '2'), kind: 'create' }] } },
  ],
  ['a change without a path', { type: 'staged', preview: { ...staged, changes: [modify('', '1', '2')] } }],
  ['an actor that is none', { type: 'resolved', final: true, entries: [{ ...ledgerEntry, actor: 'ghost' }] }],
  ['a missing field', { type: 'resolved', entries: [ledgerEntry] }],
  ['no object', 'staged'],
];

for (const [name, value] of refused) {
  test(`${name} is not an entry`, () => assert.equal(parseEntry(value), undefined));
}

test('a whole log comes back from its text', async () => {
  const text = encodeHeader(previewLogHeader) + entries.map(encodeEntry).join('');
  assert.deepEqual(await decodeLog(text, previewLogHeader, parseEntry), {
    entries,
    badLines: [],
    torn: false,
  });
});

/** The one preview after an entry. */
const after = (preview: Preview | undefined, entry: PreviewLogEntry): Preview | undefined =>
  reduce(id => (id === preview?.id ? preview : undefined), entry)[0];
const pending = after(undefined, { type: 'staged', preview: staged }) ?? assert.fail();
const stateAfter = (...steps: PreviewLogEntry[]): Preview['state'] => {
  const end = steps.reduce<Preview | undefined>(after, pending);
  return end?.state ?? assert.fail();
};
const resolved = (over: Partial<LedgerEntry>, final: boolean): PreviewLogEntry => ({
  type: 'resolved',
  entries: [{ ...ledgerEntry, ...over }],
  final,
});

test('what is staged is pending at revision 1', () => {
  assert.deepEqual(pending, { ...staged, revision: 1, state: { kind: 'pending', stale: [] } });
});

test('a revision brings new changes, and drops staleness and the recommendation of the old one', () => {
  const changes = [modify('a', '1', '3')];
  const before = [
    { type: 'stale', id: 'p1', paths: ['a'] },
    { type: 'recommended', id: 'p1', recommendation: { action: 'apply', reason: 'ok' } },
  ] as const;
  const preview = [
    ...before,
    { type: 'revised', id: 'p1', revision: 2, changes, dependsOn: [], by: 'rebase' } as const,
  ].reduce<Preview | undefined>(after, pending);
  assert.deepEqual(preview, { ...pending, revision: 2, changes, dependsOn: [] });
});

test('staleness and recommendation stand beside each other', () => {
  const recommendation = { action: 'apply', reason: 'ok' } as const;
  assert.deepEqual(
    stateAfter({ type: 'recommended', id: 'p1', recommendation }, { type: 'stale', id: 'p1', paths: ['a'] }),
    { kind: 'pending', stale: ['a'], recommendation },
  );
});

test('a failed attempt leaves the preview pending with its error, stale files and recommendation kept', () => {
  const recommendation = { action: 'apply', reason: 'ok' } as const;
  assert.deepEqual(
    stateAfter(
      { type: 'recommended', id: 'p1', recommendation },
      { type: 'stale', id: 'p1', paths: ['a'] },
      resolved({ outcome: 'failed', message: 'no space' }, false),
    ),
    { kind: 'pending', stale: ['a'], recommendation, lastError: 'no space' },
  );
});

test('a final attempt is what was asked for, also where the producer returned an error', () => {
  const by = { actor: 'human', reason: 'because', at: ledgerEntry.at };
  assert.deepEqual(stateAfter(resolved({}, true)), { kind: 'applied', by });
  assert.deepEqual(stateAfter(resolved({ outcome: 'failed' }, true)), { kind: 'applied', by });
  assert.deepEqual(stateAfter(resolved({ action: 'discard', outcome: 'discarded' }, true)), {
    kind: 'discarded',
    by,
  });
});

test('an entry about a preview that does not exist changes nothing', () => {
  for (const entry of entries.filter(({ type }) => type !== 'staged'))
    assert.equal(after(undefined, entry), undefined);
});
