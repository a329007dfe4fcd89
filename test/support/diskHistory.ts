/** Random histories of previews on a real folder: texts, links, binary files and permission bits, in stacks, voted on and undone. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { messageOf, ToolError } from '../../src/agent/base/errors.ts';
import { sha256 } from '../../src/agent/base/hash.ts';
import { english } from '../../src/agent/base/localiser.ts';
import { recoverCommits } from '../../src/agent/hold/preview/commit/recovery.ts';
import { completeUnsynced } from '../../src/agent/hold/preview/commit/unsynced.ts';
import {
  changeOf,
  isLink,
  isText,
  linkTo,
  sideOfBytes,
  sideOfText,
  type FileChange,
  type FileSide,
} from '../../src/agent/hold/preview/fileChange.ts';
import { stepsOf } from '../../src/agent/hold/preview/fileSteps.ts';
import { openPreviewLog, type PreviewLog } from '../../src/agent/hold/preview/log/openPreviewLog.ts';
import { Overlay } from '../../src/agent/hold/preview/overlay.ts';
import type { PendingAction } from '../../src/agent/hold/preview/pendingAction.ts';
import { revisionsOf, type Preview } from '../../src/agent/hold/preview/preview.ts';
import { PreviewStore } from '../../src/agent/hold/preview/previewStore.ts';
import { queueResolveHandler } from '../../src/agent/hold/preview/queueResolveHandler.ts';
import { Invoker } from '../../src/agent/hold/preview/resolve/invoker.ts';
import { undoAction } from '../../src/agent/hold/preview/undo.ts';
import { quietly } from './diskCalls.ts';
import { DiskWorkspace } from './diskWorkspace.ts';
import type { Random } from './fuzz/random.ts';

/** Windows has no permission bits, and lets not everybody make a link. */
const hasLinksAndBits = process.platform !== 'win32';

const NAMES = ['a.txt', 'b.sh', 'c.bin', 'd.link', 'e.txt', 'new/f.txt', 'new/deep/g.bin', 'h.link'];

/** The files of the workspace: their hashes, and their permission bits as far as it is known what they are to be. */
export type Files = ReadonlyMap<string, { readonly hash: string; readonly mode: number | undefined }>;

/** What befalls the process meanwhile. */
export interface Fate {
  /** Something has gone wrong. */
  isHit(): boolean;
  /** Since then, nothing is done any more. */
  isDead(): boolean;
}
const unharmed: Fate = { isHit: () => false, isDead: () => false };

/** One vote to apply: what the files were, and are to be, and the previews that it names. */
export interface Vote {
  readonly before: Files;
  readonly after: Files;
  readonly ids: readonly string[];
  readonly action: 'apply' | 'discard';
  /** How many previews had been staged. */
  readonly staged: number;
  readonly begun: number;
  /** When it was answered. */
  answered?: number;
}

export class DiskHistory {
  readonly workspace: DiskWorkspace;
  /** Those to apply that did something, or may have; the last one may not be answered. */
  readonly votes: Vote[] = [];
  /** The previews that were staged before anything went wrong. */
  readonly staged: string[] = [];
  /** What the files were at the beginning. */
  readonly first: Files;
  undos = 0;
  /** The files that the person was told of: they may be lost or damaged after a power cut. */
  readonly told: string[] = [];
  readonly #folder: string;
  readonly #root: string;
  readonly #random: Random;
  readonly #now: () => number;
  #log!: PreviewLog;
  #store!: PreviewStore;
  #invoker!: Invoker;
  #overlay!: Overlay;
  #fate: Fate = unharmed;
  #texts = 0;
  readonly #movesFolders: boolean;

