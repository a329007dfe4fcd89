import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import * as z from 'zod/mini';
import { parsedJson } from '../base/json.ts';
import { isAlive } from '../base/lockOwner.ts';
import { realPath, isInside } from '../base/system/realPath.ts';
import { replaceFile } from '../base/system/replaceFile.ts';
import { CallQueue } from './callQueue.ts';

const windowSchema = z.object({
  /** The process that listens. */
  pid: z.int().check(z.minimum(1)),
  port: z.int().check(z.minimum(1), z.maximum(65_535)),
  token: z.string().check(z.minLength(16)),
  /** The real paths of the folders that the window has open. */
  folders: z.array(z.string()),
  /** Whether the window keeps its previews when it closes: of several windows with the same folder only one does. */
  keepsPreviews: z.boolean(),
  /** Identifies the storage of its previews, even after a reload; absent in older windows. */
  storage: z.optional(z.string()),
  /** ISO 8601. */
  startedAt: z.string(),
});

/** A window of VS Code that agents can connect to. */
export type OpenWindow = Readonly<z.infer<typeof windowSchema>>;

/** The folder where listening windows announce themselves; only the user can read it. */
export function windowsFolder(home: string): string {
  return path.join(home, '.redline', 'windows');
}

/**
 * Announces a window to the programs of agents. The file is replaced as a whole, and no one but the user may read it, because it
 * holds the token.
 * @returns removes the file; never rejects.
 */
export async function announceWindow(folder: string, window: OpenWindow): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const file = path.join(folder, `${window.pid}-${window.port}.json`);
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, JSON.stringify(window), { mode: 0o600, flag: 'wx' });
  await replaceFile(draft, file);
  return () => rm(file, { force: true }).catch(() => undefined);
}

/** The announcement of one window: its states are written one after the other, and none once it is removed. */
export class WindowWord {
  readonly #folder: string;
  readonly #queue = new CallQueue();
  #remove: (() => Promise<void>) | undefined;
  #isOver = false;
  #hasTakenOver = false;
  #window: (() => Promise<OpenWindow>) | undefined;

  /**
   * @param folder see {@link windowsFolder}.
   * @param takingOver resolves with true once the window keeps its previews after all: its file then says so. Never rejects.
   */
  constructor(folder: string, takingOver?: Promise<boolean>) {
    this.#folder = folder;
    void takingOver?.then(async isStored => {
      this.#hasTakenOver = isStored;
      if (isStored && this.#window) await this.leave(this.#window).catch(() => undefined); // the former file stays
    });
  }

  /** @param window asked at the time of writing, so that the last write is the newest. */
  leave(window: () => Promise<OpenWindow>): Promise<void> {
    this.#window = window;
    return this.#queue.inTurn(async () => {
      if (this.#isOver) return;
      const now = await window();
      const keepsPreviews = now.keepsPreviews || this.#hasTakenOver;
      this.#remove = await announceWindow(this.#folder, { ...now, keepsPreviews });
    });
  }

  remove(): Promise<void> {
    this.#isOver = true;
    return this.#queue.inTurn(async () => this.#remove?.());
  }
}

/** Lists the open windows, and removes the files of closed ones. */
export async function openWindows(folder: string): Promise<readonly OpenWindow[]> {
  const names = await readdir(folder).catch(() => []);
  const windows: OpenWindow[] = [];
  for (const name of names.filter(each => each.endsWith('.json'))) {
    const file = path.join(folder, name);
    const window = await readWindow(file);
    // An unreadable file may be another version's, or open in another program.
    if (!isAlive(Number.parseInt(name, 10))) await rm(file, { force: true }).catch(() => undefined);
    else if (window) windows.push(window);
  }
  return windows;
}

/**
 * The windows that an agent working in this folder can mean, the best first: with the innermost folder around it, else with a
 * folder inside it. Of several windows with the same folder, the one that keeps its previews comes first, then the one that has
 * been open for longest.
 * @param cwd a real path.
 */
export function windowsFor(cwd: string, windows: readonly OpenWindow[]): readonly OpenWindow[] {
  const around = ({ folders }: OpenWindow): number =>
    Math.max(-1, ...folders.filter(folder => isInside(cwd, folder)).map(folder => folder.length));
  const rank = (a: OpenWindow, b: OpenWindow): number =>
    around(b) - around(a) ||
    Number(b.keepsPreviews) - Number(a.keepsPreviews) ||
    a.startedAt.localeCompare(b.startedAt);
  const above = windows.filter(window => around(window) >= 0);
  if (above.length > 0) return above.toSorted(rank);
  return windows.filter(({ folders }) => folders.some(folder => isInside(folder, cwd))).toSorted(rank);
}

/** The path without links; as it is if there is nothing. */
export function realPathOf(file: string): Promise<string> {
  return realPath(file).catch(() => path.resolve(file));
}

async function readWindow(file: string): Promise<OpenWindow | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return windowSchema.safeParse(parsedJson(text)).data;
}
