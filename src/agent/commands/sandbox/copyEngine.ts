import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { messageOf, ToolError } from '../../base/errors.ts';
import { forEachLimited } from '../../base/pool.ts';
import { realPathSync } from '../../base/system/realPath.ts';
import type { FileContent } from '../../preview/workspace.ts';
import { contentOf } from '../../preview/blobs.ts';
import type { PendingContents } from '../../preview/overlay.ts';
import { isInside } from '../../text/isInside.ts';
import type { CommandPlan } from '../commandPlan.ts';
import type { CommandRun } from '../commandRuns.ts';
import type { Sandbox, SandboxEnd } from '../sandbox.ts';
import { runInShell } from '../shellProcess.ts';
import { cleanEnvironment } from './cleanEnvironment.ts';
import { Effects, findAt, foundContent, isMissing, PlainFolder } from './effects.ts';
import { ignoredOf } from './ignored.ts';
import type { SandboxOptions } from './overlayEngine.ts';
import { makeFolders, removeTree } from './upperTree.ts';

/** How many files are copied concurrently. */
const AT_ONCE = 16;

/** What tells whether a file is as it was: its modification time in nanoseconds, size, permission bits and kind. */
type Stamp = string;

/** A folder of the workspace and its copy. */
interface Copied {
  readonly prefix: string;
  readonly root: string;
  readonly copy: string;
  /** What each path held on disk when it was copied. */
  readonly source: Map<string, Stamp>;
  /** What each path of the copy held before the command. */
  put: Map<string, Stamp>;
  /** Paths of the copy before the command that are not UTF-8, and cannot be looked at. */
  odd: ReadonlySet<string>;
}

/**
 * How much there is to copy.
 * @returns `undefined` once it is more than that
 */
export async function measure(
  roots: readonly string[],
  limits: { readonly bytes: number; readonly files: number },
): Promise<{ readonly bytes: number; readonly files: number } | undefined> {
  let bytes = 0;
  let files = 0;
  for (const root of roots) {
    const isSmall = await walk(root, '', (_, stat) => {
      bytes += stat.size;
      files++;
      return bytes <= limits.bytes && files <= limits.files;
    });
    if (!isSmall) return undefined;
  }
  return { bytes, files };
}

type Progress = (total: number, work: (report: (done: number) => void) => Promise<void>) => Promise<void>;

/** The sandbox everywhere: a copy of the folders elsewhere, kept in step with them. It is not isolated. */
export class CopySandbox implements Sandbox {
  readonly engine = 'copy';
  readonly isolated = false;
  readonly #storage: string;
  readonly #folders: readonly Copied[];
  readonly #variables: () => readonly string[];
  readonly #progress: Progress;

