import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import * as z from 'zod/mini';
import { messageOf } from '../../../agent/base/errors.ts';
import { sha256 } from '../../../agent/base/hash.ts';
import type { Logger } from '../../../agent/base/logger.ts';

/** Unsaved typing in a proposal, with the text that it was typed on. */
export interface Draft {
  /** Of the preview, when the typing began. */
  readonly revision: number;
  /** The proposal as it was then. */
  readonly base: string;
  /** The text that auto save wrote last; absent while it is only in the editor, which VS Code keeps. */
  readonly text?: string;
}

const stored = z.object({
  uri: z.string(),
  revision: z.number(),
  base: z.string(),
  text: z.optional(z.string()),
});

/** The drafts of proposals, by URI, kept in a file each until they are saved or thrown away. */
export class Drafts {
  readonly #folder: string | undefined;
  readonly #logger: Logger;
  readonly #known = new Map<string, Draft>();
  #written: Promise<void> = Promise.resolve();

  /** @param folder where they are kept; `undefined` keeps them in memory, such as while another window owns the storage. */
  constructor(folder: string | undefined, logger: Logger) {
    this.#folder = folder;
    this.#logger = logger;
  }

  /** Reads the drafts of earlier windows. A file that cannot be read is logged and left alone. */
  async load(): Promise<void> {
    const folder = this.#folder;
    if (folder === undefined) return;
    const names = await fs.readdir(folder).catch(() => []);
    for (const name of names.filter(each => each.endsWith('.json'))) {
      try {
        const { uri, ...draft } = stored.parse(
          JSON.parse(await fs.readFile(path.join(folder, name), 'utf8')),
        );
        if (!this.#known.has(uri)) this.#known.set(uri, draft);
      } catch (error) {
        this.#logger.error(`The draft ${name} cannot be read: ${messageOf(error)}`);
      }
    }
  }

  get(uri: string): Draft | undefined {
    return this.#known.get(uri);
  }

  entries(): readonly (readonly [uri: string, draft: Draft])[] {
    return [...this.#known];
  }

  set(uri: string, draft: Draft): void {
    this.#known.set(uri, draft);
    this.#store(uri);
  }

  /** @returns whether there was one. */
  delete(uri: string): boolean {
    const had = this.#known.delete(uri);
    if (had) this.#store(uri);
    return had;
  }

  /** Settles once everything is on disk, or a failure was logged. Never rejects. */
  flush(): Promise<void> {
    return this.#written;
  }

  /** Writes one after the other, each with the draft as it is then. */
  #store(uri: string): void {
    const folder = this.#folder;
    if (folder === undefined) return;
    this.#written = this.#written.then(async () => {
      const file = path.join(folder, `${sha256(Buffer.from(uri)).slice(0, 32)}.json`);
      const draft = this.#known.get(uri);
      try {
        if (!draft) return await fs.rm(file, { force: true });
        await fs.mkdir(folder, { recursive: true });
        await fs.writeFile(`${file}.new`, JSON.stringify({ uri, ...draft }));
        await fs.rename(`${file}.new`, file);
      } catch (error) {
        this.#logger.error(`The draft of ${uri} cannot be stored: ${messageOf(error)}`);
      }
    });
  }
}
