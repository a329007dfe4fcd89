import { spawn } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { callFilter } from './callFilter.ts';
import { gitFoldersOf } from './gitFolders.ts';

/** Where system programs are: not on the PATH of the user, who may have others. */
export const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/** A program of the system; `undefined` if it is not installed. */
export function systemTool(name: string): string | undefined {
  return SYSTEM_FOLDERS.map(folder => `${folder}/${name}`).find(existsSync);
}

/** A folder of the workspace in the view: an overlay of the real one, at its own path. */
export interface MountedFolder {
  /** Absolute, links followed. */
  readonly root: string;
  /** Holds `lower`, a link to the root, and the trees `upper` and `work`. */
  readonly state: string;
}

/** The folders of a view that are empty at its beginning. They are on disk, so that what fills them can be seen and ended. */
export const OWN_FOLDERS = ['tmp', 'var-tmp', 'shm', 'home', 'nothing'] as const;

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
  readonly environment: NodeJS.ProcessEnv;
}

/** How a program in the namespaces ended. */
export interface NamespaceEnd {
  /** `undefined` if it was ended by {@link Namespace.stop}, or never started. */
  readonly exitCode: number | undefined;
  /** Leads to the root of the view, until it is released; `undefined` if the view could not be made, and the program did not start. */
  readonly view: string | undefined;
}

/**
 * Runs in new user and mount namespaces. It mounts the overlays, whose lower trees may change between mounts with these options
 * (Documentation/filesystems/overlayfs.rst, “Changes to underlying filesystems”; “Volatile mount”, since what is written need not
 * outlive the machine: else each command would wait until the whole disk is written). Then it starts bubblewrap, and keeps the
 * mounts until descriptor 3 is closed, also by the end of this program; if that has ended already, nothing would tell it, so it
 * ends first. The names of the trees are relative, since a comma or a colon in a path would mean something else. Whoever may make
 * user namespaces could mount the control groups in one, and end what is outside: only as many are allowed as bubblewrap makes.
 * Arguments: this program, the number of namespaces, that of folders, two paths for each, bubblewrap's.
 */
const ENTER = `
path=$PATH; PATH=${SYSTEM_FOLDERS.join(':')}
[ "$PPID" = "$1" ] || exit 95
shift
echo "$1" >/proc/sys/user/max_user_namespaces || exit 96
count=$2; shift 2
while [ "$count" -gt 0 ]; do
  cd "$2" && mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work,userxattr,index=off,xino=off,volatile "$1" || exit 97
  shift 2; count=$((count - 1))
done
cd /
PATH=$path "$@" </dev/null 3>&-
echo "$?" >&4
read -r _ <&3
`;

/** Waits in a new user namespace until its users are mapped, and gets the powers of root there by starting a program. */
const MAPPED = 'echo mapped >&4; read -r _ <&3; exec "$@"';

/** Runs in the view, where it can reach nothing outside. It removes what pending previews delete, tells that, and becomes the program. */
const BEGIN = `PATH=${SYSTEM_FOLDERS.join(':')} xargs -0 rm -rf -- <&5; echo began >&4; exec "$@" 4>&- 5<&- 6>&- 7<&-`;

