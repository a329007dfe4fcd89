/** The addresses that a marketplace shows: nobody invents them, so package.json has none until a repository publishes. */

const ADDRESSES = ['repository', 'homepage', 'bugs'];

/**
 * The manifest with the addresses of a repository on GitHub.
 * @param {Record<string, unknown>} manifest
 * @param {string} home such as `https://github.com/owner/name`
 * @throws {Error} when it is not the address of a repository
 */
export function withHome(manifest, home) {
  if (!/^https:\/\/[\w.-]+\/[\w.-]+\/[\w.-]+$/.test(home))
    throw new Error(`${home} is no address of a repository.`);
  return {
    ...manifest,
    repository: { type: 'git', url: `${home}.git` },
    homepage: `${home}#readme`,
    bugs: { url: `${home}/issues` },
  };
}

/** Which of them a manifest lacks. */
export function missingAddresses(manifest) {
  return ADDRESSES.filter(name => manifest[name] === undefined);
}
