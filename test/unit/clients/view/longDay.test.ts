/** A day of an agent in its terminal, at a faster pace: what it and the person are told. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { suite, test } from 'node:test';
import { polled } from '../../../../scripts/lib/limits.mjs';
import { VIEW_INSTRUCTIONS } from '../../../../src/agent/clients/run/toldAgent.ts';
import { viewPace } from '../../../../src/agent/clients/view/liveView.ts';
import { whyNoOverlay } from '../../../../src/agent/sandbox/view/sandboxes.ts';
import { ViewWorld, type ShellAgent } from '../../../support/viewWorld.ts';

const FILES = {
  'src/a.ts': 'one\ntwo\nthree\nfour\nfive\nsix\n',
  'src/b.ts': 'b\n',
  'notes.md': 'Notes\n',
  '.gitignore': '*.log\n.env\n',
};
/** A shell under the name of an agent: its instructions stand in its home folder. */
const CLAUDE = '#!/bin/sh\nprintf %s "$2" > "$HOME/.claude/instructions"\nexec /bin/sh\n';
const SERVER = 'while sleep 0.05; do echo GET / >> dev.log; done';

/** Whether this machine can mount views at all; where it cannot, that nothing is started is shown beside. */
const probed = await ViewWorld.create();
fs.mkdirSync(probed.storage, { recursive: true });
const obstacle = await whyNoOverlay([{ name: 'w', fsPath: probed.root }], probed.storage);
await probed.remove();

/** Waits until the agent is told so. */
async function hears(agent: ShellAgent, line: string): Promise<void> {
  await polled(line, async () => (await agent.run('cat REDLINE.md')).split('\n').includes(line));
}

if (!obstacle)
  suite('a day in an agent terminal', () => {
    test('a server that runs, refusals, a sub-agent, a worktree, a reload and a new terminal', async t => {
      const world = await ViewWorld.create(FILES, { pace: { ...viewPace, restMs: 300, longestMs: 600 } });
      t.after(() => world.remove());
      world.write({ '.env': 'PORT=1\n' });
      const program = world.temp.at('bin', 'claude');
      fs.mkdirSync(path.dirname(program));
      fs.writeFileSync(program, CLAUDE, { mode: 0o755 });
      const inHome = (name: string): string =>
        fs.readFileSync(path.join(world.temp.at('home'), '.claude', name), 'utf8');

      const first = world.start(program);
      await first.run(`(${SERVER}) & echo PORT=2 > .env`);
      assert.equal(inHome('instructions'), VIEW_INSTRUCTIONS);
      await first.run('echo More >> notes.md');
      await world.previews(1);
      await world.vote('p1', 'discard', 'Keep the notes short.');
      await hears(first, '- notes.md: refused. Reason: Keep the notes short.');
      assert.equal(await first.run('cat notes.md'), 'Notes');

      // A sub-agent works beside the agent, and one in a worktree, whose branch is merged.
      await first.run('sh -c "sleep 0.1; echo sub > src/sub.ts" & sed -i s/two/TWO/ src/a.ts; wait $!');
      await polled('both to be proposed', () =>
        ['src/sub.ts', 'src/a.ts'].every(name =>
          [...world.store.open].some(({ changes }) => changes?.some(({ path: at }) => at === name)),
        ),
      );
      const who = '-c user.name=A -c user.email=a@b';
      await first.run(`git worktree add -q .claude/worktrees/w; cd .claude/worktrees/w; echo w > src/w.ts`);
      await first.run(`git add .; git ${who} commit -qm w; cd ../../..; git ${who} merge -q w`);
      const merged = await polled('what was merged', () =>
        [...world.store.open].find(({ changes }) => changes?.some(({ path: at }) => at === 'src/w.ts')),
      );
      assert.deepEqual(
        merged.changes?.map(({ path: at }) => at),
        ['src/w.ts'],
        'nothing else of the worktree is proposed',
      );
      await world.vote(merged.id, 'discard', 'Not today.');
      await hears(first, '- src/w.ts: refused. Reason: Not today.');

      await world.closeWindow();
      await first.run('sed -i s/six/SIX/ src/a.ts');
      assert.equal(await world.openWindow(), true);
      const late = await polled('what was written meanwhile', () =>
        [...world.store.open].find(({ label, dependsOn }) => label === 'a.ts' && dependsOn.length > 0),
      );
      await world.vote(late.id, 'discard', 'Six stays small.');
      await hears(first, '- src/a.ts: refused. Reason: Six stays small.');
      await first.exit();
      assert.match(first.output, /\nredline: Not in the previews: \.claude\/worktrees\/w\n/);
      assert.match(first.output, /\nredline: Stayed in the view, since git ignores it: dev\.log\n/);

      const second = world.start(program);
      await hears(second, '- .env: waits for the user.');
      assert.match(
        second.output,
        /It starts with what is pending of its last terminal: .*src\/sub\.ts.*\.env\./,
      );
      assert.equal(await second.run('cat .env src/sub.ts; sed -n 2p src/a.ts'), 'PORT=2\nsub\nTWO');
      assert.equal(world.git('status', '--porcelain'), '', 'nothing is on disk before it is applied');
      for (const { id } of [...world.store.open]) await world.vote(id, 'apply');
      await second.exit();
      assert.equal(world.git('status', '--porcelain'), ' M src/a.ts\n?? src/sub.ts\n');
      assert.equal(world.read('src/a.ts'), 'one\nTWO\nthree\nfour\nfive\nsix\n');
      assert.equal(world.read('.env'), 'PORT=2\n');
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
