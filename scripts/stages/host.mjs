/** Stage "host": Mocha in the extension hosts of real VS Codes; `extensionHost.mjs` says which ones. */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runNode } from '../lib/command.mjs';
import { inRepo } from '../lib/paths.mjs';
import { bundleHostTests, hostBundles } from './hostBundles.mjs';
import { runLanes, sumOf } from './lanes.mjs';

/** VS Codes that run test files side by side. A host test mostly waits. */
const LANES = Math.min(2, os.availableParallelism());
const lane = fileURLToPath(new URL('./hostLane.mjs', import.meta.url));

export async function host({ grep }) {
  await bundleHostTests();
  const shares = sharesOf(fs.readdirSync(path.join(hostBundles, 'suite')), grep ? 1 : LANES);
  const names = shares.map((_, index) => `host-${index + 1}`);
  const lanes = await runLanes(names, async (name, print, index) => {
    const results = path.join(hostBundles, `${name}.json`);
    const status = await runNode([lane, results], {
      env: { REDLINE_HOST_FILES: shares[index].join(), REDLINE_GREP: grep },
      onOutput: print,
    });
    return countsOf(results, status, print);
  });
  return sumOf(lanes);
}

/** Divides the files so that each share has about as many bytes as any other. */
function sharesOf(files, number) {
  const sizes = new Map(
    files.map(file => [file, fs.statSync(inRepo('test/host/suite', sourceOf(file))).size]),
  );
  const shares = Array.from({ length: number }, () => ({ size: 0, files: [] }));
  for (const [file, size] of [...sizes].sort(([, a], [, b]) => b - a)) {
    const smallest = shares.reduce((least, share) => (share.size < least.size ? share : least));
    smallest.files.push(file);
    smallest.size += size;
  }
  return shares.map(share => share.files);
}

const sourceOf = bundle => bundle.replace(/\.cjs$/, '.ts');

/** Reads what the runner wrote. A run that broke off counts as one more failure. */
function countsOf(results, status, print) {
  if (!fs.existsSync(results)) {
    print('The host tests did not start.\n');
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const { finished, running, passed, failed, skipped } = JSON.parse(fs.readFileSync(results, 'utf8'));
  if (finished) return { passed, failed: status !== 0 && failed === 0 ? 1 : failed, skipped };
  print(`The host tests broke off${running ? ` in "${running}"` : ''}.\n`);
  return { passed, failed: failed + 1, skipped };
}
