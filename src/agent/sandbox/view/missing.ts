import * as fs from 'node:fs/promises';
import { succeeds } from '../../base/async.ts';
import { beginningOf } from '../../base/cutText.ts';
import { safeName } from '../../base/safeName.ts';
import { isInside } from '../../base/system/realPath.ts';
import { programOnPath } from '../../base/system/searchPath.ts';

/** The length of the end of an output that is searched, in characters. */
const MAX_OUTPUT = 20_000;
/** The most paths that are named, and the longest name of a program. */
const MAX_PATHS = 3;
const MAX_NAME = 100;

/** Advice to the model. */
const ADVICE =
  'Do without it, run what needs it with onDisk, or ask the user to name it in the setting redline.sandbox.readable.';

/** The exit code of a shell that does not find a program. */
const NOT_FOUND = 127;

/** How shells and `env` name it: dash and bash, zsh, fish, env. */
const PROGRAMS = [
  /(?:^|[\s:])(?<name>[\w.+/-]+): (?:command )?not found\b/,
  /command not found: (?<name>[\w.+/-]+)/,
  /Unknown command:? '?(?<name>[\w.+/-]+)/,
  /env: [‘']?(?<name>[\w.+/-]+)[’']?: No such file/,
];
const NO_FILE = /ENOENT|No such file|cannot find|not found/i;

/** A path up to the character that ends it in a message, with the punctuation of a sentence. */
const NAME = /^[^\s'"`()[\]‘’]*/;

/** Facts about this machine that show what is hidden in the sandbox. */
export interface Outside {
  readonly home: string;
  /** The PATH of VS Code. */
  readonly searchPath: string;
  /** The folders of the workspace, which the sandbox shows although they may be below home. */
  readonly folders: readonly string[];
}

/** Programs and paths that a command did not find in the sandbox. */
interface Missing {
  /** Names of programs and paths, as shown to a person. */
  readonly missing: readonly string[];
  /** Sentences for the model. */
  readonly notes: readonly string[];
}

/** Keeps the end of an output, to name the programs and files that a command missed in the sandbox. */
export class MissingFiles {
  readonly #outside: Outside;
  #output = '';

  constructor(outside: Outside) {
    this.#outside = outside;
  }

  add(chunk: string): void {
    this.#output = (this.#output + chunk).slice(-MAX_OUTPUT);
  }

  /** A program that is not there, and files of the home folder that are on this machine, but not in the sandbox. */
  async found(exitCode: number | undefined): Promise<Missing> {
    if (exitCode === 0 || exitCode === undefined) return { missing: [], notes: [] };
    const all = [exitCode === NOT_FOUND ? await this.#program() : undefined, await this.#files()];
    return {
      missing: all.flatMap(each => each?.missing ?? []),
      notes: all.flatMap(each => each?.notes ?? []),
    };
  }

  async #program(): Promise<Missing | undefined> {
    for (const line of this.#output.split('\n').toReversed())
      for (const pattern of PROGRAMS) {
        const name = pattern.exec(line)?.groups?.['name'];
        if (name === undefined || name.length > MAX_NAME || name.includes('/')) continue;
        const at = await programOnPath(name, this.#outside.searchPath);
        const note =
          at === undefined
            ? `${name} is not installed on this machine, or not on the PATH that VS Code was started with.`
            : `${name} is ${this.#shown(at)} on this machine, which the sandbox does not have. ${ADVICE}`;
        return { missing: [at === undefined ? name : this.#shown(at)], notes: [note] };
      }
    return undefined;
  }

  async #files(): Promise<Missing | undefined> {
    const { home, folders } = this.#outside;
    const found = new Set<string>();
    for (const line of this.#output.split('\n').filter(each => NO_FILE.test(each)))
      for (const rest of line.split(`${home}/`).slice(1)) {
        const at = `${home}/${nameIn(rest)}`;
        if (!folders.some(folder => isInside(at, folder))) found.add(at);
      }
    const hidden: string[] = [];
    for (const at of [...found].slice(0, MAX_PATHS))
      if (await succeeds(fs.access(at))) hidden.push(this.#shown(at));
    if (hidden.length === 0) return undefined;
    const note = `On this machine, but not in the sandbox, which shows little of the home folder: ${hidden.join(', ')}. ${ADVICE}`;
    return { missing: hidden, notes: [note] };
  }

  #shown(at: string): string {
    const { home } = this.#outside;
    return safeName(beginningOf(isInside(at, home) ? `~${at.slice(home.length)}` : at, 300));
  }
}

/** The path that a text begins with. */
function nameIn(text: string): string {
  const [name = ''] = NAME.exec(text) ?? [];
  let end = name.length;
  while (end > 0 && '.,:;'.includes(name.charAt(end - 1))) end--;
  return name.slice(0, end);
}
