import * as vscode from 'vscode';
import type {
  AnswerPart,
  LanguageModel,
  MessagePart,
  ModelMessage,
  ModelRequest,
} from '../../../agent/session/model/languageModel/port.ts';
import type { SentImage } from '../../../agent/session/model/sentImages.ts';
import { OWN_VENDOR } from '../../contributions.ts';

/** The name of a model in the settings: `vendor/id`. A vendor has no slash, an id may have. */
export function languageModelName({ vendor, id }: { readonly vendor: string; readonly id: string }): string {
  return `${vendor}/${id}`;
}

/** The models that VS Code offers, without Redline's own, which would ask Redline again. */
export async function listLanguageModels(): Promise<readonly vscode.LanguageModelChat[]> {
  const models = await vscode.lm.selectChatModels();
  return models.filter(({ vendor }) => vendor !== OWN_VENDOR);
}

/** The model with this name; `undefined` if VS Code does not offer it now. */
export async function findLanguageModel(name: string): Promise<LanguageModel | undefined> {
  const slash = name.indexOf('/');
  const vendor = name.slice(0, slash);
  if (slash <= 0 || vendor === OWN_VENDOR) return undefined;
  const [model] = await vscode.lm.selectChatModels({ vendor, id: name.slice(slash + 1) });
  return model && portOf(model);
}

function portOf(model: vscode.LanguageModelChat): LanguageModel {
  return {
    maxInputTokens: model.maxInputTokens,
    takesImages: takesImages(model),
    async send({ messages, tools, mode }: ModelRequest, signal) {
      const { Auto, Required } = vscode.LanguageModelChatToolMode;
      const options: vscode.LanguageModelChatRequestOptions = {
        justification: vscode.l10n.t('Redline sends your prompts and what its tools read to this model.'),
        ...(tools.length === 0
          ? {}
          : { tools: tools.map(toTool), toolMode: mode === 'required' ? Required : Auto }),
      };
      const { stream } = await model.sendRequest(messages.map(toMessage), options, tokenOf(signal));
      return answerParts(stream);
    },
    async countTokens(counted, signal) {
      return model.countTokens(typeof counted === 'string' ? counted : toMessage(counted), tokenOf(signal));
    },
  };
}

async function* answerParts(stream: AsyncIterable<unknown>): AsyncGenerator<AnswerPart, void, undefined> {
  for await (const part of stream) {
    if (part instanceof vscode.LanguageModelTextPart) yield { type: 'text', text: part.value };
    else if (part instanceof vscode.LanguageModelToolCallPart)
      yield { type: 'call', id: part.callId, name: part.name, input: part.input };
    else yield { type: 'other' };
  }
}

function toTool({
  name,
  description,
  parameters,
}: ModelRequest['tools'][number]): vscode.LanguageModelChatTool {
  return { name, description, inputSchema: parameters };
}

function toMessage({ role, parts }: ModelMessage): vscode.LanguageModelChatMessage {
  const { User, Assistant } = vscode.LanguageModelChatMessageRole;
  return new vscode.LanguageModelChatMessage(role === 'user' ? User : Assistant, parts.map(toPart));
}

function toPart(part: MessagePart): vscode.LanguageModelInputPart {
  switch (part.type) {
    case 'text':
      return new vscode.LanguageModelTextPart(part.text);
    case 'image':
      return imagePart(part.image);
    case 'call':
      return new vscode.LanguageModelToolCallPart(part.id, part.name, JSON.parse(part.arguments) as object);
    case 'result':
      return new vscode.LanguageModelToolResultPart(part.callId, [
        new vscode.LanguageModelTextPart(part.text),
      ]);
  }
}

/** One for each signal: a request and the many counts that belong to it share it. */
const tokens = new WeakMap<AbortSignal, vscode.CancellationToken>();

/** A token that is cancelled when the signal fires. */
function tokenOf(signal: AbortSignal): vscode.CancellationToken {
  const known = tokens.get(signal);
  if (known) return known;
  const source = new vscode.CancellationTokenSource();
  if (signal.aborted) source.cancel();
  else signal.addEventListener('abort', () => source.cancel(), { once: true });
  tokens.set(signal, source.token);
  return source.token;
}

/** Image API of later VS Code versions than the one in our types. Any member may be missing. */
interface ImageApi {
  readonly LanguageModelDataPart?: {
    image(data: Uint8Array, mimeType: string): vscode.LanguageModelInputPart;
  };
}

interface WithCapabilities {
  readonly capabilities?: { readonly supportsImageToText?: boolean };
}

const { LanguageModelDataPart: DataPart } = vscode as ImageApi;

/** Whether the model says that it takes images, and this VS Code can pass them on. */
function takesImages(model: vscode.LanguageModelChat): boolean {
  const { capabilities } = model as WithCapabilities;
  return DataPart !== undefined && capabilities?.supportsImageToText === true;
}

/** The image as a part of a message. @throws if this VS Code cannot pass images on, see `takesImages`. */
function imagePart({ type, data }: SentImage): vscode.LanguageModelInputPart {
  if (!DataPart) throw new Error('This version of VS Code cannot pass images on to models.');
  return DataPart.image(data, type);
}
