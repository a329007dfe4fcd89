import assert from 'node:assert/strict';
import { MemoryBlobs } from '../../../../src/agent/hold/preview/blobs.ts';
import { readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { PathError } from '../../../../src/agent/base/errors.ts';
import { placeForeign } from '../../../../src/agent/hold/external/foreignChange.ts';
import { inPreviews, TooMuchError, type Gathered } from '../../../../src/agent/hold/external/gathered.ts';
import { Git } from '../../../../src/agent/hold/external/git.ts';
import { readForeign, type Places } from '../../../../src/agent/hold/external/readForeign.ts';
import {
  bytesOfSide,
  isLink,
  isText,
  linkTo,
  type FileSide,
} from '../../../../src/agent/hold/preview/fileChange.ts';
import { create, remove, rename, textIn } from '../../../support/changes.ts';
import { DiskWorkspace } from '../../../support/diskWorkspace.ts';
import { GitRepository, type Committed } from '../../../support/gitRepository.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';

interface World {
  readonly base?: Readonly<Record<string, Committed>>;
  readonly theirs?: Readonly<Record<string, Committed>>;
  readonly here?: MemoryWorkspace;
  readonly links?: readonly string[];
  readonly signal?: AbortSignal;
}

const blobs = new MemoryBlobs();

/** Where files are, of which some are links here. */
function placesIn(resolve: Places['resolve'], links: readonly string[] = []): Places {
  return { resolve, resolveLink: resolve, isLink: path => Promise.resolve(links.includes(path)) };
}

async function review(
  t: TestContext,
  { base = {}, theirs = {}, here, links = [], signal }: World,
): Promise<Gathered> {
  const repository = await GitRepository.create(t);
  const from = repository.commit(base);
  const to = repository.commit(theirs, from);
  const plain = Object.entries(base).filter(
    (each): each is [string, string | Uint8Array] =>
      typeof each[1] === 'string' || each[1] instanceof Uint8Array,
  );
  const workspace = here ?? new MemoryWorkspace(Object.fromEntries(plain));
  const read = await readForeign({
    git: repository.git,
    base: from,
    theirs: { commit: to },
    places: placesIn(
      path =>
        path.startsWith('beside/')
          ? Promise.reject(new PathError('outside', path))
          : workspace.resolvePath(path),
      links,
    ),
    ...(signal ? { signal } : {}),
  });
  const placed = await placeForeign(read.files, { workspace, blobs });
  return { ...placed, leftOut: [...read.leftOut, ...placed.leftOut] };
}

const shown = (changes: Gathered['changes']) =>
  changes.map(change => [
    change.kind,
    ...(change.kind === 'rename' ? [change.from] : []),
    change.path,
    textIn(change.before) ?? null,
    textIn(change.after) ?? null,
  ]);
const reasons = ({ leftOut }: Gathered) => leftOut.map(({ path, why }) => `${path}: ${why}`);
const lines = (changed: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: 9 }, (_, n) => `${changed[n] ?? `line ${n}`}\n`).join('');

