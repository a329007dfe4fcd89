import * as vscode from 'vscode';
import { DisposableStore } from '../../../agent/base/disposable.ts';
import { detailOf } from '../../../agent/base/errors.ts';
import type { Logger } from '../../../agent/base/logger.ts';
import { withoutIcons, oneLine } from '../../plainText.ts';
import type { Settings } from '../../settings.ts';
import type { Agent } from '../../agent.ts';
import type { SessionMessage } from '../../../agent/session/model/messages.ts';
import { needsModelText } from '../../../agent/session/model/offline/answers.ts';
import { execute } from '../../commandRegistry.ts';
import { showInfo } from '../../toast.ts';
import { languageModelName, listLanguageModels } from './languageModels.ts';

/** Action of a row in the picker. */
type Choice =
  | { readonly kind: 'offline' }
  | { readonly kind: 'model'; readonly model: string }
  | { readonly kind: 'languageModel'; readonly name: string }
  | { readonly kind: 'other' }
  | { readonly kind: 'server' }
  | { readonly kind: 'key' };
type Row = vscode.QuickPickItem & { readonly choice?: Choice; readonly isCurrent?: boolean };

/** This server lists no models without a key, so it is not asked before a key is set. */
const NEEDS_KEY = 'https://api.openai.com/v1';

/** Shows the picker until the user chooses a model or closes it; a new base URL or key leads back to the list. */
export async function selectModel(agent: Agent): Promise<void> {
  const { settings } = agent;
  let isConnecting = false;
  for (;;) {
    const choice = await pick(agent, isConnecting);
    isConnecting = choice?.kind === 'server' || choice?.kind === 'key';
    switch (choice?.kind) {
      case undefined:
        return;
      case 'offline':
        return settings.useOffline();
      case 'model':
        return settings.useModel(choice.model);
      case 'languageModel':
        return settings.useLanguageModel(choice.name);
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
        await setApiKey(agent);
        break;
    }
  }
}

/**
 * Shows the picker at once, and adds models when the server and VS Code have listed them.
 * @param isConnecting whether the user has just entered the server's URL or key: then they want one of its models.
 */
async function pick(agent: Agent, isConnecting: boolean): Promise<Choice | undefined> {
  const owned = new DisposableStore();
  const closed = new AbortController();
  const picker = owned.add(vscode.window.createQuickPick<Row>());
  picker.title = vscode.l10n.t('Model');
  picker.placeholder = vscode.l10n.t('Choose a model');
  picker.matchOnDescription = true;
  picker.busy = true;
  const listings: Listings = { server: undefined, vscode: undefined };
  const refresh = (): void => {
    if (closed.signal.aborted) return;
    picker.busy = !listings.server || !listings.vscode;
    show(picker, rows(agent, listings), isConnecting);
  };
  show(picker, rows(agent, listings), isConnecting);
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
  void listModels(agent, closed.signal).then(listing => {
    listings.server = listing;
    refresh();
  });
  void listOfVsCode(agent.logger).then(listing => {
    listings.vscode = listing;
    refresh();
  });
  try {
    return await chosen;
  } finally {
    closed.abort();
    owned.dispose();
  }
}

/**
 * Replaces the rows. The active row stays active; at first that is the model in use or, while the user connects to a server, the
 * first of its models once they are listed.
 */
function show(picker: vscode.QuickPick<Row>, items: readonly Row[], isConnecting: boolean): void {
  const at = picker.activeItems[0];
  picker.items = items;
  const ofServer = items.filter(({ choice }) => choice?.kind === 'model');
  const wanted = isConnecting ? (ofServer.find(({ isCurrent }) => isCurrent) ?? ofServer[0]) : undefined;
  const stays = wanted === undefined || at?.choice?.kind === 'model';
  const active =
    (stays ? items.find(item => item.label === at?.label) : wanted) ?? items.find(item => item.isCurrent);
  if (active && picker.value === '') picker.activeItems = [active];
}

type Listing<Model = string> = { readonly models: readonly Model[] } | { readonly sentence: string };

/** Models listed so far. */
interface Listings {
  server: Listing | undefined;
  vscode: Listing<ListedModel> | undefined;
}

interface ListedModel {
  /** `vendor/id`. */
  readonly name: string;
  readonly label: string;
  readonly vendor: string;
}

async function listModels({ settings, keys, providers }: Agent, signal: AbortSignal) {
  const { baseUrl } = settings;
  if (baseUrl === NEEDS_KEY && (await keys.get(baseUrl)) === undefined) {
    return { sentence: vscode.l10n.t('Set an API key to see the models of {0}.', baseUrl) };
  }
  const listed = await providers.listModels(signal);
  if ('failure' in listed) return { sentence: listed.failure.message };
  if (listed.models.length > 0) return listed;
  return { sentence: vscode.l10n.t('The server lists no models. Enter a name with Other….') };
}

/** Lists the models that VS Code offers, which needs no consent. */
async function listOfVsCode(logger: Logger): Promise<Listing<ListedModel>> {
  try {
    const models = await listLanguageModels();
    if (models.length > 0)
      return {
        models: models.map(each => ({
          name: languageModelName(each),
          label: each.name,
          vendor: each.vendor,
        })),
      };
  } catch (error) {
    logger.error(`Listing the language models of VS Code failed: ${detailOf(error)}`);
  }
  return {
    sentence: vscode.l10n.t('VS Code offers none. Sign in to GitHub Copilot, or install a model provider.'),
  };
}

