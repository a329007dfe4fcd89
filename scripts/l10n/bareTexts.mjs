/**
 * Finds texts that people read and that are not localised: a literal that gets into one of the places of `shownTexts.mjs`, by
 * way of whatever parameters, properties, variables and results of our own functions it goes there.
 */
import * as path from 'node:path';
import ts from 'typescript';
import { inRepo } from '../lib/paths.mjs';
import { SourceIndex } from './sourceIndex.mjs';

/** Names that are the same in every language. */
const NAMES = /\b(?:Redline|VS Code|Markdown|UTF-(?:8|16 (?:LE|BE))|CRLF|LF)\b/g;
/** What a text may hold beside words: icons, markup, ids of commands. */
const NO_WORDS = /\$\([\w~-]+\)|<\/?\w+[^>]*>|&\w+;|command:|\b[a-z]\w*(?:\.\w+)+/g;

/** How many calls deep a text is followed back. */
const MAX_DEPTH = 12;
/** Methods whose result holds the text that they are called on. */
const KEEPS = new Set(
  'at concat filter flat join padEnd padStart reverse slice sort toReversed toSorted trim'.split(' '),
);
const SHOWN_KEYS = new Set([
  'label',
  'message',
  'text',
  'title',
  'value',
  'description',
  'detail',
  'tooltip',
]);

/**
 * @typedef {object} BareText
 * @property {string} file
 * @property {number} line from 1
 * @property {string} text
 * @property {string} place where it is shown, such as `QuickPickItem.label`
 */

/**
 * @param {ts.Program} program
 * @returns {BareText[]}
 */
export function bareTexts(program) {
  return new Follower(new SourceIndex(program, isOfViews)).run();
}

/** The places where VS Code and the page show texts are all in `src/views`. */
function isOfViews(file) {
  return path.normalize(file).startsWith(inRepo('src', 'views') + path.sep);
}

class Follower {
  #index;
  #found = new Map();
  /** Declarations whose values are shown, and those that were followed already. */
  #waiting = [];
  #seen = new Set();

  constructor(index) {
    this.#index = index;
  }

  run() {
    for (const { node, at, text, place } of this.#index.written) this.#text(node, text, place, at);
    for (const { value, place } of this.#index.shown) this.#follow(value, place);
    for (let next = this.#waiting.pop(); next; next = this.#waiting.pop())
      for (const value of this.#index.valuesOf(next.declaration)) this.#follow(value, next.place);
    return [...this.#found.values()];
  }

  /** @param values what parameters hold at the call that led here */
  #follow(node, place, values = new Map(), depth = 0) {
    const go = (other, map = values) => other && this.#follow(other, place, map, depth + 1);
    if (!node || depth > 4 * MAX_DEPTH) return;
    if (ts.isStringLiteralLike(node)) this.#text(node, node.text, place);
    else if (ts.isTemplateExpression(node)) {
      for (const part of [node.head, ...node.templateSpans.map(span => span.literal)])
        this.#text(part, part.text, place);
      // In `$(${icon})`, the name of an icon.
      node.templateSpans.forEach((span, i) => {
        const before = i === 0 ? node.head : node.templateSpans[i - 1].literal;
        if (!before.text.endsWith('$(')) go(span.expression);
      });
    } else if (ts.isConditionalExpression(node)) [node.whenTrue, node.whenFalse].forEach(one => go(one));
    else if (ts.isBinaryExpression(node)) this.#binary(node, go);
    else if (ts.isArrayLiteralExpression(node)) node.elements.forEach(one => go(one));
    else if (ts.isObjectLiteralExpression(node)) this.#object(node, place, go);
    else if (ts.isFunctionLike(node)) this.#index.resultsOf(node).forEach(one => go(one));
    else if (ts.isCallExpression(node)) this.#call(node, go, values, depth);
    else if (ts.isIdentifier(node) || ts.isPropertyAccessExpression(node))
      this.#name(node, place, go, values);
    else if (ts.isNewExpression(node)) return;
    else if (node.expression && isWrapper(node)) go(node.expression);
  }

  #binary(node, go) {
    const { kind } = node.operatorToken;
    if (kind === ts.SyntaxKind.AmpersandAmpersandToken) return go(node.right);
    const both = [ts.SyntaxKind.PlusToken, ts.SyntaxKind.BarBarToken, ts.SyntaxKind.QuestionQuestionToken];
    if (both.includes(kind)) [node.left, node.right].forEach(one => go(one));
  }

  /** The keys of `filters` are shown; of other objects, the values that VS Code shows. */
  #object(node, place, go) {
    for (const property of node.properties) {
      if (place.endsWith('.filters')) {
        if (ts.isComputedPropertyName(property.name)) go(property.name.expression);
        else this.#text(property.name, property.name.text, place);
      } else if (ts.isPropertyAssignment(property) && SHOWN_KEYS.has(property.name.text))
        go(property.initializer);
    }
  }

  #call(node, go, values, depth) {
    const { expression: callee, arguments: given } = node;
    if (this.#index.isLocalised(node)) return;
    if (ts.isPropertyAccessExpression(callee)) {
      const [first] = given;
      const maps = /^(?:flatMap|map)$/.test(callee.name.text) && first && ts.isFunctionLike(first);
      if (maps) {
        const element = { node: callee.expression, values };
        const map = new Map(values).set(first.parameters[0], element);
        for (const result of this.#index.resultsOf(first)) go(result, map);
      } else if (KEEPS.has(callee.name.text)) go(callee.expression);
      if (callee.name.text === 'concat') given.forEach(one => go(one));
    }
    const callable = this.#index.functionOf(node);
    if (!callable || depth > MAX_DEPTH) return;
    const map = new Map(
      callable.parameters.map((one, i) => [one, { node: given[i] ?? one.initializer, values }]),
    );
    for (const result of this.#index.resultsOf(callable)) go(result, map);
  }

  #name(node, place, go, values) {
    for (const declaration of this.#index.declarationsOf(node)) {
      const given = values.get(declaration);
      if (given) go(given.node, given.values);
      else if (!this.#seen.has(declaration)) {
        this.#seen.add(declaration);
        this.#waiting.push({ declaration, place });
      }
    }
  }

  #text(node, text, place, at = node.getStart()) {
    if (!/\p{L}{2,}/u.test(text.replace(NO_WORDS, ' ').replace(NAMES, ' '))) return;
    const source = node.getSourceFile();
    const line = source.getLineAndCharacterOfPosition(at).line + 1;
    this.#found.set(`${source.fileName} ${at}`, { file: source.fileName, line, text, place });
  }
}

function isWrapper(node) {
  return (
    ts.isParenthesizedExpression(node) ||
    ts.isAsExpression(node) ||
    ts.isSatisfiesExpression(node) ||
    ts.isNonNullExpression(node) ||
    ts.isAwaitExpression(node) ||
    ts.isSpreadElement(node)
  );
}
