import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import * as z from 'zod/mini';
import { textResult } from '../../../../src/agent/hold/preview/pendingAction.ts';
import { builtInTools } from '../../../../src/agent/session/tools/builtIn.ts';
import { runChecksTool } from '../../../../src/agent/session/tools/runChecksTool.ts';
import type { Tool } from '../../../../src/agent/session/tools/tool.ts';
import { ToolHarness } from '../../../support/toolHarness.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** Ports that no test reaches: only the arguments are looked at. */
const unused = {} as never;
const all = [
  ...builtInTools({
    textSearch: unused,
    astSearcher: unused,
    commands: unused,
    problems: unused,
    symbols: { services: unused, files: unused, isAvailable: () => true },
    git: { isAvailable: () => true, program: unused, locate: unused },
    hosts: { isAvailable: () => true } as never,
    askUser: unused,
    isRevertEnabled: () => true,
  }).createTools(),
  runChecksTool({ list: () => [{}] } as never),
];

/** The arguments that reach the tool, or the refusal. */
async function received(name: string, args: unknown, note = ''): Promise<unknown> {
  const given = all.find(tool => tool.name === name);
  assert.ok(given, name);
  let got: unknown;
  const spy: Tool = {
    ...given,
    name: `spied_${name}`,
    execute: params => {
      got = params;
      return Promise.resolve(textResult('ran'));
    },
  };
  const { content } = await new ToolHarness({}, [spy]).run(spy.name, args);
  return content === `ran${note}` ? got : content;
}

