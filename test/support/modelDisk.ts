/**
 * A disk that loses what is not synced when its power is cut, in the way of a journalling file system: names and permission bits
 * come back as they were at one moment; of the bytes of a file, any page as it was at any moment, or as zeros. All that since the
 * last sync that covers them. Bytes whose sync failed are not on the disk until they are written again, whatever a later sync says.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { aroundDiskCalls, type DiskCall } from './diskCalls.ts';
import type { Random } from './fuzz/random.ts';

/** What a name leads to. Files and folders have a number. */
type Node =
  | { readonly kind: 'folder' | 'file'; readonly mode: number; readonly number: number }
  | { readonly kind: 'link'; readonly target: string };
type Names = ReadonlyMap<string, Node>;

/** Since a moment. */
interface At<T> {
  readonly at: number;
  readonly value: T;
}

/** What is known of a file or folder. */
interface Known {
  /** Its bytes, if it is a file. */
  readonly states: At<Buffer>[];
  /** Up to which moment its bytes are on the disk. */
  readonly synced: At<number>[];
  /** When a name below it, or of it, its bits or its length last changed, and when its length. */
  changed: number;
  resized: number;
  /** A sync of it failed: which ranges were written since. */
  doubt?: (readonly [start: number, end: number])[] | undefined;
}

const PAGE = 4096;
const SECTOR = 512;

export class ModelDisk {
  readonly #folder: string;
  /** How many calls there were. */
  #now = 0;
  #isWatching = false;
  /** Work that begins with the next sync of a pack of contents, which ends after it. */
  duringPackSync: (() => Promise<void>) | undefined;
  /** Whether the sync of a file or folder that is about to be made fails. */
  syncFails: (name: string) => boolean = () => false;
  readonly #names: At<Names>[] = [];
  /** Up to which moment names and bits are on the disk. */
  readonly #journal: At<number>[] = [{ at: 0, value: 0 }];
  readonly #known: Known[] = [];
  /** The numbers of what there is now, by those of the system, which gives them again to others. */
  #numbers = new Map<string, number>();

  /** @param folder all that it holds is on the disk */
  constructor(folder: string) {
    this.#folder = folder;
    this.#look();
    for (const { states, synced } of this.#known) {
      states.splice(0, states.length - 1);
      synced.push({ at: 0, value: 0 });
    }
  }

  /** The moment: how many calls there were. */
  get now(): number {
    return this.#now;
  }

  /** Notes what work changes in the folder, and syncs. */
  async watch(work: () => Promise<unknown>): Promise<void> {
    this.#isWatching = true;
    await aroundDiskCalls(call => this.#note(call), work);
    this.#isWatching = false;
  }

  #note(call: DiskCall): unknown {
    const { name, args, handle } = call;
    const begun = this.#now;
    const of = isSync(call) || name === 'write' ? (handle?.fd ?? Number(args[0])) : undefined;
    const id = of === undefined ? undefined : idOf(fs.fstatSync(of, exact));
    const synced = isSync(call) ? id : undefined;
    const end = (): void => {
      if (!this.#isWatching) return;
      this.#now++;
      if (synced !== undefined) return this.#sync(synced, begun, name.endsWith('datasync'));
      if (id !== undefined) this.#noteRange(id, args);
      this.#look();
    };
    if (synced !== undefined && this.#isWatching && this.syncFails(this.#nameOf(synced))) {
      this.#now++;
      const known = this.#known[this.#numbers.get(synced) ?? -1];
      if (known) known.doubt = [];
      const error = Object.assign(new Error(`EIO: i/o error, ${name}`), { code: 'EIO' });
      if (call.isPromised) return Promise.reject(error);
      throw error;
    }
    const during = this.#isPack(synced) ? this.duringPackSync : undefined;
    if (during) this.duringPackSync = undefined;
    const done = during?.() ?? unsynced(call);
    if (done instanceof Promise) return done.finally(end);
    end();
    return done;
  }

  #isPack(id = ''): boolean {
    return this.#nameOf(id).endsWith('.pack');
  }

  #nameOf(id: string): string {
    const number = this.#numbers.get(id) ?? -1;
    const names = Array.from(this.#names.at(-1)?.value ?? []);
    return names.find(([, node]) => 'number' in node && node.number === number)?.[0] ?? '';
  }

