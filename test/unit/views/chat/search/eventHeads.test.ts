import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventHeads } from '../../../../../src/views/chat/search/eventHeads.ts';

const begin = '{"type":"begin","data":{"path":{"text":"./a.ts"}}}';
const match = (text: string, ...starts: readonly number[]): string =>
  JSON.stringify({
    type: 'match',
    data: {
      lines: { text },
      line_number: 1,
      submatches: starts.map(start => ({
        match: { text: text.slice(start, start + 1) },
        start,
        end: start + 1,
      })),
    },
  });

async function heads(text: string, size: number): Promise<readonly string[]> {
  async function* chunks(): AsyncGenerator<Buffer> {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const found: string[] = [];
  for await (const head of eventHeads(chunks())) found.push(head);
  return found;
}

test('an event is kept up to where its first match begins, however the bytes are cut into chunks', async () => {
  const tricky = '🙂 ,"submatches":[ },"start":7 \n';
  const events = [begin, match(tricky, 3, 5, 9), match('ab', 0), match('x', ...Array<number>(50).fill(0))];
  const text = `${events.join('\n')}\n`;
  const whole = await heads(text, text.length * 4);
  assert.equal(whole[0], begin);
  for (const [n, start] of [3, 0, 0].entries()) {
    const head = whole[n + 1]!;
    assert.ok(events[n + 1]!.startsWith(head));
    assert.match(head, new RegExp(String.raw`\},"start":${start},`));
  }
  assert.ok(whole[3]!.length < events[3]!.length / 10);
  for (let size = 1; size < 120; size++)
    assert.deepEqual(await heads(text, size), whole, `chunks of ${size}`);
});

test('what ripgrep could not finish is no event', async () => {
  assert.deepEqual(await heads(`${begin}\n{"type":"mat`, 9), [begin]);
});
