import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ConversationTree } from '../../../src/agent/session/conversation/conversationTree.ts';
import { renderTrunk } from '../../../src/agent/session/conversation/renderTrunk.ts';
import type { ChatProvider } from '../../../src/agent/session/model/chatProvider.ts';
import { revertCategories, type RevertCategory } from '../../../src/agent/session/model/messages.ts';
import type { ModelAuthority } from '../../../src/agent/hold/preview/resolveSettings.ts';
import type { Reply } from '../../support/scriptedServer.ts';
import {
  createTestSession,
  MemorySessionLog,
  storedSession,
  type TestSession,
} from '../../support/testSession.ts';

/** One call of the model. A target is chosen among all existing ids and some others. */
type Call =
  | { readonly kind: 'read' | 'edit' | 'resolve' | 'unknown' }
  | {
      readonly kind: 'revert';
      readonly category: RevertCategory;
      readonly target: number;
      readonly summary: boolean;
    };

type Step =
  | { readonly kind: 'prompt'; readonly turns: readonly (readonly Call[])[] }
  | {
      readonly kind: 'human';
      readonly category: RevertCategory | null;
      readonly target: number | null;
      readonly summary: boolean;
    }
  | { readonly kind: 'note' | 'reload' | 'continue' | 'toggle' | 'vote' };

const target = fc.nat({ max: 1_000 });
const category = fc.constantFrom(...revertCategories);
const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('read' as const, 'edit' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('resolve' as const, 'unknown' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('revert' as const), category, target, summary: fc.boolean() }),
  },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('prompt' as const),
      turns: fc.array(fc.array(call, { minLength: 1, maxLength: 4 }), { maxLength: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('human' as const),
      category: fc.option(category),
      target: fc.option(target, { freq: 6 }),
      summary: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'note' as const,
        'reload' as const,
        'continue' as const,
        'toggle' as const,
        'vote' as const,
      ),
    }),
  },
);

/** So small that the prompt and the tools fill it, and a conversation of a few turns is summarized; in tokens. */
const TINY_WINDOW = 2_048;

/** A random conversation with reverts by the model and the user. */
export const conversation = fc.record({
  authority: fc.constantFrom<ModelAuthority>('apply', 'recommend', 'none'),
  /** The model's context window; 0 if it is not told. */
  window: fc.constantFrom(0, TINY_WINDOW),
  steps: fc.array(step, { minLength: 1, maxLength: 10 }),
});

/** Everything that a tree holds and that the next request depends on. */
function contentOf(tree: ConversationTree): unknown {
  const ids = Array.from({ length: tree.nextId }, (_, id) => id).filter(id => tree.has(id));
  return {
    nodes: ids.map(id => [tree.get(id), tree.childrenOf(id), tree.tagsOf(id)]),
    trunk: tree.trunk,
    turns: tree.turns,
    steering: tree.steeringAfter,
    plain: renderTrunk(tree, { markers: false }),
    marked: renderTrunk(tree, { markers: true }),
  };
}

/** A session that talks to a real, strict server, with a user who goes back and forth. */
export class TreeWorld {
  t: TestSession;
  readonly #provider: ChatProvider;
  #turns: Reply[] = [];
  /** Counts the words that make each message unique. */
  #words = 0;
  /** The log so far. */
  #lines: readonly string[] = [];

  constructor(provider: ChatProvider, authority: ModelAuthority) {
    this.#provider = provider;
    this.t = this.#boot(undefined, authority, true);
  }

  /** The server's next answer. */
  readonly reply = (): Reply => this.#turns.shift() ?? { text: this.#word('end') };

  async play(steps: readonly Step[]): Promise<void> {
    for (const each of steps) {
      await this.#play(each);
      await new Promise(resolve => setImmediate(resolve)); // by then all appended entries are written
      this.#checkLog();
    }
  }

  /** Fails if a request contains text of a node that is not on the trunk. */
  checkRequest(body: string): void {
    const { tree } = this.t.session;
    for (let id = 0; id < tree.nextId; id++) {
      const message = tree.get(id)?.message;
      if (!message || tree.isOnTrunk(id) || message.role === 'tool' || message.role === 'steering') continue;
      const [word] = /\bw\d+\b/.exec(message.text) ?? [];
      assert.ok(
        word === undefined || !body.includes(`${word} `),
        `n${id} was abandoned, but the request contains its text: ${word}`,
      );
    }
  }

