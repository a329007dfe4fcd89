import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchTextTool } from '../../../../../src/agent/session/tools/files/searchText.ts';
import type { TextSearch } from '../../../../../src/agent/hold/preview/textSearch.ts';
import type { TextMatch, TextMatches } from '../../../../../src/agent/hold/preview/textSearch.ts';
import { ToolHarness } from '../../../../support/toolHarness.ts';

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
  assert.equal(
    answer,
    'No line matches /a+/ in *.md.\nIgnored files were not searched. Pass ignored to search them, too.',
  );
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
  assert.deepEqual(cut.answer.split('\n'), [
    '1 line matches "x", in 1 file. More lines match: narrow the search to see them.',
    'a.ts',
    '1: x',
  ]);
  const late = await search({ matches: [], cutBy: 'time' }, { query: 'x' });
  assert.deepEqual(late.answer.split('\n'), [
    'No line matches "x".',
    'There may be more: the search took too long. Narrow it with a glob.',
    'Ignored files were not searched. Pass ignored to search them, too.',
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

test('context is shown once around neighbouring matches, as pending previews would have it', async () => {
  const text = Array.from({ length: 12 }, (_, i) => `line ${i + 1}`).join('\n');
  const tool = searchTextTool({
    search: () =>
      Promise.resolve({
        matches: [match('a.ts', 2, 'line 2'), match('a.ts', 4, 'line 4'), match('a.ts', 11, 'line 11')],
      }),
  });
  const { content } = await new ToolHarness({ 'a.ts': text }, [tool]).run('search_text', {
    query: 'x',
    context: 2,
  });
  assert.deepEqual(content.split('\n').slice(1), [
    'a.ts',
    '1- line 1',
    '2: line 2',
    '3- line 3',
    '4: line 4',
    '5- line 5',
    '6- line 6',
    '--',
    '9- line 9',
    '10- line 10',
    '11: line 11',
    '12- line 12',
  ]);
});

test('ignored files are asked for, and then nothing is said of them', async () => {
  const { answer, asked } = await search({ matches: [] }, { query: 'x', ignored: true });
  assert.deepEqual(asked, { query: 'x', isRegex: false, ignored: true });
  assert.equal(answer, 'No line matches "x".');
});
