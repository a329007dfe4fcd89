/** Which VS Code the tests run in. */
import * as fs from 'node:fs';
import { RELEASES, releaseOf } from '../headless/releases.mjs';
import { inRepo } from './paths.mjs';

/** Whether the headless VS Code runs on a platform. */
export const runsHeadless = (platform = process.platform, arch = process.arch) =>
  platform === 'linux' && arch === 'x64';

/**
 * The choice that the environment makes, on this platform. Without a choice, it is the headless VS Code where that runs in the
 * version, else the desktop one.
 *
 * Environment: REDLINE_VSCODE `headless` or `desktop` · REDLINE_VSCODE_VERSION such as `1.104.0`, or `oldest` for the oldest
 * version that package.json allows; by default, the first of `RELEASES`, and the stable desktop one.
 *
 * @param {Record<string, string | undefined>} [env]
 * @param {boolean} [canBeHeadless]
 * @returns {{ kind: 'headless' | 'desktop', version: string }}
 * @throws {Error} for another kind, and for a version or a platform that the headless VS Code is not for
 */
export function whichVscode(env = process.env, canBeHeadless = runsHeadless()) {
  const given = env.REDLINE_VSCODE_VERSION || undefined;
  const version = given === 'oldest' ? oldestVersion() : given;
  const hasRelease = version === undefined || RELEASES.some(each => each.version === version);
  const kind = env.REDLINE_VSCODE || (canBeHeadless && hasRelease ? 'headless' : 'desktop');
  if (kind === 'desktop') return { kind, version: version ?? 'stable' };
  if (kind !== 'headless')
    throw new Error(`REDLINE_VSCODE is "${kind}", but can only be "headless" or "desktop".`);
  if (!canBeHeadless) throw new Error('The headless VS Code runs on Linux x64 only.');
  return { kind, version: releaseOf(version ?? RELEASES[0].version).version };
}

/** The oldest version of VS Code that package.json allows, such as `1.104.0`. */
export function oldestVersion() {
  const { engines } = JSON.parse(fs.readFileSync(inRepo('package.json'), 'utf8'));
  return engines.vscode.replace(/^\^/, '');
}
