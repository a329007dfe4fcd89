/** Collects the texts that src asks `l10n.t` for, with VS Code's own tool. */
import { getL10nJson } from '@vscode/l10n-dev';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { inRepo } from '../lib/paths.mjs';

export const bundleFile = inRepo('l10n', 'bundle.l10n.json');

/**
 * The tool only reads files that import `vscode`, from where it takes the name `l10n`. Those that are given a localiser, so
 * that their tests need no VS Code, call it `l10n` too.
 */
const IMPORT = "import * as vscode from 'vscode';\n";

/**
 * What l10n/bundle.l10n.json must hold.
 * @param {string} [folder] with the sources
 * @returns {Promise<string>}
 */
export async function exportBundle(folder = inRepo('src')) {
  const files = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(f => f.endsWith('.ts'));
  const sources = files
    .map(file => fs.readFileSync(path.join(folder, file), 'utf8'))
    .filter(text => text.includes('l10n.t('))
    .map(text => ({ extension: '.ts', contents: /from 'vscode';/.test(text) ? text : IMPORT + text }));
  const texts = Object.entries(await getL10nJson(sources)).sort(([one], [other]) => (one < other ? -1 : 1));
  return `${JSON.stringify(Object.fromEntries(texts), null, 2)}\n`;
}
