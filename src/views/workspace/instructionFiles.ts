import * as path from 'node:path';
import { detailOf, messageOf, PathError, ToolError } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { withoutParagraph } from '../../agent/clients/setUp/connectedText.ts';
import type { Workspace } from '../../agent/hold/preview/workspace.ts';
import type { InstructionFile } from '../../agent/session/sessionOptions.ts';
import { readText } from '../../agent/hold/preview/textFile.ts';

/** The most folders that are searched before a request. */
const MAX_FOLDERS = 200;

/** Workspace in which instructions are read. */
type InstructionPlaces = Workspace & {
  /** The open folders, by the name that workspace paths begin with if there are several. */
  folders(): readonly { readonly name: string }[];
  /** See `VsCodeWorkspace.pathOf`. */
  pathOf(input: string): string;
};

/**
 * Finds the instructions of the project: in each folder from a workspace folder down to a file that is worked on, `AGENTS.md` or,
 * where there is none, `CLAUDE.md`; in each workspace folder also `.redline/instructions.md`. Nothing outside the workspace
 * folders is read, not even through links, and nothing at all in a workspace that is not trusted. A file that cannot be used is
 * named in the log, once.
 */
export class InstructionFiles {
  readonly #workspace: InstructionPlaces;
  readonly #isTrusted: () => boolean;
  readonly #logger: Logger;
  readonly #logged = new Set<string>();

  constructor(workspace: InstructionPlaces, isTrusted: () => boolean, logger: Logger) {
    this.#workspace = workspace;
    this.#isTrusted = isTrusted;
    this.#logger = logger;
  }

  /** Implements `ReadInstructions`. */
  async read(workedOn: readonly string[]): Promise<readonly InstructionFile[]> {
    if (!this.#isTrusted()) return [];
    const folders = this.#workspace.folders();
    const roots = folders.length > 1 ? folders.map(({ name }) => name) : folders.map(() => '');
    const found: InstructionFile[] = [];
    const add = (file: InstructionFile | undefined): void => {
      // A file may be reached by several names.
      if (file && !found.some(({ text }) => text === file.text)) found.push(file);
    };
    for (const root of roots) {
      add(await this.#first(root, ['AGENTS.md', 'CLAUDE.md']));
      add(await this.#first(root, ['.redline/instructions.md']));
    }
    for (const folder of this.#foldersOf(workedOn, roots))
      add(await this.#first(folder, ['AGENTS.md', 'CLAUDE.md']));
    return found;
  }

  /**
   * The folders between the workspace folders and the files, outermost first, in an order that does not depend on that of the
   * files.
   */
  #foldersOf(workedOn: readonly string[], roots: readonly string[]): readonly string[] {
    const folders = new Set<string>();
    for (const input of workedOn) {
      for (
        let folder = path.posix.dirname(this.#pathOf(input) ?? '');
        folder !== '.' && !roots.includes(folder) && !folders.has(folder);
        folder = path.posix.dirname(folder)
      )
        folders.add(folder);
    }
    const depth = (folder: string): number => folder.split('/').length;
    return [...folders].sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1)).slice(0, MAX_FOLDERS);
  }

  #pathOf(input: string): string | undefined {
    try {
      return this.#workspace.pathOf(input);
    } catch {
      return undefined; // not a path in the workspace
    }
  }

  /** The first existing one of these files in a folder. If it cannot be used, the folder has none. */
  async #first(folder: string, names: readonly string[]): Promise<InstructionFile | undefined> {
    const workspace = this.#workspace;
    for (const name of names) {
      const wanted = folder === '' ? name : `${folder}/${name}`;
      try {
        const at = await workspace.resolvePath(wanted);
        const side = await readText(workspace, at);
        const text = side && forSession(side.text);
        if (text !== null) return { path: at, text };
      } catch (error) {
        this.#log(wanted, error);
        return undefined;
      }
    }
    return undefined;
  }

  #log(file: string, error: unknown): void {
    const isKnown = error instanceof PathError || error instanceof ToolError;
    const text = `The instructions in ${file} are not used: ${isKnown ? messageOf(error) : detailOf(error)}`;
    if (this.#logged.has(text)) return;
    this.#logged.add(text);
    this.#logger.warn(text);
  }
}

/**
 * The instructions without the paragraph that asks agents of other programs to use tools that the session lacks; `null` if nothing
 * else is left.
 */
function forSession(text: string): string | null {
  const rest = withoutParagraph(text);
  return rest !== text && rest.trim() === '' ? null : rest;
}
