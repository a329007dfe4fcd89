import * as vscode from 'vscode';
import type { ChatCtx } from '../hostedCommands.ts';
import { OWN_VENDOR, PARTICIPANT } from '../../contributions.ts';
import type { ReplyMetadata, RequestHandler } from './requestHandler.ts';

/**
 * Registers `@redline` in VS Code's own chat. The code that answers is loaded with the first request.
 *
 * VS Code sends a request to a participant only if a language model is chosen in the chat, although Redline uses its own. So
 * that this needs no account, Redline offers an entry in the list of models. VS Code must be made to ask for it,
 * or the first request after a start fails with `Language model unavailable`.
 */
export function registerNativeChat(options: ChatCtx, iconPath: vscode.IconPath): vscode.Disposable {
  let loaded: Promise<RequestHandler> | undefined;
  const handler = (): Promise<RequestHandler> =>
    (loaded ??= import('./requestHandler.ts').then(({ RequestHandler }) => new RequestHandler(options)));
  const participant = vscode.chat.createChatParticipant(
    PARTICIPANT,
    async (request, _context, stream, token) => (await handler()).handle(request, stream, token),
  );
  participant.iconPath = iconPath;
  participant.followupProvider = {
    provideFollowups: async ({ metadata }) =>
      metadata ? (await handler()).followups(metadata as unknown as ReplyMetadata) : [],
  };
  const entry = vscode.lm.registerLanguageModelChatProvider(OWN_VENDOR, new ListEntry());
  void vscode.lm.selectChatModels({ vendor: OWN_VENDOR }).then(undefined, (error: unknown) => {
    options.logger.warn(`VS Code did not list Redline among its models: ${String(error)}`);
  });
  return vscode.Disposable.from(participant, entry);
}

/**
 * The entry in VS Code's list of models. It lets requests go to `@redline` and is not a model itself: the user's keys and models
 * are for Redline's session only, so other extensions that use the entry only get an explanation.
 */
class ListEntry implements vscode.LanguageModelChatProvider {
  provideLanguageModelChatInformation(): vscode.LanguageModelChatInformation[] {
    return [
      {
        id: 'participant',
        name: 'Redline',
        family: 'redline',
        version: '1',
        tooltip: vscode.l10n.t(
          'For requests that begin with @redline. The model that Redline uses answers them.',
        ),
        maxInputTokens: 128_000,
        maxOutputTokens: 16_000,
        // VS Code's agent mode, in which its chat starts, lists only models with tools.
        capabilities: { toolCalling: true },
      },
    ];
  }

  async provideLanguageModelChatResponse(
    _model: vscode.LanguageModelChatInformation,
    _messages: readonly vscode.LanguageModelChatRequestMessage[],
    _options: vscode.ProvideLanguageModelChatResponseOptions,
    progress: vscode.Progress<vscode.LanguageModelResponsePart>,
  ): Promise<void> {
    const text = vscode.l10n.t('Begin your message with @redline: only then does Redline answer.');
    progress.report(new vscode.LanguageModelTextPart(text));
  }

  /** Estimates four characters a token: no prompt is ever sent. */
  async provideTokenCount(
    _model: vscode.LanguageModelChatInformation,
    counted: string | vscode.LanguageModelChatRequestMessage,
  ): Promise<number> {
    return Math.ceil((typeof counted === 'string' ? counted : JSON.stringify(counted.content)).length / 4);
  }
}
