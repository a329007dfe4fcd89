import { constants, type Stats } from 'node:fs';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { hasCode } from '../../base/errors.ts';
import { fieldsIn, isRecord, parsedJson } from '../../base/json.ts';
import { PlainTree } from '../../sandbox/view/plainTree.ts';

/** How often both files are looked at, in milliseconds. */
const LOOK_MS = 300;
/** After how long a lock counts as left by a program that was killed, in milliseconds. */
const STALE_MS = 10_000;
/** How often the last look may fail, and how often it may find a lock, until the program that made it counts as dead. */
const LAST_TRIES = 10;
const LOCKED_TRIES = STALE_MS / LOOK_MS + 3;
/** The most bytes of a shared file. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A name in a folder in which another program may be at work. */
interface Place {
  readonly tree: PlainTree;
  readonly name: string;
}

/**
 * A JSON file of the home folder that programs replace by a rename. A bound file would show the replaced one for ever, so the view
 * has a file of its own, in its own home folder, and each of the two gets the changes of the other. Changes of different keys are
 * merged; of one key, the later file wins. A removed file is made again.
 *
 * If this program is killed by force, changes of the view's file since the last look are lost.
 */
export class SharedFile {
  readonly #outside: Place;
  readonly #inView: Place;
  readonly #ending = new AbortController();
  /** The text that both had last. */
  #text: string | undefined;
  /** The stamps of both at that time; empty if something may have changed since. */
  #seen = '';
  /** The permission bits of the file outside, also while it is gone. */
  #bits = 0o600;
  #watching: Promise<void> | undefined;

  private constructor(outside: Place, inView: Place) {
    this.#outside = outside;
    this.#inView = inView;
  }

  /**
   * Shares a file until {@link stop} is called.
   * @param at absolute; it exists. If it is a link, its target is replaced.
   * @param home the home folder of the view, which has the file when this settles
   */
  static async start(at: string, home: string): Promise<SharedFile> {
    const real = await fs.realpath(at);
    const shared = new SharedFile(
      { tree: new PlainTree(path.dirname(real)), name: path.basename(real) },
      { tree: new PlainTree(home), name: path.basename(at) },
    );
    await shared.#exchange();
    shared.#watching = shared.#watch();
    return shared;
  }

  /** Passes the last changes on, once the program in the view has ended. Never rejects. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#watching;
    // A program that was killed may have left its lock.
    await this.#inView.tree.at(`${this.#inView.name}.lock`, at => fs.rmdir(at)).catch(() => undefined);
    for (let failed = 0, locked = 0; failed < LAST_TRIES && locked < LOCKED_TRIES; await delay(LOOK_MS)) {
      const isSame = await this.#look();
      if (isSame === true) return;
      if (isSame === undefined) locked++;
      else failed++;
    }
  }

  async #watch(): Promise<void> {
    const { signal } = this.#ending;
    for (;;) {
      await delay(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      await this.#look();
    }
  }

  /** @returns whether both are the same now: not if the disk is full, for example; `undefined` while another program has a lock */
  async #look(): Promise<boolean | undefined> {
    try {
      if ((await this.#stamps()).join() === this.#seen) return true;
      const exchange = (): Promise<boolean> => this.#exchange();
      return await locked(this.#outside, () => locked(this.#inView, exchange));
    } catch {
      return false;
    }
  }

  #stamps(): Promise<[string, string]> {
    const stampAt = async ({ tree, name }: Place): Promise<string> => (await tree.stamp(name)).stamp;
    return Promise.all([stampAt(this.#outside), stampAt(this.#inView)]);
  }

  /** @returns false if one of them is not JSON: perhaps it is half written */
  async #exchange(): Promise<boolean> {
    // Not every program takes the lock: what has changed since these is not replaced.
    const stamps = await this.#stamps();
    const [outside, inView] = await Promise.all([statAt(this.#outside), statAt(this.#inView)]);
    const [theirs, own] = await Promise.all([textAt(this.#outside), textAt(this.#inView)]);
    const isViewLater = (inView?.mtimeMs ?? 0) >= (outside?.mtimeMs ?? 0);
    const text = isViewLater ? mergedText(this.#text, theirs, own) : mergedText(this.#text, own, theirs);
    if (text === undefined) return false;
    if (outside) this.#bits = outside.mode & 0o777;
    const { tree, name } = this.#inView;
    const bytes = Buffer.from(text);
    if (theirs !== text) await replace(this.#outside, bytes, this.#bits, stamps[0]);
    if (own !== text) await tree.write(name, bytes, this.#bits, { still: stamps[1] });
    this.#text = text;
    // A change that another program has made since they were read does not count as seen.
    this.#seen = theirs === text && own === text ? stamps.join() : '';
    return true;
  }
}

async function textAt({ tree, name }: Place): Promise<string | undefined> {
  const bytes = await tree.read(name, MAX_BYTES);
  return bytes && Buffer.from(bytes).toString('utf8');
}

function statAt({ tree, name }: Place): Promise<Stats | undefined> {
  return tree.stat(name);
}

/** Replaces the file outside. After a power cut, it holds the old text or this one. @throws ChangedError */
async function replace({ tree, name }: Place, bytes: Buffer, bits: number, still: string): Promise<void> {
  try {
    await tree.write(name, bytes, bits, { still, isSynced: true });
  } catch (error) {
    if (!hasCode(error, 'EBUSY')) throw error;
    // A file that is mounted on its own, as in a container, cannot be replaced.
    await tree.at(name, at => overwrite(at, bytes));
  }
}

async function overwrite(at: string, bytes: Buffer): Promise<void> {
  const file = await fs.open(at, constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    await file.writeFile(bytes);
    await file.truncate(bytes.length);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** @returns `undefined` if one of the texts that have changed is not a JSON object */
function mergedText(base: string | undefined, older = base, newer = older): string | undefined {
  const changed = [older, newer].filter(text => text !== base);
  // At the start, any text is taken.
  if (base === undefined || changed.length === 0) return newer;
  const [first, last = first] = changed.map(text => parsedJson(text ?? ''));
  if (!isRecord(first) || !isRecord(last)) return undefined;
  if (changed.length === 1) return changed[0];
  const merged = mergedValue(parsedJson(base), first, last);
  return isDeepStrictEqual(merged, last) ? newer : `${JSON.stringify(merged, null, 2)}\n`;
}

function mergedValue(base: unknown, older: unknown, newer: unknown): unknown {
  if (!isRecord(older) || !isRecord(newer)) return isDeepStrictEqual(newer, base) ? older : newer;
  const before = fieldsIn(base);
  const keys = new Set([...Object.keys(older), ...Object.keys(newer)]);
  return Object.fromEntries(
    [...keys]
      .map(key => [key, mergedValue(before[key], older[key], newer[key])] as const)
      .filter(([, value]) => value !== undefined),
  );
}

/** Does something while no other program changes a file: they make a folder beside it meanwhile. @returns `undefined` if one does */
async function locked<T>({ tree, name }: Place, work: () => Promise<T>): Promise<T | undefined> {
  return tree.at(`${name}.lock`, async lock => {
    try {
      await fs.mkdir(lock);
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
      const { mtimeMs } = await fs.lstat(lock);
      if (Date.now() - mtimeMs > STALE_MS) await fs.rmdir(lock);
      return undefined;
    }
    try {
      return await work();
    } finally {
      await fs.rmdir(lock);
    }
  });
}
