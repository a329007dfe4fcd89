import { suite, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { SandboxWorld } from '../../../support/sandboxWorld.ts';

const isUnix = process.platform !== 'win32';

suite('what a command leaves in a copy', { skip: !isUnix }, () => {
  async function open(t: TestContext): Promise<SandboxWorld> {
    const world = await SandboxWorld.create('copy', { 'a.txt': 'a', 'deep/x/z.txt': 'z' });
    t.after(() => world.remove());
    fs.mkdirSync(world.at('onDisk'));
    return world;
  }
  const LIST =
    'find . -path ./.git -prune -o -print | LC_ALL=C sort | od -c | grep -c . && find . -path ./.git -prune -o -print | LC_ALL=C sort';
  const entries = async (world: SandboxWorld): Promise<readonly string[]> =>
    (await world.run(LIST)).output.split('\n').slice(1, -1);

  test('folders, odd names and pipes do not stay, but what git ignores does', async t => {
    const world = await open(t);
    const before = await entries(world);
    const { changes, leftOut } = await world.run(
      [
        'mkdir -p e1/e2 deep/more out/empty; chmod 000 e1; mkfifo pipe deep/pipe out/pipe',
        `printf x >"$(printf 'bad\\377')"; mkdir "$(printf 'dir\\377')"; echo y >"$(printf 'dir\\377/in')"`,
        `mkdir "$(printf 'fold\\ner')"; echo 1 >"$(printf 'fold\\ner/f')"; echo o >"$(printf 'out/odd\\377')"`,
        'mv deep/x moved; echo kept >out/file',
      ].join('\n'),
    );
    assert.deepEqual(changes, ['deep/x/z.txt → moved/z.txt: z => z', 'fold\ner/f: ∅ => 1']);
    assert.deepEqual(leftOut.map(({ path: at }) => at).sort(), [
      'bad\ufffd',
      'deep/pipe',
      'dir\ufffd',
      'out/odd\ufffd',
      'pipe',
    ]);
    const after = (await world.run(LIST)).output;
    assert.deepEqual(
      after
        .split('\n')
        .slice(1, -1)
        .filter(each => !each.startsWith('./out')),
      before,
    );
    assert.equal(
      (
        await world.run('ls out | wc -l; cat out/file; ls -d out/empty; [ -e out/pipe ] || echo none')
      ).output.trim(),
      '3\nkept\nout/empty\nnone',
    );
    await (await world.sandboxes.of('s1'))?.reset();
    assert.deepEqual(await entries(world), before);
  });

  test('files with the path of the copy in them are told by name, with the path that it stands for', async t => {
    const world = await open(t);
    const { notes, output } = await world.run(
      'pwd >where.txt; ln -s "see $PWD/a.txt" link; echo fine >other; pwd',
    );
    assert.equal(output, `${world.root}\n`);
    assert.equal(notes.length, 1);
    assert.match(
      notes[0] ?? '',
      /^With the path of the copy in them, which leads nowhere later: link, where\.txt\. The copy is /,
    );
    assert.ok(notes[0]?.includes(`stands for ${world.root}.`));
    assert.ok(notes[0]?.includes(path.join('0', path.basename(world.root))));
  });
});
