import { Linter } from 'eslint';
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import tseslint from 'typescript-eslint';
import { BARE_TEXTS } from '../../../scripts/l10n/bareTexts.mjs';
import { localisedSources, localisingCalls } from '../../../scripts/l10n/exportBundle.mjs';

const root = path.resolve(import.meta.dirname, '../../..');

test('every call of a localiser has a form that the export sees', () => {
  assert.deepEqual(
    localisingCalls(localisedSources()).unseen.map(
      one => `${path.relative(root, one.file)}:${one.line}: ${one.code}`,
    ),
    [],
  );
});

test('calls that the export does not see are found', () => {
  const code = "t('Alone'); ({ l10n }).l10n.t('Of a property'); l10n.t(`With ${name}`); l10n.t('Seen');";
  const source = ts.createSourceFile('seeded.ts', code, ts.ScriptTarget.Latest, true);
  assert.deepEqual(
    localisingCalls([source]).unseen.map(each => each.code),
    ["t('Alone')", "({ l10n }).l10n.t('Of a property')", 'l10n.t(`With ${name}`)'],
  );
});

test('the linter finds bare texts where they are usually written, and nothing else', () => {
  const code = [
    "showInfo('Bare text')",
    "showWarning(l10n.t('Good'), 'Bare button')",
    "(window.x = { label: 'Bare label', id: 'not.shown' })",
    "(node.title = 'Bare title')",
    "(node.className = 'not shown')",
    '(bar.text = `$(check) ${name}`)',
    "html`<p class='not shown' id=${'not shown'}>${name}</p>`",
    'html`<p title="Bare title">${name}</p>`',
    'html`<b>${name}: Bare text</b>`',
    "html`<i aria-label=${l10n.t('Good')}>${[1].map(() => html`<b>Bare inner</b>`)}</i>`",
    "(x = { label: 'Redline', detail: 'redline.baseUrl is empty', tooltip: '· 3' })",
  ];
  const found = new Linter().verify(code.join(';\n'), {
    files: ['**/*.js'],
    languageOptions: { parser: tseslint.parser },
    rules: { 'no-restricted-syntax': ['error', ...BARE_TEXTS] },
  });
  assert.deepEqual(
    [...new Set(found.map(({ line }) => code[line - 1]))],
    code.filter(line => line.includes('Bare')),
  );
});
