import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { summarizableHead } from '../../../../../src/agent/session/conversation/context/summarizableHead.ts';
import {
  summarizedTrunk,
  summaryInForce,
} from '../../../../../src/agent/session/conversation/context/summarizedTrunk.ts';
import { ConversationTree } from '../../../../../src/agent/session/conversation/conversationTree.ts';
import { renderTrunk } from '../../../../../src/agent/session/conversation/renderTrunk.ts';
import { validTrunk, type Line } from '../../../../../src/agent/session/conversation/validTrunk.ts';
import { validateRevert } from '../../../../../src/agent/session/conversation/validateRevert.ts';
import type { SessionMessage, SteeringMessage } from '../../../../../src/agent/session/model/messages.ts';
import { answered, asked, call, result } from '../../../../support/chatFixtures.ts';
import { historyViolations } from '../../../../support/scriptedProvider.ts';

const summaryOf = (through: number, text = `summary through n${through}`): SteeringMessage => ({
  role: 'steering',
  kind: 'summary',
  text,
  previewIds: [],
  through,
});

function treeOf(...messages: readonly SessionMessage[]): ConversationTree {
  const tree = new ConversationTree();
  for (const message of messages) tree.append(message);
  return tree;
}

/** A turn with a call: three nodes. */
function turn(n: number, size = 100): SessionMessage[] {
  const read = call(`c${n}`, 'read_file', { path: 'a.ts' });
  return [asked(`prompt ${n}`), answered('', read), result(read, 'x'.repeat(size))];
}

const said = (lines: readonly Line[]): string[] =>
  lines.map(({ message }) =>
    message.role === 'tool' ? 'result' : message.role === 'assistant' ? 'answer' : message.text,
  );

test('a summary stands for the nodes through the one it names, but for the first prompt', () => {
  const tree = treeOf(...turn(0), ...turn(1), ...turn(2), summaryOf(5));
  assert.deepEqual(said(summarizedTrunk(tree)), [
    'prompt 0',
    'summary through n5',
    'prompt 2',
    'answer',
    'result',
  ]);
  assert.equal(tree.messages.length, 10, 'nothing is removed');
});

test('the prompt that is being worked on stays, and only the newest summary is sent', () => {
  const tree = treeOf(...turn(0), ...turn(1), summaryOf(2), answered('a'), answered('b'), summaryOf(7));
  assert.deepEqual(said(summarizedTrunk(tree)), ['prompt 0', 'prompt 1', 'summary through n7', 'answer']);
});

test('a revert to before a summary brings back what it stood for, one to after it does not', () => {
  const tree = treeOf(...turn(0), ...turn(1), summaryOf(2), asked('prompt 2'), answered('fine'));
  const revert = (target: number): void =>
    tree.apply(validateRevert(tree, { category: null, target, summary: null, actor: 'human' }));
  revert(7);
  assert.deepEqual(said(summarizedTrunk(tree)), [
    'prompt 0',
    'summary through n2',
    'prompt 1',
    'answer',
    'result',
    'prompt 2',
  ]);
  revert(5);
  assert.equal(summaryInForce(tree), undefined);
  assert.deepEqual(said(summarizedTrunk(tree)), [
    'prompt 0',
    'answer',
    'result',
    'prompt 1',
    'answer',
    'result',
  ]);
  revert(8);
  assert.equal(summaryInForce(tree)?.through, 2, 'back on the branch with the summary');
});

test('a summary that names no node of the trunk stands for nothing', () => {
  const tree = treeOf(...turn(0), summaryOf(99));
  assert.deepEqual(said(summarizedTrunk(tree)), ['prompt 0', 'answer', 'result']);
});

