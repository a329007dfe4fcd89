import type { Disposable } from '../../base/disposable.ts';
import { ToolError } from '../../base/errors.ts';
import { naturally } from '../../base/phrases.ts';
import { MemoryBlobs, type Blobs } from './blobs.ts';
import {
  bytesOfSide,
  isLink,
  isText,
  type BinarySide,
  type FileChange,
  type FileSide,
  type LinkSide,
} from './fileChange.ts';
import { foldersAbove, stepsOf } from './fileSteps.ts';
import { isOpen, pathsOf, type Preview } from './preview.ts';
import type { PreviewStore } from './previewStore.ts';
import type { Workspace } from './workspace.ts';

/** Content of a path if the pending previews were applied, and the last of them that changes it. */
export interface PendingContent {
  readonly previewId: string;
  /** The content at the path with only the previews before that one applied. */
  readonly beneath?: PendingContent | undefined;
  /** `null`: there would be no file. */
  readonly side: FileSide | null;
  /** The permission bits that it would have, if a preview sets them. */
  readonly mode?: number;
  /** The path of the file that would be moved here with its permission bits. */
  readonly from?: string;
}

/** Contents that pending previews of one conversation propose. */
export interface PendingContents {
  /** The proposed content of this path; `undefined` if none of them changes it. */
  at(path: string): PendingContent | undefined;
  /** The paths that they change. */
  paths(): readonly string[];
  /** The contents of binary files. */
  readonly blobs: Blobs;
}

/** The outermost folder above a path where they leave no file: a link that stands there on disk then leads nowhere. */
export function removedAbove(pending: PendingContents, path: string): string | undefined {
  return foldersAbove(path).findLast(folder => pending.at(folder)?.side === null);
}

/** The ids of the previews that these contents come from, and of those beneath them. */
export function idsIn(pending: PendingContents): readonly string[] {
  const ids = new Set<string>();
  for (const path of pending.paths())
    for (let each = pending.at(path); each; each = each.beneath) ids.add(each.previewId);
  return [...ids].sort(naturally);
}

/**
 * The workspace as one conversation sees it: as if its own pending previews were applied. Its tools read this and build on it.
 * Stale previews are left out, since they cannot be applied as they are.
 */
export class SessionOverlay implements PendingContents {
  readonly #index: () => ReadonlyMap<string, PendingContent>;
  readonly blobs: Blobs;

  constructor(index: () => ReadonlyMap<string, PendingContent>, blobs: Blobs) {
    this.#index = index;
    this.blobs = blobs;
  }

  at(path: string): PendingContent | undefined {
    return this.#index().get(path);
  }

  paths(): readonly string[] {
    return [...this.#index().keys()];
  }

  /**
   * Ids of the pending previews that these changes are made on: those that make the base of a change, and those that remove a file
   * where a new one needs a folder.
   */
  dependenciesOf(changes: readonly FileChange[]): readonly string[] {
    const ids = changes.flatMap(stepsOf).flatMap(({ path, before }) => {
      const beneath = [path, ...(before ? [] : foldersAbove(path))].flatMap(each => this.at(each) ?? []);
      return beneath
        .filter(({ side }) => (side?.hash ?? null) === (before?.hash ?? null))
        .map(({ previewId }) => previewId);
    });
    return [...new Set(ids)];
  }

  /** The workspace seen through the overlay, with paths as models write them. Writes go straight to the files. */
  on(workspace: Workspace): Workspace {
    const seen: Workspace = {
      // All names of a file count as one when it is read or changed; removing or moving takes the link itself.
      resolvePath: async (input, { throughLink = true } = {}) => {
        const { meantPath } = await import('./meantPath.ts');
        const options = { planned: () => this.paths(), throughLink };
        return meantPath({ ...seen, resolvePath: path => workspace.resolvePath(path, options) }, input);
      },
      list: async (glob, limit, signal) => {
        const [all, gone] = [this.paths(), new Set<string>()];
        for (const path of all) if (!this.at(path)?.side) gone.add(path);
        const made = all.filter(path => !gone.has(path));
        const found = await workspace.list(glob, limit + gone.size, signal, made);
        const paths = found.paths.filter(path => !gone.has(path));
        return { paths: paths.slice(0, limit), truncated: found.truncated || paths.length > limit };
      },
      write: (path, bytes, expected, mode) => workspace.write(path, bytes, expected, mode),
      replace: (path, content, expected, mode) => workspace.replace(path, content, expected, mode),
      placeOf: path => workspace.placeOf(path),
      rightsOf: paths => workspace.rightsOf(paths),
      addName: (path, name, expected) => workspace.addName(path, name, expected),
      giveRights: rights => workspace.giveRights(rights),
      makeFolders: modes => workspace.makeFolders(modes),
      tidy: (paths, folders) => workspace.tidy(paths, folders),
      sync: paths => workspace.sync(paths),
      lineEndingAt: path => workspace.lineEndingAt(path),
      encodingOf: path => {
        const pending = this.at(path);
        const { side } = pending ?? {};
        return side && isText(side) ? Promise.resolve(side.encoding) : workspace.encodingOf(path);
      },
      read: async path => {
        const pending = this.at(path);
        if (!pending) return workspace.read(path);
        if (pending.side && !isText(pending.side)) throw notText(path, pending.side, pending.previewId);
        return pending.side ? bytesOfSide(pending.side) : undefined;
      },
    };
    return seen;
  }
}

/** Contents of files if exactly these previews were applied, in this order. */
export function contentsAfter(previews: readonly Preview[], blobs: Blobs): PendingContents {
  const index = indexOf(previews);
  return new SessionOverlay(() => index, blobs);
}

/** The error for a path that cannot be read or edited as text. */
function notText(path: string, side: LinkSide | BinarySide, previewId: string): ToolError {
  const what = isLink(side) ? `a symbolic link to ${side.link}` : 'a binary file';
  return new ToolError(
    `${path} is ${what} with the pending preview ${previewId} applied, so it cannot be read or edited here.`,
  );
}

type Index = Map<string, PendingContent>;

/** Keeps, for each conversation, the contents of files with its own pending previews applied. */
export class Overlay implements Disposable {
  readonly #store: PreviewStore;
  readonly #subscription: Disposable;
  /** By session id; a missing index is built on the next read. */
  readonly #indexes = new Map<string, Index>();