  /** A write at a position. */
  #noteRange(id: string, [, , , length, position]: readonly unknown[]): void {
    const known = this.#known[this.#numbers.get(id) ?? -1];
    if (typeof position === 'number') known?.doubt?.push([position, position + Number(length)]);
  }

  /** Puts on the disk what there may be after the power was cut at a moment. */
  cut(at: number, random: Random): void {
    const names = possible(this.#names, at, lastAt(this.#journal, at) ?? 0);
    const kept = some(names, random);
    fs.rmSync(this.#folder, { recursive: true });
    const made = new Map<number, string>();
    for (const [name, node] of kept) {
      const file = path.join(this.#folder, name);
      if (node.kind === 'link') fs.symlinkSync(node.target, file);
      else if (node.kind === 'folder') fs.mkdirSync(file, { recursive: true, mode: node.mode });
      else if (made.has(node.number)) fs.linkSync(made.get(node.number) ?? '', file);
      else {
        fs.writeFileSync(file, this.#bytesAfter(node.number, at, random));
        fs.chmodSync(file, node.mode);
        made.set(node.number, file);
      }
    }
  }

  #bytesAfter(number: number, at: number, random: Random): Buffer {
    const { states, synced } = this.#known[number] ?? { states: [], synced: [] };
    const all = possible(states, at, lastAt(synced, at) ?? -1);
    if (random.chance(0.5)) return some(all, random);
    const lengths = all.map(({ length }) => length);
    const [least, most] = [Math.min(...lengths), Math.max(...lengths)];
    const pages = Math.ceil((least + random.below(most - least + 1)) / PAGE);
    const bytes = Buffer.alloc(random.chance(0.5) ? random.pick(lengths) : Math.min(pages * PAGE, most));
    for (let page = 0; page < bytes.length; page += PAGE)
      bytes.set(random.pick(all).subarray(page, Math.min(page + PAGE, bytes.length)), page);
    // One page may have been on its way, sector by sector.
    const torn = random.below(bytes.length / PAGE) * PAGE;
    const end = Math.min(torn + (1 + random.below(PAGE / SECTOR - 1)) * SECTOR, bytes.length);
    if (random.chance(0.3)) bytes.set(all.at(-1)?.subarray(torn, end) ?? [], torn);
    return bytes;
  }

  /** Its bytes are on the disk as they were when this began, and so are all names and bits up to the last change of its own. */
  #sync(id: string, begun: number, isOfData: boolean): void {
    const known = this.#known[this.#numbers.get(id) ?? -1];
    if (!known) return;
    if (isWritten(known)) known.doubt = undefined;
    if (!known.doubt)
      known.synced.push({ at: this.#now, value: Math.max(begun, known.synced.at(-1)?.value ?? 0) });
    const written = Math.min(begun, isOfData ? known.resized : known.changed);
    this.#journal.push({ at: this.#now, value: Math.max(written, lastAt(this.#journal, this.#now) ?? 0) });
  }

  /** Notes what has changed. */
  #look(): void {
    const before = this.#names.at(-1)?.value ?? new Map<string, Node>();
    const names = new Map<string, Node>();
    const numbers = new Map<string, number>();
    const below = fs.readdirSync(this.#folder, { recursive: true, encoding: 'utf8' });
    for (const name of ['.', ...below]) {
      const file = path.join(this.#folder, name);
      const found = fs.lstatSync(file, { ...exact, throwIfNoEntry: false });
      if (!found) continue;
      if (found.isSymbolicLink()) {
        names.set(name, { kind: 'link', target: fs.readlinkSync(file) });
        continue;
      }
      const id = idOf(found);
      const number = numbers.get(id) ?? this.#numbers.get(id) ?? this.#add(found.isFile());
      if (found.isFile() && !numbers.has(id)) this.#noteBytes(number, fs.readFileSync(file));
      numbers.set(id, number);
      const kind = found.isFile() ? 'file' : 'folder';
      names.set(name, { kind, mode: Number(found.mode) & 0o7777, number });
    }
    this.#numbers = numbers;
    const changed = [...new Set([...before.keys(), ...names.keys()])].filter(
      name => !isSame(before.get(name), names.get(name)),
    );
    if (changed.length === 0 && this.#names.length > 0) return;
    this.#names.push({ at: this.#now, value: names });
    for (const name of changed)
      for (const node of [
        before.get(name),
        names.get(name),
        isSameNode(before.get(name), names.get(name)) ? undefined : names.get(path.dirname(name)),
      ]) {
        const known = node && 'number' in node ? this.#known[node.number] : undefined;
        if (known) known.changed = this.#now;
      }
  }

  /** A file is empty before it is anything else. */
  #add(isFile: boolean): number {
    const states = isFile ? [{ at: this.#now, value: Buffer.alloc(0) }] : [];
    return this.#known.push({ states, synced: [], changed: this.#now, resized: this.#now }) - 1;
  }

  #noteBytes(number: number, bytes: Buffer): void {
    const known = this.#known[number];
    const last = known?.states.at(-1)?.value;
    if (!known || last?.equals(bytes)) return;
    known.states.push({ at: this.#now, value: bytes });
    if (last?.length !== bytes.length) known.changed = known.resized = this.#now;
  }
}

/** Whether all bytes of a file were written again since a sync of it failed. */
function isWritten({ doubt = [], states }: Known): boolean {
  let end = 0;
  for (const [from, to] of doubt.toSorted(([a], [b]) => a - b)) if (from <= end) end = Math.max(end, to);
  return end >= (states.at(-1)?.value.length ?? 0);
}

/** Runs work as fast as on a disk in memory. */
export function withoutSyncs(work: () => Promise<unknown>): Promise<void> {
  return aroundDiskCalls(unsynced, work);
}

/** Makes a call, but has the system sync nothing: nobody cuts its power. */
function unsynced(call: DiskCall): unknown {
  if (!isSync(call)) return call.make();
  return call.isPromised ? Promise.resolve() : undefined;
}

function isSync({ name }: DiskCall): boolean {
  return name.endsWith('sync');
}

const exact = { bigint: true } as const;

function idOf({ ino, birthtimeNs }: fs.BigIntStats): string {
  return `${ino} ${birthtimeNs}`;
}

function isSame(one: Node | undefined, other: Node | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Whether the two differ in nothing but their bits, of which their folder knows nothing. */
function isSameNode(one: Node | undefined, other: Node | undefined): boolean {
  return one !== undefined && other !== undefined && 'number' in one && 'number' in other
    ? one.number === other.number
    : false;
}

function lastAt<T>(states: readonly At<T>[], at: number): T | undefined {
  return states.findLast(state => state.at <= at)?.value;
}

/** The states of before a moment that are not older than what was synced. */
function possible<T>(states: readonly At<T>[], at: number, synced: number): readonly T[] {
  const until = states.filter(state => state.at <= at);
  return until.filter((_, n) => (until[n + 1]?.at ?? Infinity) > synced).map(({ value }) => value);
}

/** Mostly the oldest or the newest. */
function some<T>(all: readonly T[], random: Random): T {
  const one = random.chance(0.4) ? all[0] : random.chance(0.4) ? all.at(-1) : random.pick(all);
  return one ?? random.pick(all);
}
