import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchTextTool, type TextSearch } from '../../../../src/agent/tools/files/searchText.ts';
import type { TextMatch, TextMatches } from '../../../../src/agent/tools/files/textReport.ts';
import { ToolHarness } from '../../../support/toolHarness.ts';

type Query = Parameters<TextSearch['search']>[0];

/** What the tool answers when the search finds this, and what it asked the search for. */
async function search(
  found: TextMatches,
  args: object,
): Promise<{ answer: string; asked: Query | undefined; limit: number | undefined }> {
  let asked: Query | undefined;
  let limit: number | undefined;
  const tool = searchTextTool({
    search: (query, max) => {
      [asked, limit] = [query, max];
      return Promise.resolve(found);
    },
  });
  const { content, isError } = await new ToolHarness({}, [tool]).run('search_text', args);
  return { answer: `${isError ? 'ERROR ' : ''}${content}`, asked, limit };
}

const match = (path: string, line: number, text: string, at = 0): TextMatch => ({ path, line, text, at });

test('matches are listed by file, with their line numbers and how many there are', async () => {
  const matches = [match('a.ts', 2, 'one'), match('a.ts', 9, 'one more'), match('b.ts', 1, '  one', 2)];
  const { answer, asked } = await search({ matches }, { query: 'one' });
  assert.equal(answer, '3 lines match "one", in 2 files.\na.ts\n2: one\n9: one more\nb.ts\n1:   one');
  assert.deepEqual(asked, { query: 'one', isRegex: false });
});

test('the answer repeats how was searched, also when nothing was found', async () => {
  const { answer, asked } = await search({ matches: [] }, { query: 'a+', isRegex: true, glob: '*.md' });
  assert.equal(answer, 'No line matches /a+/ in *.md.');
  assert.deepEqual(asked, { query: 'a+', isRegex: true, glob: '*.md' });
  const one = await search({ matches: [match('a.md', 1, 'x')] }, { query: 'x', glob: '*.md' });
  assert.equal(one.answer, '1 line matches "x" in *.md, in 1 file.\na.md\n1: x');
});

test('a query of several lines is refused before anything is searched', async () => {
  for (const query of ['a\nb', 'a\r']) {
    const { answer, asked } = await search({ matches: [] }, { query });
    assert.equal(answer, 'ERROR query must be a single line. Search for one of its lines.');
    assert.equal(asked, undefined);
  }
});

test('what may be missing is said, before the matches and without any', async () => {
  const matches = [match('a.ts', 1, 'x')];
  const cut = await search({ matches, cutBy: 'limit' }, { query: 'x' });
  assert.deepEqual(cut.answer.split('\n').slice(1), [
    `There are more: only the first ${cut.limit} are shown. Narrow the search.`,
    'a.ts',
    '1: x',
  ]);
  const late = await search({ matches: [], cutBy: 'time', skipped: ['b.min.js', 'c.js'] }, { query: 'x' });
  assert.deepEqual(late.answer.split('\n'), [
    'No line matches "x".',
    'There may be more: the search took too long. Narrow it with a glob.',
    'Not searched, because the pattern takes too long on them: b.min.js, c.js.',
  ]);
});

test('of a long line the part around its match is shown, and its length is told', async () => {
  const shown = async (before: number, after: number): Promise<string> => {
    const text = `${'<'.repeat(before)}needle${'>'.repeat(after)}`;
    const { answer } = await search({ matches: [match('a', 1, text, before)] }, { query: 'needle' });
    return answer.split('\n').at(-1) ?? '';
  };
  assert.equal(await shown(100, 194), `1: ${'<'.repeat(100)}needle${'>'.repeat(194)}`, '300 characters fit');
  assert.equal(
    await shown(0, 1_000),
    `1: needle${'>'.repeat(294)} … [line cut: 1006 characters]`,
    'at the beginning',
  );
  assert.equal(
    await shown(1_000, 0),
    `1: … ${'<'.repeat(294)}needle [line cut: 1006 characters]`,
    'at the end',
  );
  assert.equal(
    await shown(500, 500),
    `1: … ${'<'.repeat(100)}needle${'>'.repeat(194)} … [line cut: 1006 characters]`,
    'in the middle',
  );
});
