/** Collects the texts that src asks `l10n.t` for. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import ts from 'typescript';
import { inRepo } from '../lib/paths.mjs';

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

/**
 * @typedef {object} Calls
 * @property {Set<string>} texts that are asked for
 * @property {{ file: string, line: number, code: string }[]} unseen calls that are not exported: not of `l10n.t` or
 *   `vscode.l10n.t`, or without a literal
 */

/**
 * @param {readonly ts.SourceFile[]} sources
 * @returns {Calls}
 */
export function localisingCalls(sources) {
  const texts = new Set();
  const unseen = [];
  const visit = node => {
    if (ts.isCallExpression(node)) {
      const code = node.expression.getText();
      const [text] = node.arguments;
      if (/^(?:vscode\.)?l10n\.t$/.test(code) && text && ts.isStringLiteralLike(text)) texts.add(text.text);
      else if (/(?:^|\.)t$/.test(code)) {
        const source = node.getSourceFile();
        const { line } = source.getLineAndCharacterOfPosition(node.getStart());
        unseen.push({ file: source.fileName, line: line + 1, code: node.getText() });
      }
    }
    ts.forEachChild(node, visit);
  };
  sources.forEach(visit);
  return { texts, unseen };
}
