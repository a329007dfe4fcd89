import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { shortenOutputs } from '../../../../../src/agent/session/conversation/context/shortenOutputs.ts';
import type { Line } from '../../../../../src/agent/session/conversation/validTrunk.ts';
import { tokensOf } from '../../../../../src/agent/session/model/contextWindow.ts';
import type { SessionMessage } from '../../../../../src/agent/session/model/messages.ts';
import { historyViolations } from '../../../../support/scriptedProvider.ts';
import { answered, asked, call, result } from '../../../../support/chatFixtures.ts';

const canRepeat = (name: string): boolean => name === 'read_file';

/** Turns that each read a file of so many characters. */
function reads(...sizes: readonly number[]): Line[] {
  const messages = sizes.flatMap((size, n): SessionMessage[] => {
    const read = call(`c${n}`, 'read_file', { path: 'a.ts' });
    return [asked(`Read ${n}`), answered('', read), result(read, `${n}`.repeat(size))];
  });
  return messages.map((message, id) => ({ id, message }));
}

function contents(lines: readonly Line[]): string[] {
  return lines.flatMap(({ message }) => (message.role === 'tool' ? [message.content] : []));
}

function sizeOf(lines: readonly Line[]): number {
  return lines.reduce((sum, { message }) => sum + tokensOf(message), 0);
}

test('what fits stays the same', () => {
  const lines = reads(7_000, 7_000);
  const room = sizeOf(lines);
  assert.deepEqual(shortenOutputs(lines, room, canRepeat), { lines, fits: true });
});

test('the oldest result is shortened first, and says how to get the rest', () => {
  const lines = reads(7_000, 7_000, 7_000);
  const { lines: shorter, fits } = shortenOutputs(lines, sizeOf(lines) - 100, canRepeat);
  assert.equal(fits, true);
  const [first = '', ...others] = contents(shorter);
  assert.equal(
    first,
    `${'0'.repeat(400)}\n[Shortened to save room: the other 6600 characters of this result are left out. Call read_file again if you need them.]`,
  );
  assert.deepEqual(others, contents(lines).slice(1));
  assert.equal(contents(lines)[0]?.length, 7_000, 'only a copy is shortened');
});

test('a result of a tool that changes something does not say to call it again', () => {
  const edit = call('c', 'edit_file', { path: 'a.ts' });
  const messages = [asked('Edit'), answered('', edit), result(edit, 'x'.repeat(9_000)), asked('And now?')];
  const lines = messages.map((message, id) => ({ id, message }));
  const { lines: shorter } = shortenOutputs(lines, 1_000, canRepeat);
  assert.match(contents(shorter)[0] ?? '', /Do not call edit_file again for them; read the files/);
});

test('a shortened result with a pending preview, or of a vote, names the tool that shows a diff', () => {
  for (const [name, pending] of [
    ['run_command', ['p1']],
    ['resolve', []],
  ] as const) {
    const one = call('c', name, {});
    const messages = [
      asked('Go'),
      answered('', one),
      { ...result(one, 'x'.repeat(9_000)), pending },
      asked('So?'),
    ];
    const lines = messages.map((message, id) => ({ id, message }));
    const [told = ''] = contents(shortenOutputs(lines, 1_000, canRepeat).lines);
    assert.match(told, /again for them; call pending with an id to see its diff\.\]$/);
  }
});

test('a little more in the conversation shortens nothing more, so that requests begin alike', () => {
  const room = 6_000;
  const shortened = (lines: readonly Line[]): number[] =>
    contents(shortenOutputs(lines, room, canRepeat).lines).map(text => text.length);
  const lines = reads(5_000, 5_000, 5_000, 5_000, 5_000);
  const more = [...lines, { id: 99, message: asked('A short question') }];
  assert.deepEqual(shortened(lines), shortened(more));
  assert.ok(shortened(lines).some(length => length < 1_000));
});

test('the newest result keeps half of the room before a summary is wanted, and the rest of it after that', () => {
  const half = shortenOutputs(reads(100, 90_000), 4_000, canRepeat);
  assert.equal(half.fits, true);
  const newest = contents(half.lines)[1] ?? '';
  assert.ok(newest.length > 6_500 && newest.length < 14_000, `${newest.length}`);

  const talk = Array.from({ length: 40 }, (_, n) => ({ id: 100 + n, message: asked('talk '.repeat(60)) }));
  const full = shortenOutputs([...talk, ...reads(90_000)], 4_000, canRepeat);
  assert.equal(full.fits, false);
  assert.ok((contents(full.lines)[0]?.length ?? 0) < 2_000);
});

test('attachments of earlier prompts are left out, and the text of the prompt stays', () => {
  const message: SessionMessage = {
    role: 'user',
    text: 'What is this?',
    attachments: [{ path: 'a.ts', text: 'x'.repeat(20_000) }],
  };
  const lines = [message, answered('It is x.'), asked('Why?')].map((said, id) => ({ id, message: said }));
  const [first] = shortenOutputs(lines, 1_000, canRepeat).lines;
  assert.deepEqual(first?.message, {
    ...message,
    attachments: [
      { path: 'a.ts', text: '', note: 'Its text is left out to save room. Call read_file if you need it.' },
    ],
  });
});

test('the attachments of a prompt share the room: a short one stays, of a long one the beginning does', () => {
  const [short, long] = [
    { path: 'a.ts', text: 'short' },
    { path: 'b.ts', text: 'x'.repeat(40_000) },
  ];
  const message: SessionMessage = { role: 'user', text: 'What is this?', attachments: [short, long] };
  const { lines, fits } = shortenOutputs([{ id: 0, message }], 4_000, canRepeat);
  assert.equal(fits, true);
  const [kept, cut] = (lines[0]?.message.role === 'user' && lines[0].message.attachments) || [];
  assert.deepEqual(kept, short);
  assert.ok(cut && cut.text.length > 2_000 && long.text.startsWith(cut.text));
  assert.equal(
    cut.note,
    `Only its first ${cut.text.length} characters are here, to save room. Call read_file for the rest.`,
  );
});

test('whatever the sizes are, nothing gets longer, calls keep their results, and what fits does fit', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 500, max: 30_000 }),
      (sizes, room) => {
        const lines = reads(...sizes);
        const { lines: shorter, fits } = shortenOutputs(lines, room, canRepeat);
        assert.ok(sizeOf(shorter) <= sizeOf(lines));
        assert.deepEqual(historyViolations(shorter.map(({ message }) => message)), []);
        assert.deepEqual(
          shorter.map(({ id }) => id),
          lines.map(({ id }) => id),
        );
        if (fits) assert.ok(sizeOf(shorter) <= room);
        assert.deepEqual(shortenOutputs(lines, room, canRepeat).lines, shorter, 'the same each time');
      },
    ),
    { numRuns: 300 },
  );
});
