import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import type { Providers } from '../host/providers.ts';
import type { ApiKeys } from '../host/secrets.ts';
import type { Settings } from '../host/settings.ts';
import { withoutIcons } from '../plainText.ts';

export interface SelectModelOptions {
  readonly settings: Settings;
  readonly keys: ApiKeys;
  readonly providers: Providers;
}

/** What a row of the picker does. */
type Choice =
  | { readonly kind: 'offline' }
  | { readonly kind: 'model'; readonly model: string }
  | { readonly kind: 'other' }
  | { readonly kind: 'server' }
  | { readonly kind: 'key' };
type Row = vscode.QuickPickItem & { readonly choice?: Choice; readonly isCurrent?: boolean };

/** A server that lists nothing without a key: it is not asked before it has one. */
const NEEDS_KEY = 'https://api.openai.com/v1';

/** Asks until a model is chosen or the person leaves: a new address or key leads back to the list. */
export async function selectModel(options: SelectModelOptions): Promise<void> {
  const { settings } = options;
  for (;;) {
    const choice = await pick(options);
    switch (choice?.kind) {
      case undefined:
        return;
      case 'offline':
        return settings.useOffline();
      case 'model':
        return settings.useModel(choice.model);
      case 'other': {
        const model = await askModel(settings);
        if (model !== undefined) return settings.useModel(model);
        break;
      }
      case 'server': {
        const baseUrl = await askBaseUrl(settings);
        if (baseUrl !== undefined) await settings.useServer(baseUrl);
        break;
      }
      case 'key':
        await setApiKey(options);
        break;
    }
  }
}

/** Shows what is known at once, and the server's models as soon as it has listed them. */
async function pick(options: SelectModelOptions): Promise<Choice | undefined> {
  const owned = new DisposableStore();
  const left = new AbortController();
  const picker = owned.add(vscode.window.createQuickPick<Row>());
  picker.title = vscode.l10n.t('Model');
  picker.placeholder = vscode.l10n.t('Who answers in the chat');
  picker.matchOnDescription = true;
  picker.busy = true;
  show(picker, rows(options, undefined));
  const chosen = new Promise<Choice | undefined>(resolve => {
    owned.add(picker.onDidHide(() => resolve(undefined)));
    owned.add(
      picker.onDidAccept(() => {
        const choice = picker.selectedItems[0]?.choice;
        if (choice) resolve(choice);
      }),
    );
  });
  picker.show();
  void listModels(options, left.signal).then(listing => {
    if (left.signal.aborted) return;
    picker.busy = false;
    show(picker, rows(options, listing));
  });
  try {
    return await chosen;
  } finally {
    left.abort();
    owned.dispose();
  }
}

/** What is in use is selected, unless the person has gone somewhere else. */
function show(picker: vscode.QuickPick<Row>, items: readonly Row[]): void {
  const at = picker.activeItems[0]?.label;
  picker.items = items;
  const active = items.find(item => item.label === at) ?? items.find(item => item.isCurrent);
  if (active && picker.value === '') picker.activeItems = [active];
}

type Listing = { readonly models: readonly string[] } | { readonly sentence: string };

async function listModels({ settings, keys, providers }: SelectModelOptions, signal: AbortSignal) {
  const { baseUrl } = settings;
  if (baseUrl === NEEDS_KEY && (await keys.get(baseUrl)) === undefined) {
    return { sentence: vscode.l10n.t('Set an API key to see the models of {0}.', baseUrl) };
  }
  const listed = await providers.list(signal);
  if ('failure' in listed) return { sentence: listed.failure.message };
  if (listed.models.length > 0) return listed;
  return { sentence: vscode.l10n.t('The server lists no models. Name one with Other….') };
}

function rows({ settings, providers }: SelectModelOptions, listing: Listing | undefined): Row[] {
  const { baseUrl, model } = settings;
  const { isOffline } = providers;
  const modelRow = (name: string): Row => ({
    label: withoutIcons(name),
    ...inUse(!isOffline && name === model),
    choice: { kind: 'model', model: name },
  });
  const models = listing && 'models' in listing ? listing.models : [];
  const unlisted = model !== '' && !models.includes(model) ? [model] : [];
  const about: Row[] = !listing
    ? [{ label: vscode.l10n.t('Asking the server…'), alwaysShow: true }]
    : 'sentence' in listing
      ? [{ label: `$(info) ${withoutIcons(listing.sentence)}`, alwaysShow: true }]
      : [];
  return [
    {
      label: vscode.l10n.t('Offline'),
      ...inUse(isOffline),
      detail: vscode.l10n.t('No model, no network: commands such as /edit only'),
      choice: { kind: 'offline' },
    },
    separator(vscode.l10n.t('Models at {0}', baseUrl)),
    ...about,
    ...[...unlisted, ...models].map(modelRow),
    {
      label: vscode.l10n.t('Other…'),
      description: vscode.l10n.t('a model by its name'),
      alwaysShow: true,
      choice: { kind: 'other' },
    },
    separator(vscode.l10n.t('Connection')),
    {
      label: vscode.l10n.t('Set Base URL…'),
      description: baseUrl,
      alwaysShow: true,
      choice: { kind: 'server' },
    },
    { label: vscode.l10n.t('Set API Key…'), alwaysShow: true, choice: { kind: 'key' } },
  ];
}

function inUse(isCurrent: boolean): Pick<Row, 'description' | 'isCurrent'> {
  return isCurrent ? { description: vscode.l10n.t('current'), isCurrent } : {};
}

function separator(label: string): Row {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}

async function askModel({ baseUrl, model }: Settings): Promise<string | undefined> {
  const name = await vscode.window.showInputBox({
    title: vscode.l10n.t('Model at {0}', baseUrl),
    prompt: vscode.l10n.t('Its name, as the server knows it.'),
    value: model,
  });
  return name?.trim() || undefined;
}

async function askBaseUrl({ baseUrl }: Settings): Promise<string | undefined> {
  const address = await vscode.window.showInputBox({
    title: vscode.l10n.t('Base URL'),
    prompt: vscode.l10n.t('Of an OpenAI-compatible server; it usually ends in /v1.'),
    value: baseUrl,
    ignoreFocusOut: true,
    validateInput: value => problemOf(value.trim()),
  });
  return address?.trim();
}

function problemOf(address: string): string | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    return vscode.l10n.t('This is not an http or https address.');
  }
  if (url.username !== '' || url.password !== '') {
    return vscode.l10n.t('Leave out the user name and the password. A key is set apart.');
  }
  return undefined;
}

/** Asks for the key of the base URL; an empty one is forgotten. */
export async function setApiKey({ settings, keys }: SelectModelOptions): Promise<void> {
  const { baseUrl } = settings;
  const key = await vscode.window.showInputBox({
    title: vscode.l10n.t('API key for {0}', baseUrl),
    prompt: vscode.l10n.t(
      'Kept in the secret storage and sent to this address only. Leave it empty to forget the key.',
    ),
    password: true,
    ignoreFocusOut: true,
  });
  if (key !== undefined) await keys.set(baseUrl, key.trim());
}
