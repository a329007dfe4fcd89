import * as path from 'node:path';
import { PathError, ToolError } from '../../src/agent/base/errors.ts';
import { StalePreviewError } from '../../src/agent/hold/preview/errors.ts';
import { isUsableName, quoted } from '../../src/agent/base/safeName.ts';
import { sha256, type Sha256 } from '../../src/agent/base/hash.ts';
import { hashOf } from '../../src/agent/hold/preview/commit/held.ts';
import { isProtectedPath } from '../../src/agent/hold/preview/resolve/protectedPlaces.ts';
import {
  MAX_FILE_BYTES,
  type FileContent,
  type FileListing,
  type FilePlace,
  type FileRights,
  type FolderRoot,
  type Workspace,
  type WrittenTo,
} from '../../src/agent/hold/preview/workspace.ts';
import { formerPlaces } from '../../src/views/workspace/workspacePaths.ts';
import { defaultEncoding, type TextEncoding } from '../../src/agent/hold/text/encodings.ts';
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
  /** The permission bits of files on disk. */
  readonly #modes = new Map<string, number>();
  /** By the real path: an editor knows a file by any of its names. */
  readonly #editors = new Map<string, Uint8Array>();
  readonly #readOnly = new Set<string>();
  /** Symbolic links: the file that each leads to. */
  readonly #links: Map<string, string>;
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
  put(file: string, content: string | Uint8Array | null, mode?: number): void {
    const real = this.#realPath(file);
    if (content === null) this.#modes.delete(real);
    else this.#modes.set(real, mode ?? this.#modes.get(real) ?? NEW_MODE);
    if (content === null) this.#disk.delete(real);
    else this.#disk.set(real, Uint8Array.from(Buffer.from(content)));
  }

  /** Opens the file in an editor with unsaved changes: from now on it is read from and written to that. */
  type(file: string, text: string): void {
    this.#editors.set(this.#realPath(file), Uint8Array.from(Buffer.from(text)));
  }

  /** Closes the editor of a file: it is saved, or its changes are dropped. */
  closeEditor(file: string, isSaved: boolean): void {
    const real = this.#realPath(file);
    const bytes = this.#editors.get(real);
    this.#editors.delete(real);
    if (bytes && isSaved) this.put(real, bytes);
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
    const bytes = this.#editors.get(this.#realPath(file));
    return bytes && Buffer.from(bytes).toString();
  }

  /** The text as the user sees it: that in the editor with unsaved changes, else that on disk. */
  now(file: string): string | undefined {
    return this.typed(file) ?? this.text(file);
  }

  /** The permission bits of a file on disk; `undefined` when there is no such file. */
  modeOf(file: string): number | undefined {
    return this.#modes.get(this.#realPath(file));
  }

  /** The same files, links and editors in another process. @param keepsEditors else what was not saved is lost. */
  copy(keepsEditors = true): MemoryWorkspace {
    const copy = new MemoryWorkspace({}, Object.fromEntries(this.#links));
    for (const [file, bytes] of this.#disk) copy.put(file, bytes, this.#modes.get(file));
    if (keepsEditors) for (const [file, bytes] of this.#editors) copy.#editors.set(file, bytes);
    return copy;
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
    if (!isUsableName(file)) throw new PathError('empty', `${quoted(input)} is not a file path.`);
    if (file.split('/').includes('.git')) throw new PathError('protected', `${input} belongs to git itself.`);
    return file;
  }

  async read(file: string): Promise<Uint8Array | undefined> {
    await this.beforeRead?.(file, ++this.#reads);
    const bytes = this.#now(file);
    if (bytes && bytes.length > MAX_FILE_BYTES) throw new ToolError(`${file} is over 5 MB.`);
    return bytes?.slice();
  }

  async write(
    file: string,
    bytes: Uint8Array | null,
    expected: Sha256 | null,
    mode?: number,
  ): Promise<WrittenTo> {
    await this.beforeWrite?.(file, ++this.#writeAttempts);
    if (this.#readOnly.has(file)) throw new ToolError(`${file} is read-only`);
    const now = this.#now(file);
    if ((now ? sha256(now) : null) !== expected) throw new StalePreviewError([file]);
    const to: WrittenTo = this.typed(file) === undefined ? 'disk' : 'editor';
    if (to === 'editor') {
      if (!bytes) throw new ToolError(`${file} has unsaved changes. It must be saved or reverted first.`);
      this.#editors.set(this.#realPath(file), bytes.slice());
    } else {
      this.put(file, bytes, mode);
    }
    const textOf = (content: Uint8Array | null | undefined) =>
      content ? Buffer.from(content).toString() : null;
    this.writes.push({ path: file, text: textOf(bytes), to, before: textOf(now) });
    return to;
  }

  async replace(
    file: string,
    content: FileContent | null,
    expected: Sha256 | null,
    mode?: number,
  ): Promise<void> {
    await this.beforeWrite?.(file, ++this.#writeAttempts);
    if (this.#editors.has(file))
      throw new ToolError(`${file} has unsaved changes. It must be saved or reverted first.`);
    const link = this.#links.get(file);
    const now = link === undefined ? this.#now(file) : { link };
    if (hashOf(now) !== expected) throw new StalePreviewError([file]);
    if (link === undefined && this.#readOnly.has(file)) throw new ToolError(`${file} is read-only`);
    this.putWhole(file, content, mode);
    const shown = (held: FileContent | null | undefined): string | null =>
      !held ? null : 'link' in held ? `→ ${held.link}` : Buffer.from(held).toString();
    this.writes.push({ path: file, text: shown(content), to: 'disk', before: shown(now) });
  }

  /**
   * Changes what stands at a path itself from outside.
   * @param mode permission bits of a file; by default those of the file that was there, or of a new one.
   */
  putWhole(file: string, content: FileContent | null, mode?: number): void {
    const bits = mode ?? this.ownModeOf(file) ?? NEW_MODE;
    this.#links.delete(file);
    this.#disk.delete(file);
    this.#modes.delete(file);
    if (content && 'link' in content) this.#links.set(file, content.link);
    else if (content) {
      this.#disk.set(file, Uint8Array.from(content));
      this.#modes.set(file, bits);
    }
  }

  /** What stands at a path itself. */
  at(file: string): FileContent | null {
    const link = this.#links.get(file);
    return link === undefined ? (this.#disk.get(file) ?? null) : { link };
  }

  /** The permission bits of the file at a path itself; `undefined` where there is a link or nothing. */
  ownModeOf(file: string): number | undefined {
    return this.#links.has(file) ? undefined : this.#modes.get(file);
  }

  async encodingOf(_path?: string): Promise<TextEncoding> {
    return this.encoding;
  }

  /** That of new files. */
  lineEnding: '\n' | '\r\n' = '\n';

  async lineEndingAt(): Promise<'\n' | '\r\n'> {
    return this.lineEnding;
  }

  /** There are no folders in memory. */
  async placeOf(file = ''): Promise<FilePlace> {
    const mode = this.modeOf(file);
    const link = this.#links.get(file);
    return {
      missingFolders: [],
      ...(mode === undefined ? {} : { mode, id: this.#realPath(file) }),
      ...(link === undefined ? {} : { link }),
      ...(this.typed(file) === undefined ? {} : { isUnsaved: true }),
    };
  }

  /** Every file is the user's own. */
  async rightsOf(): Promise<Readonly<Record<string, FileRights>>> {
    return {};
  }

  async giveRights(): Promise<void> {
    // They are never other ones.
  }

  async addName(file: string, name: string, expected: Sha256): Promise<boolean> {
    const bytes = this.#disk.get(file);
    const isOwn = !this.#links.has(file) && this.typed(file) === undefined && this.typed(name) === undefined;
    if (!bytes || !isOwn || sha256(bytes) !== expected) return false;
    await this.write(name, bytes, null, this.#modes.get(file));
    return true;
  }

  async makeFolders(): Promise<void> {
    // Each file has its folders.
  }

  async tidy(): Promise<void> {
    // Nothing is ever left behind.
  }

  async sync(): Promise<ReadonlyMap<string, unknown>> {
    return new Map();
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

  async list(
    glob: string,
    limit: number,
    signal: AbortSignal,
    planned: readonly string[] = [],
  ): Promise<FileListing> {
    signal.throwIfAborted();
    const paths = [...new Set([...this.#disk.keys(), ...planned])]
      .filter(file => path.posix.matchesGlob(file, glob))
      .sort();
    return { paths: paths.slice(0, limit), truncated: paths.length > limit };
  }

  /** What the user sees: the editor with unsaved changes, else the disk. */
  #now(file: string): Uint8Array | undefined {
    const isFolder = [...this.#disk.keys()].some(known => known.startsWith(`${file}/`));
    if (isFolder) throw new ToolError(`${file} is a folder, not a file.`);
    return this.#editors.get(this.#realPath(file)) ?? this.#disk.get(this.#realPath(file));
  }

  #realPath(file: string): string {
    return this.#links.get(file) ?? file;
  }
}

/** What the system gives to new files. */
const NEW_MODE = 0o644;

/** The error of a full disk. */
export function noSpace(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
}
