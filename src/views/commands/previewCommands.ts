import * as vscode from 'vscode';
import type { Overview } from '../preview/overview.ts';
import { openFileOf } from './openFile.ts';
import { PreviewChoice, type PreviewChoiceOptions } from './previewChoice.ts';
import { PreviewVotes, type PreviewVotesOptions } from './previewVotes.ts';
import type { CommandHandlers } from './registerCommand.ts';

export interface PreviewCommandsOptions extends PreviewChoiceOptions, PreviewVotesOptions {
  readonly overview: Overview;
}

/** Everything that a person does to whole previews, by lens, editor title, key, tree, chat or palette. */
export function previewCommands(options: PreviewCommandsOptions): CommandHandlers {
  const { store, opener, overview } = options;
  const choice = new PreviewChoice(options);
  const votes = new PreviewVotes(options, choice);
  return {
    'redline.preview.apply': (...args) => votes.vote('apply', args),
    'redline.preview.discard': (...args) => votes.vote('discard', args),
    'redline.preview.discardWithReason': (...args) => votes.discardWithReason(args),
    'redline.preview.applyAll': () => votes.applyAll(),
    'redline.preview.discardAll': () => votes.discardAll(),
    'redline.preview.open': async (...args) => {
      const [first] = await choice.targets(args);
      const preview = first && store.get(first.id);
      const path = first?.path ?? (typeof args[1] === 'string' ? args[1] : undefined);
      await (preview ? opener.open(preview, path) : choice.openHead());
    },
    'redline.preview.openFile': async (...args) => {
      const [target = choice.head] = await choice.targets(args);
      if (!target) return choice.openHead();
      const clicked = args[0] instanceof vscode.Uri ? args[0] : undefined;
      await openFileOf(options, target, clicked ?? vscode.window.activeTextEditor?.document.uri);
    },
    'redline.preview.openAll': () => {
      const all = choice.pending();
      return all.length > 1 ? overview.open(all) : choice.openHead();
    },
    'redline.preview.next': () => choice.step(1),
    'redline.preview.previous': () => choice.step(-1),
  };
}
