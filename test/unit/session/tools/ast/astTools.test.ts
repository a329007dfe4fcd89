import { fileIdOf } from '../../../../../src/agent/base/system/realPath.ts';
import { MemoryBlobs } from '../../../../../src/agent/hold/preview/blobs.ts';
import * as assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, describe, it } from 'node:test';
import * as z from 'zod/mini';
import { bytesOfSide, type TextSide } from '../../../../../src/agent/hold/preview/fileChange.ts';
import {
  defaultEncoding,
  loadEncodings,
  type TextEncoding,
} from '../../../../../src/agent/hold/text/encodings.ts';
import { PathError, ToolError } from '../../../../../src/agent/base/errors.ts';
import { english } from '../../../../../src/agent/base/localiser.ts';
import {
  resultText,
  type AgentToolResult,
  type PendingAction,
} from '../../../../../src/agent/hold/preview/pendingAction.ts';
import type { Preview } from '../../../../../src/agent/hold/preview/preview.ts';
import type { ShownPart } from '../../../../../src/agent/hold/preview/shownDiffs.ts';
import type { Workspace } from '../../../../../src/agent/hold/preview/workspace.ts';
import { astEditTool } from '../../../../../src/agent/session/tools/ast/astEdit.ts';
import { noLongerParses } from '../../../../../src/agent/hold/preview/reading/noLongerParses.ts';
import { astGrepTool } from '../../../../../src/agent/session/tools/ast/astGrep.ts';
import type { SearchFolder } from '../../../../../src/agent/session/tools/ast/scope/searchScope.ts';
import { folderWith, startEngine } from '../../../../support/astFolder.ts';
import { textIn } from '../../../../support/changes.ts';
import { previewWith } from '../../../../support/previewWith.ts';

const engine = startEngine();
const made: string[] = [];
after(() => {
  engine.dispose();
  for (const folder of made) fs.rmSync(folder, { recursive: true, force: true });
});

/** The tools on one folder on disk, or on several if `names` are given. */
function tools(
  files: Record<string, string>,
  {
    names = ['one'],
    dirty = {},
    typed = {},
    encoding = defaultEncoding,
  }: {
    names?: string[];
    dirty?: Record<string, string>;
    typed?: Record<string, string>;
    encoding?: TextEncoding;
  } = {},
) {
  const root = folderWith(files);
  made.push(root);
  const folders: SearchFolder[] = names.map(name => ({
    name,
    fsPath: names.length > 1 ? path.join(root, name) : root,
    exclude: [],
  }));
  const workspace = {
    resolvePath(input: string): Promise<string> {
      if (input.startsWith('..') || path.isAbsolute(input))
        throw new PathError('outside', `${input} is outside`);
      return Promise.resolve(input);
    },
    read: (file: string) => Promise.resolve(Buffer.from(dirty[file] ?? typed[file] ?? '')),
    placeOf: () => Promise.resolve({ missingFolders: [] }),
    encodingOf: () => Promise.resolve(encoding),
  } as unknown as Workspace;
  const withoutPending = {
    read: (file: string) => Promise.resolve(Buffer.from(typed[file] ?? '')),
    encodingOf: () => assert.fail(),
    placeOf: (file: string) => {
      const id = fileIdOf(fs.statSync(path.join(root, file), { bigint: true }));
      return Promise.resolve({ missingFolders: [], ...(id === undefined ? {} : { id }) });
    },
  };
  const scope = { folders: () => folders, unsaved: () => Object.keys(typed), ...withoutPending };
  const searcher = { engine, scope };
  const staged: PendingAction[] = [];
  const updates: string[] = [];
  const shown: number[] = [];
  const context = {
    signal: new AbortController().signal,
    toolCallId: 'call_1',
    workspace,
    stage(action: PendingAction): Preview {
      staged.push(action);
      return {} as Preview;
    },
    pending: {
      at: (file: string) => (Object.hasOwn(dirty, file) ? { previewId: 'p7', side: null } : undefined),
      paths: () => Object.keys(dirty),
      blobs: new MemoryBlobs(),
    },
    noteShown: (_: Preview, { from, end }: ShownPart) => void shown.push(from, end),
    followUp: () => assert.fail('nothing follows'),
    resolve: () => Promise.reject(new Error('not here')),
    revert: () => undefined,
    onUpdate: (progress: string) => void updates.push(progress),
  };
  const call = async (run: Promise<AgentToolResult>): Promise<string> => resultText(await run);
  return {
    root,
    staged,
    updates,
    shown,
    edit: (ops: unknown, paths: string[] = ['.']) =>
      call(astEditTool(searcher).execute({ ops, paths }, context)),
    grep: (pat: string, paths: string[] = ['.'], selector?: string) =>
      call(astGrepTool(searcher).execute({ pat, selector, paths }, context)),
  };
}

