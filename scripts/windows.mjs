/**
 * `npm run test:windows`: runs the unit tests in a real Windows Node under Wine, on Linux x64. Tests that Wine cannot run are listed in
 * `windows/notInWine.json`, with a reason for each test. The exit status is 0 only if every other test passes.
 *
 *   npm run test:windows -- commands     runs the tests of files with this in their path
 *   npm run test:windows -- --grep=cmd   runs only tests whose name, or whose file's name, matches
 */
import * as fs from 'node:fs';
import { parseArgs } from 'node:util';
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { values, positionals } = parseArgs({ options: { grep: { type: 'string' } }, allowPositionals: true });
const { repoRoot } = await import('./lib/paths.mjs');
const { testInWine } = await import('./windows/testInWine.mjs');
const files = fs
  .globSync('test/unit/**/*.test.ts', { cwd: repoRoot })
  .filter(file => positionals.length === 0 || positionals.some(part => file.includes(part)));
process.exitCode = await testInWine(files, values);