  constructor(store: PreviewStore) {
    this.#store = store;
    this.#subscription = store.onDidChange(preview => this.#follow(preview));
  }

  /**
   * The overlay of one conversation, which follows the store.
   * @param sessionId `undefined` without a conversation, as for another agent, which sees the files as they are.
   */
  of(sessionId: string | undefined): SessionOverlay {
    return sessionId === undefined
      ? noOverlay
      : new SessionOverlay(() => this.#indexOf(sessionId), this.#store.blobs);
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  #indexOf(sessionId: string): Index {
    let index = this.#indexes.get(sessionId);
    if (!index) {
      const own = this.#store.list('oldestFirst').filter(({ origin }) => origin?.sessionId === sessionId);
      index = indexOf(own.filter(isIncluded));
      this.#indexes.set(sessionId, index);
    }
    return index;
  }

  /**
   * Thousands of previews may be staged in a row, then each recommended, then each decided: a new preview is added to its index
   * if no other one changes its files, or if it builds on those; one that is still as it was staged stays there; and one that is
   * resolved leaves it if no other one changes its files. Any other change drops the index.
   */
  #follow(preview: Preview): void {
    const sessionId = preview.origin?.sessionId;
    const index = sessionId === undefined ? undefined : this.#indexes.get(sessionId);
    if (sessionId === undefined || !index) return;
    const paths = pathsOf(preview);
    const owners = new Set(paths.map(path => index.get(path)?.previewId));
    if (isIncluded(preview) && preview.revision === 1) {
      if (owners.size === 1 && owners.has(preview.id)) return;
      if ([...owners].every(id => id === undefined || preview.dependsOn.includes(id)))
        return addTo(index, preview);
    }
    const isLast = [...owners].every(id => id === preview.id);
    if (isLast && !isOpen(preview) && this.#store.open.touching(paths).length === 0)
      for (const path of paths) index.delete(path);
    else if (paths.length > 0) this.#indexes.delete(sessionId);
  }
}

/** The overlay without a conversation: nothing is pending. */
export const noOverlay = new SessionOverlay(() => new Map(), new MemoryBlobs());

/** Whether the preview is part of an overlay: open and not stale. */
function isIncluded(preview: Preview): boolean {
  return isOpen(preview) && !(preview.state.kind === 'pending' && preview.state.stale.length > 0);
}

function indexOf(previews: readonly Preview[]): Index {
  const index: Index = new Map();
  for (const preview of previews) addTo(index, preview);
  return index;
}

function addTo(index: Index, { id: previewId, changes }: Preview): void {
  for (const change of changes ?? []) {
    const bits = bitsAfter(change, index);
    for (const { path, after: side } of stepsOf(change))
      index.set(path, { previewId, beneath: index.get(path), side, ...(side && !isLink(side) ? bits : {}) });
  }
}

/** The permission bits that a file has after a change, as far as they are not those of the file on disk at its path. */
function bitsAfter(change: FileChange, before: Index): Pick<PendingContent, 'mode' | 'from'> {
  if (change.kind === 'delete') return {};
  if (change.kind === 'create' || (change.kind === 'modify' && change.mode !== undefined))
    return change.mode === undefined ? {} : { mode: change.mode };
  const source = change.kind === 'rename' ? change.from : change.path;
  const { mode, from = change.kind === 'rename' ? source : undefined } = before.get(source) ?? {};
  if (mode !== undefined) return { mode };
  return from === undefined ? {} : { from };
}
