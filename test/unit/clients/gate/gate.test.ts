import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as path from 'node:path';
import { test } from 'node:test';
import { refusalOf } from '../../../../src/agent/clients/gate/gate.ts';
import { knownAgents } from '../../../../src/agent/clients/setUp/knownAgents.ts';
import { allClientTools, SHARED_TOOLS } from '../../../../src/agent/clients/clientTools.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const MAIN = path.resolve(import.meta.dirname, '../../../../src/agent/clients/gate/main.ts');

const copilot = (toolName: string): string => JSON.stringify({ cwd: '/w', toolName, toolArgs: {} });
const vscode = (tool_name: string): string =>
  JSON.stringify({ hookEventName: 'PreToolUse', tool_name, tool_input: {} });

test('edit tools, shells, subagents and tools that are not known are refused, with what to do instead', () => {
  const writing = [
    ...[
      'edit',
      'create',
      'bash',
      'write_bash',
      'task',
      'sql',
      'str_replace_editor',
      'apply_patch',
      'store_memory',
    ],
    ...['editFiles', 'create_file', 'replace_string_in_file', 'insert_edit_into_file', 'runTerminalCommand'],
    ...[
      'run_in_terminal',
      'edit_notebook_file',
      'runSubagent',
      'github-create_file',
      'x-redline',
      'propose_edit',
    ],
    ...['redline-propose_edit_all', 'notredline-status', '__proto__', 'constructor'],
  ];
  for (const name of writing)
    for (const input of [copilot(name), vscode(name)])
      assert.match(
        refusalOf(input, []) ?? '',
        /^\S+ may change files, so it was not run: .*propose_edit/,
        name,
      );
});

test('tools that read, all of Redline under the names that agents give them, and those that the user names may run', () => {
  for (const name of [
    'view',
    'grep',
    'report_intent',
    'read_bash',
    'read_file',
    'readFile',
    'list_dir',
    'get_errors',
  ])
    assert.equal(refusalOf(copilot(name), []), undefined, name);
  const own = [...allClientTools().map(({ name }) => name), ...SHARED_TOOLS];
  for (const tool of own)
    for (const name of [`redline-${tool}`, `mcp_redline_${tool}`, `redline_${tool}`, `mcp__redline__${tool}`])
      assert.equal(refusalOf(vscode(name), []), undefined, name);
  assert.equal(refusalOf(copilot('github-get_issue'), ['github-get_issue']), undefined);
  assert.notEqual(refusalOf(copilot('github-get_issues'), ['github-get_issue']), undefined);
});

test('what cannot be read is refused', () => {
  const odd = ['', '{', 'null', '[]', '7', '{}', '{"toolName":7}', '{"toolName":""}', '{"tool_name":null}'];
  for (const input of odd) assert.match(refusalOf(input, []) ?? '', /could not read/, input);
});

/** Runs the program. */
function run(input: string, ...allowed: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...allowed], {
    input,
    encoding: 'utf8',
  });
}

test('the program ends with 2 on every refusal and fault, and tells the reason to both kinds of agents', () => {
  const refused = run(vscode('editFiles'));
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /^editFiles may change files/);
  const told = JSON.parse(refused.stdout) as {
    permissionDecision: string;
    permissionDecisionReason: string;
    hookSpecificOutput: object;
  };
  assert.equal(told.permissionDecision, 'deny');
  assert.deepEqual(told.hookSpecificOutput, {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: told.permissionDecisionReason,
  });
  assert.equal(run('no json').status, 2);
  const allowed = run(copilot('view'));
  assert.deepEqual([allowed.status, allowed.stdout], [0, '']);
  assert.equal(run(copilot('github-get_issue'), 'github-get_issue').status, 0);
});

test('the hook of the home folder holds in connected folders, below them, and where it cannot tell; elsewhere all tools run', async t => {
  const temp = await TempFolder.create();
  t.after(() => temp.remove());
  await temp.file('project/.github/hooks/redline.json', '{}');
  await temp.file('project/src/a.ts', '');
  await temp.file('other/.github/hooks/own.json', '{}');
  const status = (told: object | string, ...allowed: string[]): number | null =>
    run(typeof told === 'string' ? told : JSON.stringify(told), '--connected-only', ...allowed).status;
  const edit = { toolName: 'edit', toolArgs: {} };
  for (const folder of ['project', 'project/src', 'project/gone'])
    assert.equal(status({ ...edit, cwd: temp.at(folder) }), 2, folder);
  assert.equal(status({ ...edit, cwd: temp.at('other') }), 0);
  assert.equal(status({ ...edit, cwd: temp.at('project') }, 'edit'), 0);
  for (const odd of [edit, { ...edit, cwd: 7 }, { ...edit, cwd: '' }, { ...edit, cwd: '.' }, 'no json'])
    assert.equal(status(odd), 2, JSON.stringify(odd));
});

test('the command in the hook file refuses everything if the program or Node is missing', async t => {
  if (process.platform === 'win32') return;
  const temp = await TempFolder.create();
  t.after(() => temp.remove());
  const hook = knownAgents
    .flatMap(({ files }) => files)
    .find(({ names }) => names.includes('.github/hooks/redline.json'));
  assert.ok(hook?.format === 'json');
  const [entry] = hook.entries(path.join(temp.root, "it's here", 'redline-mcp.cjs')).slice(-1);
  assert.ok(entry?.kind === 'item');
  const { bash } = entry.value as { bash: string };
  const sh = (PATH: string): number | null =>
    spawnSync('/bin/sh', ['-c', bash], { input: copilot('view'), env: { PATH } }).status;
  assert.equal(sh(path.dirname(process.execPath)), 2, 'no program');
  assert.equal(sh(temp.root), 2, 'no Node');
  await temp.file("it's here/redline-gate.cjs", '');
  assert.equal(sh(path.dirname(process.execPath)), 0);
});
