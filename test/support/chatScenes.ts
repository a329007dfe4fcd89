import { slashCommands } from '../../src/agent/session/model/offline/slashCommands.ts';
import type { SessionMessage } from '../../src/agent/session/model/messages.ts';
import type { FileChange } from '../../src/agent/hold/preview/fileChange.ts';
import type { Preview, PreviewState } from '../../src/agent/hold/preview/preview.ts';
import type { ChatStatus, HostMessage, ViewItem } from '../../src/views/chat/protocol.ts';
import { answered, asked, attempt, call, modify, preview, result, transcript } from './chatFixtures.ts';

/** Conversations that show what the chat's page can draw, by name: for `npm run chat-page`. */
export const chatScenes: Readonly<Record<string, () => HostMessage>> = {
  review: () => snapshot(reviewItems(), reviewStatus),
  turns: () => snapshot(turnItems(), { state: 'awaitingReview' }),
  running: () =>
    snapshot(runningItems(), {
      state: 'running',
      todo: [
        { text: 'Find where totals are added up', state: 'done' },
        { text: 'Multiply the price by the quantity', state: 'doing' },
        { text: 'Add a test for an empty cart', state: 'open' },
      ],
    }),
  outcomes: () => snapshot(outcomeItems()),
  trouble: () => snapshot(troubleItems(), { offline: true, model: 'Offline' }),
  empty: () => snapshot([], { offline: true, model: 'Offline' }),
};

const BEFORE = 'let total = 0;\nfor (const item of items) {\n  total += item.price;\n}\nreturn total;\n';
const AFTER = BEFORE.replace('item.price;', 'item.price * item.quantity;');
const CART = 'src/cart/sum of all the items that are in the cart.ts';
const cart: FileChange = modify(CART, BEFORE, AFTER);

const reviewStatus: Partial<ChatStatus> = {
  state: 'awaitingReview',
  usage: {
    session: { inputTokens: 48_200, outputTokens: 1_900 },
    last: { inputTokens: 12_400, outputTokens: 310 },
  },
  context: { tokens: 12_710, window: 32_768, isCounted: true, isWindowKnown: true },
};

function reviewItems(): ViewItem[] {
  const read = call('r1', 'read_file', { path: CART });
  const find = call('f1', 'find_text', { pattern: 'item.price' });
  const edit = call('c1', 'edit_file', { path: CART });
  const run = call('c2', 'run_command', { command: 'npm test -- --filter=cart --reporter=dot' });
  return transcript({
    state: 'awaitingReview',
    messages: [
      asked('The total of the cart ignores quantities. Please mend it, and run the tests.'),
      answered('I look at the code first.', read, find),
      result(read, BEFORE),
      result(find, `${CART}:3: total += item.price;`),
      answered(
        [
          '## What is wrong',
          'The sum adds *prices*, not **price × quantity**, in [the cart](https://example.org).',
          '',
          '| item | price | quantity |',
          '| --- | --: | --: |',
          '| apple | 2.50 | 4 |',
          '',
          '```ts',
          'total += item.price * item.quantity;',
          '```',
        ].join('\n'),
        edit,
        run,
      ),
      result(edit, 'Staged as p1.'),
      result(run, 'Staged as p2.'),
      answered('Both previews wait for you.'),
    ],
    previews: [
      staged('p1', 'm4', { label: `Edit ${CART} (1 edit)`, changes: [cart] }),
      staged('p2', 'm4', {
        label: 'Run npm test -- --filter=cart --reporter=dot',
        sourceToolName: 'run_command',
        purpose: 'command',
        changes: null,
      }),
    ],
    stats: ({ changes }) => changes?.map(() => ({ added: 1, removed: 1, hunks: 1, exact: true })),
    checks: ({ id }) =>
      id === 'p1'
        ? [
            {
              name: 'Types',
              state: 'passed',
              isCurrent: true,
              seconds: 4,
              problems: 0,
              isFlaky: false,
              together: [],
            },
            {
              name: 'Unit tests',
              state: 'failed',
              isCurrent: true,
              seconds: 12,
              problems: 2,
              isFlaky: true,
              together: [],
            },
          ]
        : [],
  });
}

/** A turn that is decided in part, one that is decided, and what an agent of another program proposed. */
function turnItems(): ViewItem[] {
  const names = [
    'cart.ts',
    'checkout.ts',
    'cart.test.ts',
    'money/format.ts',
    'money/tax of every country that there is.ts',
    'README.md',
  ];
  const edits = names.map((_, n) => call(`c${n + 1}`, 'edit_file', { path: names[n] }));
  const stale: PreviewState = { kind: 'pending', stale: [CART] };
  const recommendation = { action: 'apply', reason: 'All tests pass with it.', isOfSet: true } as const;
  const states: readonly PreviewState[] = [
    { kind: 'applied', by: { actor: 'human', reason: '', at: AT } },
    { kind: 'discarded', by: { actor: 'human', reason: '', at: AT } },
    stale,
    ...[3, 4, 5].map((): PreviewState => ({ kind: 'pending', stale: [], recommendation })),
  ];
  const changed = (n: number) => [modify(`src/${names[n] ?? ''}`, BEFORE, AFTER)];
  const agent = { name: 'Claude Code', version: '2.1.331' };
  const others = [0, 1].map(n =>
    preview({
      id: `p${n + 20}`,
      changes: changed(n),
      origin: { sessionId: 'other', asksModel: false, agent, setId: 'a1', setTitle: 'Add value-added tax' },
      state: states[n] ?? stale,
    }),
  );
  return transcript({
    state: 'awaitingReview',
    hasChecks: true,
    elsewhere: new Set(['p20', 'p21']),
    messages: [
      asked('Add the tax of each country to the total.'),
      answered('I change the cart, its test and the formats.', ...edits),
      ...edits.map((each, n) => result(each, `Staged as p${n + 1}.`)),
      answered('All six wait for you.'),
    ],
    previews: [
      ...others,
      ...names.map((_, n) => staged(`p${n + 1}`, 'm1', { changes: changed(n), state: states[n] ?? stale })),
    ],
    stats: ({ changes }) => changes?.map(() => ({ added: 7, removed: 6, hunks: 2, exact: true })),
    checks: () => [
      {
        name: 'test',
        state: 'failed',
        isCurrent: true,
        seconds: 12,
        problems: 2,
        isFlaky: false,
        together: [],
      },
    ],
    risks: ({ id }) => (id === 'p3' ? [{ kind: 'configuration', path: 'src/cart.test.ts' }] : []),
  });
}

