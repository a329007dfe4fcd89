/** Four hours of each agent in its terminal, on a simulated clock: what it and the person are told. The transcript is printed. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { suite, test } from 'node:test';
import { polled } from '../../../../scripts/lib/limits.mjs';
import { viewInstructions } from '../../../../src/agent/clients/run/toldAgent.ts';
import type { Preview } from '../../../../src/agent/hold/preview/preview.ts';
import { whyNoOverlay } from '../../../../src/agent/sandbox/view/sandboxes.ts';
import { DayTranscript } from '../../../support/dayTranscript.ts';
import { ViewWorld, type ShellAgent } from '../../../support/viewWorld.ts';

const FILES = {
  'src/a.ts': 'one\ntwo\nthree\nfour\nfive\nsix\n',
  'src/b.ts': 'b\n',
  'notes.md': 'Notes\n',
  '.gitignore': '*.log\n.env\n',
};
/** Shells under the names of agents say what they are told at their start. */
const AGENTS = [
  ['claude', '$2', viewInstructions],
  ['codex', '$2', viewInstructions],
  ['opencode', '$OPENCODE_CONFIG_CONTENT', (status: string) => `"instructions":["${status}"]`],
] as const;
const SERVER = 'while sleep 0.05; do echo GET / >> dev.log; done';

/** Whether this machine can mount views at all; where it cannot, that nothing is started is shown beside. */
const probed = await ViewWorld.create();
fs.mkdirSync(probed.storage, { recursive: true });
const obstacle = await whyNoOverlay([{ name: 'w', fsPath: probed.root }], probed.storage);
await probed.remove();

/** Waits until the agent is told so. */
async function hears(day: DayTranscript, agent: ShellAgent, line: string): Promise<void> {
  await polled(line, async () => (await agent.run('cat REDLINE.md')).split('\n').includes(line));
  day.add('the agent reads in REDLINE.md', line);
}

