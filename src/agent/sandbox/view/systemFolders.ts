import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import * as path from 'node:path';
import { isInside } from '../../base/system/realPath.ts';
import { homeTools } from './homeTools.ts';

/** Folders of the system. Not all of /nix, where the socket of its daemon is. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/opt', '/nix/store'];

/** How many users the user namespace of the machine has. */
const ALL_USERS = 2 ** 32 - 1;
/** A user who owns nothing: root looks at the machine with this user's rights. */
const NOBODY = 65_534;
/** The folder of a view's storage that holds the machine as everyone sees it. */
const SEEN = 'seen';
/** The folder of a view's storage that holds layers for writes over folders of the home folder. */
export const CACHES = 'caches';

/** A program with the rights of the user `nobody`, except that it may mount. */
const AS_NOBODY = `setpriv --no-new-privs --reuid ${NOBODY} --regid ${NOBODY} --clear-groups --inh-caps=-all,+sys_admin --ambient-caps=-all,+sys_admin --`;
/** The descriptors that a shell can open by number for one program, except that of errors. */
const DESCRIPTORS = [0, 1, 3, 4, 5, 6, 7, 8, 9];

/**
 * Root could read all files of the machine in a view, also those that others may not. So the machine is shown, read-only, through
 * overlays that are mounted with the rights of the user `nobody`: the kernel checks these, too, whenever a file is opened. This
 * comes before the user namespace, where mounts below a folder could not be left out. Root opens the folders, since `nobody` may be
 * unable to reach some of them. Arguments: the folder with the places and the tables of mounts, what each shows, and the program
 * that goes on.
 */
function seeing(shown: readonly string[]): string {
  const mounts = groupsOf(shown).map((group, n) => {
    const opened = group.map((_, m) => `${DESCRIPTORS[m]}<"\${${2 + n * DESCRIPTORS.length + m}}"`);
    return `${AS_NOBODY} mount -c -a -T ./table${n} ${opened.join(' ')} || exit 97`;
  });
  return ['cd "$1" || exit 97', ...mounts, `cd /; shift ${1 + shown.length}; exec "$@"`].join('\n');
}

/**
 * The mounts of a group: its overlays and, before those of the first group, the empty folder that is the second layer of every
 * overlay.
 */
function tableOf(group: readonly string[], n: number): string {
  const empty = n === 0 ? 'tmpfs empty tmpfs ro,mode=755 0 0\n' : '';
  const overlays = group.map((_, m) => {
    const lower = `lowerdir=/proc/self/fd/${DESCRIPTORS[m]}:empty`;
    return `overlay ${n * DESCRIPTORS.length + m} overlay ro,${lower},userxattr,index=off,xino=off 0 0\n`;
  });
  return empty + overlays.join('');
}

function groupsOf(shown: readonly string[]): readonly (readonly string[])[] {
  const { length } = DESCRIPTORS;
  return Array.from({ length: Math.ceil(shown.length / length) }, (_, n) =>
    shown.slice(n * length, (n + 1) * length),
  );
}

/** Whether this process is root, which keeps its powers over files in a view. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** A path of the machine, and the path at which a view shows it. Both are absolute. */
export type Bind = readonly [from: string, at: string];

/** The parts of the machine that a view shows: read-only and, even for root, only those that everyone may read. */
export class SystemFolders {
  /** Links in the place of folders of the system. */
  readonly links: readonly (readonly [link: string, target: string])[];
  readonly system: readonly Bind[];
  /** Paths that the user's tools need, and others that can be read. Most are in the home folder. */
  readonly tools: readonly Bind[];
  /** Folders of tools with a layer for writes, mounted at `merged` in their state; that stays empty if they cannot be mounted. */
  readonly layered: readonly { readonly at: string; readonly state: string }[];
  /** Absolute paths in them that are not shown. */
  readonly hidden: readonly string[];
  /** Variables that tell tools about them. */
  readonly variables: Readonly<Record<string, string>>;
  readonly #storage: string;
  /** Folders that are mounted with the rights of the user `nobody`, by their numbers. */
  readonly #mounted: string[] = [];

  /**
   * @param searchPath the PATH that leads to the user's tools
   * @param readable other paths that can be read
   */
  constructor(storage: string, searchPath: string, readable: readonly Bind[] = []) {
    this.#storage = path.join(storage, SEEN);
    const found = SYSTEM.filter(at => lstatSync(at, { throwIfNoEntry: false }));
    const isLink = (at: string): boolean => lstatSync(at).isSymbolicLink();
    this.links = found.filter(isLink).map(at => [at, readlinkSync(at)] as const);
    this.system = this.#shown(found.filter(at => !isLink(at)).map(at => [at, at]));
    const home = homedir();
    const { binds, layered, hidden, variables } = homeTools(searchPath, home);
    const allowed = readable.filter(
      ([from]) => existsSync(from) && !isInside(realpathSync(home), realpathSync(from)),
    );
    this.tools = this.#shown([...binds, ...allowed]);
    this.layered = this.#shown(layered.map(at => [at, at]))
      .filter(([, at]) => layered.includes(at))
      .map(([from, at], n) => ({ at, state: layerOver(from, path.join(storage, CACHES, String(n))) }));
    this.hidden = hidden;
    this.variables = variables;
  }

