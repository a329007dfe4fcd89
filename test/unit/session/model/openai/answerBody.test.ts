import { test } from 'node:test';
import assert from 'node:assert/strict';
import { AnswerBody, EventStreamFilter } from '../../../../../src/agent/session/model/openai/answerBody.ts';
import { decode } from '../../../../support/decodedStream.ts';

const chunksOf = async (text: string, size: number): Promise<unknown[]> =>
  (await decode(Buffer.from(text), size, 1_000)).chunks;

for (const size of [1, 2, 1_000]) {
  test(`SSE in pieces of ${size}: several data lines are one event, comments and other fields are left out, CR alone ends a line`, async () => {
    const text = '\uFEFF: hello\rid: 4\revent: x\rdata: ["a",\rdata:"é😀"]\r\rretry: 5\rdata\r\r';
    assert.deepEqual(await chunksOf(text, size), [['a', 'é😀']]);
    assert.deepEqual(await chunksOf(text.replaceAll('\r', '\r\n'), size), [['a', 'é😀']]);
    assert.deepEqual(await chunksOf('data: 1\n\ndata: "open"', size), [1, 'open'], 'the end ends an event');
  });

  test(`SSE in pieces of ${size}: an event without data is left out`, async () => {
    assert.deepEqual(await chunksOf('event: ping\n\ndata:\n\ndata: \n\n: ping\n\ndata: 1\n\n', size), [1]);
  });

  test(`SSE in pieces of ${size}: [DONE] ends the stream, also without blank lines around it`, async () => {
    const { chunks, sawDone } = await decode(Buffer.from('data: 1\ndata: [DONE]\ndata: 2\n\n'), size, 1_000);
    assert.deepEqual([chunks, sawDone], [[1], true]);
    const open = await decode(Buffer.from('data: 1\n\ndata: [DONE]'), size, 1_000);
    assert.deepEqual([open.chunks, open.sawDone], [[1], true]);
    assert.equal((await decode(Buffer.from('data: 1\n\n'), size, 1_000)).sawDone, false);
  });
}

test('SSE: an error field is an error', () => {
  const filter = new EventStreamFilter(1_000);
  assert.deepEqual(filter.push('error: {"code":500}\n\ndata: "open"'), ['data: {"error":{"code":500}}\n\n']);
  assert.deepEqual(filter.push('\nerror:\n'), ['data: {"error":""}\n\n']);
  assert.deepEqual(filter.end(), ['data: "open"\n\n']);
});

test('SSE: the size of a line, a comment and an event is limited', () => {
  for (const [first, second] of [
    [`data: ${'x'.repeat(80)}`, 'x'.repeat(80)],
    [`: ${'x'.repeat(80)}`, 'x'.repeat(80)],
    [`data: ${'x'.repeat(80)}\n`, `data: ${'x'.repeat(80)}\n`],
  ] as const) {
    const filter = new EventStreamFilter(100);
    filter.push(first);
    assert.throws(() => filter.push(second), { code: 'broken' });
  }
});

test('SSE: after [DONE] the body is read to its end, so that its connection is used again, unless it goes on', async () => {
  const filler = Buffer.alloc(65_536);
  for (const [rest, expected] of [
    [[], 'ended'],
    [[Buffer.from('\n')], 'ended'],
    [Array.from({ length: 100 }, () => filler), 'cancelled'],
  ] as const) {
    const pieces = [Buffer.from('data: 1\n\ndata: [DONE]\n\n'), ...rest];
    const { promise: left, resolve } = Promise.withResolvers<string>();
    const body = new ReadableStream(
      {
        pull(controller) {
          const piece = pieces.shift();
          if (piece) return controller.enqueue(piece);
          controller.close();
          resolve('ended');
        },
        cancel: () => resolve('cancelled'),
      },
      { highWaterMark: 0 },
    );
    const answer = new AnswerBody({ maxChars: 1_000, idleMs: 1_000 });
    assert.equal(await answer.normalize(new Response(body)).text(), 'data: 1\n\n');
    assert.ok(answer.sawDone);
    assert.equal(await left, expected);
  }
});

test('SSE: a body that stays open after [DONE] is cancelled after a second', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { promise: left, resolve } = Promise.withResolvers<string>();
  const body = new ReadableStream({
    start: controller => controller.enqueue(Buffer.from('data: [DONE]\n\n')),
    cancel: () => resolve('cancelled'),
  });
  const answer = new AnswerBody({ maxChars: 1_000, idleMs: 60_000 });
  assert.equal(await answer.normalize(new Response(body)).text(), '');
  t.mock.timers.tick(1_000);
  assert.equal(await left, 'cancelled');
});
