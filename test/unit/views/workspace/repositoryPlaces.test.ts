import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { PathError } from '../../../../src/agent/base/errors.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { Invoker } from '../../../../src/agent/hold/preview/resolve/invoker.ts';
import { create, modify } from '../../../support/changes.ts';
import { DiskWorkspace } from '../../../support/diskWorkspace.ts';
import { draft } from '../../../support/drafts.ts';
import { TempFolder } from '../../../support/tempFolder.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

const temp = await TempFolder.create();
after(() => temp.remove());
const home = await temp.folder('home');

/** Git as a user has it, but without settings of the machine. */
function git(cwd: string, ...args: string[]): string {
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, GIT_CONFIG_NOSYSTEM: '1' };
  const own = ['-c', 'user.name=T', '-c', 'user.email=t@example.com'];
  return execFileSync('git', [...own, ...args], { cwd, env, encoding: 'utf8', stdio: 'pipe' });
}

function put(folder: string, file: string, text: string): void {
  fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  fs.writeFileSync(path.join(folder, file), text);
}

/** A script that git may run. */
function putScript(folder: string, file: string): void {
  put(folder, file, '#!/bin/sh\n');
  fs.chmodSync(path.join(folder, file), 0o755);
}

/** What makes the program that git runs leave a mark. */
type Payload = (mark: string, old: string) => string;
const inConfig: Payload = (mark, old) => `${old}[core]\n\tfsmonitor = "touch '${mark}'; false"\n`;
const inScript: Payload = mark => `#!/bin/sh\ntouch '${mark}'\n`;

interface Layout {
  make(at: string): void;
  /** What the model changes or makes. */
  readonly file: string;
  readonly payload: Payload;
  /** Runs what is in the file, if it was written. */
  readonly run: readonly string[];
  /** Where git runs, relative to the workspace. */
  readonly in?: string;
  readonly expected: 'refused' | 'recommended';
}

function repository(at: string): void {
  git(at, 'init', '-q', '-b', 'main');
  put(at, 'a', 'a');
  git(at, 'add', 'a');
  git(at, 'commit', '-qm', 'x');
}

function bareWithWorktree(at: string): void {
  const source = `${at}-source`;
  fs.mkdirSync(source);
  repository(source);
  git(at, 'clone', '-q', '--bare', source, '.bare');
  put(at, '.git', 'gitdir: ./.bare\n');
  git(at, 'worktree', 'add', '-q', 'main');
}

/** A repository whose setting names a file of the workspace. */
const configured =
  (key: string, value: string, more: (at: string) => void = () => undefined) =>
  (at: string): void => {
    repository(at);
    git(at, 'config', key, value);
    more(at);
  };

