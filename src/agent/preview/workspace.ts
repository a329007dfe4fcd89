import type { Sha256 } from '../base/hash.ts';
import type { TextEncoding } from '../base/textCodec.ts';

/** Larger files are neither read nor written, in bytes. */
export const MAX_FILE_BYTES = 5 * 1024 * 1024;

/** Where written bytes went: to the disk, or into an editor with unsaved changes, which stays unsaved. */
export type WrittenTo = 'disk' | 'editor';

/** The files that a glob matched. */
export interface FileListing {
  readonly paths: readonly string[];
  /** More files matched than were asked for. */
  readonly truncated: boolean;
}

/** Where a file stands. */
export interface FilePlace {
  /** Its permission bits; absent when there is no file on disk. */
  readonly mode?: number;
  /** The folders above it that are not there, as workspace paths, the outermost first. */
  readonly missingFolders: readonly string[];
}

/**
 * The workspace's files as the person sees them. A *workspace path* is relative to the workspace folder with forward
 * slashes; where several folders are open, it begins with the folder's name.
 */
export interface Workspace {
  /**
   * The workspace path that `input` means. Accepts a workspace path or an absolute path inside a folder.
   * @throws PathError when it leads outside (also through a symlink), or into a protected place such as `.git`.
   */
  resolvePath(input: string): Promise<string>;

  /**
   * The exact bytes of a file: those of its open document as it would be saved, if that has unsaved changes, else
   * those on disk. `undefined` when there is no such file.
   * @throws ToolError for a folder, a device, or a file over the size limit.
   */
  read(path: string): Promise<Uint8Array | undefined>;

  /** How the text of the file is stored, or would be if it were new, unless it begins with a byte order mark. */
  encodingOf(path: string): Promise<TextEncoding>;

  /**
   * Makes the file hold exactly `bytes`, or be absent for `null`. Folders above a new file are made.
   * @param expected hash of what the file holds now (`null`: absent); checked again at the last moment.
   * @param mode permission bits of a file that was not there; left out: what the system gives to new files.
   * @throws StalePreviewError when it holds something else; any file system error as it is.
   */
  write(path: string, bytes: Uint8Array | null, expected: Sha256 | null, mode?: number): Promise<WrittenTo>;

  /** What the bytes of a file do not tell, and taking it back must know. */
  placeOf(path: string): Promise<FilePlace>;

  /**
   * Removes what writes leave behind that were cut off or taken back: temporary files beside `paths`, and those of
   * `folders` that are empty, the innermost first. What cannot be removed stays.
   */
  tidy(paths: readonly string[], folders: readonly string[]): Promise<void>;

  /** Files matching a glob, sorted, without those that .gitignore or `files.exclude` hide. */
  list(glob: string, limit: number, signal: AbortSignal): Promise<FileListing>;
}
