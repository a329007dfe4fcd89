import { after as afterAll, test } from 'node:test';
import assert from 'node:assert/strict';
import { appendFile, readFile } from 'node:fs/promises';
import { sha256 } from '../../../../../src/agent/base/hash.ts';
import { encodeEntry } from '../../../../../src/agent/base/log/jsonLines.ts';
import { encodeHeader } from '../../../../../src/agent/base/log/logFormat.ts';
import { bytesOfSide, isText, type FileSide } from '../../../../../src/agent/hold/preview/fileChange.ts';
import type { LedgerEntry } from '../../../../../src/agent/hold/preview/ledger.ts';
import type { Preview } from '../../../../../src/agent/hold/preview/preview.ts';
import { openPreviewLog } from '../../../../../src/agent/hold/preview/log/openPreviewLog.ts';
import {
  parseEntry,
  previewLogFormat,
  type PreviewLogEntry,
} from '../../../../../src/agent/hold/preview/log/previewLog.ts';
import { PreviewProjection } from '../../../../../src/agent/hold/preview/previewProjection.ts';
import type { StagedPreview } from '../../../../../src/agent/hold/preview/previewSchema.ts';
import { create, modify, remove, rename } from '../../../../support/changes.ts';
import { decodeLog } from '../../../../support/decodeLog.ts';
import { TempFolder } from '../../../../support/tempFolder.ts';

const temp = await TempFolder.create();
afterAll(() => temp.remove());

