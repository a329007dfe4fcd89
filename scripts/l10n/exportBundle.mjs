/** Collects the texts that src asks `l10n.t` for. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import ts from 'typescript';
import { inRepo } from '../lib/paths.mjs';
import { localisingCalls } from './calls.mjs';

export const bundleFile = inRepo('l10n', 'bundle.l10n.json');

/**
 * The sources in which a localiser may be called.
 * @param {string} [folder]
 * @returns {ts.SourceFile[]}
 */
export function localisedSources(folder = inRepo('src')) {
  const files = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(f => f.endsWith('.ts'));
  return files
    .map(file => [path.join(folder, file), fs.readFileSync(path.join(folder, file), 'utf8')])
    .filter(([, text]) => /\bt\(/.test(text))
    .map(([file, text]) => ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
}

/**
 * The content that l10n/bundle.l10n.json must have.
 * @param {readonly ts.SourceFile[]} [sources]
 * @returns {string}
 */
export function exportBundle(sources = localisedSources()) {
  const texts = [...localisingCalls(sources).texts].sort();
  return `${JSON.stringify(Object.fromEntries(texts.map(text => [text, text])), null, 2)}\n`;
}
