import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable, type Writable } from 'node:stream';
import { deafness, isolation, type NamespaceOptions } from './bubblewrap.ts';
import { callFilter } from './callFilter.ts';
import { endAll, firstIn, GONE_MS, kill, noteIn, passOn, type FirstProcess } from './firstProcess.ts';
import { isRoot, SystemFolders } from './systemFolders.ts';

/** Folders of system programs. The user's PATH is not used, since it may lead to others. */
export const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/** A program of the system; `undefined` if it is not installed. */
export function systemTool(name: string): string | undefined {
  return SYSTEM_FOLDERS.map(folder => `${folder}/${name}`).find(existsSync);
}

/** A stopped program has not ended, since a disk or a network does not answer. */
export class EndlessError extends Error {
  override readonly name = 'EndlessError';
}

/** How a program in the namespaces ended. */
export interface NamespaceEnd {
  /** `undefined` if it was ended by {@link Namespace.stop}, or never started. */
  readonly exitCode: number | undefined;
  /** Leads to the root of the view, until it is released; `undefined` if the view could not be made, and the program did not start. */
  readonly view: string | undefined;
  /** The errors of the programs that made the namespaces. */
  readonly errors?: string;
}

/**
 * Runs in new user and mount namespaces. It shows the folders that overlays will cover and mounts the overlays, whose lower trees
 * may change between mounts with these options (Documentation/filesystems/overlayfs.rst, “Changes to underlying filesystems”;
 * “Volatile mount” where what is written need not outlive the machine: else each command would wait until the whole disk is
 * written). If a layer over a part of the home folder cannot be mounted, its `merged` stays empty. Then it starts bubblewrap, and
 * keeps the mounts until descriptor 3 is closed, which also happens when this program ends. If this program ended before the
 * script began, the script would not notice, so it checks that first, and exits. The names of the trees are relative, since a
 * comma or a colon in a path would mean something else. A program that may make user namespaces could mount the control groups in
 * one, and end processes outside: only as many are allowed as bubblewrap makes. Arguments: this program, further options of the
 * overlays, the number of namespaces, that of folders, two paths for each, the command line that starts bubblewrap. Descriptor 4,
 * which no program in the view has, gets the errors of the programs between this script and that one, and then the exit code:
 * `unshare` complains after it was stopped.
 */
const ENTER = `
[ "$PPID" = "$1" ] || exit 95
more=$2; shift 2
echo "$1" >/proc/sys/user/max_user_namespaces || exit 96
count=$2; shift 2
(
  while [ "$count" -gt 0 ]; do
    cd "$2" && { [ ! -L real ] || mount --bind real lower; } || exit 97
    shift 2; count=$((count - 1))
  done
) || exit 97
layer() { mount -t overlay overlay -o "lowerdir=lower,upperdir=upper,workdir=work,userxattr,index=off,xino=off$more" "$1"; }
trap : INT QUIT TSTP HUP TERM
while [ "$count" -gt 0 ]; do
  cd "$2" && if [ -L real ] && [ ! -d upper ]; then :; elif [ -d merged ]; then layer "$1" 2>/dev/null || :; else layer "$1"; fi || exit 97
  shift 2; count=$((count - 1))
done
cd /
"$@" 3>&- 9>&2 2>&4 4>&-
echo "$?" >&4
exec 6>&-
read -r _ <&3
`;

/** How many user namespaces a program in a terminal may have: agents run commands in sandboxes of their own. */
const NESTED = 64;

/** Waits in a new user namespace until its users are mapped, and gets the powers of root there by starting a program. */
const MAPPED = 'echo mapped >&4; read -r _ <&3; exec "$@"';

/**
 * All variables of the programs that make the namespaces and mount the view, and run outside it. Those of the program in the view
 * come from settings that a workspace may bring: only bubblewrap gets them, on a descriptor, and sets them in the view.
 */
const CHAIN = { PATH: SYSTEM_FOLDERS.join(':'), LC_ALL: 'C' };

/** Variables that the shells of the chain add. */
const ADDED = ['LC_ALL', 'PWD', 'OLDPWD', 'SHLVL', '_'];

