import * as fs from 'node:fs';
import * as path from 'node:path';
import type { Ignore } from 'ignore';

const RULE_FILES = ['.gitignore', '.ignore'];

type MakeIgnore = () => Ignore;

/** The rules of the ignore files in one folder and those above it. Folders are absolute, with forward slashes. */
export class IgnoreRules {
  readonly #make: MakeIgnore;
  readonly #parent: IgnoreRules | undefined;
  readonly #folder: string;
  readonly #own: Ignore | undefined;

  private constructor(
    make: MakeIgnore,
    parent: IgnoreRules | undefined,
    folder: string,
    files: readonly string[],
  ) {
    this.#make = make;
    this.#parent = parent;
    this.#folder = folder;
    this.#own = read(make, folder, files);
  }

  /**
   * The rules that hold in a folder: its own, and those of the folders above up to the top of the git repository. A
   * folder that is itself ignored there was named on purpose: only its own rules hold in it.
   */
  static async of(folder: string): Promise<IgnoreRules> {
    const { default: make } = await import('ignore');
    const folders = foldersUpToRepository(folder);
    const above = folders.slice(0, -1);
    const isIgnored = above.length > 0 && IgnoreRules.#along(make, above).hides(folder, true);
    return IgnoreRules.#along(make, isIgnored ? [folder] : folders);
  }

  static #along(make: MakeIgnore, folders: readonly string[]): IgnoreRules {
    let rules = new IgnoreRules(make, undefined, folders[0] ?? '', ['.git/info/exclude']);
    for (const at of folders) rules = new IgnoreRules(make, rules, at, RULE_FILES);
    return rules;
  }

  /** The rules inside a folder below, whose entries are known. */
  into(folder: string, names: readonly string[]): IgnoreRules {
    const files = RULE_FILES.filter(name => names.includes(name));
    return files.length === 0 ? this : new IgnoreRules(this.#make, this, folder, files);
  }

  /** Whether the rules hide a path below their folder; the nearest rule that says anything decides. */
  hides(file: string, isFolder: boolean): boolean {
    if (this.#own) {
      const relative = file.slice(this.#folder.length + 1);
      const { ignored, unignored } = this.#own.test(isFolder ? `${relative}/` : relative);
      if (ignored || unignored) return ignored;
    }
    return this.#parent?.hides(file, isFolder) ?? false;
  }
}

function read(make: MakeIgnore, folder: string, names: readonly string[]): Ignore | undefined {
  let rules: Ignore | undefined;
  for (const name of names) {
    try {
      rules = (rules ?? make()).add(fs.readFileSync(`${folder}/${name}`, 'utf8'));
    } catch {
      // Most folders have none.
    }
  }
  return rules;
}

/** The folders from the top of the git repository down to `folder`; only itself outside of any. */
function foldersUpToRepository(folder: string): string[] {
  const folders: string[] = [];
  for (let at = folder; at.includes('/'); at = path.posix.dirname(at)) {
    folders.unshift(at);
    if (fs.existsSync(`${at}/.git`)) return folders;
    if (at === '/') break;
  }
  return [folder];
}
