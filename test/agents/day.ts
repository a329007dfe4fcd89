import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { polled } from '../../scripts/lib/limits.mjs';
import type { NotTaken } from '../../src/agent/clients/view/liveView.ts';
import { stayedText } from '../../src/agent/clients/view/terminalWords.ts';
import { english } from '../../src/agent/base/localiser.ts';
import { pathsOf, type Preview } from '../../src/agent/hold/preview/preview.ts';
import { DayTranscript } from '../support/dayTranscript.ts';
import { ViewWorld, type ShellAgent } from '../support/viewWorld.ts';
import { startedIn, upperOf } from './inView.ts';
import { ModelServer, type Script } from './modelServer.ts';
import type { RealAgent } from './realAgents.ts';
import type { Call, ModelRequest, Step } from './wireFormats.ts';

const PROMPT = 'Work through the plan of today.';
const HELPED = 'Write the word sub into src/sub.ts.';
const CODE = 'one\ntwo\nthree\nfour\nfive\nsix\n';
const FILES = {
  'a.ts': CODE,
  'src/b.ts': 'b\n',
  'notes.md': 'Notes\n',
  '.gitignore': '*.log\n.env\n',
  'server.mjs':
    "import { appendFileSync } from 'node:fs';\nconst log = text => appendFileSync('dev.log', `${text}\\n`);\nlog(process.pid);\nsetInterval(() => log('GET /'), 50);\n",
};
const GIT = 'git -c user.name=A -c user.email=a@b';
const WORKTREE = [
  'git worktree add -q .claude/worktrees/w',
  'echo w > .claude/worktrees/w/src/w.ts',
  `${GIT} -C .claude/worktrees/w add .`,
  `${GIT} -C .claude/worktrees/w commit -qm w`,
  `${GIT} merge -q w`,
  'echo merged',
].join(' && ');

/** A story of the model: it makes calls, and is given their results. */
type Story = AsyncGenerator<Call, void, string>;

/**
 * Four hours of an agent in its terminal, on a simulated clock: a server that runs, three refusals, a sub-agent, a worktree, two
 * restarts of the window, and a new terminal in which the agent resumes its conversation.
 * @returns why it was not right, if it was not, and what the agent and the person were told
 */
export async function playDay(
  agent: RealAgent,
  installed: string,
  limitMs: number,
): Promise<{ readonly why: string; readonly transcript: readonly string[] }> {
  const day = new DayTranscript();
  const world = await ViewWorld.create(FILES, {
    pace: day.pace,
    onNotTaken: (_, what) => {
      for (const line of noticesOf(what)) day.add('the window says', line);
    },
  });
  world.write({ '.env': 'PORT=1\n' });
  try {
    const { modes } = agent;
    // With its own sandbox, Codex could not commit.
    const free = modes['danger-full-access'] ?? agent.free;
    const resume = modes['when it resumes']?.args ?? [];
    const parts: readonly (readonly [args: readonly string[], story: Story])[] = [
      [free.args, firstTerminal(agent, world, day)],
      [[...free.args, ...resume], nextTerminal(agent, world, day)],
    ];
    for (const [args, story] of parts) {
      let isOver = false;
      const script = played(agent, story, day, () => (isOver = true));
      const model = await ModelServer.start(agent.shell('').tool, agent.pause, script);
      try {
        const program = startedIn(world, agent, installed, {
          model: model.url,
          prompt: PROMPT,
          mode: { args },
        });
        const end = await Promise.race([program.ended, delay(limitMs, 'late' as const, { ref: false })]);
        day.terminal(program);
        if (model.error || end !== 0 || !isOver)
          return { why: failure(model, end, program), transcript: day.lines };
      } finally {
        model.close();
      }
    }
    const changed = world.git('status', '--porcelain').trim().split('\n').join(', ');
    day.add('on disk', `${changed}; .env: ${JSON.stringify(world.read('.env'))}`);
    assert.equal(changed, 'M a.ts, ?? src/sub.ts');
    assert.equal(world.read('a.ts'), CODE.replace('two', 'TWO'));
    assert.equal(world.read('.env'), 'PORT=2\n');
    assert.deepEqual(world.troubles, []);
    return { why: '', transcript: day.lines };
  } catch (error) {
    return { why: String(error), transcript: day.lines };
  } finally {
    await world.remove();
  }
}

