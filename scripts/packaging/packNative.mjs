/** Puts the native files of a target into dist/native, compressed. */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { downloads, inRepo } from '../lib/paths.mjs';
import { findEngine } from './engines.mjs';
import { nativeFiles, TARGETS } from './targets.mjs';

/** The quality of a compression in less than a second, for development and tests. */
const FAST = 1;
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
 * Packs the engine of the structural search and its grammars, one folder for each platform. The name of a file gets the hash of
 * its content, which the extension compares when it has unpacked it.
 * @param {string} target
 * @param {boolean} isSmall as small as can be, which takes a minute; such files are kept among the downloads
 * @returns {Promise<string[]>} the folders of the packages whose licences cover the files, relative to the repository's root
 * @throws {Error} when an engine is neither installed nor downloaded
 */
export async function packNativeFiles(target, isSmall) {
  const sources = new Set();
  const packing = nativeFiles(target, compiledLanguages).map(async ({ package: name, file, to }) => {
    const isEngine = file === '*.node';
    const from = isEngine ? findEngine(path.posix.dirname(to)) : inRepo('node_modules', name, file);
    if (!from) throw new Error(`There is no structural engine ${name}. \`npm run package\` downloads it.`);
    // The licence of all engines is in the package that chooses among them.
    sources.add(isEngine ? path.join(scope, 'napi') : path.join('node_modules', name));
    const bytes = fs.readFileSync(from);
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
    const packed = inRepo('dist', 'native', to.replace(/\.node$/, `-${hash}$&.br`));
    fs.mkdirSync(path.dirname(packed), { recursive: true });
    fs.writeFileSync(packed, isSmall ? await smallest(bytes, hash) : await compressed(bytes, FAST));
  });
  await Promise.all(packing);
  return [...sources].sort();
}

async function smallest(bytes, hash) {
  const kept = path.join(downloads, 'packed', `${hash}.br`);
  if (!fs.existsSync(kept)) {
    fs.mkdirSync(path.dirname(kept), { recursive: true });
    fs.writeFileSync(`${kept}.draft`, await compressed(bytes, constants.BROTLI_MAX_QUALITY));
    fs.renameSync(`${kept}.draft`, kept);
  }
  return fs.readFileSync(kept);
}

function compressed(bytes, quality) {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  };
  return promisify(brotliCompress)(bytes, { params });
}
