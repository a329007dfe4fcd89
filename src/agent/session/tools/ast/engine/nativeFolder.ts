import { existsSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import type { GrammarFiles } from './astGrepNapi.ts';
import { languages } from './languages.ts';

/** A machine, as far as native code depends on it. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  /** It runs Alpine, whose C library differs from that of other Linux systems. */
  readonly isAlpine: boolean;
}

/** VS Code's name for the platform of a machine, also the name of its folder in `dist/native`. */
export function platformName({ platform, arch, isAlpine }: Machine): string {
  return `${platform === 'linux' && isAlpine ? 'alpine' : platform}-${arch}`;
}

/** The machine that this process runs on. */
export function thisMachine(): Machine {
  const { platform, arch } = process;
  return { platform, arch, isAlpine: platform === 'linux' && isAlpine() };
}

/** Decided as VS Code does when it chooses a package. */
function isAlpine(): boolean {
  try {
    return /^ID=alpine$/m.test(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return false;
  }
}

/** The native files of the structural search in a package. The engine is named even if the package lacks its file. */
export interface NativeFiles {
  readonly engine: string;
  readonly grammars: GrammarFiles;
}

/**
 * The native files for a platform in a package's folder.
 * @param folder `dist/native`, which has a folder for each platform of the package
 */
export function nativeFilesIn(folder: string, platform: string): NativeFiles {
  const grammars: Record<string, string> = {};
  for (const { id, grammar } of languages) {
    const file = path.join(folder, platform, `grammar-${id}.node`);
    if (grammar && existsSync(file)) grammars[id] = file;
  }
  return { engine: path.join(folder, platform, 'engine.node'), grammars };
}
