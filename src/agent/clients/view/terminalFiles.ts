import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { Duplex } from 'node:stream';
import * as z from 'zod/mini';
import { answers } from '../../base/aliveSocket.ts';
import { parsedJson } from '../../base/json.ts';
import { replaceFile } from '../../base/system/replaceFile.ts';
import { ViewSocket } from './viewSocket.ts';

const NAME = /^window-.*\.json$/;
const schema = z.object({
  socket: z.string(),
  /** Whether the window stores its previews; absent in older windows. */
  isStored: z.optional(z.boolean()),
});

/**
 * The files that lead terminals to their window. A terminal outlives a reload, after which its window is another process: that goes on
 * with the file with which the terminal was started. Terminals follow the stored previews: a window that stores none leaves the files
 * of the one that does alone, even if both reload at the same moment. Of windows that store none, nothing tells one from another after
 * a reload, so the first that is back has the terminals of all that are not.
 */
export class TerminalFiles {
  readonly #folder: string;
  readonly #serve: (socket: Duplex, id: string) => void;
  #socket: Promise<ViewSocket> | undefined;
  #own: string | undefined;
  readonly #isStored: () => boolean;
  /** The files that lead here. */
  readonly #led = new Set<string>();

  /**
   * @param folder holds the files of all windows on a workspace
   * @param isStored whether this window stores its previews now
   */
  constructor(folder: string, serve: (socket: Duplex, id: string) => void, isStored: () => boolean) {
    this.#folder = folder;
    this.#serve = serve;
    this.#isStored = isStored;
  }

  /** @returns the file for new terminals of this window @throws the error of the system */
  async own(): Promise<string> {
    this.#own ??= path.join(this.#folder, `window-${randomUUID()}.json`);
    await this.#lead(this.#own);
    return this.#own;
  }

  /** Lets in the terminals of windows that have gone, as this one's own before a reload; later calls also renew the files that lead here. */
  async inherit(): Promise<void> {
    for (const file of new Set([...this.#led, ...(await this.#left())]))
      if (this.#isStored() || (await wordIn(file))?.isStored !== true) await this.#lead(file);
  }

  /** Removes the files of windows that have gone, and with them their terminals. */
  async clear(): Promise<void> {
    for (const file of await this.#left()) await fs.rm(file, { force: true });
  }

  /** @param isUsed programs are at work that come back through the file. Never rejects. */
  async close(isUsed: boolean): Promise<void> {
    if (!isUsed && this.#own !== undefined) await fs.rm(this.#own, { force: true }).catch(() => undefined);
    await this.#socket?.then(socket => socket.close()).catch(() => undefined);
  }

  async #lead(file: string): Promise<void> {
    this.#socket ??= ViewSocket.listen(this.#serve);
    const { path: socket } = await this.#socket;
    const word: z.infer<typeof schema> = { socket, isStored: this.#isStored() };
    const draft = `${file}.${randomUUID()}`;
    await fs.writeFile(draft, JSON.stringify(word), { mode: 0o600 });
    await replaceFile(draft, file);
    this.#led.add(file);
  }

  async #left(): Promise<readonly string[]> {
    const names = await fs.readdir(this.#folder).catch(() => []);
    const files = names.filter(name => NAME.test(name)).map(name => path.join(this.#folder, name));
    const areLeft = await Promise.all(files.map(async file => !(await isAnswered(file))));
    return files.filter((_, n) => areLeft[n]);
  }
}

/** The socket that a file of a window names. */
export async function socketIn(file: string): Promise<string | undefined> {
  return (await wordIn(file))?.socket;
}

async function wordIn(file: string): Promise<z.infer<typeof schema> | undefined> {
  const text = await fs.readFile(file, 'utf8').catch(() => '');
  return schema.safeParse(parsedJson(text)).data;
}

async function isAnswered(file: string): Promise<boolean> {
  const socket = await socketIn(file);
  return socket !== undefined && (await answers(socket)) === true;
}
