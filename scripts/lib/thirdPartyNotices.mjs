/** The licences of third-party code in the package. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { inRepo } from './paths.mjs';

const LICENCE_FILE = /^(licen[cs]e|copying|notice)/i;

/**
 * The folders of the npm packages that the bundles contain.
 * @param {readonly { inputs: Record<string, unknown> }[]} metafiles of esbuild
 * @returns {string[]} relative to the repository's root, each once
 */
export function bundledPackages(metafiles) {
  const folders = metafiles.flatMap(({ inputs }) =>
    Object.keys(inputs).flatMap(file => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []),
  );
  return [...new Set(folders)];
}

/**
 * The text of the notices, sorted by package name.
 * @param {readonly string[]} folders of packages
 * @returns {string}
 * @throws {Error} when a package has no licence
 */
export function noticesText(folders) {
  const packages = folders
    .map(folder => ({ folder, manifest: readManifest(folder) }))
    .sort((a, b) => (a.manifest.name < b.manifest.name ? -1 : 1));
  const sections = packages.map(({ folder, manifest }) => {
    const { name, version, license } = manifest;
    const files = fs.readdirSync(folder).filter(file => LICENCE_FILE.test(file));
    const home = manifest.homepage ?? manifest.repository?.url ?? manifest.repository;
    const texts = files.map(file => clean(fs.readFileSync(path.join(folder, file), 'utf8')));
    if (texts.length === 0) texts.push(...mitText(manifest));
    if (!license || texts.length === 0) throw new Error(`${name} (${folder}) contains no licence.`);
    return [
      `${name} ${version}, ${license}`,
      ...(typeof home === 'string' ? [home] : []),
      '',
      texts.join('\n\n'),
    ].join('\n');
  });
  const line = '-'.repeat(80);
  const head = 'Redline contains the following third-party software, each under its own licence.';
  return `${[head, ...sections].join(`\n\n${line}\n\n`)}\n`;
}

/** The MIT licence, whose text is that of ours, of a package that names it and its author but contains no file with it. */
function mitText({ license, author }) {
  const name = author?.name ?? author;
  if (license !== 'MIT' || typeof name !== 'string') return [];
  const ours = fs.readFileSync(inRepo('LICENSE'), 'utf8');
  return [clean(ours.replace(/^Copyright .*$/m, `Copyright (c) ${name}`))];
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
