/** Puts the native files of a target into dist/native. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { inRepo } from '../lib/paths.mjs';
import { findEngine } from './engines.mjs';
import { nativeFiles, TARGETS } from './targets.mjs';

const scope = path.join('node_modules', '@ast-grep');

/** The languages whose packages have a grammar that is compiled for the platform, sorted. */
export function compiledLanguages(platform) {
  const { grammars } = TARGETS[platform];
  if (!grammars) return [];
  return fs
    .readdirSync(inRepo(scope))
    .filter(name => fs.existsSync(inRepo(scope, name, 'prebuilds', grammars, 'parser.so')))
    .map(name => name.slice('lang-'.length))
    .sort();
}

/**
 * Copies the engine of the structural search and its grammars, one folder for each platform.
 * @param {string} target
 * @returns {string[]} the folders of the packages whose licences cover the files, relative to the repository's root
 * @throws {Error} when an engine is neither installed nor downloaded
 */
export function copyNativeFiles(target) {
  const sources = new Set();
  for (const { package: name, file, to } of nativeFiles(target, compiledLanguages)) {
    const isEngine = file === '*.node';
    const from = isEngine ? findEngine(path.posix.dirname(to)) : inRepo('node_modules', name, file);
    if (!from) throw new Error(`There is no structural engine ${name}. \`npm run package\` downloads it.`);
    const copy = inRepo('dist', 'native', to);
    fs.mkdirSync(path.dirname(copy), { recursive: true });
    fs.copyFileSync(from, copy);
    // The licence of all engines is in the package that chooses among them.
    sources.add(isEngine ? path.join(scope, 'napi') : path.join('node_modules', name));
  }
  return [...sources];
}
