import * as vscode from 'vscode';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/log.ts';
import type { Invoker } from '../../agent/preview/invoker.ts';
import type { Preview, ResolveAction } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { humanReason } from '../../agent/preview/resolveTexts.ts';
import type { Session } from '../../agent/session/session.ts';
import type { Settings } from '../host/settings.ts';
import { parsePreviewUri, type FileUris } from '../preview/previewUri.ts';
import type { PreviewOpener } from '../preview/previewOpener.ts';
import { activePreviewId } from '../preview/previewTabs.ts';
import type { CommandHandlers } from './registerCommand.ts';

export interface PreviewCommandsOptions {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly session: Session;
  readonly opener: PreviewOpener;
  readonly settings: Settings;
  readonly files: FileUris;
  readonly logger: Logger;
}

/** Everything that a person does to previews, by lens, editor title, key, chat or palette. */
export function previewCommands(options: PreviewCommandsOptions): CommandHandlers {
  const { store, invoker, session, opener, settings, files, logger } = options;

  const pending = (): readonly Preview[] =>
    store.list(settings.order).filter(preview => preview.state.kind === 'pending');

  /** The preview that was named, or the one in the active editor. */
  const target = (argument: unknown): Preview | undefined => {
    const id = idOf(argument) ?? activePreviewId();
    return id === undefined ? undefined : store.get(id);
  };

  /** With nothing named and no preview active, a person is shown the head instead of voting on it unseen. */
  const openHead = async (): Promise<void> => {
    const [head] = store.list(settings.order);
    if (head) await opener.open(head);
    else void vscode.window.showInformationMessage(vscode.l10n.t('Nothing is pending.'));
  };

  const vote = async (action: ResolveAction, args: readonly unknown[], reason?: string): Promise<unknown> => {
    const preview = target(args[0]);
    if (!preview) return openHead();
    const [, typed, revision] = args;
    return invoker.resolve({
      id: preview.id,
      revision: typeof revision === 'number' ? revision : preview.revision,
      action,
      reason: humanReason(action, reason ?? (typeof typed === 'string' ? typed : undefined)),
      actor: 'human',
    });
  };

  /** Resolves one after the other; what fails stays pending and is counted. */
  const voteOnAll = async (action: ResolveAction, previews: readonly Preview[]): Promise<number> => {
    let failed = 0;
    for (const { id } of previews) {
      try {
        await invoker.resolve({ id, action, reason: humanReason(action), actor: 'human' });
      } catch (error) {
        failed++;
        logger.warn(`${action} ${id} failed: ${detailOf(error)}`);
      }
    }
    return failed;
  };

  const step = async (direction: 1 | -1): Promise<void> => {
    const previews = store.list(settings.order);
    const at = previews.findIndex(preview => preview.id === activePreviewId());
    const next = previews.at(at < 0 ? 0 : (at + direction) % previews.length);
    if (next) await opener.open(next);
  };

  return {
    'redline.preview.apply': (...args) => vote('apply', args),
    'redline.preview.discard': (...args) => vote('discard', args),
    'redline.preview.discardWithReason': async (...args) => {
      const preview = target(args[0]);
      if (!preview) return openHead();
      const reason = await vscode.window.showInputBox({
        title: vscode.l10n.t('Discard {0}', preview.label),
        prompt: vscode.l10n.t('Why? The model is told your words.'),
      });
      return reason === undefined
        ? undefined
        : vote('discard', [preview.id, undefined, preview.revision], reason);
    },
    'redline.preview.open': async argument => {
      const preview = target(argument);
      await (preview ? opener.open(preview) : openHead());
    },
    'redline.preview.openFile': async argument => {
      const path = target(argument)?.changes?.[0]?.path;
      if (path !== undefined) await vscode.window.showTextDocument(files(path));
    },
    'redline.preview.applyAll': async () => {
      const all = [...pending()].sort((a, b) => numberOf(a) - numberOf(b));
      const fresh = all.filter(
        preview => preview.state.kind === 'pending' && preview.state.stale.length === 0,
      );
      const failed = await voteOnAll('apply', fresh);
      const left = all.length - fresh.length + failed;
      void vscode.window.showInformationMessage(
        left === 0
          ? vscode.l10n.t('Applied {0} previews.', fresh.length)
          : vscode.l10n.t(
              'Applied {0} previews; {1} could not be applied and stay pending.',
              fresh.length - failed,
              left,
            ),
      );
    },
    'redline.preview.discardAll': async () => {
      const all = pending();
      if (all.length === 0) return openHead();
      session.endReview();
      const failed = await voteOnAll('discard', all);
      void vscode.window.showInformationMessage(
        vscode.l10n.t('Discarded {0} previews.', all.length - failed),
      );
    },
    'redline.preview.next': () => step(1),
    'redline.preview.previous': () => step(-1),
  };
}

/** Ids come as they are, inside the URI of an editor whose title was clicked, or not at all. */
function idOf(argument: unknown): string | undefined {
  if (typeof argument === 'string') return argument;
  return argument instanceof vscode.Uri ? parsePreviewUri(argument)?.previewId : undefined;
}

function numberOf(preview: Preview): number {
  return Number(preview.id.slice(1));
}