test('what a branch changed comes onto files that moved on; creates, deletes and renames with it', async t => {
  const proposal = await review(t, {
    base: { 'a.ts': lines(), 'gone.ts': 'x\n', 'old.ts': lines() },
    theirs: { 'a.ts': lines({ 7: 'theirs' }), 'new.ts': 'new', 'now.ts': lines({ 7: 'theirs' }) },
    here: new MemoryWorkspace({
      'a.ts': lines({ 1: 'mine' }),
      'gone.ts': 'x\n',
      'old.ts': lines({ 1: 'mine' }),
    }),
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

test('a file open with unsaved changes counts as it is in the editor', async t => {
  const here = new MemoryWorkspace({ 'a.ts': lines() });
  here.type('a.ts', lines({ 1: 'typed' }));
  const proposal = await review(t, {
    base: { 'a.ts': lines() },
    theirs: { 'a.ts': lines({ 7: 'theirs' }) },
    here,
  });
  assert.deepEqual(shown(proposal.changes), [
    ['modify', 'a.ts', lines({ 1: 'typed' }), lines({ 1: 'typed', 7: 'theirs' })],
  ]);
});

test('what both sides changed is a conflict with markers; a deletion of a changed file is one without', async t => {
  const proposal = await review(t, {
    base: { 'a.ts': lines(), 'gone.ts': 'x\n', 'deleted.ts': 'x\n' },
    theirs: { 'a.ts': lines({ 4: 'theirs' }), 'deleted.ts': 'theirs\n', 'both.ts': 'theirs\n' },
    here: new MemoryWorkspace({ 'a.ts': lines({ 4: 'mine' }), 'gone.ts': 'mine\n', 'both.ts': 'mine\n' }),
  });
  const marked = (mine: string, theirs: string): string =>
    `<<<<<<< current file\n${mine}\n=======\n${theirs}\n>>>>>>> proposed change`;
  assert.deepEqual(proposal.changes, []);
  assert.deepEqual(shown(proposal.conflicts), [
    ['modify', 'a.ts', lines({ 4: 'mine' }), lines({ 4: marked('mine', 'theirs') })],
    ['modify', 'both.ts', 'mine\n', `${marked('mine', 'theirs')}\n`],
    ['create', 'deleted.ts', null, 'theirs\n'],
    ['delete', 'gone.ts', 'mine\n', null],
  ]);
});

test('what the files here have already is left out silently', async t => {
  const proposal = await review(t, {
    base: { 'a.ts': lines(), 'gone.ts': 'x\n' },
    theirs: { 'a.ts': lines({ 4: 'theirs' }), 'new.ts': 'new\n' },
    here: new MemoryWorkspace({ 'a.ts': lines({ 4: 'theirs' }), 'new.ts': 'new\n' }),
  });
  assert.deepEqual(proposal, { changes: [], conflicts: [], leftOut: [] });
});

test('renames: made here too, onto a file that is here, and of a file that is gone here', async t => {
  const base = { 'old.ts': lines() };
  const theirs = { 'now.ts': lines({ 7: 'theirs' }) };
  const at = async (files: Readonly<Record<string, string>>): Promise<Gathered> =>
    review(t, { base, theirs, here: new MemoryWorkspace(files) });
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
});

test('line endings: git may convert them here; a change of them there is a change', async t => {
  const crlf = (text: string): string => text.replaceAll('\n', '\r\n');
  const proposal = await review(t, {
    base: { 'converted.ts': lines(), 'changed.ts': lines(), 'end.ts': 'a\nb' },
    theirs: { 'converted.ts': lines({ 4: 'theirs' }), 'changed.ts': crlf(lines()), 'end.ts': 'a\nb\n' },
    here: new MemoryWorkspace({ 'converted.ts': crlf(lines()), 'changed.ts': lines(), 'end.ts': 'a\nb' }),
  });
  assert.deepEqual(shown(proposal.changes), [
    ['modify', 'changed.ts', lines(), crlf(lines())],
    ['modify', 'converted.ts', crlf(lines()), crlf(lines({ 4: 'theirs' }))],
    ['modify', 'end.ts', 'a\nb', 'a\nb\n'],
  ]);
});

test('what cannot be carried is named', async t => {
  const proposal = await review(t, {
    base: { 'run.sh': 'x', 'here.ts': 'a\n' },
    theirs: {
      module: { mode: '160000' },
      'run.sh': { mode: '100755', content: 'x' },
      'huge.txt': 'x'.repeat(6_000_000),
      'lfs.bin': 'version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n',
      'here.ts': 'b\n',
      'beside/out.ts': 'a\n',
      'tool.sh': { mode: '100755', content: 'x' },
    },
    here: new MemoryWorkspace({ 'run.sh': 'x' }),
    links: ['here.ts'],
  });
  assert.deepEqual(reasons(proposal).sort(), [
    'beside/out.ts: outside',
    'here.ts: link',
    'huge.txt: tooLarge',
    'lfs.bin: converted',
    'module: submodule',
    'run.sh: mode',
  ]);
  assert.deepEqual(shown(proposal.changes), [['create', 'tool.sh', null, 'x']]);
  assert.ok(proposal.changes[0]?.kind === 'create' && proposal.changes[0].mode === 0o755);
});

test('symbolic links and binary files come as a whole; what was changed here too is a conflict', async t => {
  const [one, two, mine] = [Buffer.of(1, 0), Buffer.of(2, 0), Buffer.of(3, 0)];
  const link = (content: string) => ({ mode: '120000' as const, content });
  const here = new MemoryWorkspace(
    { 'a.png': one, 'b.png': mine, 'c.png': two, 'was.ts': 'a\n', 'old.bin': Buffer.of(9, 0) },
    { link: 'a.png', moved: 'mine', gone: 'x' },
  );
  const { changes, conflicts, leftOut } = await review(t, {
    base: {
      'a.png': one,
      'b.png': one,
      'c.png': one,
      'was.ts': 'a\n',
      'old.bin': Buffer.of(9, 0),
      link: link('a.png'),
      moved: link('a.png'),
      gone: link('x'),
    },
    theirs: {
      'a.png': two,
      'b.png': two,
      'c.png': two,
      'was.ts': link('a.png'),
      'new.bin': Buffer.of(9, 0),
      link: link('b.png'),
      moved: link('b.png'),
      'deep/new': link('../a.png'),
    },
    here,
    links: ['link', 'moved', 'gone'],
  });
  assert.deepEqual(leftOut, []);
  const side = async (each: FileSide | null): Promise<unknown> =>
    !each ? null : isText(each) ? each.text : isLink(each) ? `→ ${each.link}` : [...(await blobs.get(each))];
  const told = (all: Gathered['changes']) =>
    Promise.all(
      all.map(async ({ kind, path, before, after }) => [kind, path, await side(before), await side(after)]),
    );
  assert.deepEqual((await told(changes)).sort(), [
    ['create', 'deep/new', null, '→ ../a.png'],
    ['delete', 'gone', '→ x', null],
    ['modify', 'a.png', [1, 0], [2, 0]],
    ['modify', 'link', '→ a.png', '→ b.png'],
    ['modify', 'was.ts', 'a\n', '→ a.png'],
    ['rename', 'new.bin', [9, 0], [9, 0]],
  ]);
  assert.deepEqual((await told(conflicts)).sort(), [
    ['modify', 'b.png', [3, 0], [2, 0]],
    ['modify', 'moved', '→ mine', '→ b.png'],
  ]);
});

test('a link in the place of a folder, and a folder in the place of a link', async () => {
  const workspace = new MemoryWorkspace({ 'src/a': 'a', 'there/b': 'behind' }, { link: 'there' });
  const { changes, conflicts, leftOut } = await placeForeign(
    [
      { path: 'src/a', base: Buffer.from('a'), theirs: null },
      { path: 'src', base: null, theirs: { link: 'lib' } },
      { path: 'link', base: { link: 'there' }, theirs: null },
      { path: 'link/b', base: null, theirs: Buffer.from('b') },
    ],
    { workspace, blobs },
  );
  assert.deepEqual([conflicts, leftOut], [[], []]);
  assert.deepEqual(changes, [
    remove('src/a', 'a'),
    { kind: 'create', path: 'src', before: null, after: linkTo('lib') },
    { kind: 'delete', path: 'link', before: linkTo('there'), after: null },
    create('link/b', 'b'),
  ]);
});

test('more than 2,000 files, or 50 MB, are refused as a whole', async t => {
  const names = Array.from({ length: 2_001 }, (_, n) => `${n}.ts`);
  await assert.rejects(
    review(t, { theirs: Object.fromEntries(names.map(name => [name, 'x'])) }),
    TooMuchError,
  );
  const large = 'x'.repeat(5_000_000);
  const theirs = Object.fromEntries(names.slice(0, 11).map(name => [name, large]));
  await assert.rejects(review(t, { theirs }), TooMuchError);
});

test('an abort ends the reading', async t => {
  const abort = new AbortController();
  abort.abort();
  await assert.rejects(review(t, { theirs: { a: 'a' }, signal: abort.signal }), { name: 'AbortError' });
});

const UTF16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');

/** Files that git stores in another form than it writes, by the attribute that says so. */
const CONVERTED: readonly (readonly [attribute: string, stored: string, theirs: string])[] = [
  ['text eol=crlf', 'one\ntwo\nthree\n', 'one\ntwo\nTHREE\n'],
  ['text working-tree-encoding=UTF-16LE-BOM', 'grün\nzwei\n', 'grün\nZWEI\n'],
  ['ident', '$Id$\nold\nlast\n', '$Id$\nold\nLAST\n'],
  ['filter=upper', 'stored one\nstored two\n', 'stored one\nstored 2\n'],
];

for (const [attribute, stored, theirs] of CONVERTED) {
  test(`a branch lands as git checkout would write it: ${attribute}`, async t => {
    const repository = await GitRepository.create(t);
    repository.config('filter.upper.smudge', 'tr a-z A-Z');
    repository.config('filter.upper.clean', 'tr A-Z a-z');
    const attributes = { '.gitattributes': `*.txt ${attribute}\n` };
    const from = repository.commit({ ...attributes, 'a.txt': stored, 'gone.txt': stored });
    const to = repository.commit({ ...attributes, 'a.txt': theirs, 'new.txt': `${theirs}more\n` }, from);
    repository.run(['reset', '-q', '--hard', to]);
    const expected = ['a.txt', 'new.txt'].map(name => readFileSync(repository.folder.at(name)));
    repository.run(['reset', '-q', '--hard', from]);
    const workspace = new DiskWorkspace(repository.folder.root);
    const read = await readForeign({
      git: repository.git,
      base: from,
      theirs: { commit: to },
      places: placesIn(path => workspace.resolvePath(path)),
    });
    assert.deepEqual(read.leftOut, []);
    const { changes, conflicts, leftOut } = await placeForeign(read.files, { workspace, blobs });
    assert.deepEqual([conflicts, leftOut], [[], []]);
    for (const change of changes)
      await workspace.write(
        change.path,
        change.after && isText(change.after) ? bytesOfSide(change.after) : null,
        change.before?.hash ?? null,
      );
    const landed = ['a.txt', 'new.txt'].map(name => readFileSync(repository.folder.at(name)));
    assert.deepEqual(landed, expected);
    if (attribute.includes('UTF-16')) assert.deepEqual(landed[0], UTF16(theirs));
    assert.equal(repository.run(['diff', '--stat', to, '--', 'a.txt', 'gone.txt']), '');
  });
}

test('with autocrlf, what a branch changed is no conflict with the carriage returns here', async t => {
  const repository = await GitRepository.create(t);
  repository.config('core.autocrlf', 'true');
  const from = repository.commit({ 'a.ts': lines() });
  const to = repository.commit({ 'a.ts': lines({ 7: 'theirs' }), 'new.ts': lines() }, from);
  repository.run(['reset', '-q', '--hard', from]);
  const crlf = (text: string): string => text.replaceAll('\n', '\r\n');
  await repository.folder.file('a.ts', crlf(lines({ 1: 'mine' })));
  await repository.folder.file('new.ts', crlf(lines({ 2: 'mine' })));
  const workspace = new DiskWorkspace(repository.folder.root);
  const read = await readForeign({
    git: repository.git,
    base: from,
    theirs: { commit: to },
    places: placesIn(path => workspace.resolvePath(path)),
  });
  const placed = await placeForeign(read.files, { workspace, blobs });
  assert.deepEqual(shown(placed.changes), [
    ['modify', 'a.ts', crlf(lines({ 1: 'mine' })), crlf(lines({ 1: 'mine', 7: 'theirs' }))],
  ]);
  const marked = textIn(placed.conflicts[0]?.after) ?? '';
  assert.deepEqual(
    marked.split('\n').filter(line => line !== '' && !line.endsWith('\r')),
    [],
  );
});

test('a file whose filter fails, or whose name is no text, is left out; the others come', async t => {
  const repository = await GitRepository.create(t);
  repository.config('filter.broken.smudge', 'false');
  repository.config('filter.broken.required', 'true');
  const attributes = { '.gitattributes': '*.enc filter=broken\n' };
  const from = repository.commit(attributes);
  const to = repository.commit({ ...attributes, 'a.ts': 'a\n', 'b.enc': 'b\n', 'z.ts': 'z\n' }, from);
  const workspace = new MemoryWorkspace({});
  const read = await readForeign({
    git: repository.git,
    base: from,
    theirs: { commit: to },
    places: placesIn(path => workspace.resolvePath(path)),
  });
  assert.deepEqual(read.leftOut, [{ path: 'b.enc', why: 'converted' }]);
  assert.deepEqual(read.files.map(({ path }) => path).sort(), ['a.ts', 'z.ts']);
});

test('a worktree comes as it is on disk, with what is not committed and not tracked', async t => {
  const repository = await GitRepository.create(t);
  const from = repository.checkedOut({
    'a.ts': lines(),
    'moved.ts': lines({ 1: 'other' }),
    'gone.ts': 'x\n',
    'again.ts': 'x\n',
    'cached.ts': 'x\n',
  });
  const { folder } = repository;
  repository.run(['mv', 'moved.ts', 'to.ts']);
  repository.run(['rm', '-q', 'gone.ts', 'again.ts']);
  repository.run(['rm', '-q', '--cached', 'cached.ts']);
  repository.run(['commit', '-qm', 'there']);
  await folder.file('a.ts', lines({ 3: 'there' }));
  await folder.file('again.ts', 'again\n');
  await folder.file('deep/[id].ts', 'fresh\n');
  await folder.file('back\\slash.txt', 'name\n');
  await folder.file('inner/a.ts', 'inner\n');
  await folder.link('out', folder.at('a.ts'));
  repository.run(['init', '-q', 'inner']);
  const { files, leftOut } = await readForeign({
    git: repository.git,
    base: from,
    theirs: { worktree: new Git(folder.root) },
    places: placesIn(path => Promise.resolve(path)),
  });
  assert.deepEqual(
    files
      .map(({ path, from: old, base, theirs }) => [
        path,
        old,
        base !== null,
        theirs && ('link' in theirs ? theirs : Buffer.from(theirs).toString()),
      ])
      .sort(),
    [
      ['a.ts', undefined, true, lines({ 3: 'there' })],
      ['again.ts', undefined, true, 'again\n'],
      ['back\\slash.txt', undefined, false, 'name\n'],
      ['cached.ts', undefined, true, 'x\n'],
      ['deep/[id].ts', undefined, false, 'fresh\n'],
      ['gone.ts', undefined, true, null],
      ['out', undefined, false, { link: folder.at('a.ts') }],
      ['to.ts', 'moved.ts', true, lines({ 1: 'other' })],
    ],
  );
  assert.deepEqual(
    leftOut.map(({ path, why }) => `${path}: ${why}`),
    ['inner: submodule'],
  );
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
