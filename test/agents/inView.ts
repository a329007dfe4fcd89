import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { polled } from '../../scripts/lib/limits.mjs';
import { IN_VIEW, type ModeHolds } from '../../src/agent/clients/setUp/agentHolds.ts';
import { viewPace } from '../../src/agent/clients/view/liveView.ts';
import { mountFor } from '../../src/agent/sandbox/view/sandboxes.ts';
import { textIn } from '../support/changes.ts';
import { ViewWorld, type ShellAgent } from '../support/viewWorld.ts';
import { ModelServer, type Script } from './modelServer.ts';
import type { RealAgent, Run } from './realAgents.ts';
import type { Call, Step } from './wireFormats.ts';

const PROMPT = 'Mend the sum, and run its test.';
const FIRST = 'export const add = (a, b) => a - b;';
const MENDED = 'export const add = (a, b) => a + b;';
const AGAIN = 'export const add = (one, two) => one + two;';
const MIDDLE = Array.from({ length: 12 }, (_, n) => `// ${n + 1}\n`).join('');
const NAME = "export const name = 'sum';\n";
const RENAMED = "export const name = 'total';\n";
const FILES = {
  'sum.mjs': `${FIRST}\n${MIDDLE}${NAME}`,
  'sum.test.mjs': `import test from 'node:test';
import assert from 'node:assert';
import { add } from './sum.mjs';
test('adds', () => assert.equal(add(1, 2), 3));
`,
};
const REASON = 'Others import the name.';

/**
 * Runs an agent in a view of a repository in which nothing of Redline's is set up. It edits a file with its own tool, reads its own
 * edit, edits that again, edits with `sed` and with a script, and runs the test of what it has mended. The user refuses a hunk with a
 * reason, the agent reads that, and only then the user applies the rest.
 * @param installed the folder in which it is installed
 * @param engine `copy` if it is to work in a copy
 * @returns what was held; else why it was not right
 */
export async function playInView(
  agent: RealAgent,
  installed: string,
  limitMs: number,
  engine: 'auto' | 'copy' = 'auto',
): Promise<ModeHolds | string> {
  const world: ViewWorld = await ViewWorld.create(FILES, {
    pace: viewPace,
    mount: () => mountFor([{ name: 'workspace', fsPath: world.root }], world.storage, engine),
  });
  const place = engine === 'copy' ? path.join(world.storage, 'copies-1', path.basename(world.root)) : '';
  const told: string[] = [];
  const model = await ModelServer.start(
    agent.shell('').tool,
    agent.pause,
    story(agent, world, place, step => told.push(step)),
  );
  try {
    const started = startedIn(world, agent, installed, {
      model: model.url,
      prompt: PROMPT,
      mode: agent.free,
    });
    const end = await Promise.race([started.ended, delay(limitMs, 'late' as const, { ref: false })]);
    if (!model.error && told.includes('applied'))
      return { mode: IN_VIEW, edits: 'held', sed: 'held', script: 'held', from: 'run' };
    const why = model.error?.message.split('\n')[0] ?? `it ended after ${told.at(-1) ?? 'nothing'}`;
    return `${IN_VIEW}: ${why} (${end}; ${started.output.slice(-2_000)})\n${model.log.join('\n')}`;
  } finally {
    model.close();
    await world.remove();
  }
}

/** Starts an agent in a view, without what would restrict it. */
export function startedIn(
  world: ViewWorld,
  agent: RealAgent,
  installed: string,
  run: Pick<Run, 'model' | 'prompt' | 'mode'>,
): ShellAgent {
  const { args, env } = agent.launch({
    ...run,
    installed,
    home: world.temp.at('home'),
    folder: world.root,
  });
  // Without the script that Node would be given.
  const own = args.filter(arg => !arg.startsWith(installed));
  const started = world.start(path.join(installed, agent.program), own, {
    ...env,
    PATH: [path.dirname(process.execPath), process.env['PATH'] ?? ''].join(path.delimiter),
    // Codex runs no sandbox of its own if its home is in the folder of temporary files.
    TERM: 'dumb',
    CI: '1',
    TMPDIR: '/var/tmp',
  });
  started.endInput();
  return started;
}

