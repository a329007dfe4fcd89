import { suite, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { homedir } from 'node:os';
import * as path from 'node:path';
import type { FolderRoot } from '../../../../src/agent/hold/preview/workspace.ts';
import { programOnPath } from '../../../../src/agent/base/system/searchPath.ts';
import { isRoot } from '../../../../src/agent/sandbox/view/systemFolders.ts';
import { enginesHere, SandboxWorld, type Ran } from '../../../support/sandboxWorld.ts';

const isOverlay = (await enginesHere()).includes('overlay');

/** A sandbox with a home folder of its own that holds these files; programs begin with `#!`. */
async function withHome(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  {
    onPath = [],
    readable = [],
  }: { readonly onPath?: readonly string[]; readonly readable?: readonly string[] } = {},
): Promise<{ readonly world: SandboxWorld; readonly home: string; run(command: string): Promise<Ran> }> {
  let home = '';
  const world = await SandboxWorld.create(
    'overlay',
    { 'a.txt': 'a' },
    { readable: () => readable.map(each => path.join(home, each)) },
  );
  home = world.temp.at('home');
  const old = { HOME: process.env['HOME'], PATH: process.env['PATH'] };
  t.after(async () => {
    Object.assign(process.env, old);
    await world.remove();
  });
  for (const [name, text] of Object.entries(files)) {
    const at = path.join(home, name);
    fs.mkdirSync(path.dirname(at), { recursive: true });
    fs.writeFileSync(at, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  }
  fs.chmodSync(home, 0o755);
  const added = onPath.map(each => path.join(home, each));
  Object.assign(process.env, { HOME: home, PATH: [...added, '/usr/bin', '/bin'].join(':') });
  return { world, home, run: command => world.run(command) };
}

suite(
  'what tools of the home folder need is in the sandbox, without credentials',
  { skip: !isOverlay },
  () => {
    const SECRET = 'SECRET';
    const HOME = {
      '.rustup/toolchains/stable/bin/cargo': '#!/bin/sh\necho cargo runs',
      '.cargo/bin/cargo': '#!/bin/sh\nexec "$HOME/.rustup/toolchains/stable/bin/cargo"',
      '.cargo/registry/cache/crate': 'crate',
      '.cargo/git/db/one/HEAD': 'head',
      '.cargo/git/db/one/FETCH_HEAD': SECRET,
      '.cargo/credentials.toml': SECRET,
      '.cargo/config.toml': SECRET,
      'go/bin/go': '#!/bin/sh\ncat "$HOME/go/pkg/mod/one/go.mod"',
      'go/pkg/mod/one/go.mod': 'go runs\n',
      'go/pkg/mod/cache/vcs/one/config': SECRET,
      '.config/go/env': SECRET,
      'jdk/java':
        '#!/bin/sh\ncat "$HOME/.m2/repository/one.pom" "$GRADLE_RO_DEP_CACHE/modules-2/files-2.1/one"',
      '.m2/repository/one.pom': 'java runs\n',
      '.m2/settings.xml': SECRET,
      '.m2/settings-security.xml': SECRET,
      '.gradle/gradle.properties': SECRET,
      '.gradle/caches/modules-2/files-2.1/one': 'gradle finds',
      '.gradle/caches/modules-2/modules-2.lock': 'locked',
      '.gradle/wrapper/dists/gradle-8/x1/gradle-8.zip.ok': '',
      '.gradle/wrapper/dists/gradle-8/x1/gradle-8.zip.lck': '',
      '.gradle/wrapper/dists/gradle-8/x1/gradle-8/bin/gradle': '#!/bin/sh\necho gradle runs',
      '.dotnet/dotnet': '#!/bin/sh\ncat "$HOME/.nuget/packages/one"',
      '.dotnet/corefx/cryptography/key': SECRET,
      '.nuget/packages/one': 'dotnet runs',
      '.nuget/NuGet/NuGet.Config': SECRET,
      '.local/share/pipx/venvs/ruff/bin/ruff': '#!/bin/sh\necho ruff runs',
      '.local/share/pipx/venvs/ruff/pipx_metadata.json': SECRET,
      '.local/share/uv/python/cpython-3/bin/python3': '#!/bin/sh\necho python runs',
      '.local/share/uv/credentials/credentials.toml': SECRET,
      '.local/bin/uv':
        '#!/bin/sh\ncd ~/.cache/uv && cat .lock && echo new >.lock && mkdir archive-v0/two && cat archive-v0/one',
      '.cache/uv/.lock': 'old\n',
      '.cache/uv/archive-v0/one': 'uv runs\n',
      '.local/bin/pip3':
        '#!/bin/sh\ntouch ~/.cache/pip/http ~/.cache/pip/wheels/two && cat ~/.cache/pip/wheels/one',
      '.cache/pip/wheels/one': 'pip runs\n',
      '.cache/pip/http/one': SECRET,
      '.local/share/keyrings/login': SECRET,
      '.netrc': SECRET,
      '.npmrc': SECRET,
    };

    test('rustup, Cargo, Go, Maven, Gradle, NuGet, pipx and uv', async t => {
      const onPath = ['.cargo/bin', 'go/bin', 'jdk', '.dotnet', '.local/bin'];
      const { world, home, run } = await withHome(t, HOME, { onPath, readable: ['jdk'] });
      fs.mkdirSync(path.join(home, '.local/bin'), { recursive: true });
      fs.symlinkSync(
        path.join(home, '.local/share/pipx/venvs/ruff/bin/ruff'),
        path.join(home, '.local/bin/ruff'),
      );
      fs.mkdirSync(world.at('.venv/bin'), { recursive: true });
      fs.symlinkSync(
        path.join(home, '.local/share/uv/python/cpython-3/bin/python3'),
        world.at('.venv/bin/python'),
      );
      const programs = await run('for it in cargo go java dotnet ruff .venv/bin/python; do $it; echo; done');
      assert.deepEqual(programs.output.split('\n').filter(Boolean), [
        ...['cargo runs', 'go runs', 'java runs', 'gradle finds', 'dotnet runs', 'ruff runs', 'python runs'],
      ]);
      const wrapper = await run(
        'cd ~/.gradle/wrapper/dists/gradle-8/x1 && : >gradle-8.zip.lck && gradle-8/bin/gradle',
      );
      assert.equal(wrapper.output, 'gradle runs\n', 'a wrapper may lock, and runs what was installed');
      const seen = await run(
        'cat ~/.cargo/registry/cache/crate; find ~ -type f -exec cat {} +; find / -name "*.lock" -path "*modules-2*" 2>/dev/null',
      );
      assert.match(seen.output, /^crate/);
      assert.doesNotMatch(seen.output, /SECRET|modules-2\.lock/);
      const written = await run(
        'for at in .cargo/registry .rustup go/pkg/mod .m2/repository .nuget/packages; do touch ~/$at/new && echo wrote; done; touch ~/.cargo/.package-cache && echo locked',
      );
      assert.match(written.output, /^locked$/m);
      assert.doesNotMatch(written.output, /^wrote$/m);
    });

    test('uv and pip find their caches, and what they write there goes with the command', async t => {
      const { home, run } = await withHome(t, HOME, { onPath: ['.local/bin'] });
      for (let times = 0; times < 2; times++)
        assert.equal((await run('uv; pip3')).output, 'old\nuv runs\npip runs\n');
      assert.doesNotMatch((await run('grep -r SECRET ~/.cache; true')).output, /SECRET/);
      assert.deepEqual(fs.readdirSync(path.join(home, '.cache/pip/wheels')), ['one']);
      assert.equal(fs.readFileSync(path.join(home, '.cache/uv/.lock'), 'utf8'), 'old\n');
    });

    test('of a cache, a command of root reads only what everyone may', { skip: !isRoot() }, async t => {
      const { home, run } = await withHome(t, HOME, { onPath: ['.local/bin'] });
      fs.chmodSync(path.join(home, '.cache/uv/archive-v0/one'), 0o600);
      fs.mkdirSync(path.join(home, '.cache/uv/closed'));
      fs.writeFileSync(path.join(home, '.cache/uv/closed/file'), SECRET);
      fs.chmodSync(path.join(home, '.cache/uv/closed'), 0o700);
      const { output } = await run(
        'cd ~/.cache/uv; cat .lock; cat archive-v0/one closed/file 2>&1; chmod 644 archive-v0/one; cat archive-v0/one',
      );
      assert.match(output, /^old\n/);
      assert.doesNotMatch(output, /uv runs|SECRET/);
      fs.chmodSync(path.join(home, '.cache/uv'), 0o700);
      assert.equal((await run('ls -A ~/.cache')).output, 'pip\n');
    });

    test('tools that are not on the PATH, and what no tool needs, are not there', async t => {
      const { run } = await withHome(t, HOME);
      const shown = (await run('cd ~ && find . -type f')).output;
      assert.doesNotMatch(shown, /cargo|dotnet|nuget|pipx|SECRET|settings/);
      assert.doesNotMatch((await run('cat ~/jdk/java; exit 1')).output, /bin\/sh/);
    });

    test('what the user allows can be read beside them, and never the home folder as a whole', async t => {
      const files = { 'data/model.bin': 'model', 'file.txt': 'text', other: SECRET };
      const { run } = await withHome(t, files, { readable: ['data', 'file.txt', 'missing', '.', '..'] });
      const { output } = await run(
        'cat ~/data/model.bin ~/file.txt; touch ~/data/new || echo refused; cat ~/other',
      );
      assert.match(output, /^modeltext/);
      assert.match(output, /refused/);
      assert.doesNotMatch(output, /SECRET/);
    });

    test('the real cargo of this machine builds with a crate of the registry', async t => {
      const rustup = path.join(homedir(), '.rustup/toolchains');
      const cargo = await programOnPath('cargo');
      if (!fs.existsSync(rustup) || cargo === undefined) return;
      const world = await SandboxWorld.create('overlay', {
        'Cargo.toml': '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n',
        'src/lib.rs': '#[test]\nfn holds() { assert_eq!(1, 1); }\n',
        '.gitignore': 'target/\nCargo.lock\n',
      });
      t.after(() => world.remove());
      const { output, exitCode } = await world.run('cargo test --offline --quiet 2>&1');
      assert.equal(exitCode, 0, output);
      assert.match(output, /1 passed/);
    });
  },
);

suite('a package that is opened without the repository that it is in', { skip: !isOverlay }, () => {
  async function open(
    t: TestContext,
    { home }: { readonly home?: 'top' } = {},
  ): Promise<(command: string) => Promise<Ran>> {
    let app = '';
    const world = await SandboxWorld.create(
      'overlay',
      {
        'package.json': '{ "private": true, "workspaces": ["packages/*"] }',
        'tsconfig.base.json': '{}',
        'notes.txt': 'SECRET',
        '.npmrc': 'SECRET',
        'packages/app/package.json': '{ "name": "app" }',
        'packages/other/file': 'SECRET',
      },
      { folders: () => [{ name: 'app', fsPath: app }] },
    );
    app = world.at('packages/app');
    const old = process.env['HOME'];
    t.after(async () => {
      process.env['HOME'] = old;
      await world.remove();
    });
    world.write({
      'node_modules/dep/index.js': 'console.log("found");',
      '.env': 'SECRET',
      '.git/credentials': 'SECRET',
    });
    world.git('remote', 'add', 'origin', 'https://me:SECRET@example.org/x');
    for (const name of ['http.extraHeader', 'credential.helper', 'core.sshCommand'])
      world.git('config', name, 'SECRET');
    fs.writeFileSync(world.at('packages/app/new.txt'), 'new');
    if (home) process.env['HOME'] = world.root;
    return command => world.run(command, { plan: { folder: app } });
  }

  test('has its installed packages, manifests and git, without credentials', async t => {
    const run = await open(t);
    const { output, exitCode } = await run(
      'node -e "require(\'dep\')" && git status --short . && git log --format=%s && ls -A ../.. && git remote && git config core.bare',
    );
    assert.equal(exitCode, 0, output);
    assert.deepEqual(output.split('\n').slice(0, -1), [
      ...['found', '?? new.txt', 'first', '.git', '.gitignore', 'node_modules', 'package.json', 'packages'],
      ...['tsconfig.base.json', 'origin', 'false'],
    ]);
    const { output: all } = await run(
      'find ../.. -type f -exec cat {} + 2>&1; ls ../other; touch ../../package.json ../../node_modules/x ../../.git/HEAD',
    );
    assert.doesNotMatch(all, /SECRET/);
    assert.equal(all.match(/Read-only file system/g)?.length, 3);
  });

  test('has nothing of it where the repository is the home folder', async t => {
    const { output } = await (
      await open(t, { home: 'top' })
    )('ls -A ../..; node -e "require(\'dep\')" 2>&1 | grep -c "Cannot find module"');
    assert.match(output, /^packages\n\d\n$/);
  });
});

suite('a package that is copied without the repository that it is in', () => {
  test('has its installed packages and manifests, each time as on disk', async t => {
    let app = '';
    const folders = (): readonly FolderRoot[] => [{ name: 'app', fsPath: app }];
    const files = {
      'package.json': '{}',
      'notes.txt': 'SECRET',
      'packages/app/text.js': 'old',
      'packages/other/file': 'SECRET',
    };
    const world = await SandboxWorld.create('copy', files, { folders });
    t.after(() => world.remove());
    app = world.at('packages/app');
    world.write({ 'node_modules/dep/index.js': 'module.exports = "found";' });
    for (const name of ['app', 'other'])
      fs.symlinkSync(`../packages/${name}`, world.at(`node_modules/${name}`));
    fs.symlinkSync(app, world.at('node_modules/absolute'));
    const run = (command: string): Promise<Ran> =>
      world.run(command, { plan: { folder: app }, pending: { 'text.js': 'pending' } });
    const first = await run(
      'exec 2>&1; node -p "require(\'dep\')"; cat ../../node_modules/a*/text.js; ls ../.. ../../node_modules/other/; rm -r ../../node_modules/dep; echo x > ../../node_modules/new; echo x > ../../package.json',
    );
    const lines = first.output.split('\n');
    assert.deepEqual(lines.slice(0, 2), [
      'found',
      "pendingpendingls: cannot access '../../node_modules/other/': No such file or directory",
    ]);
    assert.deepEqual(lines.slice(2, -1), ['../..:', 'node_modules', 'package.json', 'packages']);
    assert.deepEqual(first.changes, []);
    assert.deepEqual(first.notes, [
      `The command changed ${world.at('node_modules')} in the copy. The next command finds it as on disk.`,
    ]);
    world.write({ 'node_modules/dep/index.js': 'module.exports = "newer";' });
    const second = await run(
      'node -p "require(\'dep\')"; ls ../../node_modules; cat ../../package.json; rm -r ../../*',
    );
    assert.equal(second.output, 'newer\nabsolute\napp\ndep\nother\n{}');
    const third = await run('cat ../../node_modules/dep/index.js text.js');
    assert.match(third.output, /newer.*pending/);
    assert.equal(world.read('packages/app/text.js'), 'old');
  });

  test('has none of them where they are more than may be copied, and says so', async t => {
    let app = '';
    const world = await SandboxWorld.create(
      'copy',
      { 'packages/app/a': 'a' },
      {
        folders: () => [{ name: 'app', fsPath: app }],
        limits: () => ({ bytes: 1_000, files: 10 }),
      },
    );
    t.after(() => world.remove());
    app = world.at('packages/app');
    world.write({ 'node_modules/dep/index.js': '//'.repeat(1_000) });
    const { output, notes } = await world.run('cat a; ls ../..', { plan: { folder: app } });
    assert.equal(output, 'apackages\n');
    assert.match(notes.join(), /node_modules is not in the copy: it is more than the settings allow to copy/);
  });
});
