import { test } from 'node:test';
import assert from 'node:assert/strict';
import {
  parseSlashCommand,
  slashCommandHelp,
  slashCommands,
} from '../../../../../src/agent/session/model/offline/slashCommands.ts';

const edit = (path: string, old: string, replacement: string) => ({
  kind: 'call',
  call: { tool: 'edit_file', arguments: { path, edits: [{ old, new: replacement }] } },
});
const write = (path: string, content: string) => ({
  kind: 'call',
  call: { tool: 'write_file', arguments: { path, content } },
});
const replace = (pat: string, out: string, glob: string) => ({
  kind: 'call',
  call: { tool: 'ast_edit', arguments: { ops: [{ pat, out }], paths: [glob] } },
});

const meanings: readonly [prompt: string, meaning: unknown][] = [
  ['/edit a.ts :: old => new', edit('a.ts', 'old', 'new')],
  ['  /edit a.ts :: old => new\n', edit('a.ts', 'old', 'new')],
  ['/edit my file.ts :: old text => new text', edit('my file.ts', 'old text', 'new text')],
  ['/edit a.ts :: gone =>', edit('a.ts', 'gone', '')],
  ['/edit a.ts ::   indented => x', edit('a.ts', '  indented', 'x')],
  ['/edit a.ts :: x => y => z', edit('a.ts', 'x', 'y => z')],
  ['/edit a.ts :: one\ntwo => 1\n2', edit('a.ts', 'one\ntwo', '1\n2')],
  ['/edit a.ts :: std::min => std::max', edit('a.ts', 'std::min', 'std::max')],
  ['/write a.ts :: one\ntwo', write('a.ts', 'one\ntwo')],
  ['/write a.ts ::', write('a.ts', '')],
  ['/write a.ts :: one\n', write('a.ts', 'one\n')],
  [' /write a.ts :: one\n\n ', write('a.ts', 'one\n\n ')],
  ['/write a.ts :: x :: y', write('a.ts', 'x :: y')],
  ['/replace var $A => let $A in src/**/*.ts', replace('var $A', 'let $A', 'src/**/*.ts')],
  ['/replace $A in $B => has($B, $A) in *.js\n', replace('$A in $B', 'has($B, $A)', '*.js')],
  ['/replace debugger => in *.ts', replace('debugger', '', '*.ts')],
  ['/replace f(x=>y) => g in a.ts', replace('f(x=>y)', 'g', 'a.ts')],
  ['/revert n12 failure', { kind: 'revert', target: 12, category: 'failure' }],
  [
    '/revert 3 step-summary all\nof it',
    { kind: 'revert', target: 3, category: 'step-summary', summary: 'all\nof it' },
  ],
  ['/revert n12', { kind: 'malformed', usage: '/revert <node> <category> [summary]' }],
  ['/revert x failure', { kind: 'malformed', usage: '/revert <node> <category> [summary]' }],
  ['/revert n1 success', { kind: 'malformed', usage: '/revert <node> <category> [summary]' }],
  ['/help', { kind: 'help' }],
  ['/apply', { kind: 'vote', action: 'apply' }],
  ['/apply  p12 ', { kind: 'vote', action: 'apply', id: 'p12' }],
  ['/discard', { kind: 'vote', action: 'discard' }],
  ['/discard p3', { kind: 'vote', action: 'discard', id: 'p3' }],
  ['/discard p3 not\nyet', { kind: 'vote', action: 'discard', id: 'p3', reason: 'not\nyet' }],
  ['/discard p3x is wrong', { kind: 'vote', action: 'discard', reason: 'p3x is wrong' }],
  ['/discard too risky', { kind: 'vote', action: 'discard', reason: 'too risky' }],
  ['/discard-all', { kind: 'discardAll' }],
  ['/tools', { kind: 'tools' }],
  ['/call list_files', { kind: 'call', call: { tool: 'list_files', arguments: {} } }],
  ['/call a_b {"x":\n[1]}', { kind: 'call', call: { tool: 'a_b', arguments: { x: [1] } } }],
];

for (const [prompt, meaning] of meanings) {
  test(`${JSON.stringify(prompt)} means what it says`, () => {
    assert.deepEqual(parseSlashCommand(prompt), meaning);
  });
}

const malformed = [
  ...['/edit', '/edit a.ts', '/edit a.ts :: x', '/edit :: a => b', '/write', '/write a.ts'],
  ...['/apply 3', '/apply p0', '/apply p1 p2', '/discard-all p1', '/tools x'],
  ...['/replace', '/replace a => b', '/replace a in *.ts', '/replace => b in *.ts'],
  ...['/call', '/call {"a":1}', '/call t {', '/call t [1]', '/call t null'],
];
for (const prompt of malformed) {
  test(`${JSON.stringify(prompt)} is malformed, and its usage is returned`, () => {
    const command = parseSlashCommand(prompt);
    assert.ok(command?.kind === 'malformed');
    assert.ok(command.usage.startsWith(prompt.split(' ')[0] ?? ''));
  });
}

for (const prompt of [
  '',
  'edit a.ts',
  '/etc/passwd is what?',
  '/usr',
  '/editor',
  '/constructor',
  '/Edit a :: b => c',
  'see /help',
]) {
  test(`${JSON.stringify(prompt)} is no command`, () => assert.equal(parseSlashCommand(prompt), undefined));
}

test('/run proposes everything that follows it as one command', () => {
  assert.deepEqual(parseSlashCommand('/run npm test -- --grep "a => b" '), {
    kind: 'call',
    call: { tool: 'run_command', arguments: { command: 'npm test -- --grep "a => b"' } },
  });
  assert.deepEqual(parseSlashCommand('/run  '), { kind: 'malformed', usage: '/run <command>' });
});

test('the help has a line for each command, and so has the completion list', () => {
  const help = slashCommandHelp();
  const names = slashCommands().map(({ name }) => name);
  for (const { name, usage } of slashCommands()) {
    assert.ok(usage.startsWith(name), name);
    assert.ok(help.includes(`- \`${usage}\``), name);
  }
  for (const name of ['/edit', '/write', '/apply', '/discard', '/discard-all', '/tools', '/call', '/help'])
    assert.ok(names.includes(name), name);
});
