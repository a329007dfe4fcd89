import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { bareTexts } from '../../../scripts/l10n/bareTexts.mjs';
import { localisingCalls } from '../../../scripts/l10n/calls.mjs';
import { localisedSources } from '../../../scripts/l10n/exportBundle.mjs';
import {
  SHOWN_ARGUMENTS,
  SHOWN_BY_COMMANDS,
  SHOWN_IN_PAGE,
  SHOWN_PROPERTIES,
  SHOWN_WHEN_MADE,
} from '../../../scripts/l10n/shownTexts.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const seededHost = path.join(root, 'src/views/seeded.ts');
const seededPage = path.join(root, 'src/views/chat/webview/seeded.ts');

/** The interfaces with type parameters. */
const GENERIC: Readonly<Record<string, string>> = { QuickPick: '<any>', TreeView: '<any>' };

/** A text in each place that the check knows, which must be found there. */
const places = Object.entries(SHOWN_PROPERTIES).flatMap(([owner, names]) =>
  names.map(
    name => [`${owner}.${name}`, `(x as any as vscode.${owner}${GENERIC[owner] ?? ''}).${name} = `] as const,
  ),
);

/** How the strings of VS Code's interfaces are written where they are not plain strings. */
const valueOf: Readonly<Record<string, string>> = {
  'InputBoxOptions.validateInput': "() => 'Bare text'",
  'OpenDialogOptions.filters': "{ 'Bare text': ['*'] }",
  'SaveDialogOptions.filters': "{ 'Bare text': ['*'] }",
};

/** Where a text goes a long way before it is shown. */
const journeys = `
const note = (title: string) => ({ title, command: 'x.y' }) satisfies vscode.Command;
class Row { constructor(private readonly name: string) {} make() { return new vscode.TreeItem(this.name); } }
interface Words { readonly greeting: string }
function show({ greeting }: Words) { void vscode.window.showInformationMessage(greeting); }
function pick(good: boolean) { return good ? vscode.l10n.t('Good') : 'Bare result'; }
export function journeys(l10n: typeof vscode.l10n, name: string, count: number) {
  note('Bare argument');
  show({ greeting: 'Bare property' });
  void vscode.window.showWarningMessage(pick(count > 1));
  const text = \`Bare \${name} template\`;
  void vscode.window.showErrorMessage(text);
  void vscode.window.showQuickPick(['a'].map(() => ({ label: 'Bare in a map' })));
  void vscode.window.withProgress({ location: 15 }, async progress => progress.report({ message: 'Bare progress' }));
  void vscode.window.showInformationMessage(['Bare part', l10n.t('Good')].join(' · '));
  void vscode.window.showInformationMessage(l10n.t('Good'), name || 'Bare or');
  void vscode.window.showInformationMessage('Bare plus ' + name);
  // None of these: an icon, a name, signs, the id of a command.
  void vscode.window.showInformationMessage(\`$(\${count > 1 ? 'account' : 'robot'}) Redline: \${name} · 3\`);
  void vscode.commands.executeCommand('redline.preview.open', 'Not shown');
  // Not seen by the export.
  const { t } = l10n;
  t('Unseen alone');
  ({ l10n }).l10n.t('Unseen of a property');
  l10n.t(\`Unseen \${name}\`);
}`;

const host = `import * as vscode from 'vscode';
declare const x: unknown;
${places.map(([place, code]) => `${code}${valueOf[place] ?? "'Bare text'"};`).join('\n')}
${Object.entries(SHOWN_WHEN_MADE)
  .flatMap(([owner, indexes]) =>
    indexes.map(
      i => `new vscode.${owner}(${[...Array<string>(i).fill('x as any'), "'Bare text'"].join(', ')});`,
    ),
  )
  .join('\n')}
${Object.entries(SHOWN_ARGUMENTS)
  .map(
    ([name, [i = 0]]) =>
      `(x as any as ${typeOf(name)})(${[...Array<string>(Math.max(0, i)).fill('x as any'), bareFor(name)].join(', ')});`,
  )
  .join('\n')}
${Object.entries(SHOWN_BY_COMMANDS)
  .map(
    ([id, [i = 0]]) =>
      `void vscode.commands.executeCommand('${id}', ${[...Array<string>(i).fill('x'), "'Bare text'"].join(', ')});`,
  )
  .join('\n')}
${journeys}
`;

