import { textIn } from '../support/changes.ts';
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import * as path from 'node:path';
import { ViewWorld } from '../support/viewWorld.ts';
import { ModelServer } from './modelServer.ts';
import type { RealAgent } from './realAgents.ts';

const LINES = 'line 1\nline 2\n';
const PROMPT = 'Write the lines in capital letters.';

/**
 * Runs an agent in a view of a repository in which nothing of Redline's is set up: what its shell writes, by `sed` or else by a script,
 * must be there for itself, a preview for the user, and not on disk.
 * @param installed the folder in which it is installed
 * @returns why that was not right; empty if it was
 */
export async function playInView(agent: RealAgent, installed: string, limitMs: number): Promise<string> {
  const world = await ViewWorld.create({ 'a.txt': LINES });
  const write = agent.shell('sed -i s/line/LINE/ a.txt');
  // Qwen Code lets sed edit no file that it has not read.
  const script = agent.shell(
    `node -e 'fs.writeFileSync("a.txt", fs.readFileSync("a.txt", "utf8").replaceAll("line", "LINE"))'`,
  );
  let read: string | undefined;
  const model = await ModelServer.start(write.tool, agent.pause, async results => {
    if (results.length === 0) return write;
    if (results.length % 2 === 1) return agent.shell('cat a.txt');
    read = results.at(-1);
    return results.length === 2 && !read?.includes('LINE') ? script : { text: 'Done.' };
  });
  try {
    const { args, env } = agent.launch({
      ...{ installed, home: world.temp.at('home'), folder: world.root, model: model.url, prompt: PROMPT },
    });
    // Without the script that Node would be given.
    const own = args.filter(arg => !arg.startsWith(installed));
    const started = world.start(path.join(installed, agent.program), [...own, ...(agent.unheld ?? [])], {
      ...env,
      PATH: [path.dirname(process.execPath), process.env['PATH'] ?? ''].join(path.delimiter),
      ...{ TERM: 'dumb', CI: '1' },
    });
    started.endInput();
    const end = await Promise.race([started.ended, delay(limitMs, 'late' as const, { ref: false })]);
    try {
      assert.match(read ?? '', /LINE 1/, 'it does not see its own edit');
      assert.equal(world.read('a.txt'), LINES, 'it wrote to the disk');
      const [preview] = world.store
        .all()
        .filter(({ changes }) => changes?.some(({ path: at }) => at === 'a.txt'));
      assert.equal(preview?.origin?.agent?.name, agent.name);
      assert.equal(
        textIn(preview.changes?.find(({ path: at }) => at === 'a.txt')?.after),
        'LINE 1\nLINE 2\n',
      );
      return '';
    } catch (error) {
      return `${String(error).split('\n')[0]} (${end}; ${started.output.slice(-2_000)})\n${model.log.join('\n')}`;
    }
  } finally {
    model.close();
    await world.remove();
  }
}