function failure({ error, log }: ModelServer, end: unknown, { output }: ShellAgent): string {
  return `${error?.stack ?? 'it ended before its day was over'} (${String(end)})\n${output.slice(-2_000)}\n${log.join('\n')}`;
}

/** Answers the agent by the story, and its sub-agent by one call. */
function played(agent: RealAgent, story: Story, day: DayTranscript, onEnd: () => void): Script {
  let heard = -1;
  let said: Step = { text: 'Done.' };
  const hint = new Set<string>();
  return async (results, _, request): Promise<Step> => {
    if (!request.prompts.includes(PROMPT)) {
      return results.length === 0 ? agent.shell('echo sub > src/sub.ts') : { text: 'It is written.' };
    }
    for (const line of toldIn(request)) {
      if (!hint.has(line)) day.add('the agent is told in its instructions', line);
      hint.add(line);
    }
    // A request that is sent again gets the same answer.
    if (results.length <= heard) return said;
    heard = results.length;
    const next = await story.next(results.at(-1) ?? '');
    if (next.done === true) onEnd();
    return (said = next.done === true ? { text: 'Done.' } : next.value);
  };
}

/** What the instructions of the agent say of its view and of decisions. */
function toldIn({ instructions }: ModelRequest): readonly string[] {
  const general = /You work in a view of the workspace\.[^\n]*/.exec(instructions)?.[0];
  const decisions = instructions.match(/^- .*(?:: refused|: applied|: waits for).*$/gm) ?? [];
  return [...(general === undefined ? [] : [general]), ...decisions];
}

async function* firstTerminal(agent: RealAgent, world: ViewWorld, day: DayTranscript): Story {
  const at = (file: string): string => path.join(world.root, file);
  day.add('the agent', 'starts a server that logs all the time');
  yield agent.serve('node server.mjs');
  await polled('the server to log', () => upperText(world, 'dev.log') !== undefined);
  yield agent.shell('echo PORT=2 > .env');
  await polled('the agent to be told', () =>
    upperText(world, 'REDLINE.md')?.includes('proposed when you end: .env.'),
  );

  day.at(0, 20);
  day.add('the agent', 'edits notes.md');
  yield agent.read(at('notes.md'));
  yield agent.edit(at('notes.md'), 'Notes', 'Notes, and more');
  await refuse(world, day, await proposed(world, day, 'notes.md'), 'Keep the notes short.');
  yield* hears(agent, world, day, '- notes.md: refused. Reason: Keep the notes short.');
  assert.equal((yield agent.shell('cat notes.md')).includes('and more'), false);

  day.at(1, 0);
  day.add('the agent', 'starts a sub-agent, and edits a.ts');
  yield agent.delegate(HELPED);
  await proposed(world, day, 'src/sub.ts');
  yield agent.read(at('a.ts'));
  yield agent.edit(at('a.ts'), 'two', 'TWO');
  await proposed(world, day, 'a.ts');

  day.at(1, 40);
  day.add('the agent', 'commits src/w.ts in a worktree, and merges its branch');
  assert.match(yield agent.shell(WORKTREE), /merged/);
  const merged = await proposed(world, day, 'src/w.ts');
  assert.deepEqual(pathsOf(merged), ['src/w.ts']);
  await refuse(world, day, merged, 'Not today.');
  yield* hears(agent, world, day, '- src/w.ts: refused. Reason: Not today.');

  day.at(2, 30);
  await close(world, day);
  day.add('the agent', 'edits a.ts again');
  yield agent.shell('sed -i s/six/SIX/ a.ts');
  await reopen(world, day);
  const late = await proposed(world, day, 'a.ts', ({ dependsOn }) => dependsOn.length > 0);
  await refuse(world, day, late, 'Six stays small.');
  yield* hears(agent, world, day, '- a.ts: refused. Reason: Six stays small.');

  day.at(3, 20);
  await close(world, day);
  yield agent.shell('tail -n 1 dev.log');
  await reopen(world, day);
  yield* hears(agent, world, day, '- src/w.ts: refused. Reason: Not today.');
  day.at(4, 0);
  assert.equal(world.git('status', '--porcelain'), '', 'something is on disk');
  day.add('the agent', 'stops the server, and ends');
  yield agent.shell('kill "$(head -n 1 dev.log)"');
}

