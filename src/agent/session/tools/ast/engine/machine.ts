import { readFileSync } from 'node:fs';

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
