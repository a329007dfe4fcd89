import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { suite, test, type TestContext } from 'node:test';
import { agentWorld, TestAgent, type AgentWorld } from '../../support/agentClients.ts';
import { TempFolder } from '../../support/tempFolder.ts';

const FILES = { 'a.txt': 'one\n', 'b.txt': 'root\n', 'sub/b.txt': 'own\n' };

/** An agent that works in a folder of a repository, with the files of a workspace in memory. */
async function agentIn(
  t: TestContext,
  folder: string,
  make: (temp: TempFolder) => Promise<unknown> = temp => mkdir(temp.at(folder), { recursive: true }),
): Promise<{ readonly world: AgentWorld; readonly agent: TestAgent }> {
  const temp = await TempFolder.create();
  t.after(() => temp.remove());
  await make(temp);
  const world = agentWorld({ files: FILES });
  const host = { ...world.host, folders: () => [{ name: 'w', fsPath: temp.root }] };
  return { world, agent: new TestAgent({ host }, { cwd: temp.at(folder) }) };
}

suite('the paths of an agent that tells where it works', () => {
  const changed = ({ store }: AgentWorld): readonly (readonly string[])[] =>
    store.all().map(({ changes }) => (changes ?? []).map(({ path }) => path));

  test('relative ones mean its own folder, also for a new file', async t => {
    const { world, agent } = await agentIn(t, 'sub');
    await agent.ok('propose_edit', { path: 'b.txt', edits: [{ old: 'own', new: 'OWN' }] });
    await agent.ok('propose_edit', { path: './new.txt', content: 'x\n' });
    await agent.ok('propose_edit', { path: '../a.txt', content: 'x\n' });
    await agent.ok('propose_edit', { path: '/workspace/b.txt', content: 'x\n' });
    assert.deepEqual(changed(world), [['sub/b.txt'], ['sub/new.txt'], ['a.txt'], ['b.txt']]);
    assert.match(await agent.ok('read_file', { path: 'b.txt' }), /^sub\/b\.txt/);
  });

  test('what Redline has shown can be read by that name, and is not changed by guess', async t => {
    const { world, agent } = await agentIn(t, 'sub');
    assert.match(await agent.ok('read_file', { path: 'a.txt' }), /one/);
    const args = { path: 'a.txt', content: 'x\n' };
    assert.match(
      await agent.refused('propose_edit', args),
      /not in sub, where you work.*Give an absolute path/,
    );
    assert.deepEqual(changed(world), []);
  });

  test('in another worktree of the repository, a relative path is refused and the checkout is named', async t => {
    const git = (cwd: string, ...args: string[]): void => {
      execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b', ...args], { cwd, stdio: 'ignore' });
    };
    const { world, agent } = await agentIn(t, '.claude/worktrees/w1', async ({ root }) => {
      git(root, 'init', '-q');
      git(root, 'commit', '--allow-empty', '-qm', 'first');
      git(root, 'worktree', 'add', '-q', '.claude/worktrees/w1');
    });
    const edit = { edits: [{ old: 'one', new: 'ONE' }] };
    assert.match(
      await agent.refused('propose_edit', { path: 'a.txt', ...edit }),
      /You work in another worktree, .*w1, and changes for the checkout .* go to its user/,
    );
    await agent.ok('propose_edit', { path: '/workspace/a.txt', ...edit });
    assert.deepEqual(changed(world), [['a.txt']]);
  });
});