test('a kept prompt that is very long is cut, and its attachments are left out', () => {
  const long: SessionMessage = {
    role: 'user',
    text: 'y'.repeat(9_000),
    attachments: [{ path: 'a.ts', text: 'z'.repeat(9_000) }],
  };
  const tree = treeOf(long, answered('a'), ...turn(1), summaryOf(1));
  const [first] = summarizedTrunk(tree, 4_000);
  assert.ok(first?.message.role === 'user');
  assert.match(first.message.text, /^y{1750}\n\[The other 7250 characters of this prompt are left out/);
  assert.equal(first.message.attachments?.[0]?.text, '');
});

test('what reverts left as tags outlives a summary of the messages that they are on', () => {
  const tree = treeOf(...turn(0), answered('wrong way'));
  tree.apply(
    validateRevert(tree, {
      category: 'step-summary',
      target: 2,
      summary: 'step one is done',
      actor: 'human',
    }),
  );
  tree.append(answered('right way'));
  tree.append(asked('prompt 1'));
  tree.append(summaryOf(4));
  const texts = renderTrunk(tree, { markers: true }).map(message => ('text' in message ? message.text : ''));
  assert.match(texts[1] ?? '', /^\[n6\] summary through n4 \[revert-checkpoint: step one is done/);
});

test('the tail begins with a prompt or an answer, and has at least the last one', () => {
  const tree = treeOf(...turn(0), ...turn(1), ...turn(2, 50_000));
  const head = summarizableHead(tree, summarizedTrunk(tree), 100);
  assert.equal(head?.through, 6, 'the last prompt may go: it is kept anyway');
  assert.equal(summarizableHead(tree, summarizedTrunk(tree), 1_000_000), undefined, 'all of it fits');
  assert.equal(summarizableHead(treeOf(asked('a')), summarizedTrunk(treeOf(asked('a'))), 1), undefined);
});

test('a second summary stands for the first one and what followed it', () => {
  const tree = treeOf(...turn(0), ...turn(1), summaryOf(2), ...turn(2), ...turn(3));
  const head = summarizableHead(tree, summarizedTrunk(tree), 100);
  assert.ok(head && head.through > 5);
  assert.ok(said(head.lines).includes('summary through n2'));
  tree.append(summaryOf(head.through));
  const again = summarizableHead(tree, summarizedTrunk(tree), 100);
  assert.equal(again, undefined, 'there is nothing new');
});

test('the work for a request does not grow with what a summary stands for', () => {
  class Watched extends ConversationTree {
    looked = 0;
    override idAt(position: number): number | undefined {
      this.looked++;
      return super.idAt(position);
    }
    override roleAt(position: number): SessionMessage['role'] | undefined {
      this.looked++;
      return super.roleAt(position);
    }
  }
  const lookedAt = (turns: number): number => {
    const tree = new Watched();
    for (const message of [
      asked('first'),
      ...Array.from({ length: turns }, (_, n) => turn(n).slice(1)).flat(),
    ])
      tree.append(message);
    tree.append(summaryOf(tree.size - 1));
    for (const message of turn(turns).slice(1)) tree.append(message);
    summarizedTrunk(tree);
    tree.looked = 0;
    assert.equal(summarizedTrunk(tree).length, 4);
    return tree.looked;
  };
  assert.equal(lookedAt(1_000), lookedAt(10));
});

/** What {@link summarizedTrunk} is to give, made of all lines of the trunk. */
function byDefinition(tree: ConversationTree): Line[] {
  const lines = validTrunk(tree).filter(
    ({ message }) => message.role !== 'steering' || message.kind !== 'summary',
  );
  const summary = summaryInForce(tree);
  if (!summary) return lines;
  const last = tree.positionOf(summary.through);
  const after = lines.findIndex(({ id }) => id !== null && tree.positionOf(id) > last);
  const head = after < 0 ? lines : lines.slice(0, after);
  const tail = lines.slice(head.length);
  const isPrompt = ({ message }: Line): boolean => message.role === 'user';
  const kept = [head.find(isPrompt), tail.some(isPrompt) ? undefined : head.findLast(isPrompt)];
  return [
    ...new Set(kept.filter(line => line !== undefined)),
    { id: summary.id, message: summary.message },
    ...tail,
  ];
}

test('whatever was said and summarized, each call keeps its result and no request repeats a node', () => {
  const step = fc.oneof(
    fc.constant('prompt' as const),
    fc.constant('answer' as const),
    fc.record({ calls: fc.integer({ min: 1, max: 3 }), missing: fc.boolean() }),
    fc.record({ keep: fc.integer({ min: 0, max: 300 }) }),
    fc.record({ revert: fc.nat(60) }),
    fc.constant('local' as const),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), steps => {
      const tree = treeOf(asked('first'));
      let calls = 0;
      for (const one of steps) {
        if (one === 'prompt') tree.append(asked('more'));
        else if (one === 'answer') tree.append(answered('fine'));
        else if (one === 'local') tree.append({ role: 'local', text: '/help', answer: 'no' });
        else if ('calls' in one) {
          const made = Array.from({ length: one.calls }, () => call(`c${calls++}`, 'read_file', {}));
          tree.append(answered('', ...made));
          for (const each of one.missing ? made.slice(1) : made) tree.append(result(each, 'x'.repeat(200)));
        } else if ('keep' in one) {
          const head = summarizableHead(tree, summarizedTrunk(tree), one.keep);
          if (head) tree.append(summaryOf(head.through));
        } else {
          const target = one.revert % tree.size;
          const record = validateRevert(tree, { category: null, target, summary: null, actor: 'human' });
          tree.apply(record);
        }
        const lines = summarizedTrunk(tree);
        assert.deepEqual(historyViolations(lines.map(({ message }) => message)), []);
        const ids = lines.flatMap(({ id }) => (id === null ? [] : [id]));
        assert.equal(new Set(ids).size, ids.length);
        assert.ok(said(lines).includes('first') || !tree.isOnTrunk(0));
        assert.deepEqual(lines, byDefinition(tree));
      }
    }),
    { numRuns: 500 },
  );
});
