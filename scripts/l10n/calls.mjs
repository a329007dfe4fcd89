/** Finds the calls of `l10n.t`, and those whose text cannot be seen. */
import ts from 'typescript';

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
