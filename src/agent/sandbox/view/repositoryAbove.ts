import { readdirSync, readFileSync, statSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { homedir } from 'node:os';
import * as path from 'node:path';
import { isInside, realPlaceSync } from '../../base/system/realPath.ts';
import type { MountedFolder } from './bubblewrap.ts';
import type { Bind } from './systemFolders.ts';

/** Files at the top of a repository by which tools find its packages and settings. None is a place for credentials. */
const MANIFESTS = new RegExp(
  [
    String.raw`^(package(-lock)?|npm-shrinkwrap|lerna|nx|turbo|rush|global|composer|deno|[jt]sconfig([.-][\w.-]+)?)\.jsonc?$`,
    String.raw`^(yarn|bun|uv|poetry|composer|pdm|Gemfile|Cargo)\.lock$`,
    String.raw`^pnpm-(lock|workspace)\.yaml$`,
    String.raw`^[\w-]+\.config\.[cm]?[jt]s$`,
    String.raw`^\.(eslintrc|prettierrc|babelrc|swcrc)(\.\w+)?$`,
    String.raw`^\.(editorconfig|gitignore|gitattributes|eslintignore|nvmrc|node-version|python-version|tool-versions)$`,
    String.raw`^(Cargo|pyproject|rust-toolchain|rustfmt|clippy)\.toml$`,
    String.raw`^go\.(mod|sum|work|work\.sum)$`,
    String.raw`^(pom\.xml|(build|settings)\.gradle(\.kts)?|Directory\.\w+\.(props|targets)|[\w.-]+\.slnx?)$`,
    String.raw`^(setup\.(py|cfg)|tox\.ini|pytest\.ini|conftest\.py|requirements[\w.-]*\.txt|Gemfile|Makefile|CMakeLists\.txt)$`,
  ].join('|'),
);

/** Entries of `.git` that git needs to read a repository. Its settings are shown in part, those of submodules not at all. */
const GIT = ['HEAD', 'index', 'packed-refs', 'shallow', 'refs', 'objects', 'logs', 'info'];

/** The parts that are shown of a folder's repository. */
interface AboveFolder {
  readonly top: string;
  /** Names of files at its top. */
  readonly manifests: readonly string[];
  /** Absolute paths that are shown as they are. */
  readonly shown: readonly string[];
  /** The settings of git in it, without credentials; `undefined` if there are none. */
  readonly settings?: { readonly at: string; readonly text: string };
}

/**
 * Paths that can be read besides tools: those that the user has allowed, and those that the folders of the workspace need of the
 * repositories around them. The settings of git are written into the folders' states.
 */
export async function readableOf(
  folders: readonly MountedFolder[],
  allowed: readonly string[],
): Promise<readonly Bind[]> {
  const binds: Bind[] = allowed.map(at => [at, at]);
  for (const { root, state } of folders) {
    const above = repositoryAbove(root, realPlaceSync(homedir()));
    binds.push(...(above?.shown ?? []).map(at => [at, at] as const));
    if (!above?.settings) continue;
    const settings = path.join(state, 'settings');
    await fs.writeFile(settings, above.settings.text, { mode: 0o644 });
    binds.push([settings, above.settings.at]);
  }
  return binds;
}

/**
 * Finds the parts that a package needs of the repository around it: the installed packages and manifests at its top, and git's own
 * files.
 * @param folder absolute, links followed
 * @param home never counts as a repository, nor does a folder that it is in
 * @returns `undefined` if the folder is in no repository, or the top of one
 */
export function repositoryAbove(folder: string, home: string): AboveFolder | undefined {
  if (kindAt(path.join(folder, '.git'))) return undefined;
  let top = folder;
  do {
    if (path.dirname(top) === top) return undefined;
    top = path.dirname(top);
    if (isInside(home, top)) return undefined;
  } while (!kindAt(path.join(top, '.git')));
  const git = path.join(top, '.git');
  const manifests = readdirSync(top).filter(
    name => MANIFESTS.test(name) && kindAt(path.join(top, name)) === 'file',
  );
  const packages = kindAt(path.join(top, 'node_modules')) === 'folder' ? ['node_modules'] : [];
  const shown = [...packages, ...manifests].map(name => path.join(top, name));
  const config = path.join(git, 'config');
  if (kindAt(git) !== 'folder' || kindAt(config) !== 'file') return { top, manifests, shown };
  return {
    top,
    manifests,
    shown: [...shown, ...GIT.map(name => path.join(git, name)).filter(kindAt)],
    settings: { at: config, text: withoutCredentials(readFileSync(config, 'utf8')) },
  };
}

function kindAt(at: string): 'file' | 'folder' | undefined {
  const stat = statSync(at, { throwIfNoEntry: false });
  return stat && (stat.isDirectory() ? 'folder' : 'file');
}

const SECTION = /^\s*\[([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]/;

/** The settings of a repository that say how its files are read: no addresses, no headers, no programs, no other files. */
function withoutCredentials(settings: string): string {
  let section = '';
  const kept = (line: string): boolean => {
    if (/:\/\/|@/.test(line)) return false;
    if (section === 'remote') return SECTION.test(line) || /^\s*fetch\s*=/.test(line);
    if (section === 'core') return !/command|askpass|proxy/i.test(line);
    return section === 'extensions' || section === 'branch';
  };
  const lines = settings.split('\n').map(line => {
    const [head = line, name] = SECTION.exec(line) ?? [];
    if (name !== undefined) section = name.toLowerCase();
    return kept(head) ? head : '';
  });
  return lines.join('\n');
}