const status = ['status'];
/** Filters each tracked file, also one that git takes for unchanged since its times are those of the index. */
const renormalize = ['add', '--renormalize', '.'];
const layouts: Readonly<Record<string, Layout>> = {
  'the configuration of a bare repository with worktrees': {
    make: bareWithWorktree,
    file: '.bare/config',
    payload: inConfig,
    run: status,
    in: 'main',
    expected: 'refused',
  },
  'a hook of a bare repository with worktrees': {
    make: at => {
      bareWithWorktree(at);
      putScript(at, '.bare/hooks/post-checkout');
    },
    file: '.bare/hooks/post-checkout',
    payload: inScript,
    in: 'main',
    expected: 'refused',
    run: ['checkout', '-q', '-B', 'other'],
  },
  'a hook in hooks that are a repository themselves': {
    make: at => {
      bareWithWorktree(at);
      git(path.join(at, '.bare/hooks'), 'init', '-q');
      putScript(at, '.bare/hooks/post-checkout');
    },
    file: '.bare/hooks/post-checkout',
    payload: inScript,
    in: 'main',
    expected: 'refused',
    run: ['checkout', '-q', '-B', 'other'],
  },
  'the configuration of a worktree': {
    make: at => {
      bareWithWorktree(at);
      git(at, 'config', 'core.bare', 'false');
      git(at, 'config', 'extensions.worktreeConfig', 'true');
    },
    file: '.bare/worktrees/main/config.worktree',
    payload: inConfig,
    run: status,
    in: 'main',
    expected: 'refused',
  },
  'the configuration in a separate git directory': {
    make: at => void git(at, 'init', '-q', '--separate-git-dir=store', '.'),
    file: 'store/config',
    payload: inConfig,
    run: status,
    expected: 'refused',
  },
  'the configuration in what .git links to': {
    make: at => {
      git(at, 'init', '-q');
      fs.mkdirSync(path.join(at, 'meta'));
      fs.renameSync(path.join(at, '.git'), path.join(at, 'meta/git'));
      fs.symlinkSync('meta/git', path.join(at, '.git'));
    },
    file: 'meta/git/config',
    payload: inConfig,
    run: status,
    expected: 'refused',
  },
  'the configuration of a repository inside, which is elsewhere': {
    make: at => {
      repository(at);
      for (const folder of ['lib', 'stores']) fs.mkdirSync(path.join(at, folder));
      git(path.join(at, 'lib'), 'init', '-q', '--separate-git-dir=../stores/lib', '.');
    },
    file: 'stores/lib/config',
    payload: inConfig,
    run: status,
    in: 'lib',
    expected: 'refused',
  },
  'the configuration in a common directory without HEAD': {
    make: at => {
      put(at, '.git', 'gitdir: admin\n');
      put(at, 'admin/HEAD', 'ref: refs/heads/main\n');
      put(at, 'admin/commondir', '../shared\n');
      fs.mkdirSync(path.join(at, 'shared/objects'), { recursive: true });
      fs.mkdirSync(path.join(at, 'shared/refs'));
    },
    file: 'shared/config',
    payload: inConfig,
    run: status,
    expected: 'recommended',
  },
  'a hook in core.hooksPath': {
    make: configured('core.hooksPath', 'tools/hooks', at => putScript(at, 'tools/hooks/pre-commit')),
    file: 'tools/hooks/pre-commit',
    payload: inScript,
    expected: 'recommended',
    run: ['commit', '-q', '--allow-empty', '-m', 'y'],
  },
  'a file that the configuration includes': {
    make: configured('include.path', '../gitconfig.local'),
    file: 'gitconfig.local',
    payload: inConfig,
    run: status,
    expected: 'recommended',
  },
  'a file that the configuration includes on a condition': {
    make: configured('includeIf.onbranch:main.path', '../work/extra'),
    file: 'work/extra',
    payload: inConfig,
    run: status,
    expected: 'recommended',
  },
  'a file that an included one includes': {
    make: configured('include.path', '../one', at => put(at, 'one', '[include]\n\tpath = sub/two\n')),
    file: 'sub/two',
    payload: inConfig,
    run: status,
    expected: 'recommended',
  },
  'a program that core.fsmonitor names': {
    make: configured('core.fsmonitor', 'tools/watch', at => putScript(at, 'tools/watch')),
    file: 'tools/watch',
    payload: inScript,
    run: status,
    expected: 'recommended',
  },
  'a program of a filter': {
    make: configured('filter.x.clean', 'sh tools/clean.sh %f', at => {
      put(at, '.gitattributes', '* filter=x\n');
    }),
    file: 'tools/clean.sh',
    payload: inScript,
    run: renormalize,
    expected: 'recommended',
  },
  'the attributes that core.attributesFile names': {
    make: at => {
      repository(at);
      git(at, 'config', 'filter.x.clean', `touch '${at}.mark'`);
      git(at, 'config', 'core.attributesFile', 'my attributes');
    },
    file: 'my attributes',
    payload: () => '* filter=x\n',
    run: renormalize,
    expected: 'recommended',
  },
  'a program of an alias': {
    make: configured('alias.t', '!f() { sh ./tools/t.sh "$@"; }; f'),
    file: 'tools/t.sh',
    payload: inScript,
    run: ['t'],
    expected: 'recommended',
  },
  'a program that an alias finds by the top of the working tree': {
    make: configured('alias.t', '!sh "$(git rev-parse --show-toplevel)/tools/t.sh"'),
    file: 'tools/t.sh',
    payload: inScript,
    run: ['t'],
    expected: 'recommended',
  },
  'a program that shows differences': {
    make: configured('diff.external', 'sh tools/diff.sh', at => put(at, 'a', 'other')),
    file: 'tools/diff.sh',
    payload: inScript,
    run: ['diff'],
    expected: 'recommended',
  },
  'the configuration of a bare repository that only tests use': {
    make: at => {
      repository(at);
      git(at, 'init', '-q', '--bare', 'fixtures/a');
    },
    file: 'fixtures/a/config',
    payload: (mark, old) => inConfig(mark, `${old}[core]\n\tbare = false\n\tworktree = .\n`),
    run: status,
    in: 'fixtures/a',
    expected: 'recommended',
  },
  'the HEAD that makes a folder a repository': {
    make: at => {
      for (const folder of ['objects', 'refs']) fs.mkdirSync(path.join(at, 'a', folder), { recursive: true });
      put(at, 'a/config', inConfig(`${at}.mark`, '[core]\n\trepositoryFormatVersion = 0\n\tworktree = .\n'));
    },
    file: 'a/HEAD',
    payload: () => 'ref: refs/heads/main\n',
    run: status,
    in: 'a',
    expected: 'recommended',
  },
  'the branch that makes a folder a repository': {
    make: at => {
      fs.mkdirSync(path.join(at, 'a/objects'), { recursive: true });
      put(at, 'a/HEAD', 'ref: refs/heads/main\n');
      put(at, 'a/config', inConfig(`${at}.mark`, '[core]\n\trepositoryFormatVersion = 0\n\tworktree = .\n'));
    },
    file: 'a/refs/heads/x',
    payload: () => 'x',
    run: status,
    in: 'a',
    expected: 'recommended',
  },
};

