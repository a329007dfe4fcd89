/** What a package must contain, and what not. */
import { inflateRawSync } from 'node:zlib';
import { nativeFiles, TARGETS, UNIVERSAL } from './targets.mjs';

/** Files without which something would not work, be said or be allowed. */
export const NEEDED = [
  'package.json',
  'package.nls.json',
  'package.nls.de.json',
  'package.nls.zh-cn.json',
  'l10n/bundle.l10n.de.json',
  'l10n/bundle.l10n.zh-cn.json',
  'readme.md',
  'changelog.md',
  'LICENSE.txt',
  'dist/extension.js',
  'dist/astWorker.js',
  'dist/lineWorker.js',
  'dist/redline-mcp.cjs',
  'dist/chat.js',
  'dist/codicon.ttf',
  'dist/ThirdPartyNotices.txt',
  'dist/customTool/redline.d.ts',
  'media/icon.png',
];

/** All that may be in a package, apart from native files. */
const ALLOWED =
  /^(?:package(?:\.nls(?:\.[\w-]+)?)?\.json|l10n\/bundle\.l10n\.[\w-]+\.json|readme\.md|changelog\.md|LICENSE\.txt|dist\/(?:chunks\/)?[\w.-]+\.js|dist\/redline-mcp\.cjs|dist\/[\w.-]+\.(?:css|ttf)|dist\/customTool\/[\w.]+\.ts|dist\/ThirdPartyNotices\.txt|media\/.+)$/;

/**
 * What is wrong with the contents of a package, in sentences.
 * @param {readonly string[]} files in the package's folder `extension`
 * @param {string} target that it is for
 * @param {(platform: string) => readonly string[]} languages as {@link nativeFiles} wants them
 * @returns {string[]} empty when it is as it must be
 */
export function wrongContents(files, target, languages) {
  const present = new Set(files);
  const native = nativeFiles(target, languages).map(({ to }) => `dist/native/${to}`);
  const missing = [...NEEDED, ...native].filter(file => !present.has(file));
  const foreign = files.filter(file => !native.includes(file) && !ALLOWED.test(file));
  return [
    ...missing.map(file => `${file} is missing`),
    ...foreign.map(file => `${file} does not belong there`),
  ];
}

/** What is wrong with the platform that a package says it is for, by its extension.vsixmanifest. */
export function wrongPlatform(manifest, target) {
  const found = /<Identity\b[^>]*\bTargetPlatform="([^"]*)"/.exec(manifest)?.[1];
  const wanted = target in TARGETS ? target : undefined;
  return found === wanted ? [] : [`It is for ${found ?? UNIVERSAL} instead of ${target}`];
}

/**
 * The entries of a zip archive that fits in memory.
 * @param {Buffer} zip
 * @returns {Map<string, () => Buffer>} by name, how to read each
 * @throws {Error} when it is no such archive
 */
export function zipEntries(zip) {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06'));
  if (end < 0) throw new Error('That is no zip archive.');
  const entries = new Map();
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    if (zip.readUInt32LE(at) !== 0x02014b50) throw new Error('The directory of the zip archive is broken.');
    const nameLength = zip.readUInt16LE(at + 28);
    const [method, size, local] = [
      zip.readUInt16LE(at + 10),
      zip.readUInt32LE(at + 20),
      zip.readUInt32LE(at + 42),
    ];
    entries.set(zip.toString('utf8', at + 46, at + 46 + nameLength), () => {
      const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const bytes = zip.subarray(start, start + size);
      return method === 0 ? bytes : inflateRawSync(bytes);
    });
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return entries;
}
