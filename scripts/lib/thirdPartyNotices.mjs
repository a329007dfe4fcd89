/** The notice that goes with code of others: who made what is in the bundles, and under which licence. */
import * as fs from 'node:fs';
import * as path from 'node:path';

const LICENCE_FILE = /^(licen[cs]e|copying|notice)/i;

/**
 * The folders of the packages that went into bundles.
 * @param {readonly { inputs: Record<string, unknown> }[]} metafiles of esbuild
 * @returns {string[]} relative to the checkout, each once
 */
export function bundledPackages(metafiles) {
  const folders = metafiles.flatMap(({ inputs }) =>
    Object.keys(inputs).flatMap(file => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []),
  );
  return [...new Set(folders)];
}

/**
 * The text of the notice, by package name.
 * @param {readonly string[]} folders of packages
 * @returns {string}
 * @throws {Error} when a package does not say what it is licensed under
 */
export function noticesText(folders) {
  const packages = folders
    .map(folder => ({ folder, manifest: readManifest(folder) }))
    .sort((a, b) => (a.manifest.name < b.manifest.name ? -1 : 1));
  const sections = packages.map(({ folder, manifest }) => {
    const { name, version, license } = manifest;
    const files = fs.readdirSync(folder).filter(file => LICENCE_FILE.test(file));
    if (!license || files.length === 0) throw new Error(`${name} (${folder}) brings no licence along.`);
    const home = manifest.homepage ?? manifest.repository?.url ?? manifest.repository;
    const texts = files.map(file => clean(fs.readFileSync(path.join(folder, file), 'utf8')));
    return [
      `${name} ${version}, ${license}`,
      ...(typeof home === 'string' ? [home] : []),
      '',
      texts.join('\n\n'),
    ].join('\n');
  });
  const line = '-'.repeat(80);
  const head = 'Redline contains the following software of others, each under its own licence.';
  return `${[head, ...sections].join(`\n\n${line}\n\n`)}\n`;
}

function readManifest(folder) {
  return JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
}

function clean(text) {
  return text
    .replace(/^\ufeff/, '')
    .replaceAll('\r\n', '\n')
    .trim();
}
