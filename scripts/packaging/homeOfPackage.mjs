/**
 * The addresses and the badge that a marketplace shows: nobody invents them, so package.json has none until a repository
 * publishes.
 */

/**
 * The manifest with the addresses of a repository on GitHub, and the badge of its tests, which vsce takes from github.com only.
 * @param {Record<string, unknown>} manifest
 * @param {string} home such as `https://github.com/owner/name`
 * @throws {Error} when it is not the address of a repository
 */
export function withHome(manifest, home) {
  if (!/^https:\/\/[\w.-]+\/[\w.-]+\/[\w.-]+$/.test(home))
    throw new Error(`${home} is no address of a repository.`);
  const tests = `${home}/actions/workflows/ci.yml`;
  return {
    ...manifest,
    repository: { type: 'git', url: `${home}.git` },
    homepage: `${home}#readme`,
    bugs: { url: `${home}/issues` },
    ...(home.startsWith('https://github.com/')
      ? { badges: [{ url: `${tests}/badge.svg`, href: tests, description: 'Tests' }] }
      : {}),
  };
}
