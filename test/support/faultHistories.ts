/** Random histories of previews on a real folder, in which one call that changes the disk fails, or the process dies there. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { ToolError } from '../../src/agent/base/errors.ts';
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
import { openPreviewLog } from '../../src/agent/hold/preview/log/openPreviewLog.ts';
import { Overlay } from '../../src/agent/hold/preview/overlay.ts';
import type { PendingAction } from '../../src/agent/hold/preview/pendingAction.ts';
import { revisionsOf, type Preview } from '../../src/agent/hold/preview/preview.ts';
import { PreviewStore } from '../../src/agent/hold/preview/previewStore.ts';
import { queueResolveHandler } from '../../src/agent/hold/preview/queueResolveHandler.ts';
import { Invoker } from '../../src/agent/hold/preview/resolve/invoker.ts';
import { undoAction } from '../../src/agent/hold/preview/undo.ts';
import { withFault, type Fault } from './diskFaults.ts';
import { DiskWorkspace } from './diskWorkspace.ts';

/** What a history met. */
export interface FaultStats {
  histories: number;
  /** The fault came before the history had ended. */
  faults: number;
  applies: number;
  undos: number;
  /** A start found a commit that had begun. */
  interrupted: number;
}

/** A number from 0 up to `below`. */
type Random = (below: number) => number;

const NAMES = ['a.txt', 'b.sh', 'c.bin', 'd.link', 'e.txt', 'new/f.txt', 'new/deep/g.bin', 'h.link'];
const FAULTS: readonly Fault[] = ['error', 'death', 'half'];
/** About how many calls a history makes. */
const CALLS = 160;

