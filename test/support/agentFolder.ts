import {
  connectedText,
  disconnectedText,
  namesServer,
  recordAfter,
} from '../../src/agent/clients/setUp/configFiles.ts';
import type { FileRecord } from '../../src/agent/clients/setUp/added.ts';
import {
  configFileNamed,
  knownAgents,
  type ConfigFile,
  type KnownAgent,
} from '../../src/agent/clients/setUp/knownAgents.ts';

/** The configuration files of a project in memory, with what Redline added to them, as a person applies its previews. */
export class AgentFolder {
  readonly texts: Map<string, string>;
  readonly #records = new Map<string, FileRecord>();

  constructor(texts: Readonly<Record<string, string>> = {}) {
    this.texts = new Map(Object.entries(texts));
  }

  async connect(id: KnownAgent['id'], bridge: string): Promise<void> {
    for (const file of agent(id).files) {
      const path = this.#pathOf(file);
      const text = this.texts.get(path) ?? null;
      await this.apply(path, await connectedText({ file, path, text }, bridge));
    }
  }

  /** Like a reload in which everything that is stored was lost. */
  forget(): void {
    this.#records.clear();
  }

  async disconnect(id: KnownAgent['id']): Promise<void> {
    const others = [];
    for (const other of knownAgents)
      if (other.id !== id && (await this.#isConnected(other))) others.push(...other.files);
    const shared = new Set(others.flatMap(({ names }) => names));
    for (const file of agent(id).files) {
      const path = this.#pathOf(file);
      if (file.format === 'paragraph' && shared.has(path)) continue;
      const text = this.texts.get(path) ?? null;
      await this.apply(path, await disconnectedText({ file, path, text }, this.#records.get(path)));
    }
  }

  /** The user applies a change that Redline proposed, or that they typed into its proposal. */
  async apply(path: string, after: string | null, isOurs = true): Promise<void> {
    const before = this.texts.get(path) ?? null;
    const file = configFileNamed(path);
    if (before === after || !file) return;
    const record = await recordAfter(file, this.#records.get(path), before, after, isOurs);
    if (record) this.#records.set(path, JSON.parse(JSON.stringify(record)) as FileRecord);
    else this.#records.delete(path);
    if (after === null) this.texts.delete(path);
    else this.texts.set(path, after);
  }

  async #isConnected({ files }: KnownAgent): Promise<boolean> {
    for (const file of files)
      if (await namesServer(file, this.texts.get(this.#pathOf(file)) ?? null)) return true;
    return false;
  }

  #pathOf({ names }: ConfigFile): string {
    return names.find(name => this.texts.has(name)) ?? names.at(-1) ?? '';
  }
}

function agent(id: string): KnownAgent {
  const found = knownAgents.find(each => each.id === id);
  if (!found) throw new Error(`There is no agent ${id}.`);
  return found;
}
