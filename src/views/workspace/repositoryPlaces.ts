import * as path from 'node:path';
import { forEachLimited } from '../../agent/base/async.ts';
import {
  commonDirectoryOf,
  gitDirectoryOf,
  hasHead,
  isGitDirectory,
  isOutermost,
} from '../../agent/base/system/gitDirectory.ts';
import {
  fromHome,
  ownGitConfigs,
  readGitConfig,
  type GitSetting,
} from '../../agent/base/system/gitConfig.ts';
import { isThere } from './workspacePaths.ts';

/** Places from which git reads commands to run, beyond the names `.git*`. All paths are absolute and real, as far as they exist. */
export interface RepositoryPlaces {
  /** Git directories, with everything in them except working trees. */
  readonly directories: readonly string[];
  /** Working trees, which may be inside a git directory. */
  readonly tops: readonly string[];
  /** Folders from which git runs programs: `core.hooksPath` and the hooks of templates. */
  readonly folders: readonly string[];
  /** Files that a configuration includes, or names in a value: programs of filters, aliases and the like. They need not exist. */
  readonly files: readonly string[];
}

/** How many repositories are read at the same time. */
const AT_ONCE = 8;

/** Names of git's files in a git directory that decide which programs run. */
const OWN_NAMES =
  /^(?:HEAD|config(?:\.worktree)?|commondir|gitdir|objects|refs|hooks|info|modules|worktrees)$/i;

/** Tells of files whether they are of a git directory. It looks at each folder once. */
export class FilesOfGit {
  readonly #gits = new Map<string, boolean>();

  /**
   * Whether changing a file changes a git directory, or could turn a folder into one: git needs no other name than `HEAD` to find a
   * repository.
   * @param file absolute, with links followed; it need not exist
   */
  has(file: string): boolean {
    return /^head$/i.test(path.basename(file)) || this.#isIn(path.dirname(file), path.basename(file));
  }

  #isIn(folder: string, name: string): boolean {
    const isOwn = OWN_NAMES.test(name) && hasHead(folder) && !isThere(path.join(folder, '.git'));
    return isOwn || this.#isGits(folder);
  }

  /** Whether everything in a folder is of a git directory. */
  #isGits(folder: string): boolean {
    let isGits = this.#gits.get(folder);
    if (isGits === undefined) {
      const isInner = !isOutermost(folder) && this.#isIn(path.dirname(folder), path.basename(folder));
      this.#gits.set(folder, (isGits = isInner || isGitDirectory(folder)));
    }
    return isGits;
  }
}

/**
 * Lists the files that git reads and the programs that it runs in the repositories of these folders.
 * @param tops folders with a `.git`, and git directories of other names
 */
export async function repositoryPlacesOf(tops: readonly string[]): Promise<RepositoryPlaces> {
  const [directories, folders, files] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const own = tops.length > 0 ? await Promise.all(ownGitConfigs().map(each => readGitConfig(each))) : [];
  await forEachLimited(tops, AT_ONCE, async top => {
    const directory = gitDirectoryOf(top) ?? top;
    const common = commonDirectoryOf(directory);
    for (const each of [directory, common]) directories.add(each);
    const configs = [path.join(common, 'config'), path.join(directory, 'config.worktree')];
    const read = [...own, ...(await Promise.all(configs.map(each => readGitConfig(each))))];
    for (const each of read.flatMap(({ included }) => included)) files.add(each);
    const settings = read.flatMap(each => each.settings);
    const worktree = settings.flatMap(({ key, value }) =>
      key === 'core.worktree' ? path.resolve(directory, value) : [],
    );
    for (const base of [top, ...worktree])
      for (const setting of settings) {
        for (const each of foldersIn(setting, base)) folders.add(each);
        for (const each of filesIn(setting, base)) files.add(each);
      }
  });
  const trees = tops.filter(top => gitDirectoryOf(top) !== undefined);
  return { directories: [...directories], tops: trees, folders: [...folders], files: [...files] };
}

function foldersIn({ key, value }: GitSetting, base: string): readonly string[] {
  if (value === '') return [];
  const named = path.resolve(base, fromHome(value));
  if (key === 'core.hookspath') return [named];
  return key === 'init.templatedir' ? [path.join(named, 'hooks')] : [];
}

/** The files that a value may mean: as a path, or as a word of a command, which git runs at the top of a working tree. */
function* filesIn({ value, folder }: GitSetting, base: string): Generator<string> {
  for (const word of [value, ...value.split(/[\s"'`=;:&|()<>{},$!]+/)]) {
    if (word === '' || word.includes('\0')) continue;
    yield path.resolve(base, fromHome(word));
    yield path.resolve(folder, fromHome(word));
    // The word may follow a variable or a command's output, such as the top of the working tree.
    if (word.startsWith('/')) yield path.join(base, word);
  }
}
