import { test } from 'node:test';
import assert from 'node:assert/strict';
import { parseSlashCommand, slashCommandHelp } from '../../../src/agent/model/slashCommands.ts';

const edit = (path: string, old: string, replacement: string) => ({
  kind: 'call',
  call: { tool: 'edit_file', arguments: { path, edits: [{ old, new: replacement }] } },
});
const write = (path: string, content: string) => ({
  kind: 'call',
  call: { tool: 'write_file', arguments: { path, content } },
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
  ['/write a.ts :: x :: y', write('a.ts', 'x :: y')],
  ['/help', { kind: 'help' }],
];

for (const [prompt, meaning] of meanings) {
  test(`${JSON.stringify(prompt)} means what it says`, () => {
    assert.deepEqual(parseSlashCommand(prompt), meaning);
  });
}

for (const prompt of ['/edit', '/edit a.ts', '/edit a.ts :: x', '/edit :: a => b', '/write', '/write a.ts']) {
  test(`${prompt} is malformed, and its form is told`, () => {
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

test('the help has a line for each command', () => {
  const help = slashCommandHelp();
  for (const name of ['/edit <file>', '/write <file>', '/help'])
    assert.ok(help.includes(`- \`${name}`), name);
});
