import { spawn } from 'node:child_process';
import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import * as path from 'node:path';
import type { Readable, Writable } from 'node:stream';

/** Where system programs are: not on the PATH of the user, who may have others. */
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/** A program of the system; `undefined` if it is not installed. */
export function systemTool(name: string): string | undefined {
  return SYSTEM_FOLDERS.map(folder => `${folder}/${name}`).find(existsSync);
}

/** A folder of the workspace in the view: an overlay of the real one, at its own path. */
export interface MountedFolder {
  /** Absolute, links followed. */
  readonly root: string;
  readonly upper: string;
  readonly work: string;
}

export interface NamespaceOptions {
  readonly folders: readonly MountedFolder[];
  /** Other paths of the folders, which lead to them: absolute. */
  readonly links: ReadonlyMap<string, string>;
  /** Absolute paths that are removed before the program starts. */
  readonly deleted: readonly string[];
  readonly cwd: string;
  readonly program: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

/** How a program in the namespaces ended. */
export interface NamespaceEnd {
  /** `undefined` if it was ended by {@link Namespace.stop}, or never started. */
  readonly exitCode: number | undefined;
  /** Leads to the root of the view, until it is released; `undefined` if the view could not be made. */
  readonly view: string | undefined;
}

/**
 * Runs in new user and mount namespaces. It mounts the overlays, whose lower trees may change between mounts with these options
 * (Documentation/filesystems/overlayfs.rst, “Changes to underlying filesystems”), starts bubblewrap, and keeps the mounts until
 * descriptor 3 is closed, also by the end of this program. Arguments: the number of folders, three paths for each, bubblewrap's.
 */
const ENTER = `
count=$1; shift
path=$PATH; PATH=${SYSTEM_FOLDERS.join(':')}
while [ "$count" -gt 0 ]; do
  mount -t overlay overlay -o "lowerdir=$1,upperdir=$2,workdir=$3,userxattr,index=off,xino=off" "$1" || exit 97
  shift 3; count=$((count - 1))
done
PATH=$path "$@" </dev/null 3>&- 4>&-
echo "$?" >&4
read -r _ <&3
`;

/** Runs in the view, where it can reach nothing outside. It removes what pending previews delete, and becomes the program. */
const BEGIN = `PATH=${SYSTEM_FOLDERS.join(':')} xargs -0 rm -rf -- <&5; exec "$@" 5<&- 6>&-`;

/** The ends of the pipes to a child, by descriptor. */
type Pipes = readonly [null, Readable, Readable, Writable, Readable, Writable, Readable];

/** A program that runs in namespaces of its own, where only the folders and the system's programs can be seen. */
export class Namespace {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles once the program has ended with all that it had started. */
  readonly ended: Promise<NamespaceEnd>;
  /** Settles once {@link release} was called and the view is gone. */
  readonly closed: Promise<void>;
  readonly #hold: Writable;
  #child: number | undefined;
  #isStopped = false;

