import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { placeForeign } from '../../../src/agent/elsewhere/foreignChange.ts';
import { inPreviews, TooMuchError, type Gathered } from '../../../src/agent/elsewhere/gathered.ts';
import {
  readForeign,
  type ChangedPath,
  type Snapshot,
  type SnapshotEntry,
} from '../../../src/agent/elsewhere/snapshot.ts';
import { create, rename } from '../../support/changes.ts';
import { MemoryWorkspace } from '../../support/memoryWorkspace.ts';

type Content = string | Uint8Array | Partial<SnapshotEntry>;

const nameOf = (bytes: Uint8Array): string =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

/** A commit with these files; what is not content describes an entry. */
function commit(files: Readonly<Record<string, Content>>): Snapshot {
  const bytesOf = (path: string): Uint8Array => {
    const content = files[path];
    return typeof content === 'string' || content instanceof Uint8Array
      ? Buffer.from(content)
      : Buffer.from('x');
  };
  return {
    entry: path => {
      const content = files[path];
      if (content === undefined) return Promise.resolve(null);
      const bytes = bytesOf(path);
      const given = typeof content === 'string' || content instanceof Uint8Array ? {} : content;
      return Promise.resolve({
        kind: 'file',
        size: bytes.length,
        isExecutable: false,
        object: nameOf(bytes),
        ...given,
      });
    },
    read: path => Promise.resolve(bytesOf(path)),
  };
}

interface World {
  readonly base?: Readonly<Record<string, Content>>;
  readonly theirs?: Readonly<Record<string, Content>>;
  readonly here?: MemoryWorkspace;
  readonly changed: readonly (string | ChangedPath)[];
  readonly links?: readonly string[];
}

async function review({ base = {}, theirs = {}, here, changed, links = [] }: World): Promise<Gathered> {
  const plain = Object.entries(base).filter(
    (each): each is [string, string | Uint8Array] =>
      typeof each[1] === 'string' || each[1] instanceof Uint8Array,
  );
  const workspace = here ?? new MemoryWorkspace(Object.fromEntries(plain));
  const read = await readForeign({
    changed: changed.map(each => (typeof each === 'string' ? { path: each } : each)),
    base: commit(base),
    theirs: commit(theirs),
    places: {
      resolve: path => workspace.resolvePath(path),
      isLink: path => Promise.resolve(links.includes(path)),
    },
  });
  const placed = await placeForeign(read.files, workspace);
  return { ...placed, leftOut: [...read.leftOut, ...placed.leftOut] };
}

const shown = (changes: Gathered['changes']) =>
  changes.map(change => [
    change.kind,
    ...(change.kind === 'rename' ? [change.from] : []),
    change.path,
    change.before?.text ?? null,
    change.after?.text ?? null,
  ]);
const reasons = ({ leftOut }: Gathered) => leftOut.map(({ path, why }) => `${path}: ${why}`);
const lines = (changed: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: 9 }, (_, n) => `${changed[n] ?? `line ${n}`}\n`).join('');

test('what a branch changed comes onto files that moved on; creates, deletes and renames with it', async () => {
  const proposal = await review({
    base: { 'a.ts': lines(), 'gone.ts': 'x\n', 'old.ts': lines() },
    theirs: { 'a.ts': lines({ 7: 'theirs' }), 'new.ts': 'new', 'now.ts': lines({ 7: 'theirs' }) },
    here: new MemoryWorkspace({
      'a.ts': lines({ 1: 'mine' }),
      'gone.ts': 'x\n',
      'old.ts': lines({ 1: 'mine' }),
    }),
    changed: ['a.ts', 'gone.ts', 'new.ts', { path: 'now.ts', from: 'old.ts' }],
  });
  const [mine, both] = [lines({ 1: 'mine' }), lines({ 1: 'mine', 7: 'theirs' })];
  assert.deepEqual(shown(proposal.changes), [
    ['modify', 'a.ts', mine, both],
    ['delete', 'gone.ts', 'x\n', null],
    ['create', 'new.ts', null, 'new'],
    ['rename', 'old.ts', 'now.ts', mine, both],
  ]);
  assert.deepEqual(proposal.conflicts, []);
  assert.deepEqual(proposal.leftOut, []);
});

