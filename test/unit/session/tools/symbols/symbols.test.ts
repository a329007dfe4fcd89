import { test } from 'node:test';
import assert from 'node:assert/strict';
import { ToolRegistry, callableTools } from '../../../../../src/agent/session/tools/registry.ts';
import {
  renameSymbolTool,
  symbolsTool,
  type SymbolPorts,
} from '../../../../../src/agent/session/tools/symbols/symbolsTool.ts';
import { MemoryLanguageServices } from '../../../../support/memoryLanguageServices.ts';
import { createTestSession } from '../../../../support/testSession.ts';
import { ToolHarness } from '../../../../support/toolHarness.ts';

const FILES = {
  'a.lang': 'def sum\n  add x\ndef add\n',
  'b.lang': 'call sum\r\ncall add sum\r\n',
  'c.txt': 'sum\n',
};

/** A workspace with the language services of a made-up language, and calls of the two tools. */
function setUp(files: Readonly<Record<string, string>> = FILES) {
  const ports: SymbolPorts = {
    services: () => Promise.resolve(services),
    files: {
      read: path => harness.workspace.read(path),
      encodingOf: path => harness.workspace.encodingOf(path),
      placeOf: path => harness.workspace.placeOf(path),
    },
    isAvailable: () => true,
  };
  const harness = new ToolHarness(files, [symbolsTool(ports), renameSymbolTool(ports)]);
  const services = new MemoryLanguageServices(harness.workspace);
  const run = async (name: string, args: object): Promise<string> => {
    const { isError, content } = await harness.run(name, args);
    return `${isError ? 'ERROR ' : ''}${content}`;
  };
  return { harness, services, run };
}

test('an outline has one row for each symbol; where there is none, another tool is named', async () => {
  const { run } = setUp();
  assert.equal(
    await run('symbols', { action: 'outline', path: 'a.lang' }),
    'a.lang: 2 symbols.\nfunction sum: 1\nfunction add: 3',
  );
  assert.match(
    await run('symbols', { action: 'outline', path: 'c.txt' }),
    /^ERROR VS Code has no outline of c\.txt: .*Use search_text or ast_grep\.$/,
  );
  assert.match(
    await run('symbols', { action: 'outline', path: 'no.lang' }),
    /^ERROR There is no file no\.lang\./,
  );
});

test('definitions and references are named by their lines, with places outside of the workspace', async () => {
  const { run, services } = setUp();
  services.extra = [{ path: 'lib.lang', isOutside: true, line: 4, character: 0 }];
  assert.equal(
    await run('symbols', { action: 'definition', path: 'b.lang', line: 2, name: 'add' }),
    '1 definition of add.\na.lang:3: def add',
  );
  assert.equal(
    await run('symbols', { action: 'references', path: 'a.lang', name: 'add' }),
    [
      '4 references of add.',
      'a.lang:2: add x',
      'a.lang:3: def add',
      'b.lang:2: call add sum',
      'lib.lang:5 (outside the workspace)',
    ].join('\n'),
  );
  assert.deepEqual(services.asked.at(-1), ['references', 'a.lang', { line: 1, character: 2 }]);
});

test('a name is a whole word, and what is not there is said', async () => {
  const { run } = setUp({ 'a.lang': 'summary sum\n' });
  assert.match(
    await run('symbols', { action: 'references', path: 'a.lang', name: 'sum' }),
    /^1 reference of sum\./,
  );
  assert.match(
    await run('symbols', { action: 'references', path: 'a.lang', line: 1, name: 'mary' }),
    /^ERROR mary is not in line 1 of a\.lang, which is "summary sum"\. Name a line with mary\.$/,
  );
  assert.match(
    await run('symbols', { action: 'references', path: 'a.lang', name: 'mary' }),
    /^ERROR mary does not/,
  );
  assert.match(
    await run('symbols', { action: 'references', path: 'a.lang', line: 9, name: 'sum' }),
    /^ERROR a\.lang has no line 9\./,
  );
  assert.match(await run('symbols', { action: 'definition', path: 'a.lang' }), /^ERROR Give the name/);
  assert.match(
    await run('symbols', { action: 'definition', path: 'a.lang', name: 'sum' }),
    /^ERROR VS Code knows no definition of sum at line 1/,
  );
});

test('a rename is staged as one preview, with the lines that it changes', async () => {
  const { run, harness } = setUp();
  assert.equal(
    await run('rename_symbol', { path: 'a.lang', line: 1, name: 'sum', newName: 'total' }),
    [
      'Staged as p1, no file modified yet.',
      'sum becomes total: 4 edits in 3 files.',
      '',
      'a.lang (1 edit)',
      '-1:def sum',
      '+1:def total',
      '',
      'b.lang (2 edits)',
      '-1:call sum',
      '+1:call total',
      '-2:call add sum',
      '+2:call add total',
      '',
      'c.txt (1 edit)',
      '-1:sum',
      '+1:total',
    ].join('\n'),
  );
  const [staged] = harness.staged;
  assert.equal(staged?.label, 'Rename sum to total in 3 files');
  assert.equal(staged.title, 'sum → total');
  const texts = staged.changes?.map(({ path, after }) => [
    path,
    after && 'text' in after ? after.text : null,
  ]);
  assert.deepEqual(texts, [
    ['a.lang', 'def total\n  add x\ndef add\n'],
    ['b.lang', 'call total\r\ncall add total\r\n'],
    ['c.txt', 'total\n'],
  ]);
});

