import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';

/** Packages that ship their TypeScript sources, pinned. */
const PACKAGES = [
  'effect@4.1.0',
  'viem@2.57.20',
  'rxjs@7.8.2',
  '@blueprintjs/core@6.20.0',
  '@deck.gl/core@9.4.0',
  '@deck.gl/layers@9.4.0',
  '@luma.gl/engine@9.4.2',
  '@reduxjs/toolkit@2.14.0',
  '@tanstack/query-core@5.108.0',
  '@trpc/server@11.25.2',
  'ethers@6.17.0',
  'zod@4.6.7',
];

/** Larger files are left out: they are generated, not typical sources. */
const MAX_BYTES = 1_000_000;

/** TypeScript files of real packages. */
export interface Corpus {
  readonly folder: string;
  readonly packages: readonly { readonly name: string; readonly files: number; readonly bytes: number }[];
  readonly files: number;
  readonly bytes: number;
}

/** The corpus under `home`; packages that are missing are downloaded with npm. */
export function corpus(home: string): Corpus {
  const folder = path.join(home, 'corpus');
  const packages = PACKAGES.map(name => {
    const target = path.join(folder, name.replace(/^@/, '').replace('/', '-'));
    if (!fs.existsSync(target)) download(name, home, target);
    const sizes = fs
      .readdirSync(target, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => fs.statSync(path.join(entry.parentPath, entry.name)).size);
    return { name, files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  });
  return {
    folder,
    packages,
    files: packages.reduce((sum, { files }) => sum + files, 0),
    bytes: packages.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Downloads one package with npm and keeps its sources. `target` appears complete or not at all. */
function download(name: string, home: string, target: string): void {
  const work = path.join(home, `packing-${process.pid}`);
  fs.rmSync(work, { recursive: true, force: true });
  fs.mkdirSync(work, { recursive: true });
  try {
    const onWindows = process.platform === 'win32';
    execFileSync('npm', ['pack', '--silent', '--ignore-scripts', name], {
      cwd: work,
      shell: onWindows,
      stdio: 'pipe',
    });
    const [archive = ''] = fs.readdirSync(work);
    execFileSync('tar', ['-xzf', archive], { cwd: work });
    const unpacked = fs.readdirSync(work).find(entry => entry !== archive) ?? 'package';
    const sources = path.join(work, unpacked);
    for (const entry of fs.readdirSync(sources, { recursive: true, withFileTypes: true })) {
      const file = path.join(entry.parentPath, entry.name);
      const isSource = entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.d.ts');
      if (!isSource || fs.statSync(file).size > MAX_BYTES) continue;
      const kept = path.join(work, 'kept', path.relative(sources, file));
      fs.mkdirSync(path.dirname(kept), { recursive: true });
      fs.renameSync(file, kept);
    }
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.renameSync(path.join(work, 'kept'), target);
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}