  /** The command that mounts the folders and then starts the program that follows. It must have a mount namespace of its own. */
  mounting(): readonly string[] {
    // Where there is no storage, nothing is mounted, and nothing starts.
    if (existsSync(path.dirname(this.#storage))) {
      for (const name of ['.', 'empty', ...this.#mounted.keys()])
        mkdirSync(path.join(this.#storage, String(name)), { recursive: true });
      chmodSync(this.#storage, 0o755);
      for (const [n, group] of groupsOf(this.#mounted).entries()) {
        const table = path.join(this.#storage, `table${n}`);
        writeFileSync(table, tableOf(group, n));
        chmodSync(table, 0o644);
      }
    }
    return ['/bin/sh', '-c', seeing(this.#mounted), 'redline-sandbox', this.#storage, ...this.#mounted];
  }

  #shown(binds: readonly Bind[]): readonly Bind[] {
    if (!isRoot() || !isMapped(NOBODY)) return binds;
    const isWhole = userRanges().some(({ count }) => count === ALL_USERS);
    const points = mountPoints();
    const mounted = binds.flatMap(([from, at]) =>
      points
        .filter(point => isInside(point, from))
        .map(point => [point, path.join(at, path.relative(from, point))] as const),
    );
    return [...new Map([...binds, ...mounted].map(each => [each[1], each])).values()].flatMap(
      ([from, at]): readonly Bind[] => {
        const stat = statSync(from, { throwIfNoEntry: false });
        if (stat?.isFile()) return (stat.mode & 0o004) === 0 ? [] : [[from, at]];
        if (!stat?.isDirectory() || !isOpen(from)) return [];
        // One overlay serves all folders of a disk that are not below one that is closed. In a user namespace it could not cover
        // the disk: mounts in a folder are locked there.
        const disk = points.findLast(point => from === point || isInside(from, point)) ?? '/';
        const top = isWhole && foldersBetween(disk, from).every(isOpen) ? disk : from;
        const known = this.#mounted.indexOf(top);
        const number = known < 0 ? this.#mounted.push(top) - 1 : known;
        return [[path.join(this.#storage, String(number), path.relative(top, from)), at]];
      },
    );
  }
}

/** Makes the trees of a layer over a folder. @returns their folder */
function layerOver(folder: string, state: string): string {
  // Where there is no storage, nothing is mounted, and nothing starts.
  if (existsSync(path.dirname(path.dirname(state))) && !existsSync(state)) {
    for (const name of ['upper', 'work', 'merged']) mkdirSync(path.join(state, name), { recursive: true });
    symlinkSync(folder, path.join(state, 'lower'));
  }
  return state;
}

/**
 * Whether this user namespace has a user. Where it does not have {@link NOBODY}, as in one that an ordinary user has made, its root has
 * no power over files of others; the probe finds out whether it may read private files of the machine.
 */
function isMapped(user: number): boolean {
  return userRanges().some(({ first, count }) => first <= user && user < first + count);
}

/** The users of this user namespace. That of the machine has all of them. */
function userRanges(): readonly { readonly first: number; readonly count: number }[] {
  return readFileSync('/proc/self/uid_map', 'utf8')
    .trim()
    .split('\n')
    .map(line => line.trim().split(/\s+/).map(Number))
    .map(([first = 0, , count = 0]) => ({ first, count }));
}

/** Whether everyone may look into a folder. */
function isOpen(folder: string): boolean {
  return (statSync(folder).mode & 0o005) === 0o005;
}

/** A folder and those on the way to its entries. */
function foldersBetween(outer: string, inner: string): readonly string[] {
  const folders = [outer];
  for (let at = path.dirname(inner); at.length > outer.length; at = path.dirname(at)) folders.push(at);
  return folders;
}

/**
 * The mount points, the outer ones first: an overlay does not show the mounts below it. Containers mount files such
 * as `/etc/hosts`.
 */
function mountPoints(): readonly string[] {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map(line =>
      (line.split(' ')[4] ?? '/').replace(/\\(\d{3})/g, (_, octal: string) =>
        String.fromCharCode(parseInt(octal, 8)),
      ),
    );
  return [...new Set(points)].sort();
}