function randomOf(seed: number): Random {
  let state = seed;
  return below => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** Plays one history in an empty folder. @throws AssertionError if something is lost, or half done */
export async function playFaults(folder: string, seed: number, stats: FaultStats): Promise<void> {
  const random = randomOf(seed);
  const history = new History(folder, random, stats);
  await history.open();
  const fault = FAULTS[random(3)] ?? 'error';
  const at = 1 + random(CALLS);
  let isDead = false;
  const made = await withFault(at, fault, async isHit => {
    for (let steps = 4 + random(10); steps > 0 && !isDead; steps--) {
      await history.step(isHit, fault);
      isDead = isHit() && fault !== 'error';
    }
    await history.close();
  });
  stats.histories++;
  if (made >= at) stats.faults++;
  await history.startAgain(made >= at && fault !== 'error');
}

/** The files of the workspace: their hashes, and their permission bits as far as it is known what they are to be. */
type Files = ReadonlyMap<string, { readonly hash: string; readonly mode: number | undefined }>;

class History {
  readonly #folder: string;
  readonly #root: string;
  readonly #random: Random;
  readonly #stats: FaultStats;
  readonly #workspace: DiskWorkspace;
  #store!: PreviewStore;
  #invoker!: Invoker;
  #overlay!: Overlay;
  /** What the files are, and what the last vote makes of them. */
  #before: Files;
  #after: Files;
  #voted: readonly string[] = [];
  /** The previews that were staged before the fault. */
  readonly #staged: string[] = [];
  #texts = 0;

  constructor(folder: string, random: Random, stats: FaultStats) {
    this.#folder = folder;
    this.#root = path.join(folder, 'workspace');
    this.#random = random;
    this.#stats = stats;
    this.#workspace = new DiskWorkspace(this.#root);
    fs.mkdirSync(this.#root);
    fs.writeFileSync(path.join(this.#root, 'a.txt'), 'first\nsecond\nthird\n');
    fs.writeFileSync(path.join(this.#root, 'b.sh'), '#!/bin/sh\n'.repeat(3_000), { mode: 0o755 });
    fs.writeFileSync(path.join(this.#root, 'c.bin'), Buffer.from([0, 1, 2, 255]));
    fs.symlinkSync('a.txt', path.join(this.#root, 'd.link'));
    this.#before = this.#after = this.#found();
  }

  async open(): Promise<void> {
    const log = openPreviewLog(path.join(this.#folder, 'previews.jsonl'));
    const { entries, unreadable } = await log.load();
    assert.deepEqual(unreadable, []);
    this.#store = new PreviewStore(log, () => undefined);
    this.#store.restore(entries, unreadable);
    this.#invoker = new Invoker(this.#store, this.#workspace, () => 'apply');
    this.#overlay = new Overlay(this.#store);
  }

  async close(): Promise<void> {
    await this.#store.close();
  }

  async step(isHit: () => boolean, fault: Fault): Promise<void> {
    const open = this.#store.list('oldestFirst');
    const undos = this.#store.all().flatMap(preview => undoAction(preview) ?? []);
    const what = this.#random(10);
    const undo = undos[this.#random(Math.max(1, undos.length))];
    const preview = open[this.#random(Math.max(1, open.length))];
    if (what < 2 && undo) {
      this.#stats.undos++;
      await this.#stage(undo, isHit);
    } else if (what < 7 && preview) await this.#vote(preview, what === 6 ? 'discard' : 'apply', isHit, fault);
    else await this.#propose(isHit);
  }

  /** The process is gone; a new one starts. @param died whether it was the fault that ended it */
  async startAgain(died: boolean): Promise<void> {
    const left = this.#store;
    await this.open();
    this.#stats.interrupted += this.#store.interruptedCommits.length;
    for (const { leftAlone, failed } of await recoverCommits(this.#store, this.#workspace))
      assert.deepEqual([...leftAlone, ...failed], []);
    for (const { changed, failed } of await completeUnsynced(this.#store, this.#workspace))
      assert.deepEqual([...changed, ...failed], []);
    const found = this.#found();
    const isAfter = isAs(found, this.#after);
    assert.ok(isAfter || (died && isAs(found, this.#before)), `half done: ${shown(found)}`);
    for (const id of this.#staged) {
      const [now, then] = [this.#store.get(id) ?? assert.fail(`${id} is lost`), left.get(id)];
      structuredClone(now); // all of its texts can be read
      if (died && this.#voted.includes(id)) {
        const isApplied = now.state.kind === 'applied';
        if (!isAs(this.#before, this.#after)) assert.equal(isApplied, isAfter, `${id} is ${now.state.kind}`);
      } else if (!died) assert.equal(now.state.kind, then?.state.kind);
      const applies = this.#store
        .ledger()
        .filter(({ previewId, outcome }) => previewId === id && outcome === 'applied');
      assert.equal(applies.length, now.state.kind === 'applied' ? 1 : 0, `${id} in the ledger`);
    }
    assert.deepEqual(this.#store.interruptedCommits, []);
    await this.close();
  }

  /** One to four files are created, changed, moved or removed, or become a link or a binary file; also on top of what is pending. */
  async #propose(isHit: () => boolean): Promise<void> {
    const sides = this.#sides();
    for (const { changes } of this.#store.list('oldestFirst'))
      for (const { path, after } of (changes ?? []).flatMap(stepsOf)) {
        if (after) sides.set(path, after);
        else sides.delete(path);
      }
    const changes: FileChange[] = [];
    for (const name of new Set(Array.from({ length: 1 + this.#random(4) }, () => this.#name()))) {
      const before = sides.get(name) ?? null;
      if (before && isText(before) && this.#random(4) === 0)
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
        if (change) changes.push(isTexts && this.#random(4) === 0 ? { ...change, mode: 0o750 } : change);
      }
    }
    if (changes.length > 0) await this.#stage({ label: 'Edit', sourceToolName: 'test', changes }, isHit);
  }

  #name(): string {
    return NAMES[this.#random(NAMES.length)] ?? '';
  }

  async #newSide(before: FileSide | null): Promise<FileSide | null> {
    const text = `text ${++this.#texts}\n`;
    switch (this.#random(before ? 8 : 4)) {
      case 0:
        return linkTo(`target-${this.#texts}`);
      case 1:
        return this.#store.blobs.put(Buffer.from(`\0${text}`)).catch(() => null);
      case 4:
        return null;
      default:
        return sideOfText((before && isText(before) ? before.text : '').slice(0, 20_000) + text);
    }
  }

  async #stage(action: PendingAction, isHit: () => boolean): Promise<void> {
    const host = { store: this.#store, invoker: this.#invoker, overlay: this.#overlay, l10n: english };
    const { preview, stored } = queueResolveHandler(host, action, { sessionId: 's', asksModel: false });
    await stored;
    if (!isHit()) this.#staged.push(preview.id);
  }

  async #vote(
    { id, revision }: Preview,
    action: 'apply' | 'discard',
    isHit: () => boolean,
    fault: Fault,
  ): Promise<void> {
    const preview = this.#store.get(id) ?? assert.fail();
    const chain = action === 'apply' ? this.#store.blockersOf(preview) : [];
    const shown = [...chain, preview];
    this.#before = this.#found();
    this.#after =
      action === 'apply'
        ? played(
            this.#before,
            shown.flatMap(({ changes }) => changes ?? []),
          )
        : this.#before;
    this.#voted = shown.map(one => one.id);
    const request = {
      id,
      revision,
      action,
      reason: 'test',
      actor: 'human',
      chain: revisionsOf(chain),
    } as const;
    try {
      await this.#invoker.resolve(request);
      this.#before = this.#after;
      this.#stats.applies++;
    } catch (error) {
      if (!(error instanceof ToolError) && !/EIO/.test(String(error))) throw error;
      if (isHit() && fault !== 'error') return;
      this.#after = this.#before;
    }
    assert.ok(isAs(this.#found(), this.#after), 'a vote does what it shows, or nothing');
  }

  /** The files on the disk. */
  #found(): Files {
    return new Map(
      [...this.#sides()].map(([name, side]) => {
        const { mode } = fs.lstatSync(path.join(this.#root, name));
        return [name, { hash: side.hash, mode: isLink(side) ? undefined : mode & 0o777 }];
      }),
    );
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

function isAs(found: Files, expected: Files): boolean {
  return (
    found.size === expected.size &&
    [...expected].every(([name, { hash, mode }]) => {
      const one = found.get(name);
      return one?.hash === hash && (mode === undefined || one.mode === undefined || one.mode === mode);
    })
  );
}

function shown(files: Files): string {
  return JSON.stringify([...files].sort());
}