const log = [{ pat: 'console.log($$$A)', out: 'logger.info($$$A)' }];

describe('ast_edit', () => {
  it('names the preview by its only op, and has the files in the order in which people read them', async () => {
    const files = ['part10.ts', 'part2.ts', 'a/part1.ts'].map(name => [name, 'console.log(1)'] as const);
    const { edit, staged } = tools(Object.fromEntries(files));
    await edit(log);
    assert.equal(staged[0]?.title, 'console.log($$$A) → logger.info($$$A)');
    assert.deepEqual(
      staged[0].changes?.map(change => change.path),
      ['a/part1.ts', 'part2.ts', 'part10.ts'],
    );
  });

  it('stores what it brings in the encoding of the file', async () => {
    await loadEncodings(['windows1252']);
    const files = { 'a.js': 'log("a")', 'b.js': 'log("ä")' };
    const { edit, staged } = tools(files, { encoding: { name: 'windows1252', bom: false } });
    await edit([{ pat: 'log($A)', out: 'log("é", $A)' }]);
    const sides = staged[0]?.changes?.map(({ after }) => after as TextSide) ?? [];
    assert.deepEqual(
      sides.map(side => Buffer.from(bytesOfSide(side)).toString('hex')),
      [
        Buffer.from('log("é", "a")', 'latin1').toString('hex'),
        // It is in UTF-8, whatever the workspace says.
        Buffer.from('log("é", "ä")').toString('hex'),
      ],
    );
    assert.deepEqual(
      sides.map(({ encoding }) => encoding.name),
      ['windows1252', 'utf8'],
    );
    await assert.rejects(
      edit([{ pat: 'log($A)', out: 'log("中", $A)' }], ['a.js']),
      /stored in windows1252, which cannot represent "中"/,
    );
  });

  it('leaves a file of plain ASCII in the encoding of the workspace, for what is typed into the proposal later', async () => {
    await loadEncodings(['windows1252']);
    const { edit, staged } = tools({ 'a.js': 'log("a")' }, { encoding: { name: 'windows1252', bom: false } });
    await edit([{ pat: 'log($A)', out: 'warn($A)' }]);
    const [change] = staged[0]?.changes ?? assert.fail();
    assert.deepEqual(
      [change?.before, change?.after].map(side => (side as TextSide).encoding.name),
      ['windows1252', 'windows1252'],
    );
  });

  it('finds what a preview adds to a folder with brackets in its name', async () => {
    const files = { 'app/[id]/a.ts': 'log(1)', 'app/i/b.ts': 'log(2)' };
    const { grep } = tools(files, { dirty: { 'app/[id]/new.ts': 'log(3)' } });
    for (const paths of [['app/[id]'], ['app/[id]/*.ts']]) {
      const found = await grep('log($A)', paths);
      assert.match(found, /app\/\[id\]\/a\.ts/, paths[0]);
      assert.match(found, /app\/\[id\]\/new\.ts/, paths[0]);
    }
  });

  it('stages the exact changes under a label that counts them, and shows both sides', async () => {
    const { edit, staged, updates } = tools({
      'a.ts': 'start()\nconsole.log(1)\n  console.log("b",\n    2)\n',
      'b/c.ts': 'console.log()',
    });
    const text = await edit(log);
    const [action] = staged;
    assert.equal(action?.label, 'AST Edit: 3 replacements in 2 files');
    assert.equal(action.sourceToolName, 'ast_edit');
    assert.deepEqual(
      action.changes?.map(change => [change.kind, change.path, textIn(change.before), textIn(change.after)]),
      [
        [
          'modify',
          'a.ts',
          'start()\nconsole.log(1)\n  console.log("b",\n    2)\n',
          'start()\nlogger.info(1)\n  logger.info("b",\n    2)\n',
        ],
        ['modify', 'b/c.ts', 'console.log()', 'logger.info()'],
      ],
    );
    assert.equal(
      text,
      [
        'AST Edit: 3 replacements in 2 files',
        '',
        'a.ts (2 replacements)',
        '-2:console.log(1)',
        '+2:logger.info(1)',
        '-3:  console.log("b",',
        '-4:    2)',
        '+3:  logger.info("b",',
        '+4:    2)',
        '',
        'b/c.ts (1 replacement)',
        '-1:console.log()',
        '+1:logger.info()',
      ].join('\n'),
    );
    assert.match(updates.at(-1) ?? '', /^3 matches in 2 files/);
    const [, change] = action.changes ?? [];
    assert.deepEqual(change?.kind === 'modify' && change.edits, [
      { start: 0, end: 13, text: 'logger.info()' },
    ]);
  });

  it('sees what an editor has not saved of a file by its other names, too', async () => {
    const typed = { 'real/a.ts': 'typed();\nconsole.log(2)' };
    for (const [kind, name] of [
      ['link to its folder', 'linked/a.ts'],
      ['link to it', 'linked.ts'],
      ['hard link', 'second.ts'],
    ] as const) {
      const { root, edit, grep, staged } = tools({ 'real/a.ts': 'console.log(1)' }, { typed });
      const own = path.join(root, 'real', 'a.ts');
      if (kind === 'hard link') fs.linkSync(own, path.join(root, name));
      else if (kind === 'link to it') fs.symlinkSync(own, path.join(root, name));
      else fs.symlinkSync(path.dirname(own), path.join(root, 'linked'));
      await edit(log, [name]);
      const [change] = staged[0]?.changes ?? [];
      assert.deepEqual([change?.path, textIn(change?.before)], [name, typed['real/a.ts']], kind);
      assert.match(await grep('typed()', [name]), /1 match/, kind);
    }
  });

  it('requires at least one pattern and one path', () => {
    const scope = {
      folders: () => [],
      unsaved: () => [],
      read: () => assert.fail(),
      placeOf: () => assert.fail(),
      encodingOf: () => assert.fail(),
    };
    const { parameters } = astEditTool({ engine, scope });
    const accepts = (args: unknown): boolean => z.safeParse(parameters, args).success;
    assert.equal(accepts({ ops: log, paths: ['.'] }), true);
    assert.equal(accepts({ ops: [], paths: ['.'] }), false);
    assert.equal(accepts({ ops: log, paths: [] }), false);
    assert.equal(accepts({ ops: [{ pat: 'a' }], paths: ['.'] }), false);
  });

  it('uses the singular for one', async () => {
    const { edit, staged } = tools({ 'a.ts': 'console.log(1)' });
    await edit(log);
    assert.equal(staged[0]?.label, 'AST Edit: 1 replacement in 1 file');
  });

  it('gives the new line numbers after replacements with another number of lines', async () => {
    const { edit } = tools({ 'a.ts': 'f(1)\nx\nf(2)\n' });
    assert.match(await edit([{ pat: 'f($A)', out: 'g(\n  $A)' }]), /-3:f\(2\)\n\+4:g\(\n\+5: {2}2\)/);
  });

  it('counts lines as read_file does, whatever ends them', async () => {
    const { edit, grep } = tools({ 'a.ts': 'x();\ry();\rf(1);\r\nf(2);\n' });
    assert.match(await grep('f($A)'), /3:1: f\(1\)\n4:1: f\(2\)/);
    assert.match(
      await edit([{ pat: 'f($A)', out: 'g($A)' }]),
      /-3:f\(1\);\n\+3:g\(1\);\n-4:f\(2\);\n\+4:g\(2\);/,
    );
  });

  it('deletes with an empty rewrite', async () => {
    const { edit, staged } = tools({ 'a.ts': 'a\ndebugger\nb' });
    await edit([{ pat: 'debugger', out: '' }]);
    assert.equal(textIn(staged[0]?.changes?.[0]?.after), 'a\n\nb');
  });

  it('states what it does not show', async () => {
    const files: Record<string, string> = { 'a.ts': `console.log(1)\n`.repeat(25) };
    for (let i = 0; i < 60; i++) files[`d/${i}.ts`] = `console.log('${'x'.repeat(200)}')`;
    const text = await tools(files).edit(log);
    assert.match(text, /\[15 more in this file not shown\]/);
    assert.match(text, /\[21 more files not shown\]/);
    assert.ok(text.split('\n').every(line => line.length < 140));
  });

  it('counts as shown only what the report shows whole', async () => {
    for (const [line, out, isShown] of [
      ['f(1);\n', 'g($A)', true],
      ['f(1);\n'.repeat(11), 'g($A)', false],
      [`f(1, '${'x'.repeat(120)}');\n`, 'g()', false],
      ['f(1);\n', 'g(\n1,\n2,\n3)', false],
    ] as const) {
      const { edit, shown } = tools({ 'a.ts': line });
      await edit([{ pat: line.includes("'") ? 'f($A, $B)' : 'f($A)', out }]);
      assert.deepEqual(shown, isShown ? [0, Infinity] : [], line.slice(0, 20));
    }
  });

  it('names files with syntax errors, but no more than 20', async () => {
    const files: Record<string, string> = {};
    for (let i = 10; i < 35; i++) files[`f${i}.ts`] = 'console.log(1);\n}}} function (\n';
    const text = await tools(files).edit(log);
    assert.match(
      text,
      /The parser does not fully understand these files, .*f10\.ts, .*f29\.ts \[and 5 more\]/,
    );
  });

  it('speaks of matches inside other matches as what the tool does with them', async () => {
    const { edit, grep } = tools({ 'a.ts': 'f(f(1))' });
    assert.match(
      await edit([{ pat: 'f($A)', out: 'g($A)' }]),
      /1 more match inside these matches: not replaced; call ast_edit again for them\./,
    );
    assert.match(await grep('f($A)'), /^2 matches in 1 file|1 more match inside these matches: not listed\./);
  });

  it('says in the result, the title and the details which files no longer parse', async () => {
    const { edit, staged } = tools({ 'a.ts': 'f(1)', 'b.ts': 'x', 'c.ts': 'f()' });
    assert.match(
      await edit([{ pat: 'f($$$A)', out: 'g($$$A' }]),
      /The parser no longer understands these files with the edits, though it did before: a\.ts, c\.ts\. Check the replacement/,
    );
    const [action] = staged;
    assert.ok(action && typeof action.title === 'function');
    assert.equal(action.title(english), 'f($$$A) → g($$$A · 2 files no longer parse');
    const preview = previewWith({ sourceToolName: 'ast_edit', details: action.details });
    assert.deepEqual(
      ['a.ts', 'b.ts', 'c.ts'].map(path => noLongerParses(preview, path)),
      [true, false, true],
    );
  });

  it('stages nothing if nothing matches, and says so', async () => {
    const { edit, staged } = tools({ 'a.ts': 'x' });
    assert.match(await edit(log), /^No match in 1 file\. Nothing was staged\./);
    assert.deepEqual(staged, []);
  });

  it('searches text that is not on disk yet, and names the preview', async () => {
    const { edit, staged } = tools({ 'a.ts': 'x' }, { dirty: { 'a.ts': 'console.log(9)' } });
    assert.match(
      await edit(log),
      /Some files are shown as they would be with these pending previews applied: p7\./,
    );
    assert.equal(textIn(staged[0]?.changes?.[0]?.before), 'console.log(9)');
  });

  it('knows the names of several folders', async () => {
    const files = {
      'one/a.ts': 'console.log(1)',
      'two/a.ts': 'console.log(2)',
      'two/b/c.ts': 'console.log(3)',
    };
    const paths = async (selected: string[]): Promise<(string | undefined)[]> => {
      const { edit, staged } = tools(files, { names: ['one', 'two'] });
      await edit(log, selected);
      return staged[0]?.changes?.map(change => change.path) ?? [];
    };
    assert.deepEqual(await paths(['.']), ['one/a.ts', 'two/a.ts', 'two/b/c.ts']);
    assert.deepEqual(await paths(['two']), ['two/a.ts', 'two/b/c.ts']);
    assert.deepEqual(await paths(['two/b']), ['two/b/c.ts']);
    assert.deepEqual(await paths(['*.ts']), ['one/a.ts', 'two/a.ts']);
    assert.deepEqual(await paths(['two/**/c.ts', 'one/a.ts']), ['one/a.ts', 'two/b/c.ts']);
  });

  const errors: [what: string, ops: { pat: string; out: string }[], paths: string[], text: RegExp][] = [
    ['an empty pattern', [{ pat: ' ', out: '' }], ['.'], /The pattern is empty/],
    [
      'a pattern that is given twice',
      [log[0] ?? { pat: '', out: '' }, { pat: 'console.log($$$A)', out: 'x' }],
      ['.'],
      /"console\.log\(\$\$\$A\)" is given twice/,
    ],
    [
      'a pattern that is no code',
      [{ pat: 'function (', out: '' }],
      ['.'],
      /cannot be parsed: as TypeScript, it does not parse/,
    ],
    [
      'a replacement with a variable that the pattern does not bind',
      [...log, { pat: 'foo($A)', out: 'bar($B)' }],
      ['.'],
      /^The replacement of ops\.1 uses \$B, but in TypeScript the pattern "foo\(\$A\)" binds \$A\. .*for a literal \$NAME write \$\$NAME\. Nothing was staged\.$/,
    ],
    [
      'paths without files',
      log,
      ['nowhere/**/*.ts', 'gone.ts'],
      /No file matches nowhere\/\*\*\/\*\.ts, gone\.ts/,
    ],
    [
      'files of an unknown language',
      log,
      ['notes.txt'],
      /Unknown language: structural search does not support \.txt\./,
    ],
    ['an empty path', log, [' '], /A path is empty/],
    ['a path that leads outside', log, ['../x'], /outside/],
    ['a glob that leads outside', log, ['src/../../**'], /contains "\.\."/],
    [
      'replacements that overlap',
      [...log, { pat: '1', out: '2' }],
      ['a.ts'],
      /^Two replacements overlap in a\.ts: that of ops\.0 \("console\.log\(\$\$\$A\)"\) at line 2 and that of ops\.1 \("1"\) at line 2\. Nothing was staged\. Leave one of them out and call ast_edit again for it/,
    ],
  ];
  for (const [what, ops, paths, expected] of errors) {
    it(`refuses ${what} before anything is staged`, async () => {
      const { edit, staged } = tools({ 'a.ts': '\nconsole.log(1)', 'notes.txt': 'console.log(1)' });
      await assert.rejects(edit(ops, paths), error => {
        assert.ok(error instanceof ToolError, String(error));
        assert.match(error.message, expected);
        return true;
      });
      assert.deepEqual(staged, []);
    });
  }
});

