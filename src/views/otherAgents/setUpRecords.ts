import type * as vscode from 'vscode';
import { isRecord } from '../../agent/base/json.ts';
import type { FileRecord } from '../../agent/clients/setUp/added.ts';

const KEY = 'agentSetUps';

type Records = Readonly<Record<string, Readonly<Record<string, FileRecord>>>>;

/**
 * What Redline added to the configuration files of agents, by folder and file. It is kept for all windows, because a folder may be
 * open in another workspace the next time.
 */
export class SetUpRecords {
  readonly #memory: Pick<vscode.Memento, 'get' | 'update'>;

  constructor(memory: Pick<vscode.Memento, 'get' | 'update'>) {
    this.#memory = memory;
  }

  /** @param name the file, relative to the folder. */
  of(folder: vscode.Uri, name: string): FileRecord | undefined {
    return this.#all[folder.toString()]?.[name.toLowerCase()];
  }

  async set(folder: vscode.Uri, name: string, record: FileRecord | undefined): Promise<void> {
    const { [folder.toString()]: files = {}, ...others } = this.#all;
    const { [name.toLowerCase()]: _, ...rest } = files;
    const kept = record ? { ...rest, [name.toLowerCase()]: record } : rest;
    const all = Object.keys(kept).length > 0 ? { ...others, [folder.toString()]: kept } : others;
    await this.#memory.update(KEY, all);
  }

  /** Whether an agent is connected in any folder, open or not. */
  get hasServer(): boolean {
    return Object.values(this.#all)
      .flatMap(files => Object.values(files))
      .some(({ added }) => added.some(({ entry }) => entry.kind === 'value' && entry.contradictedBy));
  }

  get #all(): Records {
    const stored = this.#memory.get<unknown>(KEY);
    return isRecord(stored) ? (stored as Records) : {};
  }
}
