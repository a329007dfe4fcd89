import { isDeepStrictEqual } from 'node:util';
import { sha256 } from '../../base/hash.ts';
import { hashOfLink, isLink } from '../../hold/preview/fileChange.ts';
import { contentsAfter, type PendingContents } from '../../hold/preview/overlay.ts';
import type { Preview, SeenRevisions } from '../../hold/preview/preview.ts';
import type { PreviewStore } from '../../hold/preview/previewStore.ts';
import type { FolderRoot, ReadableFiles } from '../../hold/preview/workspace.ts';
import type { CheckResult, SeenFiles } from './check.ts';

export interface CheckedFilesParts {
  readonly store: PreviewStore;
  readonly workspace: ReadableFiles & {
    folderRoots(): readonly FolderRoot[];
    /** Workspace paths of documents with unsaved changes. */
    unsaved(): readonly string[];
  };
  /** Fingerprint of all files except those at these workspace paths: see `folderState`. */
  readonly stateOf: (except: ReadonlySet<string>, signal?: AbortSignal) => Promise<string | undefined>;
}

/** Fingerprints taken in one comparison, by the paths that are left out: each takes long to compute. */
export type OneLook = Map<string, Promise<string | undefined>>;

/** Lists the files that a check sees, and says whether a result is about the files as they are. */
export class CheckedFiles {
  readonly #parts: CheckedFilesParts;

  constructor(parts: CheckedFilesParts) {
    this.#parts = parts;
  }

  /** Whether these previews are still as seen: at the same revision, and neither discarded nor expired. */
  isAsSeen(seen: SeenRevisions): boolean {
    return Object.entries(seen).every(([id, revision]) => {
      const now = this.#parts.store.get(id);
      return now?.revision === revision && now.state.kind !== 'discarded' && now.state.kind !== 'expired';
    });
  }

  /** The files that a check would see with these previews applied; `undefined` if that is not known. */
  async seenWith(previews: readonly Preview[], signal?: AbortSignal): Promise<SeenFiles | undefined> {
    const { workspace } = this.#parts;
    // Unsaved text is not on disk.
    if (workspace.unsaved().length > 0) return undefined;
    const pending = contentsAfter(previews, this.#parts.store.blobs);
    const paths = pending.paths();
    const bits: Record<string, number> = {};
    for (const at of paths) {
      const mode = await this.#bitsOf(at, pending);
      if (mode !== undefined) bits[at] = mode;
    }
    const rest = await this.#parts.stateOf(new Set(paths), signal);
    if (rest === undefined || workspace.unsaved().length > 0) return undefined;
    const contents = Object.fromEntries(paths.map(at => [at, pending.at(at)?.side?.hash ?? null]));
    return { rest, contents, bits };
  }

  /**
   * Whether the result holds for the files with exactly these previews applied. It must have seen all of them.
   * @param look is shared by results that are compared with the files at the same time
   */
  async isAbout(
    { previews: seen, saw, before }: CheckResult,
    previews: readonly Preview[],
    { signal, look = new Map() }: { readonly signal?: AbortSignal | undefined; readonly look?: OneLook } = {},
  ): Promise<boolean> {
    const { workspace } = this.#parts;
    if (!saw || !hasAll(seen, previews) || !this.isAsSeen(seen) || workspace.unsaved().length > 0)
      return false;
    const pending = contentsAfter(previews, this.#parts.store.blobs);
    for (const [at, hash] of Object.entries(saw.contents)) {
      const planned = pending.at(at);
      if ((planned ? (planned.side?.hash ?? null) : await this.#hashOf(at, hash)) !== hash) return false;
    }
    for (const [at, bits] of Object.entries(saw.bits))
      if ((await this.#bitsOf(at, pending)) !== bits) return false;
    const isStill = async (state: string, except: readonly string[]): Promise<boolean> => {
      const key = except.join('\0');
      const rest = look.get(key) ?? this.#parts.stateOf(new Set(except), signal);
      look.set(key, rest);
      return (await rest) === state;
    };
    if (!(await isStill(saw.rest, Object.keys(saw.contents).sort()))) return false;
    if (before !== undefined && !(await isStill(before, []))) return false;
    return this.isAsSeen(seen) && workspace.unsaved().length === 0;
  }

  /** The permission bits that a file has, or would have; `undefined` for none, a link, and a new file that gets the usual ones. */
  async #bitsOf(path: string, pending: PendingContents): Promise<number | undefined> {
    const planned = pending.at(path);
    if (planned && (!planned.side || isLink(planned.side))) return undefined;
    if (planned?.mode !== undefined) return planned.mode;
    try {
      return (await this.#parts.workspace.placeOf(planned?.from ?? path)).mode;
    } catch {
      return undefined;
    }
  }

  /** @param expected if it is the hash of a link, it is compared with the link at the path. */
  async #hashOf(path: string, expected: string | null): Promise<string | null | undefined> {
    try {
      const isLink = expected?.startsWith('link:') === true;
      const link = isLink ? (await this.#parts.workspace.placeOf(path)).link : undefined;
      if (link !== undefined) return hashOfLink(link);
      const bytes = await this.#parts.workspace.read(path);
      return bytes ? sha256(bytes) : null;
    } catch {
      return undefined;
    }
  }
}

/** Whether these previews are among those that were seen, at the same revision. */
export function hasAll(seen: Readonly<Record<string, number>>, previews: readonly Preview[]): boolean {
  return previews.every(({ id, revision }) => seen[id] === revision);
}

export function isSame(one: SeenFiles, other: SeenFiles): boolean {
  const { rest, contents, bits } = one;
  return rest === other.rest && isDeepStrictEqual([contents, bits], [other.contents, other.bits]);
}
