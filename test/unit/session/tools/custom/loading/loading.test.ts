import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { CustomToolWorld, toolSource } from '../../../../../support/customToolWorld.ts';

let world: CustomToolWorld;
/** For what never settles. */
let impatient: CustomToolWorld;
before(async () => {
  world = await CustomToolWorld.create();
  impatient = await CustomToolWorld.create({ timeoutMs: 300 });
});
after(() => Promise.all([world.dispose(), impatient.dispose()]));

const run = async (name: string, source: string): Promise<string> => {
  const loaded = await world.load(name, source);
  assert.deepEqual(loaded.owner.problems, []);
  return (await world.harness(loaded).run('t', {})).content;
};
const answering = (expression: string): string => toolSource('t', `return String(${expression});`);

test('TypeScript with enums and imports of types from nowhere', async () => {
  const source = `import type { A } from '@nowhere/a';
import { B } from '@nowhere/b';
enum Kind { One = 1 }
const kind: Kind | B | A = Kind.One;
${answering('kind')}`;
  assert.equal(await run('enum.ts', source), '1');
});

test('CommonJS, by module.exports and by exports.default, with require', async () => {
  const source = answering("require('node:path').sep + typeof __dirname");
  const exported = await run('cjs.cjs', source.replace('export default', 'module.exports ='));
  assert.match(exported, /^[\\/]string$/);
  assert.equal(await run('cjs.js', source.replace('export default', 'exports.default =')), exported);
});

test('ES modules with imports of packages, JSON and top-level await', async () => {
  await world.folder.file('data.json', '{"n": 7}');
  const imports = `import * as path from 'node:path';\nimport data from './data.json';\n`;
  assert.match(await run('esm.mjs', imports + answering('path.sep + data.n')), /^[\\/]7$/);
  const waiting = `const n = await Promise.resolve(8);\n${answering('n')}`;
  for (const name of ['tla.mjs', 'tla.ts', 'tla.js']) assert.equal(await run(name, waiting), '8');
});

for (const helper of ['helper.ts', 'helper.mjs', 'helper.js', 'helper.cjs']) {
  test(`a tool is loaded anew with its helper ${helper}, which files of a load share`, async () => {
    const exported = helper === 'helper.cjs' || helper === 'helper.js' ? 'exports.n =' : 'export const n =';
    const source = `import { n } from './lib/${helper}';\nimport { again } from './lib/again.ts';\n${answering("n + ' ' + again")}`;
    await world.folder.file('lib/again.ts', `import { n } from './${helper}'; export const again = n;`);
    const load = async (n: number): Promise<string> => {
      await world.folder.file(
        `lib/${helper}`,
        `globalThis.loads = (globalThis.loads ?? 0) + 1;\n${exported} ${n} + globalThis.loads;`,
      );
      const result = await run(`with-${helper}.ts`, source);
      delete (globalThis as { loads?: number }).loads;
      return result;
    };
    assert.equal(await load(10), '11 11');
    assert.equal(await load(20), '21 21');
  });
}

test('a factory may be async and return several tools', async () => {
  const source = `export default async pi => ['t', 'u'].map(name => ({
    name, description: 'For a test.', parameters: { type: 'object' }, hidden: name === 'u', readOnly: true,
    execute: () => ({ content: [{ type: 'text', text: name }] }),
  }));`;
  const loaded = await world.load('several.js', source);
  assert.deepEqual(
    loaded.tools.map(({ tool }) => [tool.name, tool.label, tool.hidden ?? false, tool.readOnly]),
    [
      ['t', 't', false, true],
      ['u', 'u', true, true],
    ],
  );
  assert.equal((await world.harness(loaded).run('u', {})).content, 'u');
});

/** What the tests tell of a problem. */
type Fault = Readonly<Record<string, unknown>> & { readonly kind: string };