const vote = { action: 'apply', reason: 'r' };
const edits = [{ old: 'a', new: 'b' }];
/** What models that know other tools send, and what they mean by it. */
const meant: readonly [tool: string, args: Arguments, as: Arguments][] = [
  ['read_file', { path: 'a', offset: 10, limit: 33 }, { path: 'a', startLine: 10, endLine: 42 }],
  ['read_file', { path: 'a', offset: 0, limit: 5 }, { path: 'a', startLine: 1, endLine: 5 }],
  ['read_file', { path: 'a', offset: '10' }, { path: 'a', startLine: 10 }],
  ['read_file', { path: 'a', limit: 5 }, { path: 'a', startLine: 1, endLine: 5 }],
  ['read_file', { path: 'a', view_range: [3, 9] }, { path: 'a', startLine: 3, endLine: 9 }],
  ['read_file', { path: 'a', view_range: [3, -1] }, { path: 'a', startLine: 3 }],
  ['read_file', { file_path: 'a', start_line: 2, end_line: 3 }, { path: 'a', startLine: 2, endLine: 3 }],
  ['read_file', { target_file: 'a' }, { path: 'a' }],
  ['read_file', { path: 'a', startLine: null, endLine: '' }, { path: 'a' }],
  ['read_file', { path: 'a', startLine: 0, end_line: -1 }, { path: 'a', startLine: 1 }],
  ['read_file', { path: 'a', start_line: '0', endLine: 5 }, { path: 'a', startLine: 1, endLine: 5 }],
  ['read_file', { path: 'a', encoding: null, file_path: null }, { path: 'a' }],
  ['read_file', { path: 'a', explanation: 'To see it.' }, { path: 'a' }],
  [
    'git',
    { action: 'blame', path: 'a', startLine: 0, endLine: -1 },
    { action: 'blame', path: 'a', startLine: 1 },
  ],
  ['list_files', { pattern: '*.ts' }, { glob: '*.ts' }],
  ['list_files', { path: 'src' }, { glob: 'src' }],
  ['list_files', { globs: ['src/**', '*.md'] }, { glob: '{src/**,*.md}' }],
  ['search_text', { query: 'a', include: ['src', 'test'] }, { query: 'a', glob: '{src,test}' }],
  [
    'search_text',
    { pattern: 'a', path: 'src', include: '*.ts' },
    { query: 'a', isRegex: true, glob: 'src/**/*.ts' },
  ],
  ['search_text', { query: 'a', path: 'src', glob: 'x/*.ts' }, { query: 'a', glob: 'src/x/*.ts' }],
  ['search_text', { query: 'a', path: 'src', files: ['*.ts'] }, { query: 'a', glob: 'src/**/*.ts' }],
  ['search_text', { query: 'a', paths: ['src'] }, { query: 'a', glob: 'src' }],
  ['run_command', { command: 'ls', timeout: '30' }, { command: 'ls', timeout: 30 }],
  ['search_text', { pattern: 'a+', path: 'src' }, { query: 'a+', isRegex: true, glob: 'src' }],
  ['search_text', { regex: 'a+', include: '*.ts' }, { query: 'a+', isRegex: true, glob: '*.ts' }],
  ['search_text', { query: 'a.b', caseSensitive: false }, { query: '(?i:a\\.b)', isRegex: true }],
  ['search_text', { pattern: 'a', '-i': true, '-C': 2 }, { query: '(?i:a)', isRegex: true, context: 2 }],
  ['search_text', { query: 'a', isRegex: true, ignoreCase: true }, { query: '(?i:a)', isRegex: true }],
  ['search_text', { query: 'a', caseSensitive: true }, { query: 'a' }],
  ['search_text', { query: 'a', glob: '', context: null }, { query: 'a' }],
  [
    'search_text',
    { query: 'a', is_regex: 'true', context_lines: 2 },
    { query: 'a', isRegex: true, context: 2 },
  ],
  ['edit_file', { path: 'a', old_string: 'a', new_string: 'b' }, { path: 'a', edits }],
  ['edit_file', { path: 'a', old_str: 'a', new_str: '' }, { path: 'a', edits: [{ old: 'a', new: '' }] }],
  [
    'edit_file',
    { file_path: 'a', old_string: 'a', new_string: 'b', replace_all: true },
    { path: 'a', edits: [{ ...edits[0], replaceAll: true }] },
  ],
  ['edit_file', { path: 'a', edits: [{ oldText: 'a', newText: 'b' }] }, { path: 'a', edits }],
  ['edit_file', { path: 'a', edits: edits[0], amend: '3' }, { path: 'a', edits, amend: 'p3' }],
  ['edit_file', { path: 'a', edits, amend: '', title: '' }, { path: 'a', edits }],
  ['write_file', { file_path: 'a', contents: '' }, { path: 'a', content: '' }],
  [
    'write_file',
    { path: 'a', file_text: 'x', description: 'Add x' },
    { path: 'a', content: 'x', title: 'Add x' },
  ],
  ['delete_file', { file: 'a', explanation: 'Unused.' }, { path: 'a', reason: 'Unused.' }],
  ['rename_file', { source: 'a', destination: 'b' }, { from: 'a', to: 'b' }],
  ['run_command', { cmd: 'ls', workdir: 'src' }, { command: 'ls', cwd: 'src' }],
  ['run_command', { command: 'ls', cwd: '' }, { command: 'ls' }],
  [
    'run_command',
    { command: 'npm start', description: 'Start it', run_in_background: true },
    { command: 'npm start', background: true },
  ],
  ['run_command', { command: ['npm', 'test'] }, { command: 'npm test' }],
  ['run_command', { command: ['npm test'] }, { command: 'npm test' }],
  ['command_output', { bash_id: 'p3' }, { id: 'p3' }],
  ['get_diagnostics', { path: 'a' }, { paths: ['a'] }],
  ['get_diagnostics', { paths: [] }, {}],
  ['ast_grep', { pattern: 'f()', path: 'src' }, { pat: 'f()', paths: ['src'] }],
  [
    'symbols',
    { action: 'definition', file: 'a', symbol: 'f' },
    { action: 'definition', path: 'a', name: 'f' },
  ],
  ['git', { action: 'show', commit: 'HEAD', path: '' }, { action: 'show', ref: 'HEAD' }],
  ['ask_user', { question: 'A?', options: '["b", "c"]' }, { question: 'A?', choices: ['b', 'c'] }],
  ['pending', { id: '1' }, { id: 'p1' }],
  ['pending', { id: '' }, {}],
  ['run_checks', { id: 'p1', names: [] }, { ids: ['p1'] }],
  ['resolve', { ...vote, extra: '' }, vote],
  ['resolve', { ...vote, id: '', ids: [], extra: {} }, vote],
  ['resolve', { ...vote, id: '1' }, { ...vote, id: 'p1' }],
  ['resolve', { ...vote, id: 1 }, { ...vote, id: 'p1' }],
  ['resolve', { ...vote, ids: [1, '2', 'p3'] }, { ...vote, ids: ['p1', 'p2', 'p3'] }],
  ['resolve', { decision: 'approve', comment: 'r', preview_id: 'p1' }, { ...vote, id: 'p1' }],
  ['todo', { todos: [{ content: 'x', status: 'in_progress' }] }, { items: [{ text: 'x', state: 'doing' }] }],
  [
    'todo',
    { todos: [{ id: '1', content: 'x', activeForm: 'Doing x', status: 'pending', priority: 'high' }] },
    { items: [{ text: 'x', state: 'open' }] },
  ],
  ['search_text', { pattern: 'a', regex: false }, { query: 'a', isRegex: false }],
  ['search_text', { pattern: 'a', regex: true }, { query: 'a', isRegex: true }],
  ['search_text', { query: 'a', regex: true, isRegex: 'true' }, { query: 'a', isRegex: true }],
  ['resolve', { ...vote, title: 'T' }, { ...vote, extra: { title: 'T' } }],
  ['resolve', { ...vote, title: 'T', extra: { a: 1 } }, { ...vote, extra: { a: 1, title: 'T' } }],
  ['edit_file', { path: 'a', edits, title: 'T', description: 'Add b' }, { path: 'a', edits, title: 'T' }],
  ['read_file', { paths: ['a'] }, { path: 'a' }],
  ['git', { action: 'log', paths: ['src'] }, { action: 'log', path: 'src' }],
  [
    'ast_edit',
    { pattern: 'f()', rewrite: 'g()', path: 'src' },
    { ops: [{ pat: 'f()', out: 'g()' }], paths: ['src'] },
  ],
  [
    'ast_edit',
    { ops: [{ pattern: 'f()', replacement: '' }], paths: ['src'] },
    { ops: [{ pat: 'f()', out: '' }], paths: ['src'] },
  ],
  ['ask_user', { prompt: 'A?', options: ['b', 'c'] }, { question: 'A?', choices: ['b', 'c'] }],
  ['todo', { plan: [{ step: 'x', status: 'completed' }] }, { items: [{ text: 'x', state: 'done' }] }],
];