test('two places in one line are shown as one changed line', async () => {
  const { run, services } = setUp();
  const edit = (line: number, from: number, to: number, text: string) => ({
    start: { line, character: from },
    end: { line, character: to },
    text,
  });
  const edits = [edit(1, 2, 5, 'plus'), edit(1, 7, 7, ' + y'), edit(2, 4, 7, 'plus')];
  services.answer = { kind: 'edits', files: [{ path: 'a.lang', edits }] };
  assert.match(
    await run('rename_symbol', { path: 'a.lang', name: 'add', newName: 'plus' }),
    /\na\.lang \(3 edits\)\n-2: {2}add x\n\+2: {2}plus x \+ y\n-3:def add\n\+3:def plus$/,
  );
});

test('a rename that cannot be shown as edits of files, or is not of these texts, stages nothing and says why', async () => {
  const { run, harness, services } = setUp();
  const rename = (): Promise<string> =>
    run('rename_symbol', { path: 'a.lang', name: 'sum', newName: 'total' });
  const edit = (line: number, from: number, to: number, text = 'total') => ({
    start: { line, character: from },
    end: { line, character: to },
    text,
  });
  services.answer = { kind: 'none' };
  assert.match(await rename(), /^ERROR VS Code cannot rename sum in a\.lang: no language service/);
  services.answer = { kind: 'refused', message: 'It is a keyword.' };
  assert.match(
    await rename(),
    /^ERROR The language service refuses to rename sum: It is a keyword\. Nothing was staged\.$/,
  );
  services.answer = { kind: 'unsupported', what: 'create, rename or delete files' };
  assert.match(await rename(), /would also create, rename or delete files, which cannot be staged/);
  services.answer = { kind: 'edits', files: [{ path: 'a.lang', edits: [edit(0, 0, 3)] }] };
  assert.match(await rename(), /^ERROR a\.lang has changed since VS Code read it\. Nothing was staged\./);
  services.answer = { kind: 'edits', files: [{ path: 'a.lang', edits: [edit(99, 0, 3)] }] };
  assert.match(await rename(), /^ERROR a\.lang has changed since/);
  services.answer = { kind: 'edits', files: [{ path: 'a.lang', edits: [edit(0, 4, 7), edit(0, 4, 7)] }] };
  assert.match(await rename(), /overlap\. Nothing was staged\.$/);
  services.answer = { kind: 'edits', files: [{ path: 'gone.lang', edits: [edit(0, 4, 7)] }] };
  assert.match(await rename(), /^ERROR gone\.lang has just been removed\./);
  services.answer = { kind: 'edits', files: [{ path: 'a.lang', edits: [edit(0, 4, 7, 'sum')] }] };
  assert.match(await rename(), /^sum is called total already\. Nothing was staged\.$/);
  assert.deepEqual(harness.staged, []);
});

/** What the calls of one answer give in a session in which `a.lang` has a pending preview with this text. */
async function withPending(
  pending: string,
  files: Readonly<Record<string, string>>,
  ...calls: readonly (readonly [name: string, args: object])[]
) {
  const ports: SymbolPorts = {
    services: () => Promise.resolve(services),
    files: {
      read: path => t.workspace.read(path),
      encodingOf: path => t.workspace.encodingOf(path),
      placeOf: path => t.workspace.placeOf(path),
    },
    isAvailable: () => true,
  };
  const t = createTestSession({
    tools: [symbolsTool(ports), renameSymbolTool(ports)],
    files,
    settings: { modelAuthority: 'none' },
    script: [
      { toolCalls: [{ name: 'write_file', arguments: { path: 'a.lang', content: pending } }] },
      { toolCalls: calls.map(([name, args]) => ({ name, arguments: args })) },
      {},
    ],
  });
  const services = new MemoryLanguageServices(t.workspace);
  await t.session.prompt('Go.');
  const [, ...results] = t.results().map(({ content }) => content);
  return { t, services, results };
}

test('a rename of which the report cuts a line is told with its diff, too', async () => {
  for (const rest of ['', ` ${'x'.repeat(120)}`]) {
    const rename = { path: 'c.txt', name: 'sum', newName: 'total' };
    const files = { ...FILES, 'c.txt': `sum${rest}\n` };
    const { results } = await withPending('# new\ndef sum\n', files, ['rename_symbol', rename]);
    const [head = '', diff] = (results[0] ?? '').split(
      '\nThe diff of p2 (Rename sum to total in 3 files):\n',
    );
    assert.match(head, /^Staged as p2[^]*\n-1:call sum\n\+1:call total\n/);
    assert.equal(diff?.includes(`\n-sum${rest}\n+total${rest}\n`), rest === '' ? undefined : true);
  }
});