/** The outcome when the model makes the change in Auto. */
async function votes(
  at: string,
  file: string,
  text: string,
): Promise<'refused' | 'recommended' | 'executed'> {
  const workspace = new DiskWorkspace(at);
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const invoker = new Invoker(store, workspace, () => 'apply');
  const place = path.join(at, file);
  const old = fs.existsSync(place) ? fs.readFileSync(place, 'utf8') : null;
  const change = old === null ? create(file, text) : modify(file, old, text);
  // Also for what stages without asking where the path leads.
  const { id } = store.stage(draft({ changes: [change] })).preview;
  const { kind } = await invoker.resolve({ id, action: 'apply', reason: 'ok', actor: 'model' });
  if (kind === 'applied') return 'executed';
  assert.equal(kind, 'recommended');
  try {
    await workspace.resolvePath(file);
  } catch (error) {
    assert.ok(error instanceof PathError && error.code === 'protected');
    await assert.rejects(workspace.write(file, Buffer.from(text), null), error);
    return 'refused';
  }
  return 'recommended';
}

function runs(at: string, { run, in: cwd = '.' }: Layout): boolean {
  try {
    git(path.join(at, cwd), ...run);
  } catch {
    // A program that only leaves a mark may not be what git expects.
  }
  return fs.existsSync(`${at}.mark`);
}

for (const [n, [what, layout]] of Object.entries(layouts).entries()) {
  const { make, file, payload, expected } = layout;
  const made = async (name: string): Promise<[at: string, text: string]> => {
    const at = await temp.folder(`${n}-${name}`);
    make(at);
    const place = path.join(at, file);
    return [at, payload(`${at}.mark`, fs.existsSync(place) ? fs.readFileSync(place, 'utf8') : '')];
  };

  test(`git runs what is written into ${what}`, async () => {
    const [at, text] = await made('plain');
    assert.equal(runs(at, layout), false);
    put(at, file, text);
    assert.equal(runs(at, layout), true);
  });

  test(`Auto: the model's change of ${what} is ${expected}, and git does not run it`, async () => {
    const [at, text] = await made('redline');
    assert.equal(await votes(at, file, text), expected);
    assert.equal(runs(at, layout), false);
  });
}

/** What a workspace has, and ordinary files of it. */
const ordinary: Readonly<
  Record<string, readonly [make: (at: string) => void, folder: string, file: string]>
> = {
  'a worktree beside its bare repository': [bareWithWorktree, '', 'main/src/a.ts'],
  'a worktree inside its bare repository': [
    at => {
      repository(at);
      git(at, 'clone', '-q', '--bare', '.', 'p.git');
      git(path.join(at, 'p.git'), 'worktree', 'add', '-q', 'wt');
    },
    'p.git',
    'wt/src/a.ts',
  ],
  'a worktree that is open inside its bare repository': [
    at => {
      repository(at);
      git(at, 'clone', '-q', '--bare', '.', 'p.git');
      git(path.join(at, 'p.git'), 'worktree', 'add', '-q', 'wt');
    },
    'p.git/wt',
    'config/info/a.ts',
  ],
  'a working tree with names that git has, too': [repository, '', 'objects/refs/config'],
  'a folder that only an alias goes to': [configured('alias.t', '!cd src && make'), '', 'src/a.ts'],
  'a folder beside the hooks': [configured('core.hooksPath', 'tools/hooks'), '', 'tools/hooks2/a.sh'],
  'the name of a branch': [configured('init.defaultBranch', 'main'), '', 'main/a.ts'],
  'a repository without hooks': [configured('core.hooksPath', ''), '', 'src/a.ts'],
  'a folder head': [repository, '', 'src/head/config/a.ts'],
};

for (const [n, [what, [make, folder, file]]] of Object.entries(ordinary).entries())
  test(`Auto: the model's change of ${file} in ${what} is executed`, async () => {
    const at = await temp.folder(`ordinary-${n}`);
    make(at);
    assert.equal(await votes(path.join(at, folder), file, 'new'), 'executed');
  });

test('Auto: a change in a bare repository that is open itself is recommended', async () => {
  const at = await temp.folder('open');
  git(at, 'init', '-q', '--bare', '.');
  assert.equal(await votes(at, 'info/attributes', '* filter=x'), 'recommended');
});

test('Auto: pieces of a repository that does not exist yet wait as soon as it has a HEAD', async () => {
  const at = await temp.folder('pieces');
  assert.equal(await votes(at, 'a/config', 'x'), 'executed');
  assert.equal(await votes(at, 'a/HEAD', 'ref: refs/heads/main'), 'recommended');
  put(at, 'a/HEAD', 'ref: refs/heads/main');
  for (const piece of ['config', 'objects/x', 'refs/x', 'hooks/pre-commit', 'commondir'])
    assert.equal(await votes(at, `a/${piece}`, 'y'), 'recommended', piece);
});