/** The ends of the pipes to a child, by descriptor. */
type Pipes = readonly [null, Readable, Readable, Writable, Readable, Writable, Readable, Writable];

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
    const folders = options.folders.flatMap(({ root, state }) => [root, state]);
    // Bubblewrap makes a second one to give an ordinary user back its id, and none for root.
    const most = isRoot() ? 0 : 2;
    const mount = ['--mount', '--propagation', 'private', '--'];
    const args = [
      ...(isRoot()
        ? ['--user', '--', '/bin/sh', '-c', MAPPED, 'redline-sandbox', unshare, ...mount]
        : ['--user', '--map-root-user', ...mount]),
      // When this program is killed, the script is too, and with it bubblewrap.
      ...[systemTool('setpriv') ?? 'setpriv', '--pdeathsig', 'KILL', '--'],
      ...[
        '/bin/sh',
        '-c',
        ENTER,
        'redline-sandbox',
        String(process.pid),
        String(most),
        String(options.folders.length),
        ...folders,
      ],
      ...[systemTool('bwrap') ?? 'bwrap', ...isolation(options), '--'],
      ...['/bin/sh', '-c', BEGIN, 'redline-sandbox', ...options.program],
    ];
    const child = spawn(unshare, args, {
      // The script must find its programs, and the command those of the user.
      env: options.environment,
      cwd: '/',
      detached: true,
      stdio: ['ignore', ...Array.from({ length: 7 }, () => 'pipe' as const)],
    });
    const [, stdout, stderr, hold, status, deleted, info, filter] = child.stdio as unknown as Pipes;
    this.stdout = stdout;
    this.stderr = stderr;
    this.#hold = hold;
    for (const stream of [hold, deleted, filter]) stream.on('error', () => undefined);
    deleted.end(options.deleted.map(each => `${each}\0`).join(''));
    filter.end(callFilter());
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
      let hasBegun = false;
      createInterface(status).on('line', line => {
        if (line === 'mapped')
          try {
            mapUsers(child.pid);
            hold.write('\n');
          } catch (error) {
            child.kill('SIGKILL');
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        else if (line === 'began') hasBegun = true;
        else
          resolve({
            exitCode: this.#isStopped ? undefined : Number(line),
            view: hasBegun ? `/proc/${child.pid ?? 0}/root` : undefined,
          });
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

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Gives a user namespace that root has made all users and groups: files that belong to others stay theirs, and can be changed. */
function mapUsers(pid: number | undefined): void {
  for (const file of ['uid_map', 'gid_map']) {
    const here = readFileSync(`/proc/self/${file}`, 'utf8').trim().split('\n');
    const ranges = here
      .map(line => line.trim().split(/\s+/))
      .map(([from = '', , count = '']) => [from, from, count]);
    writeFileSync(`/proc/${pid}/${file}`, `${ranges.map(range => range.join(' ')).join('\n')}\n`);
  }
}

/** An ordinary user is itself; root keeps its powers over files, users and its own processes, and no others. */
function identity(): readonly string[] {
  if (!isRoot()) {
    const [user, group] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
    return ['--unshare-user', '--uid', String(user), '--gid', String(group)];
  }
  const kept = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID'];
  return ['--cap-drop', 'ALL', ...kept.flatMap(name => ['--cap-add', `CAP_${name}`])];
}

/**
 * The arguments of bubblewrap: a root of its own, in which only what is named exists. The folders and `/tmp` can be written,
 * system programs and tool roots on the PATH can be read; there is no network, no home, and no process or socket of the host.
 */
function isolation({ storage, folders, links, cwd, environment }: NamespaceOptions): readonly string[] {
  const home = homedir();
  const [tmp, varTmp, shm, ownHome, nothing] = OWN_FOLDERS.map(name => path.join(storage, name));
  const own = [tmp, '/tmp', varTmp, '/var/tmp', ownHome, home, shm, '/dev/shm'] as readonly string[];
  return [
    ...identity(),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--unshare-cgroup-try'],
    ...['--die-with-parent', '--new-session', '--info-fd', '6', '--seccomp', '7'],
    ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].flatMap(systemFolder),
    // Not all of /nix, where the socket of its daemon is.
    ...['--ro-bind', '/etc', '/etc', ...['/opt', '/nix/store'].flatMap(at => ['--ro-bind-try', at, at])],
    ...privateFiles().flatMap(({ at, isFolder }) => [
      '--ro-bind',
      isFolder ? (nothing ?? '') : '/dev/null',
      at,
    ]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...own.flatMap((at, n) => (n % 2 === 0 ? ['--bind', at, own[n + 1] ?? ''] : [])),
    ...toolRoots(environment['PATH'] ?? '', home).flatMap(root => ['--ro-bind-try', root, root]),
    ...folders.flatMap(({ root }) => ['--bind', root, root]),
    ...folders.flatMap(({ root }) => gitFoldersOf(root)).flatMap(at => ['--ro-bind', at, at]),
    ...[...links].flatMap(([link, target]) => ['--symlink', target, link]),
    // What root owns in /proc are settings of the kernel; the others are in memory, which could be filled.
    ...['/proc', '/dev', '/'].flatMap(at => ['--remount-ro', at]),
    ...['--chdir', cwd],
  ];
}

/** How deep in `/etc` is looked for what only some may read. */
const PRIVATE_DEPTH = 3;
let foundPrivate: readonly { readonly at: string; readonly isFolder: boolean }[] | undefined;

/** What not everyone may read in `/etc`, such as passwords and keys: root could, in the view too. */
function privateFiles(): NonNullable<typeof foundPrivate> {
  const find = (folder: string, depth: number): NonNullable<typeof foundPrivate> =>
    readdirSync(folder).flatMap(name => {
      const at = `${folder}/${name}`;
      const stat = lstatSync(at, { throwIfNoEntry: false });
      const isFolder = stat?.isDirectory() === true;
      if (!stat || (!isFolder && !stat.isFile())) return [];
      const everyone = isFolder ? 0o005 : 0o004;
      if ((stat.mode & everyone) !== everyone) return [{ at, isFolder }];
      return isFolder && depth > 1 ? find(at, depth - 1) : [];
    });
  return (foundPrivate ??= isRoot() ? find('/etc', PRIVATE_DEPTH) : []);
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