const page = `declare const node: HTMLInputElement; declare const image: HTMLImageElement;
${SHOWN_IN_PAGE.properties.map(name => `${name === 'alt' ? 'image' : 'node'}.${name} = 'Bare text';`).join('\n')}
${SHOWN_IN_PAGE.attributes.map(name => `node.setAttribute('${name}', 'Bare text');`).join('\n')}
${SHOWN_IN_PAGE.methods
  .map(name => {
    const owner = name === 'createTextNode' ? 'document' : name === 'appendData' ? 'new Text()' : 'node';
    return `${owner}.${name}('Bare text');`;
  })
  .join('\n')}
node.setAttribute('class', 'Not shown');
import { el } from './dom.ts';
el('p', { title: 'Bare title', class: 'not-shown' }, 'Bare child');
import { html } from 'lit-html';
declare const l10n: { t(text: string): string };
export const drawn = (name: string, one: boolean) => html\`
  <p class="not shown" id=\${'not shown'} title="Bare title">\${name}: Bare text</p>
  <b aria-label=\${'Bare label'} @click=\${() => 'not shown'}>\${l10n.t('Good')}</b>
  <i title="\${l10n.t('Good')} Bare end">\${one ? 'Bare value' : name}</i>
  <input placeholder="\${name}" disabled /> \${[1].map(n => html\`<b>Bare inner</b>\`)}
\`;
export const still = html\`
  <p class="not shown">
    Bare paragraph
  </p>
  <b title="Bare title">3</b>
\`;
`;

/** The type of a function of VS Code. */
function typeOf(name: string): string {
  const [owner = '', method = ''] = name.split('.');
  if (owner === 'window') return `typeof vscode.${name}`;
  if (owner === 'FileSystemError') return `typeof vscode.FileSystemError.${method}`;
  return `vscode.${owner}${owner === 'Progress' ? '<{ message?: string }>' : ''}['${method}']`;
}

function bareFor(name: string): string {
  if (name === 'Progress.report') return "{ message: 'Bare text' }";
  return name === 'window.showQuickPick' ? "['Bare text']" : "'Bare text'";
}

/** The program of one source, which exists only here, as its project compiles it. */
function programOf(file: string, text: string, project: string): ts.Program {
  const config = path.join(root, project);
  const json = ts.readConfigFile(config, file => ts.sys.readFile(file)).config as unknown;
  const { options } = ts.parseJsonConfigFileContent(json, ts.sys, path.dirname(config));
  const compiler = ts.createCompilerHost(options);
  return ts.createProgram({
    rootNames: [file],
    options,
    host: {
      ...compiler,
      fileExists: name => name === file || compiler.fileExists(name),
      getSourceFile: (name, version) =>
        name === file
          ? ts.createSourceFile(name, text, version, true)
          : compiler.getSourceFile(name, version),
    },
  });
}

const hostProgram = programOf(seededHost, host, 'tsconfig.json');
const pageProgram = programOf(seededPage, page, 'src/views/chat/webview/tsconfig.json');

test('every call of a localiser has a form that the export sees', () => {
  assert.deepEqual(
    localisingCalls(localisedSources()).unseen.map(
      one => `${path.relative(root, one.file)}:${one.line}: ${one.code}`,
    ),
    [],
  );
});

/** The lines with a bare text that the check did not find, and those that it found for no reason. */
function mistakes(source: string, file: string, program: ts.Program): string[] {
  const lines = new Set(
    bareTexts(program)
      .filter(one => one.file === file)
      .map(({ line }) => line),
  );
  return source
    .split('\n')
    .flatMap((text, i) => (/Bare/.test(text) === lines.has(i + 1) ? [] : [`${i + 1}: ${text}`]));
}

test('a bare text is found in each place of VS Code that the check knows, and however it gets there', () => {
  assert.deepEqual(mistakes(host, seededHost, hostProgram), []);
});

test('a bare text is found in each place of a page that the check knows', () => {
  assert.deepEqual(mistakes(page, seededPage, pageProgram), []);
});

test('calls that the export does not see are found', () => {
  const seeded = [hostProgram.getSourceFile(seededHost) ?? assert.fail('it is in the program')];
  assert.deepEqual(
    localisingCalls(seeded).unseen.map(({ code }) => code),
    ["t('Unseen alone')", "({ l10n }).l10n.t('Unseen of a property')", 'l10n.t(`Unseen ${name}`)'],
  );
});

test('the places that the check knows exist in VS Code', () => {
  const faults = hostProgram
    .getSemanticDiagnostics(hostProgram.getSourceFile(seededHost))
    .filter(({ code }) => [2314, 2315, 2339, 2694].includes(code));
  assert.deepEqual(
    faults.map(({ messageText }) => messageText),
    [],
  );
});