function rows({ settings, providers }: Agent, { server, vscode: ofVsCode }: Listings): Row[] {
  const { baseUrl, model, languageModel } = settings;
  const { isOffline } = providers;
  const usesVsCode = settings.provider === 'vscode-lm';
  const modelRow = (name: string): Row => ({
    label: withoutIcons(name),
    ...inUse(!isOffline && !usesVsCode && name === model),
    choice: { kind: 'model', model: name },
  });
  const vscodeRow = ({ name, label, vendor }: ListedModel): Row => {
    const current = usesVsCode && name === languageModel;
    return {
      label: withoutIcons(label),
      description: withoutIcons(
        [vendor, current ? vscode.l10n.t('current') : ''].filter(Boolean).join(' · '),
      ),
      isCurrent: current,
      choice: { kind: 'languageModel', name },
    };
  };
  const inVsCode = ofVsCode && 'models' in ofVsCode ? ofVsCode.models : [];
  const isUnlisted =
    usesVsCode && languageModel !== '' && inVsCode.every(({ name }) => name !== languageModel);
  const unlistedInVsCode = isUnlisted ? [{ name: languageModel, label: languageModel, vendor: '' }] : [];
  const models = server && 'models' in server ? server.models : [];
  const unlisted = model !== '' && !models.includes(model) ? [model] : [];
  return [
    {
      label: vscode.l10n.t('Offline'),
      ...inUse(isOffline),
      detail: vscode.l10n.t('No model, no network: commands such as /edit only'),
      choice: { kind: 'offline' },
    },
    separator(vscode.l10n.t('Models in VS Code')),
    ...notice(ofVsCode, vscode.l10n.t('Asking VS Code…')),
    ...[...unlistedInVsCode, ...inVsCode].map(vscodeRow),
    separator(vscode.l10n.t('Models at {0}', baseUrl)),
    ...notice(server, vscode.l10n.t('Asking the server…')),
    ...[...unlisted, ...models].map(modelRow),
    {
      label: vscode.l10n.t('Other…'),
      description: vscode.l10n.t('enter the name of a model'),
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

/** A row in place of models that are not listed yet, or cannot be. */
function notice(listing: Listing<unknown> | undefined, asking: string): Row[] {
  if (!listing) return [{ label: asking, alwaysShow: true }];
  return 'sentence' in listing
    ? [{ label: `$(info) ${withoutIcons(listing.sentence)}`, alwaysShow: true }]
    : [];
}

function inUse(isCurrent: boolean): Partial<Row> {
  return isCurrent ? { description: vscode.l10n.t('current'), isCurrent } : {};
}

function separator(label: string): Row {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}

async function askModel({ baseUrl, model }: Settings): Promise<string | undefined> {
  const name = await vscode.window.showInputBox({
    title: vscode.l10n.t('Model at {0}', baseUrl),
    prompt: vscode.l10n.t('Name of the model, as the server lists it.'),
    value: model,
  });
  return name?.trim() || undefined;
}

async function askBaseUrl({ baseUrl }: Settings): Promise<string | undefined> {
  const entered = await vscode.window.showInputBox({
    title: vscode.l10n.t('Base URL'),
    prompt: vscode.l10n.t('Base URL of an OpenAI-compatible server; it usually ends in /v1.'),
    value: baseUrl,
    ignoreFocusOut: true,
    validateInput: value => baseUrlProblem(value.trim()),
  });
  return entered?.trim();
}

function baseUrlProblem(address: string): string | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    return vscode.l10n.t('Enter an http or https URL.');
  }
  if (url.username !== '' || url.password !== '') {
    return vscode.l10n.t('Leave out the user name and password. Set a key with Set API Key.');
  }
  return undefined;
}

/** Asks for the API key of the current base URL; an empty one deletes it. */
export async function setApiKey({ settings, keys }: Agent): Promise<void> {
  const { baseUrl } = settings;
  const key = await vscode.window.showInputBox({
    title: vscode.l10n.t('API key for {0}', baseUrl),
    prompt: vscode.l10n.t(
      'Kept in the secret storage and sent to this URL only. Leave empty to delete the key.',
    ),
    password: true,
    ignoreFocusOut: true,
  });
  if (key !== undefined) await keys.set(baseUrl, key.trim());
}

/** The most characters of the prompt that the question shows. */
const MAX_SHOWN = 60;

/** Offers to send the last prompt to the chosen model, if it got no answer because there was no model. */
export async function offerToAskAgain({ session, providers }: Agent): Promise<void> {
  const prompt = unansweredPrompt(session.tree.messages);
  if (prompt === undefined || providers.isOffline || session.state !== 'idle') return;
  const ask = vscode.l10n.t('Ask Again');
  const text = vscode.l10n.t('Ask the model “{0}”?', oneLine(prompt, MAX_SHOWN));
  if ((await showInfo(text, ask)) !== ask) return;
  // The question stays until it is clicked: another prompt may be the last one by then.
  if (unansweredPrompt(session.tree.messages) === prompt) await execute('redline.session.retry');
}

/** The last prompt, if the answer to it is that a model is needed. */
export function unansweredPrompt(messages: readonly SessionMessage[]): string | undefined {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const prompt = messages[at];
  const answer = messages.slice(at + 1).findLast(({ role }) => role === 'assistant');
  if (prompt?.role !== 'user' || answer?.role !== 'assistant') return undefined;
  const isMissing = answer.errorCode === 'noModel' || answer.text === needsModelText(vscode.l10n);
  return isMissing ? prompt.text : undefined;
}