async function* nextTerminal(agent: RealAgent, world: ViewWorld, day: DayTranscript): Story {
  day.add('the agent', 'resumes its conversation in a new terminal');
  yield* hears(agent, world, day, '- .env: waits for the user.');
  const seen = yield agent.shell('cat .env src/sub.ts; sed -n 2p a.ts; sed -n 6p a.ts');
  assert.match(seen, /PORT=2\s+sub\s+TWO\s+six/);
  for (const { id, label } of [...world.store.open]) {
    day.add('the person applies', `${id}, ${label}`);
    await world.vote(id, 'apply');
  }
  yield* hears(agent, world, day, '- src/sub.ts: applied. Reason: Because.');
}

async function close(world: ViewWorld, day: DayTranscript): Promise<void> {
  await world.closeWindow();
  day.add('the window', 'closes');
}

async function reopen(world: ViewWorld, day: DayTranscript): Promise<void> {
  day.pace.pass(600_000);
  assert.equal(await world.openWindow(), true, 'the agent is no longer at work');
  day.add('the window', 'is open again');
}

/** Waits for a change of a file to be proposed. */
async function proposed(
  world: ViewWorld,
  day: DayTranscript,
  file: string,
  isRight: (preview: Preview) => boolean = () => true,
): Promise<Preview> {
  const found = await polled(`${file} to be proposed`, () =>
    [...world.store.open].findLast(each => pathsOf(each).includes(file) && isRight(each)),
  );
  day.add('the person sees', `${found.id}, ${found.origin?.agent?.name}: ${found.label}`);
  return found;
}

async function refuse(world: ViewWorld, day: DayTranscript, { id }: Preview, reason: string): Promise<void> {
  day.add('the person refuses', `${id}. ${reason}`);
  await world.vote(id, 'discard', reason);
}

/** The agent reads what became of its changes, once that is told. */
async function* hears(
  agent: RealAgent,
  world: ViewWorld,
  day: DayTranscript,
  line: string,
): AsyncGenerator<Call, void, string> {
  await polled(`the agent to be told "${line}"`, () =>
    readdirSync(world.storage).some(view => linesOf(world, view).includes(line)),
  );
  const told = yield agent.shell('cat REDLINE.md');
  const [, state] = told.split(/applies it\. A refusal[^\n]*\n\n/);
  for (const each of (state ?? told).trim().split('\n')) day.add('the agent reads', each);
  assert.ok(told.split('\n').includes(line), `it is not told "${line}": ${told}`);
}

/** The lines of `REDLINE.md` in a view. */
function linesOf({ storage }: ViewWorld, view: string): readonly string[] {
  const at = path.join(storage, view, '0', 'upper', 'REDLINE.md');
  return existsSync(at) ? readFileSync(at, 'utf8').split('\n') : [];
}

/** A file as the program in the view has written it. */
function upperText(world: ViewWorld, name: string): string | undefined {
  const at = path.join(upperOf(world), name);
  return existsSync(at) ? readFileSync(at, 'utf8') : undefined;
}

/** What the window tells the person of files that it does not take. */
function noticesOf({ leftOut, isTooMuch, stayed }: NotTaken): readonly string[] {
  return [
    ...leftOut.map(({ path: at, why }) => `not proposed: ${at} (${why})`),
    ...(isTooMuch ? ['too much to review'] : []),
    ...(stayed.length > 0 ? [`Git ignores what stayed in its view: ${stayedText(stayed, english)}`] : []),
  ];
}