  /** @param now tells the moments of votes */
  constructor(folder: string, random: Random, now = (): number => 0, movesFolders = false) {
    this.#folder = folder;
    this.#now = now;
    this.#movesFolders = movesFolders;
    this.#root = path.join(folder, 'workspace');
    this.#random = random;
    this.workspace = new DiskWorkspace(this.#root);
    fs.mkdirSync(this.#root);
    fs.writeFileSync(path.join(this.#root, 'a.txt'), 'first\nsecond\nthird\n');
    fs.writeFileSync(path.join(this.#root, 'b.sh'), '#!/bin/sh\n'.repeat(3_000), { mode: 0o755 });
    fs.writeFileSync(path.join(this.#root, 'c.bin'), Buffer.from([0, 1, 2, 255]));
    if (hasLinksAndBits) fs.symlinkSync('a.txt', path.join(this.#root, 'd.link'));
    // Another name of a file, outside of the workspace.
    if (hasLinksAndBits) fs.linkSync(path.join(this.#root, 'a.txt'), path.join(folder, 'other-name.txt'));
    this.first = this.found();
  }

  get store(): PreviewStore {
    return this.#store;
  }

  /**
   * A process starts.
   * @param wasLeft whether it knows that the one before may not have flushed its log
   * @returns how many lines of its log cannot be read
   */
  async open(slack?: number, wasLeft = false): Promise<number> {
    const lock = { isSure: true, check: () => Promise.resolve(), wasLeft };
    this.#log = openPreviewLog(path.join(this.#folder, 'previews.jsonl'), slack, lock);
    const { entries, unreadable } = await this.#log.load();
    this.#store = new PreviewStore(this.#log, () => undefined, {
      onUnsynced: (ids, failed) => void this.told.push(...failed.keys()),
    });
    this.#store.restore(entries, unreadable);
    this.#invoker = new Invoker(this.#store, this.workspace, () => 'apply');
    this.#overlay = new Overlay(this.#store);
    return unreadable.length;
  }

  /** Makes the log survive a power cut, as soon as a second has passed. */
  flush(): Promise<void> {
    return this.#log.flush();
  }

  async close(): Promise<void> {
    await this.#store.close();
  }

  async step(fate: Fate = unharmed): Promise<void> {
    this.#fate = fate;
    const open = this.#store.list('oldestFirst');
    const undos = this.#store.all().flatMap(preview => undoAction(preview) ?? []);
    const what = this.#random.below(10);
    const undo = undos[this.#random.below(Math.max(1, undos.length))];
    const preview = open[this.#random.below(Math.max(1, open.length))];
    if (what < 2 && undo) {
      this.undos++;
      await this.#stage(undo);
    } else if (what < 7 && preview) await this.#vote(preview, what === 6 ? 'discard' : 'apply');
    else await this.#propose();
  }

  /** Ends what the last process left. @returns in how many commits it found something to do, and the files that it tells of */
  async recover(): Promise<{ readonly commits: number; readonly told: readonly string[] }> {
    const recovered = await recoverCommits(this.#store, this.workspace);
    const completed = await completeUnsynced(this.#store, this.workspace);
    assert.deepEqual(this.#store.interruptedCommits, []);
    const told = [
      ...recovered.flatMap(({ leftAlone, failed }) => [...leftAlone, ...failed]),
      ...completed.flatMap(({ changed, failed }) => [...changed, ...failed]),
    ];
    return { commits: recovered.length + completed.length, told };
  }

  /** Whether the vote that a death interrupted took effect shows after {@link recover}. */
  lookBack(): void {
    const last = this.votes.at(-1);
    if (!last || last.answered !== undefined) return;
    if (last.ids.every(id => this.#store.get(id)?.state.kind === 'applied')) last.answered = this.#now();
    else this.votes.pop();
  }

  /** One to four files are created, changed, moved or removed, or become a link or a binary file; also on top of what is pending. */
  async #propose(): Promise<void> {
    const sides = quietly(() => this.#sides());
    for (const { changes } of this.#store.list('oldestFirst'))
      for (const { path, after } of (changes ?? []).flatMap(stepsOf)) {
        if (after) sides.set(path, after);
        else sides.delete(path);
      }
    const changes: FileChange[] = [];
    const inFolder = this.#movesFolders ? [...sides].filter(([name]) => name.includes('/')) : [];
    if (inFolder.length > 0 && this.#random.below(4) === 0) {
      const to = `folder-${++this.#texts}`;
      for (const [from, before] of inFolder) {
        const path = from.replace(/^[^/]+/, to);
        if (isText(before)) changes.push({ kind: 'rename', path, from, before, after: before });
        else
          changes.push(
            ...[changeOf(path, null, before), changeOf(from, before, null)].flatMap(one => one ?? []),
          );
      }
    }
    for (const name of changes.length > 0
      ? []
      : new Set(Array.from({ length: 1 + this.#random.below(4) }, () => this.#name()))) {
      const before = sides.get(name) ?? null;
      if (before && isText(before) && this.#random.below(4) === 0)
        changes.push({
          kind: 'rename',
          path: `moved-${++this.#texts}.txt`,
          from: name,
          before,
          after: before,
        });
      else {
        const change = changeOf(name, before, await this.#newSide(before));
        const isTexts = change?.kind === 'modify' && isText(change.before) && isText(change.after);
        if (change)
          changes.push(isTexts && this.#random.below(4) === 0 ? { ...change, mode: 0o750 } : change);
      }
    }
    if (changes.length > 0) await this.#stage({ label: 'Edit', sourceToolName: 'test', changes });
  }

  #name(): string {
    return NAMES[this.#random.below(NAMES.length)] ?? '';
  }

  async #newSide(before: FileSide | null): Promise<FileSide | null> {
    const text = `text ${++this.#texts}\n`;
    const kind = this.#random.below(before ? 8 : 4);
    if (kind === 0 && hasLinksAndBits) return linkTo(`target-${this.#texts}`);
    switch (kind) {
      case 1:
        return this.#store.blobs.put(Buffer.from(`\0${text}`)).catch(() => null);
      case 4:
        return null;
      default:
        return sideOfText((before && isText(before) ? before.text : '').slice(0, 20_000) + text);
    }
  }

  async #stage(action: PendingAction): Promise<void> {
    const host = { store: this.#store, invoker: this.#invoker, overlay: this.#overlay, l10n: english };
    const { preview, stored } = queueResolveHandler(host, action, { sessionId: 's', asksModel: false });
    await stored;
    if (!this.#fate.isHit()) this.staged.push(preview.id);
  }

  async #vote({ id, revision }: Preview, action: 'apply' | 'discard'): Promise<void> {
    const preview = this.#store.get(id) ?? assert.fail();
    const chain = action === 'apply' ? this.#store.open.blockersOf(preview) : [];
    const group = [...chain, preview];
    const before = this.found();
    const changes = action === 'apply' ? group.flatMap(one => one.changes ?? []) : [];
    const vote: Vote = {
      before,
      after: played(before, changes),
      ids: group.map(one => one.id),
      action,
      staged: this.staged.length,
      begun: this.#now(),
    };
    this.votes.push(vote);
    const seen = { id, revision, chain: revisionsOf(chain) };
    try {
      await this.#invoker.resolve({ ...seen, action, reason: 'test', actor: 'human' });
      vote.answered = this.#now();
    } catch (error) {
      if (!(error instanceof ToolError) && !/EIO/.test(String(error))) throw error;
      if (this.#fate.isDead()) return;
      this.votes.pop();
      const [, told = ''] = /(?:[Tt]hese|Check)(.*)/.exec(messageOf(error)) ?? [];
      this.told.push(...[...before.keys(), ...vote.after.keys()].filter(name => told.includes(name)));
    }
    const expected = vote.answered === undefined ? before : vote.after;
    const found = this.found();
    assert.ok(
      isAs(found, expected, this.told),
      `a vote does what it shows, or nothing: ${shown(expected)}; but ${shown(found)}`,
    );
  }

  /** The files on the disk. */
  found(): Files {
    return quietly(() => {
      const entries = [...this.#sides()].map(([name, side]) => {
        const { mode } = fs.lstatSync(path.join(this.#root, name));
        const bits = hasLinksAndBits && !isLink(side) ? mode & 0o777 : undefined;
        return [name, { hash: side.hash, mode: bits }] as const;
      });
      return new Map(entries);
    });
  }

  #sides(): Map<string, FileSide> {
    const entries = fs.readdirSync(this.#root, { recursive: true, withFileTypes: true });
    const files = entries.filter(entry => !entry.isDirectory() && !entry.name.startsWith('.redline-'));
    return new Map<string, FileSide>(
      files.map((entry): [string, FileSide] => {
        const file = path.join(entry.parentPath, entry.name);
        const name = path.relative(this.#root, file).replaceAll('\\', '/');
        if (entry.isSymbolicLink()) return [name, linkTo(fs.readlinkSync(file))];
        const bytes = fs.readFileSync(file);
        const text = bytes.includes(0) ? undefined : sideOfBytes(bytes);
        return [name, text ?? { hash: sha256(bytes), size: bytes.length }];
      }),
    );
  }
}

/** The files after these changes. A file that is made, or takes the place of a link, has the bits that its change names, if any. */
function played(files: Files, changes: readonly FileChange[]): Files {
  const after = new Map(files);
  for (const change of changes) {
    const had = after.get(change.kind === 'rename' ? change.from : change.path);
    for (const step of stepsOf(change)) {
      if (!step.after) after.delete(step.path);
      else
        after.set(step.path, {
          hash: step.after.hash,
          mode: isLink(step.after) ? undefined : (('mode' in change ? change.mode : undefined) ?? had?.mode),
        });
    }
  }
  return after;
}

export function isAs(found: Files, expected: Files, but: readonly string[] = []): boolean {
  return [...new Set([...found.keys(), ...expected.keys()])].every(name => {
    const [one, other] = [found.get(name), expected.get(name)];
    const isSame = one?.hash === other?.hash;
    const hasBits = one?.mode === undefined || other?.mode === undefined || one.mode === other.mode;
    return (isSame && hasBits) || but.includes(name);
  });
}

export function shown(files: Files): string {
  return JSON.stringify([...files].sort());
}
