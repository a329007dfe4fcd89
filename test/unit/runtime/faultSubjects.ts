import type { ChatProvider } from '../../../src/agent/session/model/chatProvider.ts';
import { createOfflineProvider } from '../../../src/agent/session/model/offline/provider.ts';
import type { AnswerPart } from '../../../src/agent/session/model/languageModel/port.ts';
import {
  call,
  FakeLanguageModel,
  fakeProvider,
  text,
  type FakeAnswer,
} from '../../support/fakeLanguageModel.ts';
import { logger, providerFor, serve } from '../../support/providerHarness.ts';
import type { Reply } from '../../support/scriptedServer.ts';

/**
 * What happens to one request:
 * - `answer`: nothing, it is answered with text;
 * - `rateLimit`: it is refused for a moment (429 with `Retry-After`);
 * - `serverError`: the server fails before it answers (500);
 * - `reset`: text and a call of `probe` that looks complete arrive, then the connection breaks;
 * - `stall`: the same arrives, then nothing more;
 * - `malformed`: the same arrives, then something that cannot be read;
 * - `hugeArguments`: `probe` is called with {@link HUGE} characters;
 * - `endlessText`: text comes without an end.
 */
export type Fault = (typeof faults)[number];
export const faults = [
  'answer',
  'rateLimit',
  'serverError',
  'reset',
  'stall',
  'malformed',
  'hugeArguments',
  'endlessText',
] as const;

/** The length of the text in the arguments of `hugeArguments`. */
export const HUGE = 10_000_000;

/** A kind of provider that the fault suite is run against. */
export interface FaultSubject {
  readonly name: string;
  /** What can happen to its requests. */
  readonly faults: readonly Fault[];
  /** How often it asks again after `rateLimit` and `serverError`; 0 if what is behind it does that. */
  readonly retries: number;
  /** The code of the failure when an answer breaks midway (`reset`): what is behind it may not say that it began. */
  readonly brokenCode: 'broken' | 'server';
  /** The prompt that makes it meet the fault. Default: any words. */
  readonly prompt?: (fault: Fault) => string;
  /** Makes a provider whose requests meet these faults, one after the other; the last one is repeated. */
  start(script: readonly Fault[]): Promise<StartedSubject>;
}

export interface StartedSubject {
  readonly provider: ChatProvider;
  /** How often the model was asked, including attempts that failed. */
  asked(): number;
  /** Resolves once the work behind the last request has been given up or is complete. */
  released(): Promise<unknown>;
  /** What was sent of a text without an end, in characters. */
  sent(): number;
  /** What was wrong with the requests. */
  violations(): readonly string[];
}

const delta = (value: object): string[] => [
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: value }] })}`,
  '',
];
const begun = [
  ...delta({ role: 'assistant', content: 'Let me ' }),
  ...delta({
    tool_calls: [{ index: 0, id: 'half', function: { name: 'probe', arguments: '{"text":"half"}' } }],
  }),
];
const PIECE = 'word '.repeat(13_000);

const openAi: FaultSubject = {
  name: 'OpenAI-compatible',
  faults,
  retries: 3,
  brokenCode: 'broken',
  async start(script) {
    let sent = 0;
    const endless = function* (): Generator<string> {
      for (;;) {
        yield* delta({ content: PIECE });
        sent += PIECE.length;
      }
    };
    const replies: Record<Fault, () => Reply> = {
      answer: () => ({ text: 'Done.' }),
      rateLimit: () => ({ status: 429, headers: { 'retry-after': '0' } }),
      serverError: () => ({ status: 500, headers: { 'retry-after': '0' } }),
      reset: () => ({ raw: begun, cut: true }),
      stall: () => ({ raw: begun, hang: true }),
      malformed: () => ({ raw: [...begun, 'data: {"choices":[{', ''] }),
      hugeArguments: () => ({
        toolCalls: [{ name: 'probe', arguments: { text: 'x'.repeat(HUGE) } }],
      }),
      endlessText: () => ({ raw: endless() }),
    };
    const server = await serve((_, n) => replies[script[n] ?? script.at(-1) ?? 'answer']());
    return {
      provider: providerFor(server),
      asked: () => server.requests.length,
      released: async () => server.requests.at(-1)?.left,
      sent: () => sent,
      violations: () => server.violations,
    };
  },
};

const offline: FaultSubject = {
  name: 'offline',
  // It asks no one, so nothing can fail, stall or come without an end.
  faults: ['answer', 'hugeArguments'],
  retries: 0,
  brokenCode: 'broken',
  prompt: fault =>
    fault === 'hugeArguments' ? `/call probe ${JSON.stringify({ text: 'x'.repeat(HUGE) })}` : 'Hello',
  start: () =>
    Promise.resolve({
      provider: createOfflineProvider(),
      asked: () => 0,
      released: () => Promise.resolve(),
      sent: () => 0,
      violations: () => [],
    }),
};

const languageModel: FaultSubject = {
  name: 'language model of VS Code',
  faults,
  retries: 0,
  brokenCode: 'server',
  async start(script) {
    let sent = 0;
    let left: Promise<unknown> = Promise.resolve();
    const begun = [text('Let me '), call('probe', { text: 'half' })];
    const stall = async (_: unknown, signal: AbortSignal): Promise<AsyncIterable<AnswerPart>> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      signal.addEventListener('abort', () => resolve());
      left = promise;
      return (async function* () {
        yield* begun;
        await new Promise(() => undefined); // it ignores that it is cancelled
      })();
    };
    const endless = async (): Promise<AsyncIterable<AnswerPart>> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      left = promise;
      return (async function* () {
        try {
          for (;;) {
            yield text(PIECE);
            sent += PIECE.length;
          }
        } finally {
          resolve();
        }
      })();
    };
    const limited = Object.assign(new Error('Slow down.'), { name: 'ChatRateLimited' });
    const answers: Record<Fault, FakeAnswer> = {
      answer: [text('Done.')],
      rateLimit: () => Promise.reject(limited),
      serverError: () => Promise.reject(new Error('upstream failed')),
      reset: [...begun, new Error('connection lost')],
      stall,
      malformed: [...begun, call('probe', [])],
      hugeArguments: [call('probe', { text: 'x'.repeat(HUGE) })],
      endlessText: endless,
    };
    let asked = 0;
    const model = new FakeLanguageModel();
    model.next = () => answers[script[asked++] ?? script.at(-1) ?? 'answer'];
    return {
      provider: fakeProvider(model, logger),
      asked: () => asked,
      released: () => left,
      sent: () => sent,
      violations: () => [],
    };
  },
};

/** Every kind of provider. */
export const faultSubjects: readonly FaultSubject[] = [openAi, languageModel, offline];
