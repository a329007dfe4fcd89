import * as path from 'node:path';
import { PathError, StalePreviewError, ToolError } from '../../src/agent/base/errors.ts';
import { sha256, type Sha256 } from '../../src/agent/base/hash.ts';
import { isProtectedPath } from '../../src/agent/preview/resolve/protectedPlaces.ts';
import {
  MAX_FILE_BYTES,
  type FileListing,
  type FilePlace,
  type FolderRoot,
  type Workspace,
  type WrittenTo,
} from '../../src/agent/preview/workspace.ts';
import { formerPlaces } from '../../src/views/workspace/workspacePaths.ts';
import { defaultEncoding, type TextEncoding } from '../../src/agent/text/encodings.ts';
import { Gate } from './gate.ts';

/** A completed call of `write`. */
export interface MemoryWrite {
  readonly path: string;
  /** `null`: the file was removed. */
  readonly text: string | null;
  readonly to: WrittenTo;
  /** The text that it replaced; `null`: there was no file. */
  readonly before: string | null;
}

/**
 * Runs before a call has any effect. It may throw (a fault), wait (a slow disk, a gate), or change files (a user
 * who types at the worst moment: the base is checked after it). `n` counts the calls from 1, over the whole life.
 */
export type MemoryHook = (path: string, n: number) => void | Promise<void>;

/**
 * The `Workspace` port in memory, with one folder at `/workspace`. It keeps the port's contract exactly: a write
 * checks its base at the last moment and is all or nothing; folders, read-only and huge files are refused; `..`,
 * absolute paths and `.git` give a `PathError`.
 */
export class MemoryWorkspace implements Workspace {
  static readonly root = '/workspace';
  readonly #disk = new Map<string, Uint8Array>();
  readonly #editors = new Map<string, Uint8Array>();
  readonly #readOnly = new Set<string>();
  /** Symbolic links: the file that each leads to. */
  readonly #links: ReadonlyMap<string, string>;
  #reads = 0;
  #writeAttempts = 0;

  /** Writes that succeeded. */
  readonly writes: MemoryWrite[] = [];
  /** The encoding of files without a byte order mark. */
  encoding: TextEncoding = defaultEncoding;
  /** The open folders, for previews that remember theirs. */
  roots: readonly FolderRoot[] = [{ name: 'workspace', fsPath: MemoryWorkspace.root }];
  beforeRead: MemoryHook | undefined;
  beforeWrite: MemoryHook | undefined;

  /** @param links other names of files, which need not exist; as in the real workspace each name is a path of its own. */
  constructor(
    files: Readonly<Record<string, string | Uint8Array>> = {},
    links: Readonly<Record<string, string>> = {},
  ) {
    this.#links = new Map(Object.entries(links));
    for (const [file, content] of Object.entries(files)) this.put(file, content);
  }

  /** Changes a file on disk from outside; `null` removes it. */
  put(file: string, content: string | Uint8Array | null): void {
    const real = this.#realPath(file);
    if (content === null) this.#disk.delete(real);
    else this.#disk.set(real, Uint8Array.from(Buffer.from(content)));
  }

  /** Opens the file in an editor with unsaved changes: from now on it is read from and written to that. */
  type(file: string, text: string): void {
    this.#editors.set(file, Uint8Array.from(Buffer.from(text)));
  }

