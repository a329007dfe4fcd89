import * as fs from 'node:fs';
import * as path from 'node:path';
import type { Ignore } from 'ignore';
import { TimeSlice } from '../../../../base/async.ts';

const RULE_FILES = ['.gitignore', '.ignore'];

type MakeIgnore = () => Ignore;

/** The ignore rules that hold in one folder. Folders are absolute, with forward slashes. */
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

  /** The rules of a folder itself, without those of the folders above it. */
  static async within(folder: string): Promise<IgnoreRules> {
    const { default: make } = await import('ignore');
    return IgnoreRules.#along(make, [folder]);
  }

  /**
   * The rules of a folder, and of the folders above it up to the root of its git repository. If those hide the folder
   * itself, only its own rules hold: it was named on purpose.
   */
  static async of(folder: string): Promise<IgnoreRules> {
    const { default: make } = await import('ignore');
    const folders = foldersUpToRepository(folder);
    const above = folders.slice(0, -1);
    const isIgnored = above.length > 0 && IgnoreRules.#along(make, above).hides(folder, 'folder');
    return IgnoreRules.#along(make, isIgnored ? [folder] : folders);
  }

  static #along(make: MakeIgnore, folders: readonly string[]): IgnoreRules {
    let rules = new IgnoreRules(make, undefined, folders[0] ?? '', ['.git/info/exclude']);
    for (const at of folders) rules = new IgnoreRules(make, rules, at, RULE_FILES);
    return rules;
  }

  /** The rules inside a subfolder. `names` are its entries, if the caller has read them. */
  into(folder: string, names: readonly string[] = RULE_FILES): IgnoreRules {
    const files = RULE_FILES.filter(name => names.includes(name));
    return files.length === 0 ? this : new IgnoreRules(this.#make, this, folder, files);
  }

  /** Whether the rules hide a direct child of their folder. The nearest rule that applies decides. */
  hides(place: string, kind: 'file' | 'folder'): boolean {
    if (this.#own) {
      const relative = place.slice(this.#folder.length + 1);
      const { ignored, unignored } = this.#own.test(kind === 'folder' ? `${relative}/` : relative);
      if (ignored || unignored) return ignored;
    }
    return this.#parent?.hides(place, kind) ?? false;
  }

  /**
   * Returns a function that tells whether a file at any depth below the folder is hidden, by its path relative to the
   * folder. A file in a hidden folder is always hidden, as in git.
   */
  hidesBelow(): (relative: string) => boolean {
    const known = new Map<string, IgnoreRules | null>([['.', this]]);
    /** `null` for a hidden folder. */
    const rulesIn = (folder: string): IgnoreRules | null => {
      let rules = known.get(folder);
      if (rules === undefined) {
        const absolute = `${this.#folder}/${folder}`;
        const above = rulesIn(path.posix.dirname(folder));
        rules = above === null || above.hides(absolute, 'folder') ? null : above.into(absolute);
        known.set(folder, rules);
      }
      return rules;
    };
    return relative =>
      rulesIn(path.posix.dirname(relative))?.hides(`${this.#folder}/${relative}`, 'file') ?? true;
  }
}

/** The paths that no ignore file in `folder` or its subfolders hides. Paths are relative to `folder`. */
export async function withoutIgnored(folder: string, paths: readonly string[]): Promise<string[]> {
  const isHidden = (await IgnoreRules.within(folder)).hidesBelow();
  const slice = new TimeSlice();
  const kept: string[] = [];
  for (const relative of paths) {
    await slice.turn();
    if (!isHidden(relative)) kept.push(relative);
  }
  return kept;
}

/** No path is longer on Linux, so a longer rule hides nothing; as a regular expression it could be too large. */
const MAX_RULE_CHARS = 4_096;

function read(make: MakeIgnore, folder: string, names: readonly string[]): Ignore | undefined {
  let rules: Ignore | undefined;
  for (const name of names) {
    try {
      const lines = fs.readFileSync(`${folder}/${name}`, 'utf8').split(/\r?\n/);
      rules = (rules ?? make()).add(lines.filter(line => line.length <= MAX_RULE_CHARS));
    } catch {
      // Most folders have no ignore file.
    }
  }
  return rules;
}

/** The folders from the root of the git repository down to `folder`; only `folder` if it is not in a repository. */
function foldersUpToRepository(folder: string): string[] {
  const folders: string[] = [];
  for (let at = folder; at.includes('/'); at = path.posix.dirname(at)) {
    folders.unshift(at);
    if (fs.existsSync(`${at}/.git`)) return folders;
    if (at === '/') break;
  }
  return [folder];
}