/** The tree that holds the writes of the only agent in an overlay. */
export function upperOf(world: ViewWorld): string {
  const [view = ''] = readdirSync(world.storage);
  return path.join(world.storage, view, '0', 'upper');
}

/**
 * @param place the copy in which it works; empty if it has none
 * @param did is told what was found to be right
 */
function story(agent: RealAgent, world: ViewWorld, place: string, did: (step: string) => void): Script {
  const file = path.join(place || world.root, 'sum.mjs');
  const read = agent.read(file);
  const steps: readonly (readonly [Call, check?: (result: string) => void | Promise<void>])[] = [
    [read],
    [agent.edit(file, FIRST, MENDED)],
    [
      read,
      result => assert.match(result, /=> a \+ b/, `it does not read its edit: ${JSON.stringify(result)}`),
    ],
    [agent.edit(file, MENDED, AGAIN)],
    [agent.shell('sed -i s/"\'sum\'"/"\'total\'"/ sum.mjs')],
    [agent.shell(`node -e 'require("fs").writeFileSync("made.txt", "made")'`)],
    [
      agent.shell('node --test sum.test.mjs'),
      async result => {
        assert.match(result, /(?:#|ℹ) pass 1/, `the test does not pass: ${JSON.stringify(result)}`);
        did('edited');
        await refuse(world, place, agent);
        did('refused');
      },
    ],
    [
      agent.shell('cat REDLINE.md'),
      result => {
        assert.ok(result.includes(REASON), `it does not hear why: ${JSON.stringify(result)}`);
        did('heard');
      },
    ],
    [
      agent.shell('cat sum.mjs'),
      async result => {
        const isDecided = result.includes(AGAIN) && result.includes(NAME.trim());
        assert.ok(isDecided, `it does not see what was decided: ${JSON.stringify(result)}`);
        await apply(world);
        did('applied');
      },
    ],
  ];
  return async (results): Promise<Step> => {
    await steps[results.length - 1]?.[1]?.(results.at(-1) ?? '');
    return steps[results.length]?.[0] ?? { text: 'Done.' };
  };
}

/** Nothing is on disk and everything is proposed; the user refuses the second hunk, and the view is told. */
async function refuse(world: ViewWorld, place: string, agent: RealAgent): Promise<void> {
  const hasAll = (): boolean =>
    isProposed(world, 'sum.mjs', `${AGAIN}\n${MIDDLE}${RENAMED}`) && isProposed(world, 'made.txt', 'made');
  await polled('all that it wrote to be proposed', hasAll);
  assertUnchanged(world);
  const guilty = world.store
    .all()
    .find(({ changes }) => changes?.some(({ after }) => textIn(after)?.includes(RENAMED)));
  assert.equal(guilty?.origin?.agent?.name, agent.name);
  const change = guilty.changes?.find(({ path: at }) => at === 'sum.mjs');
  const isAlone = textIn(change?.before)?.includes(AGAIN) ?? false;
  await world.voteOnHunk(guilty.id, 'discard', ['sum.mjs', isAlone ? 0 : 1], REASON);
  assertUnchanged(world);
  const upper = place || upperOf(world);
  const textOf = (name: string): string =>
    existsSync(path.join(upper, name)) ? readFileSync(path.join(upper, name), 'utf8') : '';
  await polled(
    'the view to have what was decided',
    () => textOf('REDLINE.md').includes(REASON) && textOf('sum.mjs') === `${AGAIN}\n${MIDDLE}${NAME}`,
  );
}

async function apply(world: ViewWorld): Promise<void> {
  assertUnchanged(world);
  for (const { id } of [...world.store.open]) await world.vote(id, 'apply');
  assert.equal(world.read('sum.mjs'), `${AGAIN}\n${MIDDLE}${NAME}`);
  assert.equal(world.read('made.txt'), 'made');
}

function assertUnchanged(world: ViewWorld): void {
  assert.equal(world.read('sum.mjs'), FILES['sum.mjs'], 'it wrote to the disk');
  assert.equal(world.read('made.txt'), undefined, 'it wrote to the disk');
}

function isProposed(world: ViewWorld, name: string, text: string): boolean {
  return world.store
    .all()
    .some(({ changes }) => changes?.some(({ path: at, after }) => at === name && textIn(after) === text));
}