function runningItems(): ViewItem[] {
  const run = call('c1', 'run_command', { command: 'npm test' });
  const choices = ['All tests', 'Only the tests of the cart'];
  const ask = call('q1', 'ask_user', { question: 'Which tests do you mean?', choices });
  return transcript({
    state: 'running',
    messages: [
      {
        role: 'user',
        text: 'Run the tests of @src/cart.ts',
        attachments: [{ path: 'src/cart.ts', startLine: 3, endLine: 9, text: AFTER }],
      },
      answered('', ask),
      result(ask, 'All tests', { details: { answer: 'All tests' } }),
      answered('', run),
    ],
    liveProgress: () => '214 of 300 tests passed',
    arriving: { text: 'The tests of the cart pass so far', reasoning: 'I wait for the rest of them.' },
    question: { about: 'host', id: 1, host: 'docs.example.com', url: 'https://docs.example.com/cart?page=2' },
    queued: [{ id: '1', text: 'Then write a test for an empty cart.', attachments: [] }],
  });
}

function outcomeItems(): ViewItem[] {
  const states: readonly PreviewState[] = [
    { kind: 'applied', by: { actor: 'model', reason: 'All tests pass', at: AT } },
    { kind: 'discarded', by: { actor: 'human', reason: 'Keep the old name, others import it', at: AT } },
    { kind: 'pending', stale: [CART] },
    { kind: 'pending', stale: [], lastError: `${CART} could not be written: it is read-only.` },
    { kind: 'pending', stale: [], recommendation: { action: 'apply', reason: 'All tests pass' } },
    { kind: 'expired', reason: 'The window was closed while it ran.' },
  ];
  const vote = call('v1', 'resolve', { action: 'apply', id: 'p1', reason: 'All tests pass' });
  const calls = states.map((_, n) => call(`c${n + 1}`, 'edit_file', { path: CART }));
  return transcript({
    messages: [
      asked('Show me every end that a preview can have.'),
      answered('Here they are.', ...calls),
      ...calls.map((each, n) => result(each, `Staged as p${n + 1}.`)),
      answered('The first one can be applied.', vote),
      result(vote, 'Applied p1.', {
        details: { action: 'apply', reason: 'All tests pass', label: `Edit ${CART} (1 edit)` },
      }),
      {
        role: 'steering',
        kind: 'summary',
        previewIds: [],
        text: 'The user wanted to see every end that a preview can have.',
      },
    ],
    previews: states.map((state, n) =>
      staged(`p${n + 1}`, 'm1', { label: `Edit ${CART} (1 edit)`, changes: [cart], state }),
    ),
    ledger: [attempt({ actor: 'model', reason: 'All tests pass', at: AT })],
    stats: ({ changes }) => changes?.map(() => ({ added: 1, removed: 1, hunks: 1, exact: true })),
  });
}

function troubleItems(): ViewItem[] {
  const messages: SessionMessage[] = [
    { role: 'local', text: '/ledger', answer: 'Nothing has been **resolved** yet.' },
    asked('Why does it fail?'),
    {
      role: 'assistant',
      text: 'It fails because',
      toolCalls: [],
      stopReason: 'error',
      error: 'The server at http://localhost:11434 cannot be reached.',
    },
  ];
  const elsewhere = preview({ id: 'p9', label: `Edit ${CART} (1 edit)`, changes: [cart], origin: null });
  return transcript({
    messages,
    offline: true,
    previews: [elsewhere],
    withheldTools: ['.redline/tools/sort_lines.ts'],
  });
}

const AT = '2026-01-01T00:00:01.000Z';

/** A preview that a call of this message staged: the call `c1` staged `p1`. */
function staged(id: string, messageId: string, more: Partial<Preview>): Preview {
  const call = { messageId, toolCallId: id.replace('p', 'c') };
  const origin = { sessionId: 's1', call, asksModel: true };
  return preview({ ...(more as Partial<Omit<Preview, 'kind'>>), id, origin });
}

/** The message that shows a whole conversation. */
function snapshot(items: ViewItem[], status: Partial<ChatStatus> = {}): HostMessage {
  return {
    type: 'snapshot',
    session: 's1',
    commands: [...slashCommands()],
    items,
    status: {
      state: 'idle',
      mode: 'recommend',
      planMode: false,
      instructions: [],
      model: 'qwen3-coder',
      offline: false,
      ...status,
    },
  };
}
