import { test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { ignoredOf } from '../../../../src/agent/sandbox/view/ignored.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

/** The folder `app` in a repository with these rules, and a file in it that is tracked in spite of them. */
async function inRepository(rules: string): Promise<TempFolder> {
  const temp = await TempFolder.create();
  await temp.file('.gitignore', rules);
  await temp.file('app/tracked.ts');
  execFileSync('git', ['init', '-q'], { cwd: temp.root });
  execFileSync('git', ['add', '-f', 'app/tracked.ts'], { cwd: temp.root });
  return temp;
}

const PATHS = ['src/', 'src/a.ts', 'dist/', 'dist/a.js', 'tracked.ts', 'node_modules/', 'node_modules/x.js'];

const cases = {
  // Those that ignore the folder itself: as without git.
  '*': ['node_modules/', 'node_modules/x.js'],
  '/app/': ['node_modules/', 'node_modules/x.js'],
  'app/*': ['node_modules/', 'node_modules/x.js'],
  // Those that do not.
  'dist/': ['dist/', 'dist/a.js'],
  '/*\n!/app': [],
};

for (const [rules, ignored] of Object.entries(cases))
  test(`in a folder of a repository that ignores ${JSON.stringify(rules)}`, async t => {
    const temp = await inRepository(rules);
    t.after(() => temp.remove());
    assert.deepEqual([...(await ignoredOf(temp.at('app'), PATHS))].sort(), ignored);
  });

test('a repository that ignores everything but what it names is asked as it is', async t => {
  for (const rules of ['*\n!*.ts', '/*\n!/*.ts']) {
    const temp = await inRepository(rules);
    t.after(() => temp.remove());
    assert.deepEqual([...(await ignoredOf(temp.root, ['a.ts', 'a.js', 'dist/']))].sort(), ['a.js', 'dist/']);
  }
});

test('a repository in such a folder has its own rules', async t => {
  const temp = await inRepository('*');
  t.after(() => temp.remove());
  await temp.file('app/inner/.gitignore', 'out/\n');
  execFileSync('git', ['init', '-q'], { cwd: temp.at('app/inner') });
  const paths = ['new.ts', 'inner/', 'inner/a.ts', 'inner/out/', 'inner/out/a.js'];
  assert.deepEqual([...(await ignoredOf(temp.at('app'), paths))].sort(), ['inner/out/', 'inner/out/a.js']);
});

test('rules with exceptions say which files of a folder count, be it on disk or not', async t => {
  const rules = {
    '*\n!*/\n!*.c': ['new/a.o', 'there/a.o'],
    '/*\n!/new/\n!/there/': [],
    'new/*\n!new/a.c\nthere/*\n!there/a.c': ['new/a.o', 'there/a.o'],
    'new/**\n!new/**/\n!new/**/*.c': ['new/a.o'],
    '/*\n!*.c': ['new/', 'new/a.c', 'new/a.o', 'there/', 'there/a.c', 'there/a.o'],
    '*': ['new/', 'new/a.c', 'new/a.o', 'there/', 'there/a.c', 'there/a.o'],
    'new/*\nthere/*': ['new/', 'new/a.c', 'new/a.o', 'there/', 'there/a.c', 'there/a.o'],
  };
  for (const [text, ignored] of Object.entries(rules)) {
    const temp = await TempFolder.create();
    t.after(() => temp.remove());
    await temp.file('.gitignore', text);
    await temp.file('there/x');
    execFileSync('git', ['init', '-q'], { cwd: temp.root });
    const paths = ['new/', 'new/a.c', 'new/a.o', 'there/', 'there/a.c', 'there/a.o'];
    assert.deepEqual([...(await ignoredOf(temp.root, paths))].sort(), ignored, text);
  }
});

test('a folder whose own rules ignore all in it counts as a whole', async t => {
  const temp = await TempFolder.create();
  t.after(() => temp.remove());
  await temp.file('.venv/.gitignore', '*\n');
  execFileSync('git', ['init', '-q'], { cwd: temp.root });
  assert.deepEqual([...(await ignoredOf(temp.root, ['.venv/', 'src/']))], ['.venv/']);
});

test('odd names, and what is below a submodule that is not there, do not keep git from answering', async t => {
  const temp = await inRepository('dist/\n');
  t.after(() => temp.remove());
  const commit = '1'.repeat(40);
  execFileSync('git', ['update-index', '--add', '--cacheinfo', `160000,${commit},app/sub`], {
    cwd: temp.root,
  });
  execFileSync('git', ['update-index', '--add', '--cacheinfo', `160000,${commit},app/in/sub`], {
    cwd: temp.root,
  });
  const paths = [':(odd)', ':!odd', 'sub/', 'sub/a', 'sub/dist/', 'in/sub/a/b', 'dist/', 'src/'];
  assert.deepEqual([...(await ignoredOf(temp.at('app'), paths))], ['dist/']);
});

test('git is asked in the folder, whatever program VS Code was started from', async t => {
  const temp = await inRepository('app/*.ts\n');
  t.after(() => temp.remove());
  const variables = { GIT_DIR: '/nowhere', GIT_INDEX_FILE: '/nowhere', GIT_CEILING_DIRECTORIES: temp.root };
  t.after(() => Object.keys(variables).forEach(each => delete process.env[each]));
  Object.assign(process.env, variables);
  assert.deepEqual([...(await ignoredOf(temp.at('app'), ['tracked.ts', 'new.ts']))], ['new.ts']);
});

test('as many paths as git tracks, as after a folder of 50,000 files was moved, and those that it tracks in spite of a rule', async t => {
  const temp = await inRepository('*.log\n');
  t.after(() => temp.remove());
  const names = Array.from(
    { length: 50_000 },
    (_, n) => `old/d${n % 500}/f${n}.${n % 2 === 0 ? 'ts' : 'log'}`,
  );
  const entry = (name: string): string => `100644 ${'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'} 0\t${name}\n`;
  execFileSync('git', ['update-index', '--index-info'], { cwd: temp.root, input: names.map(entry).join('') });
  const moved = names.map(name => name.replace('old', 'new'));
  const ignored = await ignoredOf(temp.root, [...names, ...moved, 'old/', 'old/d1/', 'new/']);
  assert.equal(ignored.size, 25_000);
  assert.ok([...ignored].every(name => /^new\/.*\.log$/.test(name)));
});