for (const [name, args, as] of meant)
  test(`${name} ${JSON.stringify(args)} is ${JSON.stringify(as)}`, async () => {
    assert.deepEqual(await received(name, args), as);
  });

const limited: readonly [tool: string, args: Arguments, leftOut: string, as: Arguments][] = [
  [
    'search_text',
    { pattern: 'a', output_mode: 'content', head_limit: 20, '-n': true },
    'output_mode, head_limit',
    { query: 'a', isRegex: true },
  ],
  ['list_files', { glob: '*', maxResults: 9 }, 'maxResults', { glob: '*' }],
  ['git', { action: 'log', max_count: 5 }, 'max_count', { action: 'log' }],
  ['fetch_url', { url: 'https://a.example', prompt: 'Sum it up.' }, 'prompt', { url: 'https://a.example' }],
];

for (const [name, args, leftOut, as] of limited)
  test(`${name} ${JSON.stringify(args)} runs, and its result says that ${leftOut} was ignored`, async () => {
    const note = `\n[Ignored, since spied_${name} has no such argument: ${leftOut}.]`;
    assert.deepEqual(await received(name, args, note), as);
  });

const refused: readonly [tool: string, args: Arguments, why: RegExp][] = [
  [
    'read_file',
    { path: 'a', encoding: 'utf8' },
    /no argument encoding \("utf8"\)\. The arguments are path, startLine, endLine\./,
  ],
  ['read_file', { path: 'a', file_path: 'b' }, /no argument file_path \("b"\)/],
  ['read_file', { path: 'a', limit: 'many' }, /no argument limit/],
  ['search_text', { query: 'a', regex: true, isRegex: false }, /no argument regex \(true\)/],
  ['search_text', { pattern: 'a', isRegex: true, regex: false }, /no argument regex \(false\)/],
  ['run_command', { command: 'ls', env: { A: '1' } }, /no argument env/],
  [
    'run_command',
    { command: 'ls', run_in_background: true, background: false },
    /no argument run_in_background/,
  ],
  ['resolve', { ...vote, explanation: 'Another one.' }, /no argument explanation \("Another one\."\)/],
  [
    'todo',
    { items: [{ text: 'x', description: 'Not in b.ts.', state: 'open' }] },
    /items\[0\] has no argument description \("Not in b\.ts\."\)/,
  ],
  ['search_text', { query: 'a', caseSensitive: true, '-i': true }, /no argument caseSensitive/],
  ['resolve', { ...vote, title: 'T', extra: { title: 'U' } }, /no argument title \("T"\)/],
  ['read_file', { paths: ['a', 'b'] }, /no argument paths \(\["a","b"\]\)/],
  ['ast_grep', { pat: 'f()', paths: ['src'], rewrite: 'g()' }, /no argument rewrite \("g\(\)"\)/],
  ['run_command', { command: 'ls', prompt: 'What is there?' }, /no argument prompt/],
  ['list_files', { glob: '*', recursive: true }, /no argument recursive \(true\)/],
  [
    'edit_file',
    { path: 'a', edits: [{ ...edits[0], line: 3 }] },
    /edits\[0\] has no argument line \(3\)\. The arguments are old, new, replaceAll\./,
  ],
  ['search_text', { query: 'a', caseSensitive: 'maybe' }, /no argument caseSensitive/],
  ['resolve', { ...vote, force: true }, /no argument force \(true\)/],
  ['git', { action: 'log', limit: 5 }, /no argument limit \(5\)/],
];

