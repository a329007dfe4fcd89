import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { isInside } from '../../base/system/realPath.ts';
import { terminalAgents, type TerminalAgent } from '../view/terminalAgents.ts';

/** Files of the home folder that shells and git read. None is a secret. */
const SETTINGS = [
  ...['.gitconfig', '.config/git', '.inputrc', '.profile', '.bash_profile', '.bashrc', '.bash_aliases'],
  ...['.zshenv', '.zprofile', '.zshrc', '.config/fish'],
];

/**
 * Paths of an agent's own settings, sign-in and conversations, which it must be able to write. Missing ones are created, since
 * anything it writes elsewhere in its home folder is gone at the end.
 * @param agent `undefined` for another program, which gets the existing paths of all agents.
 */
export function configuration(
  home: string,
  agent: TerminalAgent | undefined,
): { readonly folders: readonly string[]; readonly files: readonly string[] } {
  const paths = (agent ? [agent] : terminalAgents).flatMap(each => each.home);
  if (agent)
    for (const each of paths)
      if (each.endsWith('/')) mkdirSync(path.join(home, each), { recursive: true });
      else if (!existsSync(path.join(home, each)))
        writeFileSync(path.join(home, each), '{}\n', { mode: 0o600, flag: 'wx' });
  const found = paths.filter(each => existsSync(path.join(home, each)));
  const ending = (isFolder: boolean): readonly string[] =>
    found.filter(each => each.endsWith('/') === isFolder).map(each => path.join(home, each));
  return { folders: ending(true), files: ending(false) };
}

/** Paths that a program needs to run: settings of shells, the folders of the PATH in the home folder, its packages. */
export function programFolders(program: string, home: string, searchPath: string): readonly string[] {
  const real = realpathSync(program);
  const packages = /^.*?\/node_modules(?=\/)/.exec(real)?.[0] ?? path.dirname(real);
  const ofPath = searchPath.split(':').filter(each => path.isAbsolute(each) && isInside(each, home));
  return [
    ...SETTINGS.map(each => path.join(home, each)),
    // Neither the home folder itself nor a folder above it.
    ...[...ofPath, path.dirname(program), packages].filter(each => !isInside(home, each)),
  ];
}