const staged: StagedPreview = {
  id: 'p1',
  label: 'Edit',
  sourceToolName: 'edit_file',
  kind: 'files',
  changes: [
    modify('a', '1', '2', [{ start: 0, end: 1, text: '2' }]),
    create('b', '\ufeff\r\n\ud800'),
    remove('c', ''),
    rename('d', 'e', 'x', 'y'),
  ],
  dependsOn: ['p9'],
  details: { deep: [1, null] },
  origin: { sessionId: 's', call: { messageId: 'm', toolCallId: 't' }, asksModel: true },
  stagedAt: '2026-01-01T00:00:00.000Z',
};
const ledgerEntry: LedgerEntry = {
  previewId: 'p1',
  label: 'Edit',
  kind: 'files',
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
const opaque: StagedPreview = { ...staged, id: 'p2', kind: 'action', changes: null, origin: null };
const entries: readonly PreviewLogEntry[] = [
  { type: 'staged', preview: staged },
  { type: 'staged', preview: opaque },
  { type: 'revised', id: 'p1', revision: 2, changes: [modify('a', '1', '3')], dependsOn: [], by: 'rebase' },
  { type: 'stale', id: 'p1', paths: ['a'] },
  { type: 'recommended', id: 'p1', recommendation: { action: 'discard', reason: 'no' } },
  { type: 'resolved', entries: [ledgerEntry] },
  { type: 'commit', ids: ['p1'], rollback: { newFolders: ['src'], modes: { b: 0o644 } } },
  { type: 'commit', ids: ['p2'] },
  { type: 'expired', id: 'p2' },
];

for (const [index, entry] of entries.entries()) {
  test(`stored entry ${index}, of type ${entry.type}, comes back as it was`, () => {
    assert.deepEqual(parseEntry(JSON.parse(JSON.stringify(entry))), entry);
  });
}

const refused: readonly [name: string, value: unknown][] = [
  ['an unknown type', { type: 'exploded', id: 'p1' }],
  ['an invalid id', { type: 'staged', preview: { ...staged, id: 'p0' } }],
  [
    'a change without its side',
    { type: 'staged', preview: { ...staged, changes: [{ kind: 'modify', path: 'a' }] } },
  ],
  [
    'a creation with a base',
    { type: 'staged', preview: { ...staged, changes: [{ ...modify('a', '1', '2'), kind: 'create' }] } },
  ],
  ['a change without a path', { type: 'staged', preview: { ...staged, changes: [modify('', '1', '2')] } }],
  ['an unknown actor', { type: 'resolved', entries: [{ ...ledgerEntry, actor: 'ghost' }] }],
  ['a missing field', { type: 'resolved' }],
  ['a bare string', 'staged'],
];

for (const [name, value] of refused) {
  test(`${name} is not an entry`, () => assert.equal(parseEntry(value), undefined));
}

/** What the log holds of an entry. */
const edited = modify('a', 'one two', 'ONE two', [{ start: 0, end: 3, text: 'ONE' }]);

test('a text that is not stored and that no edits give makes the line unreadable', () => {
  assert.ok(edited.after && isText(edited.after));
  const { text: _, ...after } = edited.after;
  const pastEnd = [{ start: 5, end: 8, text: '' }];
  const overlapping = [
    { start: 0, end: 3, text: '' },
    { start: 2, end: 4, text: '' },
  ];
  for (const change of [
    { ...edited, after, edits: undefined },
    { ...edited, after, edits: pastEnd },
    { ...edited, after, edits: overlapping },
  ]) {
    const value: unknown = JSON.parse(
      JSON.stringify({ type: 'staged', preview: { ...staged, changes: [change] } }),
    );
    assert.equal(parseEntry(value), undefined);
  }
});

test('rewriting a log stores no more than appending to it', async () => {
  const log = openPreviewLog(temp.at('rewritten.jsonl'));
  const entry: PreviewLogEntry = { type: 'staged', preview: { ...staged, kind: 'files', changes: [edited] } };
  await log.append(entry);
  const nothing = { takes: () => false, last: 'p1', moved: () => Promise.resolve() };
  await log.compact(one => [{ ...one, mark: 'rewritten' }], nothing);
  assert.doesNotMatch(await readFile(temp.at('rewritten.jsonl'), 'utf8'), /ONE two/);
  assert.deepEqual((await log.load()).entries, [{ ...entry, mark: 'rewritten' }]);
});

test('a whole log comes back from its text', async () => {
  const text = encodeHeader(previewLogFormat) + entries.map(encodeEntry).join('');
  assert.deepEqual(await decodeLog(text, previewLogFormat), {
    entries,
    badLines: [],
    torn: false,
  });
});

/** The one preview after an entry. */
const after = (preview: Preview | undefined, entry: PreviewLogEntry): Preview | undefined => {
  const projection = new PreviewProjection();
  if (preview) projection.set(preview);
  return projection.apply(entry)[0];
};
const pending = after(undefined, { type: 'staged', preview: staged }) ?? assert.fail();
const stateAfter = (...steps: PreviewLogEntry[]): Preview['state'] => {
  const end = steps.reduce<Preview | undefined>(after, pending);
  return end?.state ?? assert.fail();
};
const resolved = (over: Partial<LedgerEntry>): PreviewLogEntry => ({
  type: 'resolved',
  entries: [{ ...ledgerEntry, ...over }],
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

test('a preview can be stale and recommended at once', () => {
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
      resolved({ outcome: 'failed', message: 'no space' }),
    ),
    { kind: 'pending', stale: ['a'], recommendation, lastError: 'no space' },
  );
});

test('a final attempt is what was asked for, also where the producer returned an error', () => {
  const by = { actor: 'human', reason: 'because', at: ledgerEntry.at };
  assert.deepEqual(stateAfter(resolved({})), { kind: 'applied', by });
  assert.deepEqual(stateAfter(resolved({ outcome: 'returnedError' })), { kind: 'applied', by });
  assert.deepEqual(stateAfter(resolved({ action: 'discard', outcome: 'discarded' })), {
    kind: 'discarded',
    by,
  });
});

test('an entry about a preview that does not exist changes nothing', () => {
  for (const entry of entries.filter(({ type }) => type !== 'staged'))
    assert.equal(after(undefined, entry), undefined);
});

test('loading a log loads the encodings of its texts', async () => {
  const bytes = Uint8Array.of(0xf0, 0xd2, 0xc9);
  const side: FileSide = { hash: sha256(bytes), text: 'При', encoding: { name: 'koi8r', bom: false } };
  assert.throws(() => bytesOfSide(side), /koi8r are not loaded/);
  const log = openPreviewLog(temp.at('previews.jsonl'));
  await log.load();
  const changes = [{ kind: 'create', path: 'a', before: null, after: side } as const];
  const entry = { type: 'staged', preview: { ...staged, changes } };
  await appendFile(temp.at('previews.jsonl'), encodeEntry(entry)); // as an older version has written it
  const { entries } = await openPreviewLog(temp.at('previews.jsonl')).load();
  assert.equal(entries.length, 1);
  assert.deepEqual(bytesOfSide(side), bytes);
});