  constructor({ folders, storage, variables, progress }: SandboxOptions & { readonly progress?: Progress }) {
    this.#storage = storage;
    this.#variables = variables;
    this.#progress = progress ?? ((_, work) => work(() => undefined));
    this.#folders = folders.map(({ name, fsPath }, index) => ({
      prefix: folders.length > 1 ? `${name}/` : '',
      root: realPathSync(fsPath),
      copy: path.join(storage, String(index), path.basename(fsPath)),
      source: new Map(),
      put: new Map(),
      odd: new Set(),
    }));
  }

  async run(
    plan: CommandPlan,
    pending: PendingContents,
    { signal, add }: Pick<CommandRun, 'signal' | 'add'>,
  ): Promise<SandboxEnd> {
    const contents = new Map<string, FileContent | null>();
    try {
      for (const at of pending.paths()) {
        const side = pending.at(at)?.side;
        contents.set(at, side ? await contentOf(side, pending.blobs) : null);
      }
      for (const folder of this.#folders) await this.#step(folder, contents, signal);
    } catch (error) {
      if (signal.aborted) throw new ToolError('It was stopped before it ran. Nothing was run.');
      throw new ToolError(`The workspace cannot be copied: ${messageOf(error)}. Nothing was run.`);
    }
    const names = new PathNames(
      this.#folders.map(({ root, copy }) => [copy, root]),
      add,
    );
    const end = await runInShell(
      { ...plan, folder: this.#copyOf(plan.folder) },
      { signal, add: chunk => names.add(chunk) },
      cleanEnvironment(plan, this.#variables()),
    );
    names.end();
    const effects = new Effects();
    let ignored = 0;
    let wroteGit = false;
    for (const folder of this.#folders) {
      const listed = await this.#list(folder, contents, effects);
      ignored += listed.ignored;
      wroteGit ||= listed.wroteGit;
    }
    return { ...end, ...effects.end(), ignored, wroteGit };
  }

  async dispose(): Promise<void> {
    await removeTree(this.#storage);
  }

  #copyOf(absolute: string): string {
    for (const { root, copy } of this.#folders)
      if (isInside(absolute, root)) return path.join(copy, path.relative(root, absolute));
    throw new ToolError(`${absolute} is in no folder of the workspace. Nothing was run.`);
  }

  /** Makes the copy what the folder is now, and puts what is pending into it. */
  async #step(
    folder: Copied,
    contents: ReadonlyMap<string, FileContent | null>,
    signal: AbortSignal,
  ): Promise<void> {
    const { root, copy, source, prefix } = folder;
    const now = new Map<string, Stamp>();
    await walk(root, '', (at, stat) => now.set(at, stampOf(stat)) !== undefined);
    const gone = [...source.keys()].filter(at => !now.has(at));
    const changed = [...now].filter(([at, stamp]) => source.get(at) !== stamp);
    for (const at of gone) {
      await removeBelow(copy, at);
      source.delete(at);
    }
    await fs.mkdir(copy, { recursive: true });
    const copyChanged = async (report: (done: number) => void): Promise<void> => {
      let done = 0;
      await forEachLimited(changed, AT_ONCE, async ([at, stamp]) => {
        signal.throwIfAborted();
        await copyOne(root, copy, at);
        source.set(at, stamp);
        report(++done);
      });
    };
    await (changed.length > 1_000
      ? this.#progress(changed.length, copyChanged)
      : copyChanged(() => undefined));
    for (const [at, left] of contents) {
      if (!at.startsWith(prefix)) continue;
      const relative = at.slice(prefix.length);
      const to = path.join(copy, relative);
      if (left) {
        await makeFolders({ root, upper: copy }, path.dirname(relative));
        const stat = await fs.lstat(to).catch(() => undefined);
        if (!stat?.isFile() || 'link' in left) await removeTree(to);
        await ('link' in left ? fs.symlink(left.link, to) : fs.writeFile(to, left));
      } else await removeBelow(copy, relative);
      // It is copied again before the next command.
      source.set(relative, '');
    }
    ({ put: folder.put, odd: folder.odd } = await stamps(copy));
  }

  /** What differs from before the command. It is as on disk again before the next one, but for what git ignores. */
  async #list(
    { root, copy, source, put, odd, prefix }: Copied,
    contents: ReadonlyMap<string, FileContent | null>,
    effects: Effects,
  ): Promise<{ readonly ignored: number; readonly wroteGit: boolean }> {
    const { put: now, odd: oddNow } = await stamps(copy);
    for (const at of oddNow) if (!odd.has(at)) effects.leaveOut({ path: prefix + at, why: 'path' });
    const all = [...new Set([...put.keys(), ...now.keys()])];
    const changed = all.filter(at => put.get(at) !== now.get(at));
    const others = changed.filter(at => at !== '.git' && !at.startsWith('.git/'));
    const hidden = await ignoredOf(root, others);
    const [real, there] = [new PlainFolder(root), new PlainFolder(copy)];
    for (const at of others) {
      if (hidden.has(at)) continue;
      const left = contents.get(prefix + at);
      const isKept = source.get(at) === (await stampAt(path.join(root, at)));
      const disk = await real.find(at);
      const base = left
        ? foundContent(left, disk?.kind === 'file' ? disk.mode : undefined)
        : left === undefined
          ? disk
          : undefined;
      await effects.add(
        prefix + at,
        base,
        await there.find(at),
        left === undefined && !isKept && (put.has(at) || (base !== undefined && base.kind !== 'folder')),
      );
    }
    // It is copied again before the next command.
    for (const at of changed) if (!hidden.has(at)) source.set(at, '');
    return {
      ignored: hidden.size,
      wroteGit: changed.some(at => at.startsWith('.git/') && at !== '.git/index'),
    };
  }
}

interface Stat {
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

function stampOf({ size, mode, mtimeMs }: Stat): Stamp {
  return `${mode} ${size} ${mtimeMs}`;
}

async function stampAt(at: string): Promise<Stamp | undefined> {
  return fs.lstat(at).then(stampOf, () => undefined);
}

/** The stamps of all files and links below a folder. Those of the copy count changes of the inode, too. */
async function stamps(folder: string): Promise<Pick<Copied, 'put' | 'odd'>> {
  const put = new Map<string, Stamp>();
  const odd = new Set<string>();
  const visit = (at: string, stat: Stat): boolean =>
    put.set(at, `${stampOf(stat)} ${stat.ctimeMs}`) !== undefined;
  await walk(folder, '', visit, at => odd.add(at));
  return { put, odd };
}

/**
 * Visits the files, links and devices below a folder; folders that cannot be read are left out.
 * @returns false once the visitor does
 */
async function walk(
  root: string,
  below: string,
  visit: (at: string, stat: Stat) => boolean,
  onOdd: (at: string) => void = () => undefined,
): Promise<boolean> {
  const entries = await fs
    .readdir(path.join(root, below), { withFileTypes: true })
    .catch((error: unknown) => {
      if (isMissing(error) || below !== '') return [];
      throw error;
    });
  for (const entry of entries) {
    const at = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) {
      if (!(await walk(root, at, visit, onOdd))) return false;
      continue;
    }
    const stat = await fs.lstat(path.join(root, at)).catch(() => undefined);
    if (!stat && entry.name.includes('\ufffd')) onOdd(at);
    if (stat && !visit(at, stat)) return false;
  }
  return true;
}

/** Copies a file with its permission bits, or a link as it is; what is neither is left out. */
async function copyOne(root: string, copy: string, at: string): Promise<void> {
  const [from, to] = [path.join(root, at), path.join(copy, at)];
  const found = await findAt(from);
  await makeFolders({ root, upper: copy }, path.dirname(at));
  await removeTree(to);
  if (found?.kind === 'link') await fs.symlink(found.target, to);
  else if (found?.kind === 'file')
    await fs.copyFile(from, to, constants.COPYFILE_FICLONE).catch((error: NodeJS.ErrnoException) => {
      // What the user may not read no command of theirs can need.
      if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error;
    });
}

/** Removes what stands at a path of the copy, unless a command has made a link of a folder above it, which may lead anywhere. */
async function removeBelow(copy: string, relative: string): Promise<void> {
  if (await new PlainFolder(copy).isFolder(path.dirname(relative)))
    await removeTree(path.join(copy, relative));
}

/** Writes paths of the copies in an output as those of the workspace, also where a chunk ends within one. */
class PathNames {
  readonly #names: readonly (readonly [from: string, to: string])[];
  readonly #add: (text: string) => void;
  #held = '';

  constructor(names: readonly (readonly [from: string, to: string])[], add: (text: string) => void) {
    this.#names = names;
    this.#add = add;
  }

  add(chunk: string): void {
    let text = this.#held + chunk;
    for (const [from, to] of this.#names) text = text.replaceAll(from, to);
    const held = Math.max(...this.#names.map(([from]) => heldBack(text, from)));
    this.#held = held === 0 ? '' : text.slice(-held);
    const ready = held === 0 ? text : text.slice(0, -held);
    if (ready !== '') this.#add(ready);
  }

  end(): void {
    if (this.#held !== '') this.#add(this.#held);
    this.#held = '';
  }
}

/** How many characters at the end of a text may be the beginning of `wanted`. */
function heldBack(text: string, wanted: string): number {
  for (let length = Math.min(wanted.length - 1, text.length); length > 0; length--)
    if (text.endsWith(wanted.slice(0, length))) return length;
  return 0;
}
