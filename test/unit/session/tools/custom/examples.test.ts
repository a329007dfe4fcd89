import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import ts from 'typescript';
import type { LoadedTools } from '../../../../../src/agent/session/tools/custom/loading/toolLoader.ts';
import { CustomToolWorld } from '../../../../support/customToolWorld.ts';
import { textIn } from '../../../../support/changes.ts';

const root = path.resolve(import.meta.dirname, '../../../../..');
const examples = path.join(root, 'examples/tools');
const read = (...parts: string[]): string => readFileSync(path.join(root, ...parts), 'utf8');

let world: CustomToolWorld;
before(async () => {
  world = await CustomToolWorld.create();
});
after(() => world.dispose());

const load = async (name: string): Promise<LoadedTools> => {
  const loaded = await world.loader.loadFile(path.join(examples, name), examples, world.folder.root);
  assert.deepEqual(loaded.owner.problems, []);
  return loaded;
};

test('the documentation page shows each of these files exactly, or names it', () => {
  const page = read('docs/custom-tools.md');
  const shown = [...page.matchAll(/```(?:ts|js)\n(.*?)```/gs)].map(([, code]) => code);
  const files = readdirSync(examples).filter(name => !name.endsWith('.d.ts'));
  const codes = files.map(name => read('examples/tools', name));
  assert.deepEqual([files.length, shown.length], [3, 1]);
  for (const code of shown) assert.ok(codes.includes(code ?? ''), code);
  const unseen = files.filter((name, i) => !shown.includes(codes[i]) && !page.includes(`\`${name}\``));
  assert.deepEqual(unseen, []);
});

test('sort_lines declares a change of exactly the file that it read', async () => {
  const harness = world.harness(await load('sort_lines.ts'), {
    'list.txt': 'b\nc\na\n',
    'done.txt': 'a\nb\n',
  });
  const { content } = await harness.run('sort_lines', { path: 'list.txt' });
  assert.match(content, /\nPrepared list\.txt with its 3 lines sorted\.$/);
  const [action] = harness.staged;
  assert.deepEqual([action?.label, action?.sourceToolName], ['Sort list.txt', 'sort_lines']);
  assert.equal(textIn(action?.changes?.[0]?.after), 'a\nb\nc\n');
  const missing = await harness.run('sort_lines', { path: 'none.txt' });
  assert.deepEqual(
    [missing.isError, missing.content],
    [true, 'There is no file none.txt. Choose one that exists.'],
  );
});

test('tag_release makes the tag in apply, not before', async () => {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: world.folder.root, encoding: 'utf8' });
  const harness = world.harness(await load('tag_release.js'));
  const none = await harness.run('tag_release', { version: '1.0.0' });
  assert.match(none.content, /^There is no commit to tag: /);
  git('init', '-q');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'First');
  assert.match(
    (await harness.run('tag_release', { version: '1.0' })).content,
    /^Invalid arguments for tag_release\. version: /,
  );
  const { content } = await harness.run('tag_release', { version: '1.0.0' });
  assert.match(content, /\nPrepared the tag v1\.0\.0 on [0-9a-f]+ First\.$/);
  assert.equal(git('tag'), '');
  const [action] = harness.staged;
  const result = await action?.apply?.('r');
  assert.match(result?.content[0]?.text ?? '', /^Tagged [0-9a-f]+ First as v1\.0\.0\.$/);
  assert.equal(git('tag').trim(), 'v1.0.0');
  await assert.rejects(async () => action?.apply?.('again'), /already exists/);
});

test('count_words reports progress and only reads', async () => {
  const loaded = await load('count_words.js');
  assert.equal(loaded.tools[0]?.tool.readOnly, true);
  const harness = world.harness(loaded, { a: 'one two', b: '' });
  assert.equal((await harness.run('count_words', { paths: ['a', 'b', 'c'] })).content, 'a: 2\nb: 0\nc: 0');
  assert.deepEqual(harness.updates, ['0 of 3 files', '1 of 3 files', '2 of 3 files']);
});

const TYPED = `import type { CustomToolFactory } from './redline.d.ts';
const result = { content: [{ type: 'text' as const, text: '' }] };
export const zod: CustomToolFactory = pi =>
  pi.defineTool({
    name: 'x', description: 'd',
    parameters: pi.zod.object({ s: pi.zod.string(), n: pi.zod.int().optional(), e: pi.zod.enum(['a', 'b']) }),
    execute: (_id, params, onUpdate, ctx, signal) => {
      const s: string = params.s; const n: number | undefined = params.n; const e: 'a' | 'b' = params.e;
      onUpdate(s + n + e + signal.aborted + ctx.cwd);
      // @ts-expect-error there is no such parameter
      params.missing;
      return result;
    },
  });
export const typebox: CustomToolFactory = ({ typebox: { Type }, defineTool, pushPendingAction }) =>
  defineTool({
    name: 'x', description: 'd',
    parameters: Type.Object({ list: Type.Array(Type.String()), b: Type.Optional(Type.Boolean()) }),
    execute: async (_id, { list, b }) => {
      const first: string | undefined = list[0]; const flag: boolean | undefined = b;
      pushPendingAction({ label: String(first) + flag, apply: () => result });
      // @ts-expect-error neither apply nor changes
      pushPendingAction({ label: 'x' });
      // @ts-expect-error both apply and changes
      pushPendingAction({ label: 'x', apply: () => result, changes: [] });
      return result;
    },
  });
export const plain: CustomToolFactory = async () => [
  { name: 'x', description: 'd', parameters: { type: 'object' }, execute: (_id, params) => (params.anything, result) },
];
// @ts-expect-error a tool needs a description
export const wrong: CustomToolFactory = () => ({ name: 'x', parameters: {}, execute: () => result });
`;

/** The compiler's errors in the examples and files beside them, of which `typed.ts` exists only in memory. */
function problemsIn(names: readonly string[], given: ts.CompilerOptions): unknown[] {
  const typed = path.join(examples, 'typed.ts');
  const options: ts.CompilerOptions = {
    noEmit: true,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
    types: [],
    ...given,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = file => path.resolve(file) === typed || fileExists.call(host, file);
  host.getSourceFile = (file, ...rest) =>
    path.resolve(file) === typed
      ? ts.createSourceFile(file, TYPED, ts.ScriptTarget.ESNext)
      : getSourceFile.call(host, file, ...rest);
  const program = ts.createProgram(
    names.map(name => path.join(examples, name)),
    options,
    host,
  );
  return program
    .getSourceFiles()
    .filter(({ fileName }) => path.resolve(fileName).startsWith(examples + path.sep))
    .flatMap(source => ts.getPreEmitDiagnostics(program, source))
    .map(({ messageText, start, file }) => [
      ts.flattenDiagnosticMessageText(messageText, '\n'),
      file?.text.slice(start, (start ?? 0) + 40),
    ]);
}

test('the type file compiles under strict settings and infers the types of parameters', () => {
  const options = { strict: true, target: ts.ScriptTarget.ESNext };
  assert.deepEqual(problemsIn(['typed.ts', 'sort_lines.ts'], options), []);
});

test('the example has no errors in an editor without a tsconfig, as in .redline/tools', () => {
  const editors: ts.CompilerOptions = {
    strict: false,
    strictNullChecks: true,
    strictFunctionTypes: true,
    target: ts.ScriptTarget.ES2022,
    allowJs: true,
    jsx: ts.JsxEmit.React,
  };
  assert.deepEqual(problemsIn(['sort_lines.ts'], editors), []);
});
