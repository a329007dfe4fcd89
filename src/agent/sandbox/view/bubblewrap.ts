import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import * as path from 'node:path';
import { isInside } from '../../base/system/realPath.ts';
import { CACHES, isRoot, type Bind, type SystemFolders } from './systemFolders.ts';

/** A folder of the workspace in the view: an overlay of the real one, at its own path. */
export interface MountedFolder {
  /** Absolute, links followed. */
  readonly root: string;
  /**
   * Holds the trees `upper` and `work`, and `lower`: a link to the root, or a tree that stands for it. If it holds `real`, a link
   * to a folder, that folder is shown in the empty folder `lower`, even where another overlay covers it.
   */
  readonly state: string;
}

/** Rights that only a program in a terminal has: the terminal, the network, and folders outside the workspace. */
export interface TerminalAccess {
  /** Absolute paths that it may write. Those that do not exist are left out. */
  readonly writable: readonly string[];
  /** Absolute paths of programs and their settings that it may read, without the credentials that tools leave there. */
  readonly programs: readonly string[];
  /** Absolute paths that it may read besides, whatever they hold. */
  readonly readable: readonly string[];
  /** Folders that it may read at an absolute path in a mounted one; `state` holds `real` and `lower`, see {@link MountedFolder}. */
  readonly shown: readonly { readonly state: string; readonly at: string }[];
}

export interface NamespaceOptions {
  /** Holds {@link OWN_FOLDERS}. */
  readonly storage: string;
  readonly folders: readonly MountedFolder[];
  /** Other paths of the folders, which lead to them: absolute. */
  readonly links: ReadonlyMap<string, string>;
  /** Absolute paths that are removed before the program starts. */
  readonly deleted: readonly string[];
  readonly cwd: string;
  readonly program: readonly string[];
  /** The whole environment of the program. None of it reaches the programs that make the view, or decides which files are in it. */
  readonly environment: NodeJS.ProcessEnv;
  /** The PATH on which the user's tools are looked for. It never comes from the workspace. */
  readonly searchPath: string;
  /** Other paths that can be read. */
  readonly readable?: readonly Bind[];
  /** Set if the program has the terminal of this one. It is then not isolated: only its writes are kept apart. */
  readonly terminal?: TerminalAccess | undefined;
}

/** The arguments before and after bubblewrap's own that leave a terminal's signals to the program in the view. */
interface Deafness {
  /** Starts bubblewrap so that it ignores them: it would end, and take its program with it. */
  readonly before: readonly string[];
  /** Starts the program so that it hears them, since a program inherits ignored signals. */
  readonly after: readonly string[];
}

/** Both are empty where `env` cannot do that (GNU, before 8.31, and BusyBox). */
export function deafness(): Deafness {
  const hearing = '--default-signal=HUP,INT,QUIT,TERM';
  const env = '/usr/bin/env';
  if (spawnSync(env, [hearing, 'true']).status !== 0) return { before: [], after: [] };
  const run = ['/bin/sh', '-c', 'exec "$@"', 'redline-sandbox'];
  return {
    before: ['/bin/sh', '-c', 'trap "" HUP INT QUIT TERM; exec "$@"', 'redline-sandbox'],
    // The path of a program may have an equals sign, which would make it a variable.
    after: [env, hearing, ...run],
  };
}

/** Folders of a view that start empty. They are on disk, so that a command that fills them can be noticed and ended. */
export const OWN_FOLDERS = ['tmp', 'var-tmp', 'shm', 'home', CACHES] as const;

/** An ordinary user keeps their own id; root keeps its powers over files, users and its own processes, and no others. */
function identity(isTerminal: boolean): readonly string[] {
  if (!isRoot()) {
    const [user, group] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
    return ['--unshare-user', '--uid', String(user), '--gid', String(group)];
  }
  const kept = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID'];
  // Without it, root could make no user namespace, which the sandboxes of agents need.
  if (isTerminal) kept.push('SETFCAP');
  return ['--cap-drop', 'ALL', ...kept.flatMap(name => ['--cap-add', `CAP_${name}`])];
}