describe('ast_grep', () => {
  it('shows where a pattern matches', async () => {
    const text = await tools({ 'a.ts': 'f(1)\n  f(\n2)', 'b.ts': 'g()' }).grep('f($A)');
    assert.equal(text, '2 matches in 1 file\n\na.ts (2 matches)\n1:1: f(1)\n2:3: f(…');
  });

  it('finds a part of a pattern by its kind, and says what a pattern that matches nothing was read as', async () => {
    const parts: readonly (readonly [
      file: string,
      code: string,
      pat: string,
      kind: string,
      context: string,
      selector: string,
    ])[] = [
      ['a.ts', '({ k: 1 })', 'k: $V', 'labeled_statement', '({ k: $V })', 'pair'],
      ['a.ts', 'let x: Old<A>', 'Old<$T>', 'instantiation_expression', 'let x: Old<$T>', 'generic_type'],
      [
        'a.ts',
        'switch (x) { case 1: y() }',
        'case $X:',
        'labeled_statement',
        'switch (x) { case $X: $$$B }',
        'switch_case',
      ],
      [
        'a.ts',
        'class A { b = 1 }',
        '$F = $V',
        'assignment_expression',
        'class A { $F = $V }',
        'public_field_definition',
      ],
      ['a.tsx', '<a b={c} />', 'b={$X}', 'assignment_expression', '<a b={$X} />', 'jsx_attribute'],
    ];
    for (const [file, code, pat, kind, context, selector] of parts) {
      const { grep, edit, staged } = tools({ [file]: code });
      const language = file === 'a.ts' ? 'TypeScript' : 'Tsx';
      const nothing = await grep(pat);
      assert.ok(
        nothing.includes(`${JSON.stringify(pat)} matches nothing; it was read as ${kind} in ${language}.`),
        nothing,
      );
      assert.match(nothing, /give the code around it as pat and its kind as selector/);
      assert.match(await grep(context, ['.'], selector), /^1 match in 1 file/, context);
      await edit([{ pat: context, selector, out: 'x' }]);
      assert.equal(staged.length, 1);
    }
  });

  it('refuses a kind that a pattern does not have, and names those that it has', async () => {
    await assert.rejects(
      tools({ 'a.ts': 'x' }).grep('({ k: $V })', ['.'], 'property'),
      /as TypeScript, it has no node of the kind property, only program, .*pair, property_identifier/,
    );
  });

  it('names the patterns that match nothing beside those that match', async () => {
    const { edit } = tools({ 'a.ts': 'console.log(1)' });
    const text = await edit([...log, { pat: 'k: $V', out: '' }]);
    assert.match(text, /^AST Edit: 1 replacement in 1 file/);
    assert.match(text, /"k: \$V" matches nothing; it was read as labeled_statement in TypeScript\./);
    assert.doesNotMatch(text, /"console/);
  });

  it('says so when nothing matches', async () => {
    assert.match(await tools({ 'a.ts': 'x' }).grep('f($A)'), /^No match in 1 file/);
  });
});
