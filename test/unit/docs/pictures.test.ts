import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { readGif } from '../../support/docs/gif.ts';
import { read, root } from '../../support/docs/pages.ts';

/** Marketplaces and slow connections: what a reader waits for. */
const MOST_BYTES = 1_500_000;

test('the first picture of the README moves, is small enough, and has a text for those who do not see it', () => {
  const [, text = '', file = ''] = /!\[([^\]]*)\]\(([^)]+)\)/.exec(read('README.md')) ?? [];
  assert.match(file, /\.gif$/);
  assert.ok(text.length > 80, `the text “${text}” tells the story`);
  const bytes = fs.readFileSync(path.join(root, file));
  assert.ok(bytes.length <= MOST_BYTES, `${bytes.length} bytes`);

  const { durations, loops } = readGif(bytes);
  assert.equal(loops, 0, 'it begins again');
  assert.ok(durations.length > 20, `${durations.length} frames`);
  const seconds = durations.reduce((sum, duration) => sum + duration, 0) / 1000;
  assert.ok(seconds >= 8 && seconds <= 20, `${seconds} s`);
  const held = durations.filter(duration => duration >= 1000);
  assert.ok(held.length >= 4, 'what is to be read stays for a second at least');
});

interface Step {
  readonly id: string;
  readonly media: { readonly image: Readonly<Record<string, string>>; readonly altText: string };
}

/** What all pictures of the walkthrough may add to the package. */
const MOST_OF_WALKTHROUGH = 210_000;

test('each step of the walkthrough has a picture of the same size for every kind of theme, and no other is packaged', () => {
  const { contributes } = JSON.parse(read('package.json')) as {
    contributes: { walkthroughs: readonly { readonly steps: readonly Step[] }[] };
  };
  const steps = contributes.walkthroughs.flatMap(walkthrough => walkthrough.steps);
  assert.ok(steps.length > 0);
  for (const { id, media } of steps) {
    assert.deepEqual(Object.keys(media.image).sort(), ['dark', 'hc', 'hcLight', 'light'], id);
    assert.match(media.altText, /^%.+%$/, id);
  }
  const files = [...new Set(steps.flatMap(({ media }) => Object.values(media.image)))];
  const folder = path.join(root, 'media', 'walkthrough');
  assert.deepEqual(
    fs.readdirSync(folder).sort(),
    files.map(file => path.posix.relative('media/walkthrough', file)).sort(),
  );
  const pictures = files.map(file => fs.readFileSync(path.join(root, file)));
  const sizes = pictures.map(bytes => `${bytes.readUInt32BE(16)} × ${bytes.readUInt32BE(20)}`);
  assert.deepEqual(new Set(sizes).size, 1, sizes.join(', '));
  const bytes = pictures.reduce((sum, { length }) => sum + length, 0);
  assert.ok(bytes <= MOST_OF_WALKTHROUGH, `${bytes} bytes`);
});
