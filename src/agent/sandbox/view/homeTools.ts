import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import * as path from 'node:path';
import { isInside } from '../../base/system/realPath.ts';

/** The parts of the home folder that a tool needs: paths relative to it, in which `*` stands for any part of a name. */
interface HomeTool {
  /** The parts are shown if one of these programs is on the PATH, or if a folder of the PATH is in one of the parts. */
  readonly programs?: readonly string[];
  readonly shows: readonly string[];
  /** Where they are shown instead, for a tool that writes beside them, and the variable that tells the tool. */
  readonly moved?: { readonly from: string; readonly to: string; readonly variable: string };
  /** They are shown with a layer for writes, which are gone at the end, since the tool uses none that it cannot write. */
  readonly isLayered?: true;
}

/** Folders that hold a whole tool. */
const WHOLE = [
  '.nvm',
  '.volta',
  '.fnm',
  '.local/share/fnm',
  '.asdf',
  '.local/share/mise',
  '.n',
  '.nodenv',
  '.bun',
  '.deno',
  '.pyenv',
  '.rbenv',
  '.rvm',
  '.sdkman',
  '.jenv',
  '.goenv',
  'sdk',
  '.local/share/pnpm',
  '.yarn/bin',
  '.poetry',
  '.linuxbrew',
];

/** Folders below home that tools need. Nothing else of it is shown: settings beside them may hold credentials. */
const TOOLS: readonly HomeTool[] = [
  ...WHOLE.map(folder => ({ shows: [folder] })),
  {
    programs: ['cargo', 'rustc', 'rustup'],
    shows: ['.cargo/bin', '.cargo/registry', '.cargo/git', '.rustup'],
  },
  { programs: ['go'], shows: ['go/bin', 'go/pkg/mod'] },
  { programs: ['java', 'mvn'], shows: ['.m2/repository', '.m2/wrapper'] },
  { programs: ['java', 'gradle'], shows: ['.gradle/wrapper/dists/*/*/*.ok', '.gradle/wrapper/dists/*/*/*/'] },
  {
    programs: ['java', 'gradle'],
    shows: ['.gradle/caches/modules-2/files-*', '.gradle/caches/modules-2/metadata-*'],
    moved: { from: '.gradle/caches', to: '.gradle/read-only', variable: 'GRADLE_RO_DEP_CACHE' },
  },
  { programs: ['dotnet'], shows: ['.dotnet', '.nuget/packages'] },
  { shows: ['.local/bin', '.local/share/pipx', '.local/pipx', '.local/share/uv/tools'] },
  { programs: ['uv', 'python3'], shows: ['.local/share/uv/python'] },
  { programs: ['uv'], shows: ['.cache/uv'], isLayered: true },
  // Not its cache of downloads, which also has the headers of its requests.
  { programs: ['pip', 'pip3', 'python3'], shows: ['.cache/pip/wheels'], isLayered: true },
];

/** Paths in shown folders where tools may leave credentials. */
const HIDDEN = [
  '.nvm/versions/node/*/etc/npmrc',
  '.n/etc/npmrc',
  '.nodenv/versions/*/etc/npmrc',
  '.fnm/node-versions/*/installation/etc/npmrc',
  '.local/share/fnm/node-versions/*/installation/etc/npmrc',
  '.asdf/installs/nodejs/*/etc/npmrc',
  '.local/share/mise/installs/node/*/etc/npmrc',
  '.volta/tools/image/node/*/etc/npmrc',
  '.pyenv/versions/*/pip.conf',
  '.local/share/pipx/venvs/*/pipx_metadata.json',
  '.local/pipx/venvs/*/pipx_metadata.json',
  '.local/share/uv/tools/*/uv-receipt.toml',
  'go/pkg/mod/cache/vcs',
  '.cargo/git/db/*/FETCH_HEAD',
  '.dotnet/corefx',
];

/** The parts of the home folder that are shown, in absolute paths. */
export interface ShownTools {
  /** The path of each, and the path where it is shown; outer folders come first. */
  readonly binds: readonly (readonly [from: string, at: string])[];
  /** The paths of those with a layer for writes. */
  readonly layered: readonly string[];
  /** Paths in them that are not shown. */
  readonly hidden: readonly string[];
  /** Variables that tell tools about them. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Finds the parts of the home folder that the tools on a PATH need. */
export function homeTools(searchPath: string, home: string): ShownTools {
  const parts = searchPath.split(':').filter(part => part.startsWith('/'));
  const folders = [...new Set(parts.flatMap(part => [part, existsSync(part) ? realpathSync(part) : part]))];
  const asked = new Map<string, boolean>();
  const isOnPath = (name: string): boolean => {
    const known = asked.get(name) ?? folders.some(folder => existsSync(path.join(folder, name)));
    asked.set(name, known);
    return known;
  };
  const needed = TOOLS.filter(
    ({ programs = [], shows }) =>
      folders.some(folder => shows.some(each => isInside(folder, path.join(home, each)))) ||
      programs.some(isOnPath),
  );
  const binds = new Map<string, string>();
  const layered: string[] = [];
  const variables: Record<string, string> = {};
  for (const { shows, moved, isLayered } of needed)
    for (const each of shows.flatMap(pattern => matching(home, pattern))) {
      if (isLayered) {
        layered.push(path.join(home, each));
        continue;
      }
      binds.set(moved ? moved.to + each.slice(moved.from.length) : each, each);
      if (moved) variables[moved.variable] = path.join(home, moved.to);
    }
  const shown = [...binds].sort().map(([at, from]) => [path.join(home, from), path.join(home, at)] as const);
  const isShown = (at: string): boolean => shown.some(([, outer]) => isInside(at, outer));
  const hidden = HIDDEN.flatMap(pattern => matching(home, pattern)).map(each => path.join(home, each));
  return { binds: shown, layered, hidden: hidden.filter(isShown), variables };
}

/** The paths below a folder that match a pattern, relative to it. A slash at its end stands for folders alone. */
function matching(folder: string, pattern: string): readonly string[] {
  let found = [''];
  for (const part of pattern.split('/')) {
    if (part === '') found = found.filter(each => statSync(path.join(folder, each)).isDirectory());
    else if (!part.includes('*')) found = found.map(each => path.join(each, part));
    else {
      const [begin = '', end = ''] = part.split('*');
      found = found.flatMap(each =>
        namesIn(path.join(folder, each))
          .filter(name => name.startsWith(begin) && name.endsWith(end))
          .map(name => path.join(each, name)),
      );
    }
    found = found.filter(each => existsSync(path.join(folder, each)));
  }
  return found;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
