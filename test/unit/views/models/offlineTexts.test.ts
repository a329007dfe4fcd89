import assert from 'node:assert/strict';
import { test } from 'node:test';
import { englishTexts } from '../../../../src/agent/model/offline/answers.ts';
import { slashCommands } from '../../../../src/agent/model/offline/slashCommands.ts';
import { offlineTexts } from '../../../../src/views/models/offlineTexts.ts';
import { fill } from '../../../../src/agent/base/localiser.ts';

/** What a set of texts says, with values where it takes them. */
function said(texts: typeof englishTexts) {
  const { needsForm, notFound, failed, rest, about, ...plain } = texts;
  return {
    ...plain,
    filled: [needsForm('`/x`'), notFound('`a`'), failed('`x`', 'why'), rest(1), rest(2)],
    about: slashCommands().map(about),
  };
}

test('in English, the offline provider says what the core says without a localiser', () => {
  assert.deepEqual(said(offlineTexts({ t: fill })), said(englishTexts));
});

test('in another language, everything that the offline provider says is localised', () => {
  const t = (text: string, ...args: string[]): string => (text === 'en' ? text : `«${fill(text, ...args)}`);
  const { filled, about, ...plain } = said(offlineTexts({ t }));
  const texts = [...Object.values(plain), ...filled, ...about];
  assert.deepEqual(
    // The second form of a count has no mark.
    texts.filter(text => typeof text === 'string' && !text.startsWith('«') && !text.includes('(2 ')),
    [],
  );
});