test('a file open with unsaved changes counts as it is in the editor', async () => {
  const here = new MemoryWorkspace({ 'a.ts': lines() });
  here.type('a.ts', lines({ 1: 'typed' }));
  const proposal = await review({
    base: { 'a.ts': lines() },
    theirs: { 'a.ts': lines({ 7: 'theirs' }) },
    here,
    changed: ['a.ts'],
  });
  assert.deepEqual(shown(proposal.changes), [
    ['modify', 'a.ts', lines({ 1: 'typed' }), lines({ 1: 'typed', 7: 'theirs' })],
  ]);
});

test('what both sides changed is a conflict with markers; a deletion of a changed file is one without', async () => {
  const proposal = await review({
    base: { 'a.ts': lines(), 'gone.ts': 'x\n', 'deleted.ts': 'x\n' },
    theirs: { 'a.ts': lines({ 4: 'theirs' }), 'deleted.ts': 'theirs\n', 'both.ts': 'theirs\n' },
    here: new MemoryWorkspace({ 'a.ts': lines({ 4: 'mine' }), 'gone.ts': 'mine\n', 'both.ts': 'mine\n' }),
    changed: ['a.ts', 'gone.ts', 'deleted.ts', 'both.ts'],
  });
  const marked = (mine: string, theirs: string): string =>
    `<<<<<<< current file\n${mine}\n=======\n${theirs}\n>>>>>>> proposed change`;
  assert.deepEqual(proposal.changes, []);
  assert.deepEqual(shown(proposal.conflicts), [
    ['modify', 'a.ts', lines({ 4: 'mine' }), lines({ 4: marked('mine', 'theirs') })],
    ['delete', 'gone.ts', 'mine\n', null],
    ['create', 'deleted.ts', null, 'theirs\n'],
    ['modify', 'both.ts', 'mine\n', `${marked('mine', 'theirs')}\n`],
  ]);
});

test('what the files here have already is left out silently', async () => {
  const proposal = await review({
    base: { 'a.ts': lines(), 'gone.ts': 'x\n' },
    theirs: { 'a.ts': lines({ 4: 'theirs' }), 'new.ts': 'new\n' },
    here: new MemoryWorkspace({ 'a.ts': lines({ 4: 'theirs' }), 'new.ts': 'new\n' }),
    changed: ['a.ts', 'gone.ts', 'new.ts'],
  });
  assert.deepEqual(proposal, { changes: [], conflicts: [], leftOut: [] });
});

test('renames: made here too, onto a file that is here, of a file that is gone here, and a chain', async () => {
  const base = { 'old.ts': lines() };
  const theirs = { 'now.ts': lines({ 7: 'theirs' }) };
  const changed = [{ path: 'now.ts', from: 'old.ts' }];
  const at = async (files: Readonly<Record<string, string>>): Promise<Gathered> =>
    review({ base, theirs, changed, here: new MemoryWorkspace(files) });
  const both = await at({ 'now.ts': lines({ 1: 'mine' }) });
  assert.deepEqual(shown(both.changes), [
    ['modify', 'now.ts', lines({ 1: 'mine' }), lines({ 1: 'mine', 7: 'theirs' })],
  ]);
  const taken = await at({ 'old.ts': lines(), 'now.ts': 'other\n' });
  assert.deepEqual(
    taken.conflicts.map(({ kind, path }) => `${kind} ${path}`),
    ['delete old.ts', 'modify now.ts'],
  );
  const gone = await at({});
  assert.deepEqual(shown(gone.conflicts), [['create', 'now.ts', null, theirs['now.ts']]]);
  const copied = await review({
    base,
    theirs: { ...theirs, ...base },
    changed,
  });
  assert.deepEqual(shown(copied.changes), [['create', 'now.ts', null, theirs['now.ts']]], 'no rename');
});