  async #play(each: Step): Promise<void> {
    const { session, settings, store, invoker } = this.t;
    switch (each.kind) {
      case 'prompt': {
        this.#turns = each.turns.map(calls => ({
          text: calls.length % 2 === 0 ? '' : `[n3] ${this.#word('says')}`,
          toolCalls: calls.map(one => this.#call(one)),
        }));
        const before = this.#prompts();
        await session.prompt(this.#word('asks'));
        assert.deepEqual(
          this.#prompts().slice(0, before.length),
          before,
          'a prompt was dropped by the model',
        );
        break;
      }
      case 'human': {
        const at = each.target === null ? null : this.#node(each.target);
        const summary = each.summary ? this.#word('sums') : null;
        // A revert to before the first message leaves no tag.
        await session.revert({ category: at === null ? null : each.category, target: at, summary });
        break;
      }
      case 'note':
        session.note(this.#word('/note'), '');
        break;
      case 'continue':
        await session.continue();
        break;
      case 'toggle':
        settings.revertEnabled = !settings.revertEnabled;
        break;
      case 'vote': {
        const [head] = store.list('oldestFirst');
        if (!head) break;
        await invoker
          .resolve({ id: head.id, action: 'apply', reason: 'r', actor: 'human' })
          .catch(() => undefined);
        if (session.state === 'running')
          await this.t.nextEvent(event => event.type === 'state_changed' && event.state !== 'running');
        break;
      }
      case 'reload':
        this.t = this.#boot(this.t, settings.modelAuthority, settings.revertEnabled);
        break;
    }
  }

  #boot(
    before: TestSession | undefined,
    modelAuthority: ModelAuthority,
    revertEnabled: boolean,
  ): TestSession {
    before?.session.dispose();
    return createTestSession({
      provider: this.#provider,
      settings: { modelAuthority, revertEnabled, forcing: 'off', continueAfterReview: true },
      ...(before
        ? { log: before.log, sessionLog: before.sessionLog, workspace: before.workspace }
        : { files: { 'a.txt': 'a\n', 'b.txt': 'b\n' }, sessionLog: new MemorySessionLog() }),
    });
  }

  /** Checks that the log only grows, and that the tree read from it is the same and makes the same next request. */
  #checkLog(): void {
    const { sessionLog, session } = this.t;
    const lines = [...sessionLog.lines];
    assert.deepEqual(lines.slice(0, this.#lines.length), this.#lines, 'the log was changed');
    this.#lines = lines;
    const stored = storedSession(session.id, lines);
    assert.deepEqual(contentOf(stored.tree), contentOf(session.tree));
    assert.deepEqual(stored.trail, session.trail);
  }

  #prompts(): string[] {
    return this.t.session.messages.flatMap(message => (message.role === 'user' ? [message.text] : []));
  }

  #word(what: string): string {
    return `${what} w${++this.#words} .`;
  }

  /** The id of some node, and now and then one that does not exist. */
  #node(target: number): number {
    return target % (this.t.session.tree.nextId + 2);
  }

  #call(each: Call): { name: string; arguments: object } {
    switch (each.kind) {
      case 'read':
        return { name: 'read_file', arguments: { path: 'a.txt' } };
      case 'edit':
        return { name: 'write_file', arguments: { path: 'b.txt', content: `${this.#words++}\n` } };
      case 'resolve':
        return { name: 'resolve', arguments: { action: 'apply', reason: 'r' } };
      case 'unknown':
        return { name: 'no_such_tool', arguments: {} };
      case 'revert': {
        const { category: why, summary } = each;
        // Mostly near the end, where it is more likely to be allowed.
        const near = this.t.session.tree.nextId + 3 - (each.target % 10);
        const at = each.target % 3 === 0 ? this.#node(each.target) : Math.max(near, 0);
        const said = summary ? { summary: this.#word('sums') } : {};
        return { name: 'revert_to_state', arguments: { category: why, step: `n${at}`, ...said } };
      }
    }
  }
}