/**
 * Runs as the first process of a pid namespace around that of the program, which can neither see nor change it: bubblewrap's own
 * first process can be changed by ptrace, or starved. When this one ends, the kernel ends all others, and tells its parent only
 * once they are gone. It writes its line of `/proc` to a file and to descriptor 6, and becomes bubblewrap.
 */
const FIRST =
  'read -r own </proc/self/stat && echo "$own" >"$1" && echo "$own" >&6 || exit 95; shift; exec "$@" 2>&9 9>&-';

/**
 * Runs in the view, where it can reach nothing outside. It removes files that pending previews delete, reports that it began, and
 * becomes the program.
 */
const BEGIN = 'echo began >&6; exec "$@" 5<&- 6>&- 7<&- 8<&-';
const REMOVE = `/usr/bin/env -i PATH=${SYSTEM_FOLDERS.join(':')} xargs -0 rm -rf -- <&5; `;

/** The ends of the pipes to a child, by descriptor. */
type Pipes = readonly [
  null,
  Readable | null,
  Readable | null,
  Writable,
  Readable,
  Writable,
  Readable,
  Writable,
  Writable,
];

/** A program that runs in namespaces of its own, where only the folders and the system's programs can be seen. */
export class Namespace {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /**
   * Settles once the program and everything that it had started have ended: the kernel reports it, and nothing in the namespaces
   * can change or delay the report.
   */
  readonly ended: Promise<NamespaceEnd>;
  /** Settles once {@link release} was called and the view is gone, or is known to stay. */
  readonly closed: Promise<void>;
  readonly #hold: Writable;
  /** Settles with the path to the root of the view once the program has been started in it; `undefined` if it never is. */
  readonly entered: Promise<string | undefined>;
  /** Not known until it has begun. */
  #first: FirstProcess | undefined;
  #isStopped = false;
  /** Aborted if it was killed and does not end, since a disk does not answer. */
  readonly #stuck = new AbortController();

