import { existsSync, readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { AstSearcher } from '../../../src/agent/session/tools/ast/structuralSearch.ts';
import { builtInTools } from '../../../src/agent/session/tools/builtIn.ts';
import { slashCommands } from '../../../src/agent/session/model/offline/slashCommands.ts';
import { specOf } from '../../../src/agent/session/tools/toolSpec.ts';
import {
  contextKeys,
  EXTENSION_ID,
  languageModelTools,
  LEDGER_SCHEME,
  MCP_PROVIDER,
  OWN_VENDOR,
  PARTICIPANT,
  COMMENTS,
  PREVIEW_SCHEME,
  views,
} from '../../../src/views/contributions.ts';

const root = path.join(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

interface Setting {
  readonly type: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly enumDescriptions?: readonly string[];
  readonly enumItemLabels?: readonly string[];
  readonly order?: number;
  readonly markdownDescription?: string;
}
interface Used {
  readonly command?: string;
  readonly when?: string;
  readonly enablement?: string;
  readonly group?: string;
}
interface Manifest {
  readonly name: string;
  readonly publisher: string;
  readonly activationEvents: readonly string[];
  readonly contributes: {
    readonly commands: readonly (Used & { readonly command: string; readonly title: string })[];
    readonly menus: Readonly<Record<string, readonly Used[]>>;
    readonly keybindings: readonly Used[];
    readonly views: Readonly<Record<string, readonly (Used & { readonly id: string })[]>>;
    readonly viewsContainers: Readonly<
      Record<string, readonly { readonly id: string; readonly icon: string }[]>
    >;
    readonly languageModelTools: readonly {
      readonly name: string;
      readonly displayName: string;
      readonly userDescription: string;
      readonly modelDescription: string;
      readonly inputSchema: unknown;
      readonly when?: string;
    }[];
    readonly mcpServerDefinitionProviders: readonly { readonly id: string }[];
    readonly chatParticipants: readonly {
      readonly id: string;
      readonly commands: readonly { readonly name: string; readonly description: string }[];
    }[];
    readonly languageModelChatProviders: readonly { readonly vendor: string }[];
    readonly walkthroughs: readonly {
      readonly steps: readonly { readonly completionEvents: readonly string[] }[];
    }[];
    readonly viewsWelcome: readonly { readonly view: string }[];
    readonly configuration: { readonly properties: Readonly<Record<string, Setting>> };
  };
}

const manifestText = read('package.json');
const manifest = JSON.parse(manifestText) as Manifest;
const { contributes } = manifest;
const nls = JSON.parse(read('package.nls.json')) as Record<string, string>;
const sources = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts'))
  .map(file => read(path.join('src', file)))
  .join('\n');
const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(match => match[1] ?? '');

/** The keys of the arguments' types, which are read from the source: the commands of our own rows and lists, and all others. */
const [own = [], declared = []] = read('src/views/contributions.ts')
  .split('export interface CommandArguments')
  .map(part => matches(part, /^ {2}'(redline\.[\w.]+)': \[/gm));
const contributed = contributes.commands.map(({ command }) => command);
const uses: readonly Used[] = [
  ...contributes.commands,
  ...Object.values(contributes.menus).flat(),
  ...contributes.keybindings,
];
const contexts = contributes.walkthroughs
  .flatMap(({ steps }) => steps.flatMap(step => step.completionEvents))
  .filter(event => event.startsWith('onContext:'));
const clauses = [
  ...uses,
  ...Object.values(contributes.views).flat(),
  ...contributes.languageModelTools.map(({ when }): Used => (when === undefined ? {} : { when })),
]
  .flatMap(({ when, enablement }) => [when, enablement])
  .concat(contexts)
  .filter(clause => clause !== undefined);
const viewIds = Object.values(contributes.views)
  .flat()
  .map(({ id }) => id);

test('the id of the extension is its publisher and its name', () => {
  assert.equal(EXTENSION_ID, `${manifest.publisher}.${manifest.name}`);
});

test('the manifest contributes exactly the declared commands, apart from VS Code’s own focus commands and what only our own rows and lists call', () => {
  const focus = viewIds.map(id => `${id}.focus`);
  assert.ok(declared.length > 10 && own.length > 0);
  assert.ok(contributed.length <= 62, `there are ${contributed.length}`);
  assert.deepEqual(declared.filter(command => !focus.includes(command)).sort(), [...contributed].sort());
});

test('menus and keys name contributed commands', () => {
  const known = [...contributed, ...viewIds.map(id => `${id}.focus`)];
  for (const { command } of uses) assert.ok(command !== undefined && known.includes(command), command);
});

test('command links in texts name existing commands', () => {
  const linked = Object.values(nls).flatMap(text => matches(text, /\(command:([\w.]+)/g));
  const known = [...contributed, ...viewIds.map(id => `${id}.focus`)];
  assert.ok(linked.length > 0);
  for (const command of linked) {
    assert.ok(known.includes(command) || command.startsWith('workbench.'), command);
  }
});

test('the manifest contributes exactly the declared views', () => {
  const { container, ...shown } = views;
  assert.deepEqual(Object.keys(contributes.views), [container]);
  assert.deepEqual([...viewIds].sort(), Object.values(shown).sort());
  assert.deepEqual(
    Object.values(contributes.viewsContainers).flatMap(all => all.map(({ id }) => id)),
    [container],
  );
  for (const { view } of contributes.viewsWelcome) assert.ok(viewIds.includes(view), view);
});

test('when clauses only use declared context keys, views, item kinds and schemes', () => {
  const keys: readonly string[] = Object.values(contextKeys);
  const used = new Set<string>();
  for (const clause of clauses) {
    const compared = [...clause.matchAll(/(\w+) == (redline[\w.-]+)/g)];
    for (const [, left, right = ''] of compared) {
      if (left === 'viewItem') assert.ok(sources.includes(`'${right}'`), `no item is of the kind ${right}`);
      else if (left === 'commentController') assert.equal(right, COMMENTS);
      else if (left === 'resourceScheme') assert.ok([PREVIEW_SCHEME, LEDGER_SCHEME].includes(right), right);
      else assert.ok(viewIds.includes(right), right);
    }
    const bare = matches(clause.replace(/\w+ == [\w.-]+/g, ''), /(redline[\w.-]*)/g);
    for (const key of bare) {
      assert.ok(keys.includes(key), `${key} in "${clause}" is no declared context key`);
      used.add(key);
    }
  }
  assert.deepEqual([...used].sort(), [...keys].sort(), 'and each declared key is used');
});

test('opening a preview document, as after a restart, activates the extension', () => {
  assert.ok(manifest.activationEvents.includes(`onFileSystem:${PREVIEW_SCHEME}`));
});

test('every setting is read, and every setting that is read is declared', () => {
  const settings = read('src/views/settings.ts');
  const got = matches(settings, /(?:#get|#oneOf|inspect)(?:<[^>]*>)?\(\s*'([\w.]+)'/g).map(
    key => `redline.${key}`,
  );
  assert.ok(got.length > 5);
  assert.deepEqual([...new Set(got)].sort(), Object.keys(contributes.configuration.properties).sort());
});

test('every setting has a default of its type, and a description', () => {
  for (const [key, setting] of Object.entries(contributes.configuration.properties)) {
    const type = Array.isArray(setting.default) ? 'array' : typeof setting.default;
    assert.equal(type, setting.type, key);
    assert.ok(setting.markdownDescription, key);
  }
});

test('the values of an enumeration are those in the code, where the default comes first', () => {
  const settings = read('src/views/settings.ts');
  const enumerations = Object.entries(contributes.configuration.properties).filter(
    ([, setting]) => setting.enum,
  );
  assert.ok(enumerations.length > 3);
  for (const [key, setting] of enumerations) {
    const name = key.replace('redline.', '').replaceAll('.', '\\.');
    const [list = ''] = matches(settings, new RegExp(`#oneOf\\('${name}', \\[([^\\]]*)\\]`, 'g'));
    const known = matches(list, /'([\w-]+)'/g);
    assert.deepEqual([...known].sort(), [...(setting.enum ?? [])].sort(), key);
    assert.equal(known[0], setting.default, `${key}: the fallback for an invalid value is the default`);
    if (setting.enumDescriptions) assert.equal(setting.enumDescriptions.length, setting.enum?.length, key);
  }
});

test('every text that the manifest uses exists, and every text that exists is used', () => {
  const used = new Set(matches(manifestText, /"%([\w.]+)%"/g));
  assert.deepEqual([...used].sort(), Object.keys(nls).sort());
  for (const [key, text] of Object.entries(nls)) assert.ok(text.trim() !== '', key);
});

test('the tools for other agents take the same arguments as the built-in ones, but for amending: they wait for the outcome', () => {
  const ours = builtInTools({ astSearcher: {} as AstSearcher });
  const schemaOf = (name: string) => specOf(ours.get(name) ?? assert.fail(name)).parameters;
  assert.deepEqual(
    contributes.languageModelTools.map(({ name, inputSchema }) => [name, inputSchema]),
    Object.entries(languageModelTools).map(([name, tool]): unknown[] => [
      name,
      JSON.parse(
        JSON.stringify(schemaOf(tool), (key, value: unknown) => (key === 'amend' ? undefined : value)),
      ),
    ]),
  );
  for (const { displayName, userDescription, modelDescription } of contributes.languageModelTools) {
    for (const text of [displayName, userDescription, modelDescription]) assert.match(text, /^%[\w.]+%$/);
  }
});

test('@redline in VS Code’s own chat has every slash command, and two that are buttons in the panel', () => {
  const [participant, ...others] = contributes.chatParticipants;
  assert.deepEqual([participant?.id, others], [PARTICIPANT, []]);
  const commands = participant?.commands ?? [];
  assert.deepEqual(
    commands.map(({ name }) => `/${name}`),
    ['/plan', ...slashCommands().map(({ name }) => name), '/new'],
  );
  for (const { description } of commands) assert.match(description, /^%participant\.\w+%$/);
  assert.deepEqual(
    contributes.languageModelChatProviders.map(({ vendor }) => vendor),
    [OWN_VENDOR],
  );
});

test('the MCP server is offered to VS Code’s own agents, and then no second pair of tools', () => {
  assert.deepEqual(
    contributes.mcpServerDefinitionProviders.map(({ id }) => id),
    [MCP_PROVIDER],
  );
  for (const { when } of contributes.languageModelTools) assert.equal(when, `!${contextKeys.usesMcp}`);
});

test('all texts of the manifest are in package.nls.json', () => {
  for (const { title } of contributes.commands) assert.match(title, /^%[\w.]+%$/);
  for (const [key, setting] of Object.entries(contributes.configuration.properties)) {
    const { markdownDescription = '', enumDescriptions = [], enumItemLabels = [] } = setting;
    const texts = [markdownDescription, ...enumDescriptions, ...enumItemLabels];
    for (const text of texts) assert.match(text, /^%[\w.]+%$/, key);
    assert.equal(setting.enum?.length, setting.enum && enumDescriptions.length, key);
  }
});

test('the settings are numbered in order', () => {
  const orders = Object.values(contributes.configuration.properties).map(({ order }) => order);
  assert.deepEqual(
    orders,
    orders.map((_, i) => i + 1),
  );
});

test('the menu of a file in the tree names what its votes do', () => {
  const votes = (contributes.menus['view/item/context'] ?? []).filter(
    ({ when, group }) => when?.includes('viewItem == redline.file') && group?.startsWith('2_resolve'),
  );
  assert.deepEqual(
    votes.map(({ command }) => command),
    ['applyFile', 'discardFile', 'discardWithReason'].map(name => `redline.preview.${name}`),
  );
});

test('what would be refused is not offered: a row or a title that cannot be applied has what helps first', () => {
  const offers = (menu: string, when: string): (string | undefined)[] =>
    (contributes.menus[menu] ?? []).filter(item => item.when?.includes(when)).map(({ command }) => command);
  for (const kind of ['stale', 'conflicts', 'blockedFile', 'decidedFile', 'blockedSet']) {
    const commands = offers('view/item/context', `viewItem == redline.${kind}`);
    assert.ok(commands.length > 0, kind);
    for (const command of commands) assert.doesNotMatch(command ?? '', /\.apply/, kind);
  }
  assert.ok(offers('view/item/context', 'viewItem == redline.stale').includes('redline.preview.rebase'));
  assert.ok(offers('view/item/context', 'viewItem == redline.conflicts').includes('redline.preview.edit'));
  const applies = (contributes.menus['editor/title'] ?? []).filter(item => item.command?.includes('.apply'));
  assert.ok(applies.length > 0);
  for (const { when } of applies) assert.match(when ?? '', /!redline\.shownBlocked/);
  assert.deepEqual(offers('editor/title', 'redline.shownStale'), ['redline.preview.rebase']);
});

test('the files that the manifest names exist', () => {
  const files = matches(manifestText, /"(media\/[^"]+)"/g);
  assert.ok(files.length > 0);
  for (const file of files) assert.ok(existsSync(path.join(root, file)), file);
});
