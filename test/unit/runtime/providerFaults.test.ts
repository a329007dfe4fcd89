import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as z from 'zod/mini';
import { textResult } from '../../../src/agent/hold/preview/pendingAction.ts';
import { beginningOf } from '../../../src/agent/base/cutText.ts';
import { defineTool } from '../../../src/agent/session/tools/tool.ts';
import {
  faults,
  faultSubjects,
  HUGE,
  type Fault,
  type FaultSubject,
  type StartedSubject,
} from './faultSubjects.ts';
import { createTestSession, type TestSession } from '../../support/testSession.ts';
import { closeServerAfterEach } from '../../support/providerHarness.ts';

closeServerAfterEach();

/** The most characters that may be read of an answer without an end, and kept of it. */
const MAX_READ = 64_000_000;
const MAX_KEPT = 200_000;

interface Faulty extends StartedSubject {
  readonly t: TestSession;
  /** The length of the text of each call of `probe` that was executed. */
  readonly probed: readonly number[];
  /** Sends the prompt that meets the fault. */
  ask(): Promise<void>;
}

/** A session on a provider whose requests meet these faults. */
async function meeting(subject: FaultSubject, ...script: readonly [Fault, ...Fault[]]): Promise<Faulty> {
  const started = await subject.start(script);
  const probed: number[] = [];
  const probe = defineTool({
    name: 'probe',
    label: 'Probe',
    description: 'Takes a text.',
    parameters: z.object({ text: z.string() }),
    execute: ({ text }) => {
      probed.push(text.length);
      return Promise.resolve(textResult('taken'));
    },
  });
  const t = createTestSession({ provider: started.provider, tools: [probe] });
  const ask = (): Promise<void> => t.session.prompt(subject.prompt?.(script[0]) ?? 'Go.');
  return { ...started, t, probed, ask };
}

/** Fails unless the conversation can go on: it is at rest and valid, and the next prompt is answered. */
async function assertUsable({ t, violations }: Faulty, ends: 'stop' | 'error' = 'stop'): Promise<void> {
  assert.equal(t.session.state, 'idle');
  await t.session.prompt('And now?');
  assert.equal(t.answers().at(-1)?.stopReason, ends);
  t.assertSound();
  assert.deepEqual(violations(), []);
}

for (const subject of faultSubjects) {
  const { name, retries } = subject;
  const check = (fault: Fault, what: string, body: () => Promise<void>): void => {
    if (subject.faults.includes(fault)) test(`${name}: ${what}`, body);
  };

  check('answer', 'without a fault it answers', async () => {
    const faulty = await meeting(subject, 'answer');
    await faulty.ask();
    await assertUsable(faulty);
  });

  check('rateLimit', 'a rate limit that passes is waited for', async () => {
    const faulty = await meeting(subject, 'rateLimit', 'answer');
    await faulty.ask();
    assert.equal(faulty.asked(), 1 + Math.min(retries, 1));
    if (retries === 0) assert.equal(faulty.t.answers().at(-1)?.errorCode, 'rateLimited');
    await assertUsable(faulty);
  });

  check('serverError', 'an error of the server is met by asking again, three times', async () => {
    const faulty = await meeting(
      subject,
      ...([...Array<Fault>(Math.max(1, retries)).fill('serverError'), 'answer'] as [Fault, Fault]),
    );
    await faulty.ask();
    assert.equal(faulty.asked(), 1 + retries);
    assert.equal(faulty.t.answers().at(-1)?.stopReason, retries > 0 ? 'stop' : 'error');
    await assertUsable(faulty);
  });

  check('serverError', 'an error of the server that stays is told once', async () => {
    const faulty = await meeting(subject, 'serverError');
    await faulty.ask();
    assert.equal(faulty.asked(), 1 + retries);
    assert.deepEqual(
      faulty.t.answers().map(({ errorCode }) => errorCode),
      ['server'],
    );
    await assertUsable(faulty, 'error');
  });

  for (const fault of ['reset', 'malformed'] as const)
    check(
      fault,
      `an answer that breaks midway (${fault}) is not repeated, and nothing is executed`,
      async () => {
        const faulty = await meeting(subject, fault, 'answer');
        await faulty.ask();
        const [answer] = faulty.t.answers();
        const code = fault === 'reset' ? subject.brokenCode : 'broken';
        assert.deepEqual([answer?.stopReason, answer?.errorCode, answer?.toolCalls], ['error', code, []]);
        assert.equal(answer?.text, 'Let me ');
        assert.equal(faulty.asked(), 1);
        assert.deepEqual(faulty.probed, []);
        await assertUsable(faulty);
      },
    );

  check('stall', 'Stop ends an answer that stalls at once, and nothing is executed', async () => {
    const faulty = await meeting(subject, 'stall', 'answer');
    const asked = faulty.ask();
    await faulty.t.nextEvent(event => event.type === 'message_update');
    faulty.t.session.stop();
    await asked;
    const [answer] = faulty.t.answers();
    assert.deepEqual([answer?.stopReason, answer?.text, answer?.toolCalls], ['aborted', 'Let me ', []]);
    await faulty.released();
    assert.deepEqual(faulty.probed, []);
    await assertUsable(faulty);
  });

  check('hugeArguments', 'arguments of 10 MB arrive complete, once', async () => {
    const faulty = await meeting(subject, 'hugeArguments', 'answer');
    await faulty.ask();
    const said = faulty.t.answers().map(({ text, errorCode }) => [errorCode, beginningOf(text, 200)]);
    assert.deepEqual(faulty.probed, [HUGE], JSON.stringify(said));
    assert.deepEqual(
      faulty.t.results().map(({ isError }) => isError),
      [false],
    );
    await assertUsable(faulty);
  });

  check('endlessText', 'text without an end is stopped, and little of it is kept', async () => {
    const faulty = await meeting(subject, 'endlessText', 'answer');
    await faulty.ask();
    const [answer] = faulty.t.answers();
    assert.deepEqual([answer?.stopReason, answer?.errorCode], ['error', 'broken']);
    assert.ok((answer?.text.length ?? 0) <= MAX_KEPT, `${answer?.text.length} characters were kept`);
    await faulty.released();
    assert.ok(faulty.sent() <= MAX_READ, `${faulty.sent()} characters were read`);
    assert.equal(faulty.asked(), 1);
    await assertUsable(faulty);
  });
}

test('each fault is met by at least one provider', () => {
  const met = new Set(faultSubjects.flatMap(subject => subject.faults));
  assert.deepEqual(
    faults.filter(fault => !met.has(fault)),
    [],
  );
});