for (const [name, args, why] of refused)
  test(`${name} ${JSON.stringify(args)} is refused, and the refusal says what is meant`, async () => {
    const text = await received(name, args);
    assert.match(String(text), why);
    assert.match(String(text), /Nothing was done\. Correct them and call it again\.$/);
  });

test(
  'a command as a list of words is one for the shell',
  { skip: process.platform === 'win32' },
  async () => {
    const words = ['bash', '-lc', 'echo "it\'s" $HOME | cat', ''];
    const { command } = (await received('run_command', { command: words })) as { readonly command: string };
    assert.equal(command, `bash -lc 'echo "it'\\''s" $HOME | cat' ''`);
    const printed = execFileSync('/bin/sh', ['-c', command.replace('bash -lc', "printf '%s\\n'")]);
    assert.equal(printed.toString(), `${words.slice(2).join('\n')}\n`);
  },
);

test('free-form data of a vote is passed on as it is', async () => {
  const extra = { offset: 1, path: '', deep: { ids: [], none: null }, none: null, description: 'd' };
  assert.deepEqual(await received('resolve', { ...vote, extra }), { ...vote, extra });
});

test('a tool of others gets what its own schema takes, also what it does not name', async () => {
  let got: unknown;
  const tool: Tool = {
    name: 'theirs',
    label: 'Theirs',
    description: '',
    parameters: z.looseObject({ ids: z.optional(z.array(z.string())) }),
    execute: params => {
      got = params;
      return Promise.resolve(textResult('ran'));
    },
  };
  const args = { ids: [], offset: 1, id: '1', cmd: '' };
  await new ToolHarness({}, [tool]).run('theirs', args);
  assert.deepEqual(got, args);
});

test('a search that ignores case finds each spelling', async () => {
  const args = await received('search_text', { query: 'Foo(', ignoreCase: true });
  const { query, isRegex } = args as { readonly query: string; readonly isRegex: boolean };
  assert.match('const x = FOO(1)', new RegExp(query));
  assert.equal(isRegex, true);
});