suite('a day in an agent terminal', { skip: obstacle !== undefined }, () => {
  for (const [name, argument, told] of AGENTS)
    test(`four hours of ${name}: a server that runs, three refusals, a sub-agent, a worktree, two restarts and a new terminal`, async t => {
      const day = new DayTranscript();
      const world = await ViewWorld.create(FILES, { pace: day.pace });
      t.after(() => world.remove());
      world.write({ '.env': 'PORT=1\n' });
      const program = world.toldProgram(name, argument);
      const proposed = async (at: string): Promise<Preview> => {
        const found = await polled(at, () =>
          [...world.store.open].findLast(({ changes }) => changes?.some(each => each.path === at)),
        );
        day.add('the person sees', `${found.id}, ${found.origin?.agent?.name}: ${found.label}`);
        return found;
      };
      const refuse = async ({ id }: Preview, reason: string): Promise<void> => {
        day.add('the person refuses', `${id}. ${reason}`);
        await world.vote(id, 'discard', reason);
      };
      const restart = async (meanwhile: string): Promise<void> => {
        await world.closeWindow();
        day.add('the window', 'closes');
        await first.run(meanwhile);
        day.pace.pass(600_000);
        assert.equal(await world.openWindow(), true);
        day.add('the window', 'is open again');
      };

      const first = world.start(program);
      await first.run(`(${SERVER}) & echo PORT=2 > .env`);
      const words = told(world.at('REDLINE.md'));
      assert.ok(first.output.includes(words), first.output);
      day.add('the agent is told at its start', words);
      await hears(day, first, 'Git ignores these, and they are proposed when you end: .env.');
      day.at(0, 20);
      await first.run('echo More >> notes.md');
      await refuse(await proposed('notes.md'), 'Keep the notes short.');
      await hears(day, first, '- notes.md: refused. Reason: Keep the notes short.');
      assert.equal(await first.run('cat notes.md'), 'Notes');

      // A sub-agent works beside the agent, and one in a worktree, whose branch is merged.
      day.at(1, 0);
      await first.run('sh -c "sleep 0.1; echo sub > src/sub.ts" & sed -i s/two/TWO/ src/a.ts; wait $!');
      for (const at of ['src/sub.ts', 'src/a.ts']) await proposed(at);
      day.at(1, 40);
      const who = '-c user.name=A -c user.email=a@b';
      await first.run(`git worktree add -q .claude/worktrees/w; cd .claude/worktrees/w; echo w > src/w.ts`);
      await first.run(`git add .; git ${who} commit -qm w; cd ../../..; git ${who} merge -q w`);
      const merged = await proposed('src/w.ts');
      assert.deepEqual(
        merged.changes?.map(({ path: at }) => at),
        ['src/w.ts'],
        'nothing else of the worktree is proposed',
      );
      await refuse(merged, 'Not today.');
      await hears(day, first, '- src/w.ts: refused. Reason: Not today.');

      day.at(2, 30);
      await restart('sed -i s/six/SIX/ src/a.ts');
      const late = await polled('what was written meanwhile', () =>
        [...world.store.open].find(({ label, dependsOn }) => label === 'a.ts' && dependsOn.length > 0),
      );
      await refuse(late, 'Six stays small.');
      await hears(day, first, '- src/a.ts: refused. Reason: Six stays small.');
      day.at(3, 20);
      await restart('tail -n 1 dev.log');
      await hears(day, first, '- src/w.ts: refused. Reason: Not today.');
      day.at(4, 0);
      const before = world.store.all().length;
      await first.exit();
      day.terminal(first);
      assert.equal(world.store.all().length, before + 1, 'only .env is new');
      assert.match(first.output, /\nredline: Not in the previews: \.claude\/worktrees\/w\n/);
      assert.match(first.output, /\nredline: Stayed in the view, since git ignores it: dev\.log\n/);

      const second = world.start(program);
      await hears(day, second, '- .env: waits for the user.');
      assert.match(
        second.output,
        /It starts with the pending changes from its last terminal: .*src\/sub\.ts.*\.env\./,
      );
      assert.equal(await second.run('cat .env src/sub.ts; sed -n 2p src/a.ts'), 'PORT=2\nsub\nTWO');
      assert.equal(world.git('status', '--porcelain'), '', 'nothing is on disk before it is applied');
      for (const { id } of [...world.store.open]) await world.vote(id, 'apply');
      await hears(day, second, '- .env: applied. Reason: Because.');
      assert.doesNotMatch(await second.run('cat REDLINE.md'), /Git ignores/, 'nothing stays');
      await second.exit();
      day.terminal(second);
      assert.equal(world.git('status', '--porcelain'), ' M src/a.ts\n?? src/sub.ts\n');
      assert.equal(world.read('src/a.ts'), 'one\nTWO\nthree\nfour\nfive\nsix\n');
      assert.equal(world.read('.env'), 'PORT=2\n');
      assert.deepEqual(world.troubles, []);
      for (const line of day.lines) t.diagnostic(line);
    });

  test('Ctrl+C, a paste of a megabyte, and an agent that deletes all that it sees', async t => {
    const world = await ViewWorld.create(FILES);
    t.after(() => world.remove());
    const agent = world.start();
    await agent.run('true');
    agent.signal('SIGINT');
    const line = `${'x'.repeat(99)}\n`;
    assert.equal(
      await agent.run(`cat > pasted.txt <<'END'\n${line.repeat(10_000)}END\nwc -c < pasted.txt`),
      '1000000',
    );
    await world.previews(1);
    await agent.run('rm -rf * .git .gitignore; ls -A');
    await world.previews(2);
    const gone = world.preview('p2').changes?.map(({ kind, path: at }) => `${kind} ${at}`);
    const names = ['.gitignore', 'notes.md', 'pasted.txt', 'src/a.ts', 'src/b.ts'];
    assert.deepEqual(
      gone,
      names.map(name => `delete ${name}`),
    );
    assert.match(await agent.run('cat REDLINE.md'), /^You have removed \.git in this view/m);
    await world.vote('p2', 'discard', 'Leave them.');
    await world.rest();
    assert.match(
      await agent.run('cat notes.md src/b.ts REDLINE.md'),
      /^Notes\nb\n[^]*refused\. Reason: Leave them\.$/m,
    );
    await agent.exit();
    assert.equal(world.git('status', '--porcelain'), '');
    assert.equal(world.read('src/a.ts'), FILES['src/a.ts']);
  });
});