test('line endings: git may convert them here; a change of them there is a change', async () => {
  const crlf = (text: string): string => text.replaceAll('\n', '\r\n');
  const proposal = await review({
    base: { 'converted.ts': lines(), 'changed.ts': lines(), 'end.ts': 'a\nb' },
    theirs: { 'converted.ts': lines({ 4: 'theirs' }), 'changed.ts': crlf(lines()), 'end.ts': 'a\nb\n' },
    here: new MemoryWorkspace({ 'converted.ts': crlf(lines()), 'changed.ts': lines(), 'end.ts': 'a\nb' }),
    changed: ['converted.ts', 'changed.ts', 'end.ts'],
  });
  assert.deepEqual(shown(proposal.changes), [
    ['modify', 'converted.ts', crlf(lines()), crlf(lines({ 4: 'theirs' }))],
    ['modify', 'changed.ts', lines(), crlf(lines())],
    ['modify', 'end.ts', 'a\nb', 'a\nb\n'],
  ]);
});

test('what cannot be carried is named', async () => {
  const x = { kind: 'file' } as const;
  const proposal = await review({
    base: { 'i.png': Buffer.from([1, 0, 2]), 'run.sh': x, 'here.ts': 'a\n', 'odd.doc': 'a\n' },
    theirs: {
      'i.png': Buffer.from([1, 0, 3]),
      link: { kind: 'link' },
      module: { kind: 'submodule' },
      'run.sh': { isExecutable: true },
      'huge.txt': { size: 6_000_000 },
      'lfs.bin': 'version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n',
      'odd.doc': { object: '1'.repeat(40) },
      'here.ts': 'b\n',
      '../out.ts': 'a\n',
      '.git/hooks/x': 'a\n',
      'tool.sh': { isExecutable: true },
    },
    here: new MemoryWorkspace({ 'i.png': Buffer.from([1, 0, 2]), 'run.sh': 'x', 'odd.doc': 'a\n' }),
    changed: [
      ...['i.png', 'link', 'module', 'run.sh', 'huge.txt', 'lfs.bin', 'odd.doc', 'here.ts', '../out.ts'],
      ...['.git/hooks/x', 'tool.sh'],
    ],
    links: ['here.ts'],
  });
  assert.deepEqual(reasons(proposal), [
    'link: link',
    'module: submodule',
    'run.sh: mode',
    'huge.txt: tooLarge',
    'lfs.bin: converted',
    'odd.doc: converted',
    'here.ts: link',
    '../out.ts: outside',
    '.git/hooks/x: path',
    'i.png: binary',
  ]);
  assert.deepEqual(shown(proposal.changes), [['create', 'tool.sh', null, 'x']]);
  assert.ok(proposal.changes[0]?.kind === 'create' && proposal.changes[0].mode === 0o755);
});

test('more than 2,000 files, or 50 MB, are refused as a whole', async () => {
  const names = Array.from({ length: 2_001 }, (_, n) => `${n}.ts`);
  await assert.rejects(review({ changed: names }), TooMuchError);
  const theirs = Object.fromEntries(names.slice(0, 11).map(name => [name, { size: 5_000_000 }]));
  await assert.rejects(review({ theirs, changed: names.slice(0, 11) }), TooMuchError);
});

test('an abort ends the reading', async () => {
  const abort = new AbortController();
  abort.abort();
  const places = { resolve: (path: string) => Promise.resolve(path), isLink: () => Promise.resolve(false) };
  const options = { changed: [{ path: 'a' }], base: commit({}), theirs: commit({ a: 'a' }), places };
  await assert.rejects(readForeign({ ...options, signal: abort.signal }), { name: 'AbortError' });
});

test('many files become a preview for each top-level folder, unless a rename joins two of them', () => {
  const files = (folder: string, count: number) =>
    Array.from({ length: count }, (_, n) => create(`${folder}${n}.ts`, 'x'));
  assert.equal(inPreviews(files('a/', 200)).length, 1);
  const many = [...files('a/', 150), ...files('b/', 100), ...files('', 3)];
  assert.deepEqual(
    inPreviews(many).map(group => group.length),
    [150, 100, 3],
  );
  assert.equal(inPreviews([...many, rename('a/0.ts', 'b/moved.ts', 'x')]).length, 1);
  assert.deepEqual(inPreviews([]), []);
});
