import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentWorld, TestAgent } from '../../../support/agentClients.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';

const FILES = { 'a.txt': 'one\ntwo\n', 'b.txt': 'b\n', 'c.txt': 'c\n', 'd.txt': 'd\n' };

function setUp() {
  const world = agentWorld({ files: FILES });
  const agent = new TestAgent(world);
  const propose = (...changes: object[]): Promise<string> => agent.ok('propose_changes', { changes });
  const refused = (...changes: object[]): Promise<string> => agent.refused('propose_changes', { changes });
  return { ...world, agent, propose, refused };
}
const edit = { edits: [{ old: 'one', new: 'ONE' }] };

test('edits, new files, renames and deletions are one preview, which lands as a whole', async () => {
  const { agent, store, click, workspace } = setUp();
  const text = await agent.ok('propose_changes', {
    title: 'Tidy up',
    changes: [
      { path: 'a.txt', ...edit },
      { path: 'b.txt', renameTo: 'moved/b.txt', content: 'B\n' },
      { path: 'c.txt', delete: true },
      { path: 'new.txt', content: 'new\n' },
      { path: 'd.txt', renameTo: 'moved/d.txt' },
    ],
  });
  assert.match(text, /^Staged as p1, not on disk/);
  assert.deepEqual(
    store.all().map(({ label, changes }) => [label, changes?.map(({ kind, path }) => `${kind} ${path}`)]),
    [
      [
        'Tidy up',
        ['modify a.txt', 'rename moved/b.txt', 'delete c.txt', 'create new.txt', 'rename moved/d.txt'],
      ],
    ],
  );
  assert.deepEqual(workspace.snapshot(), FILES);
  await click('p1', 'apply');
  assert.deepEqual(workspace.snapshot(), {
    'a.txt': 'ONE\ntwo\n',
    'moved/b.txt': 'B\n',
    'moved/d.txt': 'd\n',
    'new.txt': 'new\n',
  });
});

test('without a title the label counts the files; what is already so is left out', async () => {
  const { propose, store } = setUp();
  await propose(
    { path: 'a.txt', ...edit },
    { path: 'b.txt', content: 'b\n' },
    { path: 'c.txt', delete: true },
  );
  assert.deepEqual(
    store.all().map(({ label, changes }) => [label, changes?.length]),
    [['Change 2 files', 2]],
  );
  assert.match(
    await propose({ path: 'd.txt', content: 'd\n' }),
    /already has exactly this content.*\nNothing was staged\.$/s,
  );
  assert.equal(store.all().length, 1);
});

test('if one change cannot be made, nothing is staged, and the error names it', async () => {
  const { refused, store } = setUp();
  const good = { path: 'a.txt', ...edit };
  const cases: readonly (readonly [object, RegExp])[] = [
    [
      { path: 'b.txt', edits: [{ old: 'x', new: 'y' }] },
      /^changes\.1 \(b\.txt\): old was not found in b\.txt/,
    ],
    [{ path: 'b.txt' }, /Give edits, content, renameTo or delete\. Nothing was staged\.$/],
    [{ path: 'b.txt', delete: true, content: '' }, /Give delete alone/],
    [{ path: 'b.txt', edits: [{ old: 'b', new: 'c' }], content: 'c' }, /not both/],
    [{ path: 'no.txt', delete: true }, /There is no file no\.txt/],
    [{ path: 'b.txt', renameTo: 'c.txt' }, /c\.txt already exists/],
    [{ path: '../x', content: '' }, /outside the workspace/],
    [{ path: './a.txt', content: 'again' }, /^changes\.0 and changes\.1 both concern a\.txt/],
    [{ path: 'b.txt', renameTo: 'b/b.txt', delete: true }, /Give delete alone/],
  ];
  for (const [bad, error] of cases) assert.match(await refused(good, bad), error);
  assert.match(await refused(), /changes: /);
  assert.deepEqual(store.all(), []);
});

test('a new file may not take the place of one that is renamed in the same proposal', async () => {
  const { refused } = setUp();
  assert.match(
    await refused({ path: 'a.txt', renameTo: 'z.txt' }, { path: 'z.txt', content: 'z' }),
    /^changes\.0 and changes\.1 both concern z\.txt/,
  );
});

test('one file may not be changed under two names in one proposal', async () => {
  const world = agentWorld({ workspace: new MemoryWorkspace(FILES, { 'link.txt': 'a.txt' }) });
  const changes = [
    { path: 'a.txt', ...edit },
    { path: 'link.txt', edits: [{ old: 'two', new: 'TWO' }] },
  ];
  const text = await new TestAgent(world).refused('propose_changes', { changes });
  assert.match(text, /a\.txt and link\.txt are two names of one file.*Nothing was staged\./);
  assert.deepEqual(world.store.all(), []);
});
