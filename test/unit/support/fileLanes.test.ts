import assert from 'node:assert/strict';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { runFiles } from '../../../scripts/stages/fileLanes.mjs';
import { TempFolder } from '../../support/tempFolder.ts';

const folder = await TempFolder.create();
after(() => folder.remove());

interface Ran {
  counts: { passed: number; failed: number; skipped: number; failures: string[] };
  output: string;
}

/** Runs files of these contents, in one lane if nothing else is said, the first one first. */
async function ran(
  contents: Readonly<Record<string, string>>,
  options: {
    first?: string[];
    alone?: string[];
    quiet?: number;
    grep?: string;
    lanes?: number;
    env?: Record<string, string>;
  } = {},
): Promise<Ran> {
  let output = '';
  const names = Object.keys(contents);
  const files = await Promise.all(
    Object.entries(contents).map(([name, body], index) =>
      // Longer files are run first.
      folder.file(
        name,
        `import { test } from 'node:test';\n${body}\n${'//\n'.repeat(200 * (names.length - index))}`,
      ),
    ),
  );
  const counts = await runFiles(files, {
    lanes: 1,
    ...options,
    first: files.filter(file => options.first?.includes(path.basename(file))),
    alone: files.filter(file => options.alone?.includes(path.basename(file))),
    write: text => (output += String(text)),
  });
  return { counts, output };
}

const passes = `test('passes', () => {});`;

test('a file that ends its process is a failure that is named, and loses no result of the others', async () => {
  const { counts, output } = await ran({
    'before.mjs': `${passes} test('fails', () => { throw new Error('in before'); });`,
    'exits.mjs': `${passes} test('is the end', async () => {
      await new Promise(resolve => setTimeout(resolve, 1));
      process.exit(0);
    });`,
    'after.mjs': passes,
  });
  assert.equal(counts.failed, 2, output);
  assert.ok(counts.passed >= 2, output);
  assert.match(output, /✖ \S*[\\/]exits\.mjs broke off in "is the end"/);
  const [fails, ends] = counts.failures;
  assert.match(fails ?? '', /before\.mjs: fails\nError: in before/);
  assert.match(ends ?? '', /exits\.mjs broke off/);
  assert.match(output, /✖ \S*[\\/]before\.mjs: fails\nError: in before/, 'what the report would have said');
});

test('a file that takes longer than its size tells begins before larger ones', async () => {
  const { output } = await ran(
    { 'large.mjs': `test('large', () => {});`, 'long.mjs': `test('long', () => {});` },
    { first: ['long.mjs'] },
  );
  assert.match(output, /✔ long [^]*✔ large /);
});

test('a file that hangs is ended and named, and so is what keeps a process from ending', async () => {
  const { counts, output } = await ran(
    {
      'hangs.mjs': `test('for ever', () => new Promise(resolve => setTimeout(resolve, 1e9)));`,
      'leaks.mjs': `${passes} setInterval(() => {}, 1e6);`,
    },
    { quiet: 3_000 },
  );
  assert.partialDeepStrictEqual(counts, { passed: 1, failed: 2, skipped: 0 }, output);
  assert.match(output, /✖ \S*[\\/]hangs\.mjs broke off in "for ever" \(SIGKILL\)/);
  assert.match(
    output,
    /✖ A process that ran tests, the last of them in \S*[\\/]leaks\.mjs, ended with SIGKILL/,
  );
});

test('a file without tests, one that cannot be loaded and one whose hook fails are failures', async () => {
  const { counts, output } = await ran({
    'empty.mjs': '',
    'broken.mjs': `throw new Error('cannot be loaded');`,
    'hook.mjs': `import { after } from 'node:test'; ${passes} after(() => { throw new Error('of the hook'); });`,
  });
  assert.deepEqual(counts.failed, 3, output);
  for (const text of [/✖ \S*[\\/]empty\.mjs has no tests/, /cannot be loaded/, /of the hook/])
    assert.match(output, text);
});

test('a file whose only suite is skipped is skipped, and no failure', async () => {
  const { counts, output } = await ran({
    'skipped.mjs': `import { suite } from 'node:test'; suite('elsewhere', { skip: true }, () => { ${passes} });`,
  });
  assert.partialDeepStrictEqual(counts, { passed: 0, failed: 0, skipped: 1 }, output);
});

test('files share a process and its modules, but for those that are to be alone; each gets the environment as it was', async () => {
  const says = `console.log(process.pid, process.env.CHANGED); process.env.CHANGED = 'yes'; ${passes}`;
  const { counts, output } = await ran(
    { 'one.mjs': says, 'alone.mjs': says, 'two.mjs': says },
    { alone: ['alone.mjs'] },
  );
  assert.partialDeepStrictEqual(counts, { passed: 3, failed: 0, skipped: 0 }, output);
  const lines = [...output.matchAll(/^(\d+) (\S+)$/gm)];
  assert.deepEqual(
    lines.map(([, , changed]) => changed),
    ['undefined', 'undefined', 'undefined'],
  );
  const [one, two, alone] = lines.map(([, pid]) => pid);
  assert.equal(one, two);
  assert.notEqual(alone, one);
});

test('a process that starts when the others have taken the last file is no failure', async () => {
  const waitsFor = (name: string, count = 1) => `
    const { readdirSync } = await import('node:fs');
    const turn = new Int32Array(new SharedArrayBuffer(4));
    while (readdirSync(process.env.MARKS).filter(name => name.startsWith('${name}')).length < ${count})
      Atomics.wait(turn, 0, 0, 5);`;
  const mark = (name: string) =>
    `(await import('node:fs')).writeFileSync(\`\${process.env.MARKS}/${name}-\${process.pid}\`, '');`;
  // The third process, which follows the first one, is held up until the second one runs the last file.
  const hook = await folder.file(
    'hook.mjs',
    `${mark('started')}\n${waitsFor('started', 1)}
    if (readdirSync(process.env.MARKS).filter(name => name.startsWith('started')).length > 2) { ${waitsFor('last')} }`,
  );
  const marks = path.dirname(await folder.file('marks/none', ''));
  const { counts, output } = await ran(
    {
      'alone.mjs': passes,
      'long.mjs': `test('until the third has started', async () => { ${waitsFor('started', 3)} });`,
      'last.mjs': `test('last', async () => { ${mark('last')} });`,
    },
    {
      alone: ['alone.mjs'],
      lanes: 2,
      env: { MARKS: marks, NODE_OPTIONS: `--import ${pathToFileURL(hook).href}` },
    },
  );
  assert.partialDeepStrictEqual(counts, { passed: 3, failed: 0, skipped: 0 }, output);
});

test('a pattern chooses tests by their names, or by the name of their file', async () => {
  const files = { 'one.mjs': `${passes} test('other', () => {});`, 'two.mjs': `test('third', () => {});` };
  assert.equal((await ran(files, { grep: 'other' })).counts.passed, 1);
  assert.equal((await ran(files, { grep: 'third' })).counts.passed, 1);
  assert.equal((await ran(files, { grep: 'one.mjs' })).counts.passed, 2);
});