  constructor(options: NamespaceOptions) {
    const unshare = systemTool('unshare') ?? 'unshare';
    const setpriv = systemTool('setpriv');
    const folders = options.folders.flatMap(({ root, upper, work }) => [root, upper, work]);
    const args = [
      ...['--user', '--map-root-user', '--mount', '--propagation', 'private', '--'],
      // When this program is killed, the script is too, and with it bubblewrap.
      ...(setpriv ? [setpriv, '--pdeathsig', 'KILL', '--'] : []),
      ...['/bin/sh', '-c', ENTER, 'redline-sandbox', String(options.folders.length), ...folders],
      ...[systemTool('bwrap') ?? 'bwrap', ...isolation(options), '--'],
      ...['/bin/sh', '-c', BEGIN, 'redline-sandbox', ...options.program],
    ];
    const child = spawn(unshare, args, {
      // The script must find its programs, and the command those of the user.
      env: options.environment,
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
    });
    const [, stdout, stderr, hold, status, deleted, info] = child.stdio as unknown as Pipes;
    this.stdout = stdout;
    this.stderr = stderr;
    this.#hold = hold;
    for (const stream of [hold, deleted]) stream.on('error', () => undefined);
    deleted.end(options.deleted.map(each => `${each}\0`).join(''));
    let told = '';
    info.setEncoding('utf8').on('data', (chunk: string) => {
      told += chunk;
      this.#child ??= Number(/"child-pid": (\d+)/.exec(told)?.[1] ?? Number.NaN) || undefined;
      if (this.#isStopped) this.#kill();
    });
    this.closed = new Promise(resolve => {
      child.once('error', () => resolve());
      child.once('close', () => resolve());
    });
    this.ended = new Promise((resolve, reject) => {
      let code = '';
      status.setEncoding('utf8').on('data', (chunk: string) => {
        code += chunk;
        if (!code.endsWith('\n')) return;
        const exitCode = this.#isStopped ? undefined : Number(code);
        resolve({ exitCode, view: `/proc/${child.pid ?? 0}/root` });
      });
      child.once('error', reject);
      child.once('close', () => resolve({ exitCode: undefined, view: undefined }));
    });
  }

  /** Ends the program with all that it has started. */
  stop(): void {
    this.#isStopped = true;
    this.#kill();
  }

  /** Lets go of the view. */
  async release(): Promise<void> {
    this.#hold.end();
    await this.closed;
  }

  #kill(): void {
    if (this.#child === undefined) return;
    try {
      // The first process of the pid namespace: the kernel ends all others with it.
      process.kill(this.#child, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}

/** What tools of the user's own may be installed in, below the home folder. Nothing else of it can be seen. */
const TOOL_ROOTS = [
  '.nvm',
  '.volta',
  '.fnm',
  '.local/share/fnm',
  '.asdf',
  '.local/share/mise',
  '.n',
  '.nodenv',
  '.bun',
  '.deno',
  '.cargo/bin',
  '.rustup',
  '.pyenv',
  '.rbenv',
  '.rvm',
  '.sdkman',
  '.jenv',
  '.goenv',
  'go/bin',
  'sdk',
  '.dotnet',
  '.local/bin',
  '.local/share/pnpm',
  '.yarn/bin',
  '.local/pipx',
  '.poetry',
  '.linuxbrew',
];

/**
 * The arguments of bubblewrap: a root of its own, in which only what is named exists. The folders and `/tmp` can be written,
 * system programs and tool roots on the PATH can be read; there is no network, no home, and no process or socket of the host.
 */
function isolation({ folders, links, cwd, environment }: NamespaceOptions): readonly string[] {
  const home = homedir();
  return [
    ...['--unshare-user', '--uid', String(process.getuid?.() ?? 0), '--gid', String(process.getgid?.() ?? 0)],
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--unshare-cgroup-try'],
    ...['--die-with-parent', '--new-session', '--info-fd', '6'],
    ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].flatMap(systemFolder),
    ...['--ro-bind', '/etc', '/etc', '--ro-bind-try', '/opt', '/opt', '--ro-bind-try', '/nix', '/nix'],
    // Root may read them otherwise.
    ...['/etc/shadow', '/etc/gshadow'].flatMap(file =>
      existsSync(file) ? ['--ro-bind', '/dev/null', file] : [],
    ),
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--tmpfs', '/var/tmp', '--tmpfs', home],
    ...toolRoots(environment['PATH'] ?? '', home).flatMap(root => ['--ro-bind-try', root, root]),
    ...folders.flatMap(({ root }) => ['--bind', root, root]),
    ...[...links].flatMap(([link, target]) => ['--symlink', target, link]),
    ...['--chdir', cwd],
  ];
}

/** A folder of the system, or the link that stands in its place. */
function systemFolder(folder: string): readonly string[] {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (!stat) return [];
  return stat.isSymbolicLink() ? ['--symlink', readlinkSync(folder), folder] : ['--ro-bind', folder, folder];
}

/** The roots of the user's tools: those well-known ones that the PATH leads into, and folders of the PATH outside the home folder. */
function toolRoots(searchPath: string, home: string): readonly string[] {
  const roots = new Set<string>();
  for (const folder of searchPath.split(':').filter(part => part.startsWith('/'))) {
    const real = existsSync(folder) ? realpathSync(folder) : folder;
    for (const each of [folder, real]) {
      const below = path.relative(home, each);
      // The home folder itself, and what it is in.
      if (/^(\.\.(\/|$))*$/.test(below)) continue;
      if (below.startsWith('..')) roots.add(each);
      else
        for (const root of TOOL_ROOTS)
          if (`${below}/`.startsWith(`${root}/`)) roots.add(path.join(home, root));
    }
  }
  return [...roots].filter(
    root =>
      existsSync(root) && !/^\/(usr|bin|sbin|lib\w*|etc|opt|nix|proc|dev|run|tmp|var\/tmp)?(\/|$)/.test(root),
  );
}
