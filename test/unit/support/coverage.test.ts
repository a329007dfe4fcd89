import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { coverable } from '../../../scripts/coverage/coverable.mjs';
import { runCounts } from '../../../scripts/coverage/runCounts.mjs';

const root = await realpath(await mkdtemp(path.join(tmpdir(), 'redline-coverage-')));
after(() => rm(root, { recursive: true }));

/** The lines, branches and functions that did not run when Node ran the source once with each of these arguments. */
async function missed(
  name: string,
  source: string,
  args: readonly string[],
): Promise<Record<string, string[]>> {
  const file = path.join(root, `${name}.ts`);
  const folder = path.join(root, name);
  await writeFile(file, source);
  await mkdir(folder);
  const env = { ...process.env, NODE_V8_COVERAGE: folder, NODE_DISABLE_COMPILE_CACHE: '1' };
  for (const arg of args)
    await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', file, arg], {
      env,
    });
  await writeFile(path.join(folder, 'torn.json'), '{"result":[{');
  const { counts, unreadable } = runCounts(folder, new Map([[file, source]]));
  assert.deepEqual(unreadable, ['torn.json']);
  const ofFile = counts.get(file);
  assert.ok(ofFile);
  return Object.fromEntries(
    Object.entries(coverable(file, source)).map(([kind, all]) => [
      kind,
      all.filter(({ ran }) => !ran(ofFile)).map(({ line, what }) => `${line} ${what}`),
    ]),
  );
}

const source = `import * as os from 'node:os';
/** Of no use. */
interface Odd {
  readonly name: string;
}
const arg: string = process.argv[2] ?? os.EOL;
function never(
  odd: Odd,
): string {
  return odd.name;
}
if (arg === 'a') console.log(1);
if (arg !== 'c') console.log(2);
else {
  console.log(3);
}
const three = arg === 'b' ? 4 : 5;
switch (three) {
  case 4:
    break;
  case 5:
    console.log(6 || never({ name: '' }));
    break;
  default:
    console.log(7);
}
for (const _ of [] as number[]) console.log(8);
try {
  if (arg === 'b' && three === 4) throw new Error();
} catch {
  console.log(9);
}
`;

test('what no process ran is missed: lines of code, both ways of each choice, functions', async () => {
  assert.deepEqual(await missed('one', source, ['a']), {
    lines: [7, 8, 9, 10, 14, 15, 19, 20, 24, 25, 30, 31].map(line => `${line} line`),
    branches: [
      ...['6 ??', '12 if not', '14 else', '17 ?', '20 case', '22 ||', '25 case', '27 loop'],
      ...['29 if', '29 &&', '30 catch'],
    ],
    functions: ['7 function'],
  });
});

test('the processes add up', async () => {
  assert.deepEqual(await missed('three', source, ['a', 'b', 'c']), {
    lines: [7, 8, 9, 10, 24, 25].map(line => `${line} line`),
    branches: ['6 ??', '22 ||', '25 case', '27 loop'],
    functions: ['7 function'],
  });
});

test('a file that was never loaded is missed as a whole', async () => {
  assert.deepEqual(
    await missed('none', 'const a = process.argv.length > 2 ? 1 : 2;\nconsole.log(a);\n', []),
    {
      lines: ['1 line', '2 line'],
      branches: ['1 ?', '1 :'],
      functions: [],
    },
  );
});
