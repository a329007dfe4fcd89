import type { Sha256 } from '../../base/hash.ts';
import type { TextEncoding } from '../text/encodings.ts';

/** In bytes. Larger files are neither read nor written. */
export const MAX_FILE_BYTES = 5 * 1024 * 1024;

/** Destination of written bytes: the disk, or an editor with unsaved changes, which stays unsaved. */
export type WrittenTo = 'disk' | 'editor';

/** New content of a file: its bytes, or a symbolic link. */
export type FileContent = Uint8Array | { readonly link: string };

/** The files that a glob matched. */
export interface FileListing {
  readonly paths: readonly string[];
  /** There may be more: more files matched than were asked for, or than are looked at, ignored ones included. */
  readonly truncated: boolean;
}

/** A folder that is open in the window; workspace paths are relative to it. */
export interface FolderRoot {
  readonly name: string;
  /** Absolute path in the file system of the extension host. */
  readonly fsPath: string;
}

/** Facts that the file system knows about a path besides its bytes. */
export interface FilePlace {
  /** Permission bits of the file or folder; absent if there is neither on disk. */
  readonly mode?: number;
  /** The missing folders above it, as workspace paths, the outermost first. */
  readonly missingFolders: readonly string[];
  /** An editor has unsaved changes of the file: these are read and written instead. */
  readonly isUnsaved?: true;
  /** The file on disk may not be written. */
  readonly isReadOnly?: true;
  /** Target of the path itself, if it is a symbolic link. All other fields describe the file that it leads to. */
  readonly link?: string;
  /** Identical for all names of a file on disk, and unique to it. */
  readonly id?: string;
}

/** The owner of a file and the others who may use it. */
export interface FileRights {
  readonly owner: number;
  readonly group: number;
  /** Its access control list, as `getfacl` writes it, if it has one. */
  readonly acl?: string;
}

/** Options for resolving a path. */
export interface ResolveOptions {
  /**
   * Lists workspace paths of files that may not be on disk yet: where case and Unicode normalisation do not count, another
   * spelling of one of them means the same file. Only called for a path at which there is nothing.
   */
  readonly planned?: () => readonly string[];
  /** Whether a symbolic link at the path itself stands for the file that it leads to. */
  readonly throughLink?: boolean;
}

/** Read access to the workspace's files. */
export interface ReadableFiles {
  /**
   * The exact bytes of a file: if it is open with unsaved changes, those that saving it would write, else those on disk.
   * `undefined` when there is no such file.
   * @throws ToolError for a folder, a device, or a file over the size limit; UnsavedEditorError if a notebook or a custom editor
   *   holds unsaved changes of it.
   */
  read(path: string): Promise<Uint8Array | undefined>;

  /** The encoding of an existing or new file, which a byte order mark at its beginning overrides. */
  encodingOf(path: string): Promise<TextEncoding>;

  /** Facts that a rollback needs about a file or folder beyond its bytes. */
  placeOf(path: string): Promise<FilePlace>;
}

/**
 * The workspace's files as the user sees them. A *workspace path* is relative to the workspace folder with forward
 * slashes; where several folders are open, it begins with the folder's name.
 */
export interface Workspace extends ReadableFiles {
  /**
   * The workspace path that `input` means, spelled as on disk. Accepts a workspace path or an absolute path inside a folder. A file
   * has one such path, no matter which open folder, or which link to a folder, names it.
   * @throws PathError when it leads outside (also through a symlink), or into a protected place such as `.git`.
   */
  resolvePath(input: string, options?: ResolveOptions): Promise<string>;

  /** The line ending that a new file at this path gets, if its text does not ask for one. */
  lineEndingAt(path: string): Promise<'\n' | '\r\n'>;

  /**
   * Writes exactly `bytes` to a file, creating missing folders, or deletes the file for `null`.
   * @param expected hash of the file's current bytes (`null`: no file); checked again at the last moment.
   * @param mode permission bits that the file gets, or may get before it is deleted; by default an existing one keeps its own, and a
   *   new one gets those that the system gives to new files.
   * @throws StalePreviewError when the file holds something else; ToolError for a read-only file, unless `mode` is given; any file
   *   system error as it is.
   */
  write(path: string, bytes: Uint8Array | null, expected: Sha256 | null, mode?: number): Promise<WrittenTo>;

  /**
   * Replaces the entry at the path itself, at once and without following a link there, by a file or a symbolic link, or by nothing
   * for `null`. Missing folders are created.
   * @param expected the hash of the entry there, that of a link (`hashOfLink`) or of a file's bytes; `null`: nothing.
   * @param mode permission bits of a file; by default it keeps those of the file that it replaces.
   * @throws StalePreviewError when something else stands there; ToolError if an editor has unsaved changes of it, and for a
   *   read-only file, unless `mode` is given; any file system error as it is.
   */
  replace(path: string, content: FileContent | null, expected: Sha256 | null, mode?: number): Promise<void>;

  /**
   * Gives a file on disk a second name, at which there is nothing, so that a rename keeps everything that belongs to the file.
   * @param expected hash of the bytes that the file must have.
   * @returns false where that is not possible, such as on a disk without hard links, or while an editor has unsaved changes of the
   *   file: then a new file must be written.
   */
  addName(path: string, name: string, expected: Sha256): Promise<boolean>;

  /** The rights of these files, by path, where they differ from those of a new file. */
  rightsOf(paths: readonly string[]): Promise<Readonly<Record<string, FileRights>>>;

  /** Gives new files the rights of the files that they stand for, as far as the system lets the user. Never rejects. */
  giveRights(rights: Readonly<Record<string, FileRights>>): Promise<void>;

  /** Makes those of these folders that are missing, with their permission bits. */
  makeFolders(modes: Readonly<Record<string, number>>): Promise<void>;

  /**
   * Removes the leftovers of interrupted or rolled-back writes: temporary files beside `paths`, and those of `folders` that are
   * empty, the innermost first. Leftovers that cannot be removed stay.
   */
  tidy(paths: readonly string[], folders: readonly string[]): Promise<void>;

  /**
   * Settles once these files, and the names that they have or no longer have, would survive a power cut.
   * @returns why, for each of the paths for which that failed.
   */
  sync(paths: readonly string[]): Promise<ReadonlyMap<string, unknown>>;

  /**
   * The files matching a glob, sorted, without those that ignore files or `files.exclude` hide.
   * @param planned workspace paths that count as files, whether or not there are any.
   */
  list(glob: string, limit: number, signal: AbortSignal, planned?: readonly string[]): Promise<FileListing>;
}