  /** Workspace paths of editors with unsaved changes. */
  unsaved(): readonly string[] {
    return [...this.#editors.keys()];
  }

  /** The user takes back what was typed. */
  revert(file: string): void {
    this.#editors.delete(file);
  }

  makeReadOnly(file: string): void {
    this.#readOnly.add(file);
  }

  /** The text on disk; `undefined` when there is no such file. */
  text(file: string): string | undefined {
    const bytes = this.#disk.get(this.#realPath(file));
    return bytes && Buffer.from(bytes).toString();
  }

  /** The text in the editor with unsaved changes; `undefined` when there is none. */
  typed(file: string): string | undefined {
    const bytes = this.#editors.get(file);
    return bytes && Buffer.from(bytes).toString();
  }

  /** All files on disk as text, sorted by path, without links: for comparing the state before and after. */
  snapshot(): Record<string, string> {
    const files = [...this.#disk].map(([file, bytes]) => [file, Buffer.from(bytes).toString()] as const);
    return Object.fromEntries(files.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** The `n`-th write from now on fails without an effect. Only one such fault at a time. */
  failWrite(n: number, error: Error = noSpace()): void {
    const at = this.#writeAttempts + n;
    this.beforeWrite = (_, attempt) => {
      if (attempt === at) throw error;
    };
  }

  /** From the `n`-th write from now on, all of them fail without an effect. */
  failWritesFrom(n: number, error: Error = noSpace()): void {
    const at = this.#writeAttempts + n;
    this.beforeWrite = (_, attempt) => {
      if (attempt >= at) throw error;
    };
  }

  /** From the `n`-th write from now on, none of them ever ends or has an effect: the process is dead. */
  dieAtWrite(n: number): void {
    const at = this.#writeAttempts + n;
    this.beforeWrite = (_, attempt) => (attempt >= at ? new Promise<never>(() => undefined) : undefined);
  }

  /** Makes every write wait at the gate that is returned. */
  holdWrites(): Gate {
    const gate = new Gate();
    this.beforeWrite = () => gate.pass();
    return gate;
  }

  async resolvePath(input: string): Promise<string> {
    const file = path.posix.relative(MemoryWorkspace.root, path.posix.resolve(MemoryWorkspace.root, input));
    if (file === '..' || file.startsWith('../'))
      throw new PathError('outside', `${input} is outside the workspace.`);
    if (file === '') throw new PathError('empty', `${input} is a folder, not a file.`);
    if (file.split('/').includes('.git')) throw new PathError('protected', `${input} belongs to git itself.`);
    return file;
  }

  async read(file: string): Promise<Uint8Array | undefined> {
    await this.beforeRead?.(file, ++this.#reads);
    const bytes = this.#now(file);
    if (bytes && bytes.length > MAX_FILE_BYTES) throw new ToolError(`${file} is over 5 MB.`);
    return bytes?.slice();
  }

  async write(file: string, bytes: Uint8Array | null, expected: Sha256 | null): Promise<WrittenTo> {
    await this.beforeWrite?.(file, ++this.#writeAttempts);
    if (this.#readOnly.has(file)) throw new ToolError(`${file} is read-only`);
    const now = this.#now(file);
    if ((now ? sha256(now) : null) !== expected) throw new StalePreviewError([file]);
    const to: WrittenTo = this.#editors.has(file) ? 'editor' : 'disk';
    if (to === 'editor') {
      if (!bytes) throw new ToolError(`${file} has unsaved changes. Save or revert it first.`);
      this.#editors.set(file, bytes.slice());
    } else {
      this.put(file, bytes);
    }
    const textOf = (content: Uint8Array | null | undefined) =>
      content ? Buffer.from(content).toString() : null;
    this.writes.push({ path: file, text: textOf(bytes), to, before: textOf(now) });
    return to;
  }

  async encodingOf(_path?: string): Promise<TextEncoding> {
    return this.encoding;
  }

  /** There are no folders and no permissions in memory. */
  async placeOf(file = ''): Promise<FilePlace> {
    return { missingFolders: [], ...(this.#editors.has(file) ? { isUnsaved: true } : {}) };
  }

  async makeFolders(): Promise<void> {
    // Each file has its folders.
  }

  async tidy(): Promise<void> {
    // Nothing is ever left behind.
  }

  async isProtected(paths: readonly string[]): Promise<boolean> {
    return paths.some(file => isProtectedPath(file) || isProtectedPath(this.#realPath(file)));
  }

  folderRoots(): readonly FolderRoot[] {
    return this.roots;
  }

  formerPlaces(paths: readonly string[], roots: readonly FolderRoot[]): ReadonlyMap<string, string> {
    return formerPlaces(paths, roots, this.roots);
  }

  async list(glob: string, limit: number, signal: AbortSignal): Promise<FileListing> {
    signal.throwIfAborted();
    const paths = [...this.#disk.keys()].filter(file => path.posix.matchesGlob(file, glob)).sort();
    return { paths: paths.slice(0, limit), truncated: paths.length > limit };
  }

  /** What the user sees: the editor with unsaved changes, else the disk. */
  #now(file: string): Uint8Array | undefined {
    const isFolder = [...this.#disk.keys()].some(known => known.startsWith(`${file}/`));
    if (isFolder) throw new ToolError(`${file} is a folder, not a file.`);
    return this.#editors.get(file) ?? this.#disk.get(this.#realPath(file));
  }

  #realPath(file: string): string {
    return this.#links.get(file) ?? file;
  }
}

/** The error of a full disk. */
export function noSpace(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
}
