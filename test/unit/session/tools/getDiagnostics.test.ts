import { test } from 'node:test';
import assert from 'node:assert/strict';
import { getDiagnosticsTool } from '../../../../src/agent/session/tools/getDiagnostics.ts';
import { createTestSession } from '../../../support/testSession.ts';
import { MemoryProblems } from '../../../support/memoryProblems.ts';
import { ToolHarness } from '../../../support/toolHarness.ts';

const problems = new MemoryProblems();
problems.report(
  'src/a.ts',
  { severity: 'warning', message: 'x is\nunused.', source: 'eslint', code: 'no-unused', line: 3, column: 5 },
  { message: "Cannot find name 'y'.", source: 'ts', code: '2304', line: 9 },
);
problems.report('src2/b.ts', { severity: 'information', message: 'Old.' });
const ask = async (args: object): Promise<string> => {
  const harness = new ToolHarness({ 'src/a.ts': '' }, [getDiagnosticsTool(problems)]);
  const result = await harness.run('get_diagnostics', args);
  return `${result.isError ? 'ERROR ' : ''}${result.content}`;
};

test('all problems are listed, the worst first, each on one line with its place and origin', async () => {
  assert.equal(
    await ask({}),
    [
      '3 Problems (1 error, 1 warning, 1 information).',
      "src/a.ts:9:1 error: Cannot find name 'y'. [ts 2304]",
      'src/a.ts:3:5 warning: x is unused. [eslint no-unused]',
      'src2/b.ts:1:1 information: Old.',
    ].join('\n'),
  );
});

test('paths are files or folders of the workspace', async () => {
  assert.match(await ask({ paths: ['src'] }), /^2 Problems \(1 error, 1 warning\) in src\.\n/);
  assert.match(
    await ask({ paths: ['./src/../src2/b.ts'] }),
    /^1 Problem \(1 information\) in src2\/b\.ts\.\n/,
  );
  for (const outside of ['../secret', '/etc/passwd', '.git/config', ''])
    assert.match(await ask({ paths: ['src', outside] }), /^ERROR /, outside);
});

test('a long list and a long message are cut, and say so', async () => {
  const many = new MemoryProblems();
  many.report('a', ...Array.from({ length: 250 }, (_, i) => `${i} ${'x'.repeat(1_000)}`));
  const result = await new ToolHarness({}, [getDiagnosticsTool(many)]).run('get_diagnostics', {});
  const lines = result.content.split('\n');
  assert.equal(lines.length, 101);
  assert.match(lines[0] ?? '', /^250 Problems \(250 errors\)\. Only the first 100 are shown/);
  assert.ok(lines[1]?.endsWith('x…') && lines[1].length < 330);
});

test('it is read-only, and says which proposed texts no language service has checked', async () => {
  const tool = getDiagnosticsTool(problems);
  assert.equal(tool.readOnly, true);
  const t = createTestSession({
    tools: [tool],
    files: { 'src/a.ts': 'x' },
    settings: { modelAuthority: 'none' },
    script: [
      { toolCalls: [{ name: 'write_file', arguments: { path: 'src/a.ts', content: 'y' } }] },
      {
        toolCalls: [
          { name: 'get_diagnostics', arguments: { paths: ['src'] } },
          { name: 'get_diagnostics', arguments: { paths: ['src2'] } },
        ],
      },
      {},
    ],
  });
  await t.session.prompt('Go.');
  const [, src, src2] = t.results().map(({ content }) => content.split('\n')[0]);
  assert.match(
    src ?? '',
    /No language service has checked the proposed text of src\/a\.ts; the problems listed there are those of the file without it\.$/,
  );
  assert.doesNotMatch(src2 ?? '', /proposed/);
});

test('what language services say of exactly the proposed text stands in place of what they say of the file', async () => {
  const both = new MemoryProblems();
  both.report('a.json', 'Old fault.');
  const fault = {
    path: 'a.json',
    severity: 'error',
    line: 2,
    column: 1,
    message: 'New fault.',
    source: 'json',
  } as const;
  both.proposed.set('p1 a.json {]\n', [fault]);
  both.proposed.set('p2 b.json an older text', []);
  const t = createTestSession({
    tools: [getDiagnosticsTool(both)],
    files: { 'a.json': '{}\n' },
    settings: { modelAuthority: 'none' },
    script: [
      {
        toolCalls: [
          { name: 'write_file', arguments: { path: 'a.json', content: '{]\n' } },
          { name: 'write_file', arguments: { path: 'b.json', content: '{}\n' } },
        ],
      },
      { toolCalls: [{ name: 'get_diagnostics', arguments: {} }] },
      {},
    ],
  });
  await t.session.prompt('Go.');
  assert.equal(
    t.results().at(-1)?.content,
    [
      '1 Problem (1 error). Checked as proposed: a.json (p1). No language service has checked the proposed text of b.json; the problems listed there are those of the file without it.',
      'a.json:2:1 error: New fault. [json]',
    ].join('\n'),
  );
});

test('what was never checked is told from what is right, and what does not exist from both', async () => {
  const none = new MemoryProblems();
  none.opened.add('open.ts');
  const files = { 'open.ts': '', 'closed.ts': '' };
  const answer = async (...paths: string[]): Promise<string> => {
    const result = await new ToolHarness(files, [getDiagnosticsTool(none)]).run('get_diagnostics', { paths });
    return `${result.isError ? 'ERROR ' : ''}${result.content}`;
  };
  assert.equal(await answer('open.ts'), 'VS Code shows no Problems in open.ts.');
  assert.equal(
    await answer('closed.ts'),
    'VS Code shows no Problems in closed.ts. Most language services check only open files, and these are not open: closed.ts.',
  );
  assert.match(await answer('open.ts', 'gone.ts'), /There is no file or folder gone\.ts\.$/);
  assert.match(await answer('gone.ts'), /^ERROR There is no file or folder gone\.ts\. Use list_files/);
});
