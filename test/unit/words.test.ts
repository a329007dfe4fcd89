import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

const root = path.resolve(import.meta.dirname, '../..');

/** Phrases that sound translated or are private vocabulary, with what to write instead. */
const UNWANTED: readonly (readonly [RegExp, string])[] = [
  [/\bof which\b/i, 'two sentences, or "whose"'],
  [/(?<!there )\b(?:is|are) none\b/i, '"is not a …", "there is no …"'],
  [/\bsomebody\b/i, '"someone", or say who'],
  [/\bnobody\b/i, '"no one", or say who'],
  [/\banew\b/i, '"again", "new"'],
  [/\bwhat became of\b/i, '"the outcome of"'],
  [/\bhas the floor\b/i, 'say what happens'],
  [/\bits chance\b/i, 'say what happens'],
  [/\b(?:take|takes|took|taken|taking) back\b/i, '"roll back", "revert", "undo"'],
];

/** Files that may contain a phrase, because it is right there: `[file, phrase]`. */
const ALLOWED: readonly (readonly [string, string])[] = [];

const TEXTS = /\.(?:ts|mjs|cjs|css|md|json)$/;

function filesOf(top: string): string[] {
  const full = path.join(root, top);
  if (fs.statSync(full).isFile()) return [top];
  return fs
    .readdirSync(full, { recursive: true, encoding: 'utf8' })
    .map(file => path.join(top, file))
    .filter(file => TEXTS.test(file) && fs.statSync(path.join(root, file)).isFile());
}

/** The text on one line, so that a phrase is found across the lines of a comment. */
function withoutLineBreaks(text: string): string {
  return text.replace(/\s*\n\s*(?:\*|\/\/)?\s*/g, ' ');
}

test('comments, messages and documents are in plain English', () => {
  const tops = ['src', 'scripts', 'docs', 'package.nls.json', 'esbuild.mjs', 'eslint.config.mjs'];
  const documents = fs.readdirSync(root).filter(file => file.endsWith('.md'));
  const found = [...tops, ...documents].flatMap(filesOf).flatMap(file => {
    const text = withoutLineBreaks(fs.readFileSync(path.join(root, file), 'utf8'));
    return UNWANTED.flatMap(([phrase, instead]) =>
      [...text.matchAll(new RegExp(phrase, 'gi'))]
        .filter(
          ([match]) => !ALLOWED.some(([place, words]) => place === file && words === match.toLowerCase()),
        )
        .map(({ index }) => `${file}: …${text.slice(Math.max(0, index - 40), index + 40)}… (${instead})`),
    );
  });
  assert.deepEqual(found, []);
});
