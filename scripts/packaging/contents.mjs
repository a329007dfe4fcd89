/** The files that a package must contain, and those that it must not. */
import { nativeFiles, TARGETS, UNIVERSAL } from './targets.mjs';

const MB = 1024 * 1024;

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
  'dist/freezeWorker.js',
  'dist/redline-mcp.cjs',
  'dist/redline-gate.cjs',
  'dist/redline-run.cjs',
  'dist/chat.js',
  'dist/codicon.ttf',
  'dist/ThirdPartyNotices.txt',
  'dist/customTool/redline.d.ts',
  'media/icon.png',
];

/** All that may be in a package, apart from native files. */
const ALLOWED =
  /^(?:package(?:\.nls(?:\.[\w-]+)?)?\.json|l10n\/bundle\.l10n\.[\w-]+\.json|readme\.md|changelog\.md|LICENSE\.txt|dist\/(?:chunks\/)?[\w.-]+\.js|dist\/redline-(?:mcp|gate|run)\.cjs|dist\/[\w.-]+\.(?:css|ttf)|dist\/customTool\/[\w.]+\.ts|dist\/ThirdPartyNotices\.txt|media\/.+)$/;

/**
 * The faults of a package's contents, in sentences.
 * @param {readonly string[]} files in the package's folder `extension`
 * @param {string} target that it is for
 * @param {(platform: string) => readonly string[]} languages as {@link nativeFiles} wants them
 * @returns {string[]} empty when it is as it must be
 */
export function wrongContents(files, target, languages) {
  const found = files.map(file => file.replace(/-\w{16}(?=\.node\.br$)/, ''));
  const native = nativeFiles(target, languages).map(({ to }) => `dist/native/${to}.br`);
  const missing = [...NEEDED, ...native].filter(file => !found.includes(file));
  const foreign = files.filter((file, index) => !native.includes(found[index]) && !ALLOWED.test(file));
  return [
    ...missing.map(file => `${file} is missing`),
    ...foreign.map(file => `${file} does not belong there`),
  ];
}

/** The fault of the platform that a package's extension.vsixmanifest names, if there is one. */
export function wrongPlatform(manifest, target) {
  const found = /<Identity\b[^>]*\bTargetPlatform="([^"]*)"/.exec(manifest)?.[1];
  const wanted = target in TARGETS ? target : undefined;
  return found === wanted ? [] : [`It is for ${found ?? UNIVERSAL} instead of ${target}`];
}

/** The fault of a package's size, in bytes, if there is one. Slow growth is not noticed otherwise. */
export function wrongSize(bytes, target) {
  const limit = !(target in TARGETS) ? 22 * MB : TARGETS[target].grammars ? 5 * MB : 4 * MB;
  if (bytes <= limit) return [];
  return [`It has ${(bytes / MB).toFixed(2)} MB, which is more than ${limit / MB}`];
}
