/** The part of docs/model-texts.md: the sentences of the code for a model, read from the source. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import ts from 'typescript';
import { inRepo } from '../lib/paths.mjs';

/**
 * Where words for a model are made, in the order of the page; a folder stands for its files. Other files that make a `ToolError` follow.
 */
const PLACES = [
  'session/request.ts',
  'session/surroundings.ts',
  'session/planMode.ts',
  'session/modelPreviews.ts',
  'session/cutCall.ts',
  'session/model/interruptions.ts',
  'hold/preview/resolve',
  'session/forcing',
  'session/newProblems.ts',
  'session/revertQueue.ts',
  'session/context/summary.ts',
  'session/conversation/context',
  'session/conversation/renderTrunk.ts',
  'session/conversation/validateRevert.ts',
  'session/conversation/validTrunk.ts',
  'base/errors.ts',
  'hold/preview/commit',
  'hold/preview/reviewTexts.ts',
  'session/tools',
  'sandbox/checks/runChecksFor.ts',
  'session/tools/runChecksTool.ts',
  'clients',
];
/** Folders outside the core whose errors a model gets. */
const VIEWS = ['views/chat/search', 'views/agents/terminal', 'views/workspace'];

/** Words for people and programs in these places. */
const NOT_FOR_MODELS = [
  /^clients\/(?:mcp|setUp|stdio)\//,
  /^session\/tools\/(?:titles|ast\/engine\/unpackNative)\.ts$/,
  /^session\/tools\/custom\/(?:loading\/|redline)/,
  /^session\/conversation\/storage\//,
];
/** Files whose texts are parts of sentences. */
const PARTS = ['hold/preview/resolve/waitTexts.ts', 'hold/preview/resolve/checkTexts.ts'];

/** @returns {Promise<string>} */
export function modelSentences() {
  const core = inRepo('src', 'agent');
  const makesError = file => fs.readFileSync(file, 'utf8').includes('new ToolError(');
  const files = [
    ...PLACES.flatMap(place => filesIn(core, place)),
    ...filesIn(core, '.').filter(file => makesError(path.join(core, file))),
    ...VIEWS.flatMap(place => filesIn(inRepo('src'), place)).filter(file => makesError(inRepo('src', file))),
  ].filter(file => !NOT_FOR_MODELS.some(pattern => pattern.test(file)));
  const sections = [...new Set(files)].flatMap(file => {
    const whole = file.startsWith('views/') ? inRepo('src', file) : path.join(core, file);
    const texts = [...new Set(sentencesIn(whole, PARTS.includes(file) ? isPart : isSentence))];
    return texts.length === 0 ? [] : [`### \`${file}\`\n\n\`\`\`model\n${texts.join('\n')}\n\`\`\`\n`];
  });
  return Promise.resolve(sections.join('\n'));
}

function filesIn(root, place) {
  if (place.endsWith('.ts')) return [place];
  return fs
    .readdirSync(path.join(root, place), { recursive: true })
    .map(name => path.posix.join(place, String(name).split(path.sep).join('/')))
    .filter(name => name.endsWith('.ts'))
    .sort();
}

/** The sentences that a file contains, with the expressions in them in ‹›. */
function sentencesIn(file, isWanted) {
  const source = ts.createSourceFile(file, fs.readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const found = [];
  const visit = node => {
    if (ts.isCallExpression(node) && isForOthers(node.expression.getText(source))) return undefined;
    const text = textOf(node, source);
    if (text === undefined) return ts.forEachChild(node, visit);
    if (isWanted(text)) found.push(text.trim());
    // An inserted expression may be a sentence of its own.
    ts.forEachChild(node, visitInserted);
  };
  const visitInserted = node => {
    if (ts.isTemplateSpan(node)) visit(node.expression);
    else if (ts.isBinaryExpression(node) || ts.isTemplateExpression(node))
      ts.forEachChild(node, visitInserted);
  };
  visit(source);
  return found;
}

/** Whether a function takes words for the log or for people. */
function isForOthers(callee) {
  return /(?:^|\.)logger\.|(?:^|\.)l10n\.t$/.test(callee);
}

/** The text that a literal, or several joined by `+`, makes; `undefined` for any other node. */
function textOf(node, source) {
  if (ts.isStringLiteral(node) && ts.isImportDeclaration(node.parent)) return undefined;
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return [
      node.head.text,
      ...node.templateSpans.map(({ expression, literal }) => `‹${named(expression, source)}›${literal.text}`),
    ].join('');
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [textOf(node.left, source), textOf(node.right, source)];
    return left === undefined || right === undefined ? undefined : left + right;
  }
  return undefined;
}

function named(expression, source) {
  const text = expression.getText(source).replace(/\s+/g, ' ');
  return text.length <= 40 ? text : '…';
}

/** Words with an end, not a name, a key, a format or a shell script. */
function isSentence(text) {
  if (text.includes('"$@"')) return false;
  return /[a-z]{2,} [a-z‹"`]/i.test(text) && /[.:?!…›)"`\]]$/.test(text.trim());
}

/** Several words. */
function isPart(text) {
  return /[a-z]{2,} [a-z‹"`]/i.test(text);
}