/**
 * The arguments of bubblewrap: a root of its own, in which only the named files exist. The folders and `/tmp` can be written,
 * system programs and tool roots on the PATH can be read; there is no network, no home, and no process or socket of the host.
 */
export function isolation(options: NamespaceOptions, system: SystemFolders): readonly string[] {
  const { storage, folders, links, cwd, terminal } = options;
  const home = homedir();
  const [tmp, varTmp, shm, ownHome] = OWN_FOLDERS.map(name => path.join(storage, name));
  const own = [tmp, '/tmp', varTmp, '/var/tmp', ownHome, home, shm, '/dev/shm'] as readonly string[];
  const readOnly = ([from, at]: readonly [string, string]): readonly string[] => ['--ro-bind', from, at];
  return [
    ...identity(terminal !== undefined),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(terminal ? [] : ['--unshare-net', '--new-session']),
    ...['--die-with-parent', '--seccomp', '7'],
    ...system.links.flatMap(([link, target]) => ['--symlink', target, link]),
    ...system.system.flatMap(readOnly),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...own.flatMap((at, n) => (n % 2 === 0 ? ['--bind', at, own[n + 1] ?? ''] : [])),
    ...system.tools.flatMap(readOnly),
    ...system.layered.flatMap(({ at, state }) => ['--bind', path.join(state, 'merged'), at]),
    ...(terminal?.programs ?? []).flatMap(at => ['--ro-bind-try', at, at]),
    ...system.hidden.flatMap(hide),
    ...(terminal?.readable ?? []).flatMap(at => ['--ro-bind-try', at, at]),
    ...(terminal?.writable ?? []).flatMap(at => ['--bind-try', at, at]),
    ...(terminal ? resolver().flatMap(at => ['--ro-bind-try', at, at]) : []),
    ...folders.flatMap(({ root }) => ['--bind', root, root]),
    ...(terminal?.shown ?? []).flatMap(({ state, at }) => ['--ro-bind', path.join(state, 'lower'), at]),
    ...folders.flatMap(({ root }) => gitFoldersOf(root)).flatMap(at => ['--ro-bind', at, at]),
    ...[...links].flatMap(([link, target]) => ['--symlink', target, link]),
    // Root could change settings of the kernel in /proc, but a terminal needs to write there to make other sandboxes. /dev and /
    // are in memory, which could be filled.
    ...[...(terminal ? [] : ['/proc']), '/dev', '/'].flatMap(at => ['--remount-ro', at]),
    ...['--chdir', cwd],
  ];
}

/** Covers a file or folder, so that the view does not show it. */
function hide(at: string): readonly string[] {
  return statSync(at).isDirectory() ? ['--tmpfs', at, '--remount-ro', at] : ['--ro-bind', '/dev/null', at];
}

/** The file that names the DNS servers, if it is not in `/etc`. */
function resolver(): readonly string[] {
  const file = '/etc/resolv.conf';
  const real = existsSync(file) ? realpathSync(file) : file;
  return real.startsWith('/etc/') ? [] : [real];
}

/**
 * The folders outside a worktree that git needs to work in it. Only those that name the worktree in turn: any file in a workspace
 * may claim to be one.
 * @param root absolute, links followed
 */
export function gitFoldersOf(root: string): readonly string[] {
  try {
    const file = path.join(root, '.git');
    if (!statSync(file).isFile()) return [];
    const own = realpathSync.native(path.resolve(root, lineOf(file).replace(/^gitdir: /, '')));
    const worktree = path.dirname(path.resolve(own, lineOf(path.join(own, 'gitdir'))));
    if (realpathSync.native(worktree) !== root) return [];
    const common = realpathSync.native(path.resolve(own, lineOf(path.join(own, 'commondir'))));
    const isRepository = statSync(path.join(common, 'objects')).isDirectory() && isInside(own, common);
    return isRepository && !isInside(root, common) ? [common] : [];
  } catch {
    return [];
  }
}

function lineOf(file: string): string {
  return readFileSync(file, 'utf8').trim();
}
