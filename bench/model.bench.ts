/**
 * What a model is sent in eleven tasks, whose answers are scripted: how many requests, how many of them
 * do no work, how many bytes and tokens, and how many bytes repeat the request before. A change of the prompt or of a tool shows
 * its cost here. `npm run bench -- model`
 */
import { estimateTokens } from '../src/agent/session/model/contextWindow.ts';
import type { ChatRequest } from '../src/agent/session/model/chatProvider.ts';
import { createTestSession, type TestSession } from '../test/support/testSession.ts';
import type { Bench } from './lib/bench.ts';
import { tasks, type Task } from './lib/modelTasks.ts';

/** The most requests without work, of all. */
const IDLE = 0.1;

/**
 * Bytes that the same answers cost before the model voted once at the end and no argument was dropped (3207e029). A third of it is one
 * call, which asked for 33 lines and got the whole file. Without that task they were 370,214, and are 21 % less.
 */
const BEFORE = 589_117;
const LESS = 0.25;

interface Cost {
  requests: number;
  /** Their answers are nothing but votes, or say nothing but that the model waits. */
  idle: number;
  bytes: number;
  tokens: number;
  /** What a request has in common with the beginning of the one before. */
  repeated: number;
  /** Steps from a request to the next, and those in which the next begins with all of the one before. */
  steps: number;
  kept: number;
}

export default async function run(bench: Bench): Promise<void> {
  const total: Cost = { requests: 0, idle: 0, bytes: 0, tokens: 0, repeated: 0, steps: 0, kept: 0 };
  for (const task of tasks) {
    const cost = costOf(await play(task));
    bench.row({ what: `${task.name}: requests`, value: `${cost.requests}, ${cost.idle} without work` });
    for (const key of Object.keys(total) as (keyof Cost)[]) total[key] += cost[key];
  }
  const share = total.idle / total.requests;
  bench.row({
    what: 'requests without work',
    value: `${total.idle} of ${total.requests} (${percent(share)})`,
    target: `≤ ${percent(IDLE)}`,
    met: share <= IDLE,
  });
  bench.row({
    what: 'sent',
    value: `${kilobytes(total.bytes)}, about ${total.tokens} tokens, ${percent(1 - total.bytes / BEFORE)} less than before`,
    target: `${percent(LESS)} less`,
    met: total.bytes <= BEFORE * (1 - LESS),
  });
  bench.row({
    what: 'steps that keep the beginning',
    value: `${total.kept} of ${total.steps}`,
    target: 'all',
    met: total.kept === total.steps,
  });
  bench.row({ what: 'of which repeats the request before', value: percent(total.repeated / total.bytes) });
}

async function play({ files, script, decide }: Task): Promise<TestSession> {
  const t = createTestSession({
    files,
    script,
    settings: { modelAuthority: 'recommend', forcing: 'auto', continueAfterReview: true },
  });
  await t.session.prompt('Do the task.');
  await decide(t);
  t.assertSound();
  return t;
}

function costOf(t: TestSession): Cost {
  const answers = t.answers();
  const texts = t.requests.map(textOf);
  return {
    requests: texts.length,
    idle: answers.filter(({ toolCalls, text }, n) =>
      isIdle(
        toolCalls.map(({ name }) => name),
        text,
        n,
      ),
    ).length,
    tokens: texts.reduce((sum, text) => sum + estimateTokens(text), 0),
    bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
    steps: texts.length - 1,
    kept: texts
      .slice(1)
      .filter((text, n) => sameBeginning(texts[n] ?? '', text) >= (texts[n] ?? '').length - 1).length,
    repeated: texts.slice(1).reduce((sum, text, n) => sum + sameBeginning(texts[n] ?? '', text), 0),
  };

  function isIdle(names: readonly string[], text: string, n: number): boolean {
    if (names.length > 0) return text === '' && names.every(name => name === 'resolve');
    // The last words of a task are its report; any before them only say that the model waits.
    return n < answers.length - 1 && text.startsWith('Waiting');
  }
}

function textOf({ system, messages, tools }: ChatRequest): string {
  return [
    system ?? '',
    JSON.stringify(tools.map(({ name, description, parameters }) => ({ name, description, parameters }))),
    JSON.stringify(messages),
  ].join('\n');
}

function sameBeginning(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1_024).toFixed(1)} KB`;
}