  constructor(options: NamespaceOptions) {
    const [unshare, setpriv] = [systemTool('unshare') ?? 'unshare', systemTool('setpriv') ?? 'setpriv'];
    const system = new SystemFolders(options.storage, options.searchPath, options.readable);
    const folders = [
      ...options.folders,
      ...(options.terminal?.shown ?? []).map(({ state, at }) => ({ root: at, state })),
      ...system.layered.map(({ state }) => ({ root: `${state}/merged`, state })),
    ];
    // Bubblewrap makes a second one to give an ordinary user back its id, and none for root.
    const most = options.terminal ? NESTED : isRoot() ? 0 : 2;
    const mount = ['--mount', '--propagation', 'private', '--'];
    const deaf = options.terminal ? deafness() : { before: [], after: [] };
    const args = [
      ...(isRoot()
        ? [
            ...mount,
            ...system.mounting(),
            unshare,
            '--user',
            ...mount,
            '/bin/sh',
            '-c',
            MAPPED,
            'redline-sandbox',
          ]
        : ['--user', '--map-root-user', ...mount]),
      // When this program is killed, the script is, too.
      ...[setpriv, '--pdeathsig', 'KILL', '--'],
      ...[
        '/bin/sh',
        '-c',
        ENTER,
        'redline-sandbox',
        String(process.pid),
        options.terminal ? '' : ',volatile',
        String(most),
        String(folders.length),
        ...folders.flatMap(({ root, state }) => [root, state]),
      ],
      // When the script is killed, the program that it waits for is, too.
      ...[...deaf.before, setpriv, '--pdeathsig', 'KILL', '--'],
      ...[unshare, '--pid', '--fork', '--kill-child', '--'],
      ...['/bin/sh', '-c', FIRST, 'redline-sandbox', noteIn(options.storage)],
      ...[systemTool('bwrap') ?? 'bwrap', ...isolation(options, system), '--args', '8', '--'],
      ...['/bin/sh', '-c', options.deleted.length > 0 ? REMOVE + BEGIN : BEGIN],
      ...['redline-sandbox', ...deaf.after, ...options.program],
    ];
    const child = spawn(unshare, args, {
      env: CHAIN,
      cwd: '/',
      // A program that has the terminal must stay in its session.
      detached: !options.terminal,
      stdio: [
        ...(options.terminal
          ? (['inherit', 'inherit', 'inherit'] as const)
          : (['ignore', 'pipe', 'pipe'] as const)),
        ...Array.from({ length: 6 }, () => 'pipe' as const),
      ],
    });
    const [, stdout, stderr, hold, status, deleted, inside, filter, variables] =
      child.stdio as unknown as Pipes;
    this.stdout = stdout ?? Readable.from([]);
    this.stderr = stderr ?? Readable.from([]);
    this.#hold = hold;
    for (const stream of [hold, deleted, filter, variables]) stream.on('error', () => undefined);
    deleted.end(options.deleted.map(each => `${each}\0`).join(''));
    filter.end(callFilter());
    variables.end(environmentArguments({ ...system.variables, ...options.environment }).join(''));
    const view = `/proc/${child.pid ?? 0}/root`;
    const told: string[] = [];
    const errors: string[] = [];
    const lines = createInterface(inside).on('line', line => told.push(line));
    const allTold = new Promise(resolve => lines.once('close', resolve));
    this.entered = new Promise(resolve => {
      lines.once('line', line => {
        this.#first = firstIn(line);
        if (this.#isStopped) this.stop();
        resolve(view);
      });
      lines.once('close', () => resolve(undefined));
    });
    this.closed = new Promise(resolve => {
      child.once('error', () => resolve());
      child.once('close', () => resolve());
      this.#stuck.signal.addEventListener('abort', () => resolve());
    });
    this.ended = new Promise((resolve, reject) => {
      const end = async (exitCode: number): Promise<void> => {
        // If the program that waited for the first process was killed, that process may still be about to end.
        if (this.#first && !(await endAll(this.#first))) return this.#stuck.abort();
        await allTold;
        resolve({
          exitCode: this.#isStopped ? undefined : exitCode,
          view: told.includes('began') ? view : undefined,
          errors: errors.join('\n'),
        });
      };
      createInterface(status).on('line', line => {
        if (/^\d+$/.test(line)) return void end(Number(line));
        if (line !== 'mapped') return void errors.push(line);
        try {
          mapUsers(child.pid);
          hold.write('\n');
        } catch (error) {
          child.kill('SIGKILL');
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
      child.once('error', reject);
      child.once('close', () => resolve({ exitCode: undefined, view: undefined }));
      this.#stuck.signal.addEventListener('abort', () =>
        reject(new EndlessError('The system does not end it.')),
      );
    });
  }

  /** Passes a signal on to the program, which may go on. */
  async pass(signal: NodeJS.Signals): Promise<void> {
    if (this.#first) await passOn(signal, this.#first.pid);
    else this.stop();
  }

  /** Ends the program with all that it has started. */
  stop(): void {
    this.#isStopped = true;
    if (this.#first && kill(this.#first)) setTimeout(() => this.#stuck.abort(), GONE_MS).unref();
  }

  /** Lets go of the view. */
  async release(): Promise<void> {
    this.#hold.end();
    await this.closed;
  }
}

/** The variables of a program, and no others, as arguments that bubblewrap reads: each ends with a zero byte. */
function environmentArguments(environment: NodeJS.ProcessEnv): readonly string[] {
  const isSet = (entry: [string, string | undefined]): entry is [string, string] =>
    entry[0] !== '' && entry[1] !== undefined && !/[=\0]/.test(entry[0]) && !entry[1].includes('\0');
  const set = Object.entries(environment).filter(isSet);
  return [
    ...Object.keys(CHAIN)
      .concat(ADDED)
      .flatMap(name => ['--unsetenv', name]),
    ...set.flatMap(([name, value]) => ['--setenv', name, value]),
  ].map(argument => `${argument}\0`);
}

/**
 * Maps all users and groups into a user namespace that root has made: files that belong to others stay theirs, and can be changed.
 */
function mapUsers(pid: number | undefined): void {
  for (const file of ['uid_map', 'gid_map']) {
    const here = readFileSync(`/proc/self/${file}`, 'utf8').trim().split('\n');
    const ranges = here
      .map(line => line.trim().split(/\s+/))
      .map(([from = '', , count = '']) => [from, from, count]);
    writeFileSync(`/proc/${pid}/${file}`, `${ranges.map(range => range.join(' ')).join('\n')}\n`);
  }
}
