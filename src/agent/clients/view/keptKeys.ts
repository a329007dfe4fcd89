import * as fs from 'node:fs/promises';
import { parsedJson } from '../../base/json.ts';
import { replaceFile } from '../../base/system/replaceFile.ts';

/** A set of keys in a file, for the windows that come after a reload. */
export class KeptKeys {
  readonly #file: string;
  #keys: ReadonlySet<string> = new Set();
  #loaded: Promise<void> | undefined;

  /** @param file absolute */
  constructor(file: string) {
    this.#file = file;
  }

  /** Reads the file once; if there is none, the set is empty. */
  load(): Promise<void> {
    return (this.#loaded ??= this.#read());
  }

  async #read(): Promise<void> {
    const keys = parsedJson(await fs.readFile(this.#file, 'utf8').catch(() => ''));
    if (Array.isArray(keys)) this.#keys = new Set(keys.map(String));
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  /** @throws the error of the system; then the set is as it was */
  async add(added: readonly string[]): Promise<void> {
    const keys = new Set([...this.#keys, ...added]);
    if (keys.size === this.#keys.size) return;
    await fs.writeFile(`${this.#file}.new`, JSON.stringify([...keys]), { mode: 0o600 });
    await replaceFile(`${this.#file}.new`, this.#file);
    this.#keys = keys;
  }
}