test('lines are those that the model reads, and what pending previews add is told to be missing', async () => {
  const { results, services } = await withPending(
    '# new\n# newer\ndef sum\n  add y\ndef add\n',
    FILES,
    ['symbols', { action: 'outline', path: 'a.lang' }],
    ['symbols', { action: 'references', path: 'a.lang', line: 5, name: 'add' }],
    ['symbols', { action: 'references', path: 'a.lang', line: 4, name: 'add' }],
  );
  assert.equal(
    results[0],
    'a.lang: 2 symbols. VS Code does not see the pending p1: what that adds is missing. Line numbers are those of read_file.\nfunction sum: 3\nfunction add: 5',
  );
  assert.equal(
    results[1],
    [
      '3 references of add. VS Code does not see the pending p1: what these add is missing. Line numbers are those of read_file.',
      'a.lang (a line that p1 changes): add x',
      'a.lang:5: def add',
      'b.lang:2: call add sum',
    ].join('\n'),
  );
  assert.match(
    results[2] ?? '',
    /^Line 4 of a\.lang is changed by the pending preview p1, which language services do not see\./,
  );
  assert.deepEqual(services.asked[1], ['references', 'a.lang', { line: 2, character: 4 }]);
});

test('a rename builds on a pending preview if it leaves the lines alone, and is refused if not', async () => {
  const beside = await withPending('# new\ndef sum\n  add x\ndef add\n', FILES, [
    'rename_symbol',
    { path: 'a.lang', line: 2, name: 'sum', newName: 'total' },
  ]);
  assert.match(beside.results[0] ?? '', /Builds on the pending preview p1\./);
  assert.match(
    beside.results[0] ?? '',
    /VS Code did not see the pending p1: what these add may still have the old name\./,
  );
  const [change] = beside.t.store.get('p2')?.changes ?? [];
  assert.ok(change?.after && 'text' in change.after);
  assert.equal(change.after.text, '# new\ndef total\n  add x\ndef add\n');

  const same = await withPending('def sum # new\n  add x\ndef add\n', FILES, [
    'rename_symbol',
    { path: 'b.lang', name: 'sum', newName: 'total' },
  ]);
  assert.match(
    same.results[0] ?? '',
    /^The rename changes lines of a\.lang that the pending preview p1 changes, too\. Nothing was staged\./,
  );
  assert.equal(same.t.store.get('p2'), undefined);
});

test('a file that only a preview would create, and one that it would delete, are told apart from one that is not there', async () => {
  const ports = (read: (path: string) => Promise<Uint8Array | undefined>): SymbolPorts => ({
    services: () => Promise.resolve(new MemoryLanguageServices(t.workspace)),
    files: {
      read,
      encodingOf: path => t.workspace.encodingOf(path),
      placeOf: path => t.workspace.placeOf(path),
    },
    isAvailable: () => true,
  });
  const t = createTestSession({
    tools: [symbolsTool(ports(path => t.workspace.read(path)))],
    files: FILES,
    settings: { modelAuthority: 'none' },
    script: [
      {
        toolCalls: [
          { name: 'write_file', arguments: { path: 'new.lang', content: 'def x\n' } },
          { name: 'delete_file', arguments: { path: 'a.lang' } },
        ],
      },
      {
        toolCalls: [
          { name: 'symbols', arguments: { action: 'outline', path: 'new.lang' } },
          { name: 'symbols', arguments: { action: 'definition', path: 'a.lang', name: 'sum' } },
        ],
      },
      {},
    ],
  });
  await t.session.prompt('Go.');
  const [, , fresh, deleted] = t.results().map(({ content }) => content);
  assert.match(
    fresh ?? '',
    /^new\.lang is only there with the pending preview p1 applied, and language services see no/,
  );
  assert.match(deleted ?? '', /^There is no file a\.lang with the pending preview p2 applied\./);
});

test('plan mode offers symbols, which only reads; without a folder neither tool is there', () => {
  let isAvailable = true;
  const { services } = setUp();
  const ports: SymbolPorts = {
    services: () => Promise.resolve(services),
    files: {
      read: () => Promise.resolve(undefined),
      encodingOf: () => assert.fail(),
      placeOf: () => assert.fail(),
    },
    isAvailable: () => isAvailable,
  };
  const registry = new ToolRegistry();
  for (const tool of [symbolsTool(ports), renameSymbolTool(ports)]) registry.register(tool);
  const offered = (planMode: boolean): string[] =>
    callableTools(registry.createTools(), { planMode, authority: 'apply' }).map(({ name }) => name);
  assert.deepEqual(offered(true), ['symbols']);
  assert.deepEqual(offered(false), ['symbols', 'rename_symbol']);
  isAvailable = false;
  assert.deepEqual(offered(false), []);
});