const faulty: readonly [what: string, source: string, faults: readonly Fault[]][] = [
  ['no default export', 'export const a = 1;', [{ kind: 'noDefaultExport', at: '0:0' }]],
  ['an empty file', '', [{ kind: 'noDefaultExport', at: '0:0' }]],
  ['a default export that is no function', 'export default { name: 1 };', [{ kind: 'noFactory', at: '0:0' }]],
  [
    'a syntax error',
    'export default pi => {\n  const a = ;\n};',
    [{ kind: 'importFailed', message: 'ParseError: Unexpected token', at: '1:12' }],
  ],
  [
    'an import that throws',
    '\n\nthrow new Error("boom");',
    [{ kind: 'importFailed', message: 'boom', at: '2:0' }],
  ],
  [
    'an import of what is missing',
    "import { q } from './missing';\nexport default () => q();",
    [{ kind: 'importFailed', message: "Cannot find module './missing'", at: '0:18' }],
  ],
  [
    'something thrown that is no error',
    'throw "text";',
    [{ kind: 'importFailed', message: 'text', at: '0:0' }],
  ],
  [
    'process.exit at import',
    'const a = 1;\nprocess.exit(3);\nexport default () => a;',
    [{ kind: 'exitCalled', call: 'process.exit(3)', at: '1:0' }],
  ],
  [
    'a factory that throws',
    'export default pi => {\n  throw new TypeError("not so");\n};',
    [{ kind: 'factoryThrew', message: 'not so', at: '1:2' }],
  ],
  [
    'process.exit in the factory',
    'export default pi => {\n  process.exit();\n};',
    [{ kind: 'exitCalled', call: 'process.exit()', at: '1:2' }],
  ],
  [
    'an import that never settles',
    'await new Promise(() => {});',
    [{ kind: 'timedOut', seconds: 0.3, at: '0:0' }],
  ],
  [
    'a factory that never settles',
    'export default () => new Promise(() => {});',
    [{ kind: 'timedOut', seconds: 0.3, at: '0:0' }],
  ],
  [
    'a factory that stages outside of a session',
    'export default pi => pi.pushPendingAction({ label: "x", apply() {} });',
    [
      {
        kind: 'factoryThrew',
        message: 'Pending action store unavailable for custom tools in this runtime.',
        at: '0:0',
      },
    ],
  ],
];
for (const [what, source, faults] of faulty) {
  test(`${what} is a problem of the file, and a line in the log`, async () => {
    const file = `${what.replaceAll(/\W+/g, '-')}.ts`;
    const loading = faults.some(({ kind }) => kind === 'timedOut') ? impatient : world;
    const told = loading.problemsTold;
    assert.deepEqual(await loading.faults(file, source), faults);
    assert.equal(loading.problemsTold, told + 1);
    assert.ok(loading.logged.at(-1)?.startsWith(`error Custom tool ${loading.folder.at(file)}: `));
  });
}

const definition = "name: 't', description: 'd', parameters: pi.zod.object({}), execute() {}";
const invalid: readonly [what: string, tool: string, message: string][] = [
  ['nothing', 'undefined', 'it is not an object'],
  ['no name', "{ description: 'd' }", '`name` must be a string'],
  [
    'a name with a space',
    `{ ${definition}, name: 'a b' }`,
    '`name` must be 1 to 64 letters, digits, `_` and `-`',
  ],
  [
    'no description',
    `{ ${definition}, description: '' }`,
    '`description` must be a string: it tells the model when to use the tool',
  ],
  ['no execute', `{ ${definition}, execute: 1 }`, '`execute` must be a function'],
  [
    'no parameters',
    `{ ${definition}, parameters: undefined }`,
    '`parameters` must be a schema of pi.zod or pi.typebox, or JSON Schema',
  ],
  [
    'parameters of no object',
    `{ ${definition}, parameters: pi.zod.string() }`,
    '`parameters` must be the schema of an object',
  ],
  [
    'parameters of Zod 3',
    `{ ${definition}, parameters: { _def: { typeName: 'ZodObject' }, safeParse() {} } }`,
    '`parameters` is a schema of Zod 3; use pi.zod, which is Zod 4',
  ],
  [
    'parameters of TypeBox that are no object',
    `{ ${definition}, parameters: pi.typebox.Type.String() }`,
    '`parameters` must be the schema of an object',
  ],
];
for (const [what, tool, message] of invalid) {
  test(`a tool with ${what} is a problem by its index, and the others are there`, async () => {
    const source = `export default pi => [{ ${definition} }, ${tool}];`;
    const { owner, tools } = await world.load('invalid.js', source);
    assert.deepEqual(
      owner.problems.map(({ fault }) => fault),
      [{ kind: 'invalidTool', index: 1, message }],
    );
    assert.equal(tools.length, 1);
  });
}
