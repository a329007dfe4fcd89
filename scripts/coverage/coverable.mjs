/** What of a source text can run: its lines, branches and functions. */
import ts from 'typescript';

/**
 * @typedef {{ line: number, what: string, ran: (counts: Float64Array) => boolean }} Coverable `line` counts from 1; `what`
 *   says in words what it is; `ran` is given how often each character ran
 */

/**
 * A line counts if it holds more than types, imports, comments and closing brackets, and has run if anything on it has.
 * Branches are both ways of an `if` (with and without `else`) and of `?:`, the right side of `&&`, `||` and `??`, the cases of a
 * `switch`, the bodies of loops, and `catch`. V8 counts no ways of `?.`, of default values and of `??=`, so neither do we.
 * @param {string} file its name tells its language
 * @param {string} text
 * @returns {{ lines: Coverable[], branches: Coverable[], functions: Coverable[] }}
 */
export function coverable(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lineOf = at => source.getLineAndCharacterOfPosition(at).line + 1;
  /** @type {Map<number, number[]>} where the tokens of a line begin */
  const tokens = new Map();
  const branches = [];
  const functions = [];
  const reached = (node, what) => {
    const at = node.getStart(source);
    return { line: lineOf(at), what, ran: counts => counts[at] > 0 };
  };
  const visit = node => {
    if (isErased(node)) return;
    branches.push(...branchesOf(node, reached));
    if (ts.isFunctionLike(node) && node.body)
      functions.push({ ...reached(node.body, 'function'), line: lineOf(node.getStart(source)) });
    const children = node.getChildren(source);
    if (children.length > 0) children.forEach(visit);
    else if (node.getWidth(source) > 0 && !CLOSING.has(node.kind)) {
      const at = node.getStart(source);
      tokens.set(lineOf(at), [...(tokens.get(lineOf(at)) ?? []), at]);
    }
  };
  visit(source);
  const lines = [...tokens].map(([line, places]) => ({
    line,
    what: 'line',
    ran: counts => places.some(at => counts[at] > 0),
  }));
  return { lines, branches, functions };
}

const { SyntaxKind } = ts;

const CLOSING = new Set([
  SyntaxKind.CloseBraceToken,
  SyntaxKind.CloseBracketToken,
  SyntaxKind.CloseParenToken,
  SyntaxKind.CommaToken,
  SyntaxKind.SemicolonToken,
  SyntaxKind.EndOfFileToken,
]);

/** What is not there when the program runs, or does nothing then. */
const isErased = node =>
  ts.isTypeNode(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isTypeParameterDeclaration(node) ||
  ts.isImportDeclaration(node) ||
  ts.isExportDeclaration(node) ||
  ts.isJSDoc(node) ||
  (ts.isPropertyDeclaration(node) && !node.initializer) ||
  (ts.isFunctionLike(node) && !node.body);

const CHOICES = new Set([
  SyntaxKind.AmpersandAmpersandToken,
  SyntaxKind.BarBarToken,
  SyntaxKind.QuestionQuestionToken,
]);

function branchesOf(node, reached) {
  if (ts.isIfStatement(node)) {
    const then = reached(node.thenStatement, 'if');
    if (node.elseStatement) return [then, reached(node.elseStatement, 'else')];
    const [from, to] = [node.getStart(), node.thenStatement.getStart()];
    return [then, { ...reached(node, 'if not'), ran: counts => counts[from] > counts[to] }];
  }
  if (ts.isConditionalExpression(node)) return [reached(node.whenTrue, '?'), reached(node.whenFalse, ':')];
  if (ts.isBinaryExpression(node) && CHOICES.has(node.operatorToken.kind))
    return [reached(node.right, node.operatorToken.getText())];
  if (ts.isCaseOrDefaultClause(node))
    return node.statements.length > 0 ? [reached(node.statements[0], 'case')] : [];
  if (ts.isIterationStatement(node, false)) return [reached(node.statement, 'loop')];
  if (ts.isCatchClause(node)) return [reached(node.block, 'catch')];
  return [];
}
